//! The search: points of the unit cube with the least loss, in batches, the same for a seed on any number of threads.
//!
//! A Latin hypercube (`McKay`, Beckman, Conover: A comparison of three methods for selecting values of input variables in the
//! analysis of output from a computer code, Technometrics 21, 1979) takes a fifth of the evaluations. From its best points
//! damped least squares descend (Levenberg 1944; Marquardt: An algorithm for least-squares estimation of nonlinear parameters,
//! SIAM Journal on Applied Mathematics 11, 1963), with derivatives from differences and with weights that make the sum of
//! squares the sum of absolute values. Several descend side by side, and the worse half gives up after every few steps, until
//! one goes on to its end (successive halving: Jamieson, Talwalkar: Non-stochastic best arm identification and hyperparameter
//! optimization, AISTATS 2016).
//!
//! A descent keeps the choices of its point, and does not move a parameter that makes no difference where it is. So where it
//! ends other choices are tried, and other values of such parameters, all over their ranges: the next descents begin there.

use super::linear::{Matrix, least_squares};
use crate::error::Error;

/// A point of the unit cube.
pub(super) type Point = Vec<f64>;

/// Logarithms of simulated over recorded figures; `None` if a point cannot be simulated.
pub(super) type Residuals = Option<Vec<f64>>;

/// Part of the cube's edge over which differences are taken at first, and at last. Figures of a simulation are steps: a
/// difference over less may be none, or a single step.
const FIRST_DIFFERENCE: f64 = 0.03;
const LAST_DIFFERENCE: f64 = 0.002;
/// Longest move along an axis.
const MOVE_MAX: f64 = 0.25;
/// Dampings that are tried at a time.
const DAMPINGS: [f64; 5] = [0.001, 0.01, 0.1, 1.0, 10.0];
/// A residual below this weighs no more than one of it.
const SMALL: f64 = 0.01;
/// A loss that need not be improved: the model says what was recorded.
const EXACT: f64 = 2e-4;
/// Descents side by side at most; and how many steps each of them could take of what is left to spend, at least.
const WIDEST: usize = 8;
const STEPS_EACH: usize = 6;
/// Steps between which half of the descents give up.
const STEPS_OF_A_ROUND: usize = 2;
/// A parameter makes no difference if it would change times by less than 5 % across its whole range.
const FLAT: f64 = 0.05;
/// Values that are tried of a parameter that makes no difference: the middles of this many parts of its range.
const PARTS: usize = 16;

/// A search that is asked for.
pub(super) struct Search<'a> {
    /// Seed of every random choice.
    pub(super) seed: u64,
    /// Points to evaluate at most, about.
    pub(super) evaluations: usize,
    /// Evaluated first.
    pub(super) start: Point,
    /// By coordinate: the number of values, if it is a choice.
    pub(super) choices: &'a [Option<usize>],
    /// How much each residual weighs.
    pub(super) weights: &'a [f64],
}

/// A point with what it gave.
#[derive(Clone)]
struct Place {
    point: Point,
    residuals: Residuals,
    loss: f64,
}

/// A descent under way.
struct Descent {
    here: Place,
    /// Over which differences are taken.
    difference: f64,
    /// Coordinates that made no difference when they were last moved.
    flat: Vec<usize>,
}

/// Evaluates points at the same time.
pub(super) trait Evaluate: FnMut(Vec<Point>) -> Result<Vec<Residuals>, Error> {}
impl<F: FnMut(Vec<Point>) -> Result<Vec<Residuals>, Error>> Evaluate for F {}

/// The weighted sum of absolute residuals; infinite if there are none.
pub(super) fn loss(residuals: &Residuals, weights: &[f64]) -> f64 {
    let Some(residuals) = residuals else { return f64::INFINITY };
    residuals.iter().zip(weights).map(|(residual, weight)| residual.abs() * weight).sum()
}

impl Search<'_> {
    /// Searches.
    ///
    /// # Errors
    /// Those of an evaluation.
    pub(super) fn run(&self, evaluate: &mut impl Evaluate) -> Result<(), Error> {
        let mut random = Random(self.seed);
        let dimensions = self.start.len();
        let mut points = vec![self.start.clone()];
        points.extend(hypercube(dimensions, (self.evaluations / 5).max(1) - 1, &mut random));
        let mut left = self.evaluations.saturating_sub(points.len());
        let mut starts = self.places(points, evaluate)?;
        let mut elsewhere: Vec<Place> = Vec::new();
        let mut tried: Vec<Vec<usize>> = Vec::new();
        let mut best = f64::INFINITY;
        loop {
            // What cannot be simulated is not a place to begin.
            starts.retain(|place| place.residuals.is_some());
            elsewhere.retain(|place| place.residuals.is_some());
            if left == 0 || starts.is_empty() && elsewhere.is_empty() {
                return Ok(());
            }
            let width = (left / (STEPS_EACH * self.step_evaluations())).clamp(1, WIDEST);
            // Values far from where one descent ended have half of the places.
            elsewhere.sort_by(|a, b| a.loss.total_cmp(&b.loss));
            let far = elsewhere.len().min(if starts.is_empty() { width } else { width.div_ceil(2) });
            let mut begun: Vec<Place> = elsewhere.drain(..far).collect();
            starts.sort_by(|a, b| a.loss.total_cmp(&b.loss));
            while begun.len() < width && !starts.is_empty() {
                // Choices from which one descent began are not tried again before the others.
                let untried = starts.iter().position(|start| !tried.contains(&self.chosen(&start.point)));
                let start = starts.remove(untried.unwrap_or(0));
                tried.push(self.chosen(&start.point));
                begun.push(start);
            }
            let end = self.race(begun, &mut left, evaluate)?;
            if end.here.loss < EXACT {
                return Ok(());
            }
            let others = self.other_choices(&end.here.point);
            left = left.saturating_sub(others.len());
            starts.extend(self.places(others, evaluate)?);
            if end.here.loss < best {
                best = end.here.loss;
                let others = other_values(&end);
                left = left.saturating_sub(others.len());
                elsewhere = self.places(others, evaluate)?;
            }
        }
    }

    /// Descends from several places; after every few steps the worse half gives up, and the last one goes on to its end.
    fn race(&self, begun: Vec<Place>, left: &mut usize, evaluate: &mut impl Evaluate) -> Result<Descent, Error> {
        let begin = |here| Descent { here, difference: FIRST_DIFFERENCE, flat: Vec::new() };
        let mut descents: Vec<Descent> = begun.into_iter().map(begin).collect();
        while descents.len() > 1 && *left > 0 {
            for descent in &mut descents {
                self.descend(descent, STEPS_OF_A_ROUND, left, evaluate)?;
            }
            descents.sort_by(|a, b| a.here.loss.total_cmp(&b.here.loss));
            descents.truncate(descents.len() / 2);
        }
        let mut best = descents.swap_remove(0);
        self.descend(&mut best, usize::MAX, left, evaluate)?;
        Ok(best)
    }

    /// Coordinates that a descent moves.
    fn free(&self) -> impl Iterator<Item = usize> {
        (0..self.start.len()).filter(|at| self.choices[*at].is_none())
    }

    fn step_evaluations(&self) -> usize {
        self.free().count() + DAMPINGS.len()
    }

    fn places(&self, points: Vec<Point>, evaluate: &mut impl Evaluate) -> Result<Vec<Place>, Error> {
        let residuals = evaluate(points.clone())?;
        let place = |(point, residuals)| Place { point, loss: loss(&residuals, self.weights), residuals };
        Ok(points.into_iter().zip(residuals).map(place).collect())
    }

    /// The choices of a point.
    fn chosen(&self, point: &Point) -> Vec<usize> {
        let number = |(x, choices): (&f64, &Option<usize>)| {
            choices.map(|choices| ((x * choices as f64) as usize).min(choices - 1))
        };
        point.iter().zip(self.choices).filter_map(number).collect()
    }

    /// The point with one choice different, in all ways.
    fn other_choices(&self, point: &Point) -> Vec<Point> {
        let mut points = Vec::new();
        for (at, choices) in self.choices.iter().enumerate() {
            for number in 0..choices.unwrap_or(0) {
                let x = (number as f64 + 0.5) / choices.unwrap_or(1) as f64;
                let mut other = point.clone();
                other[at] = x;
                if self.chosen(&other) != self.chosen(point) {
                    points.push(other);
                }
            }
        }
        points
    }

    /// Goes down this many steps, or until differences are small or no evaluations are left.
    fn descend(
        &self,
        descent: &mut Descent,
        steps: usize,
        left: &mut usize,
        evaluate: &mut impl Evaluate,
    ) -> Result<(), Error> {
        let mut steps = steps;
        let free: Vec<usize> = self.free().collect();
        let Descent { here, difference, flat } = descent;
        while steps > 0 && *left > 0 && *difference >= LAST_DIFFERENCE && here.loss >= EXACT && !free.is_empty() {
            let Some(known) = here.residuals.clone() else { break };
            let signed = |at: usize| if here.point[at] + *difference <= 1.0 { *difference } else { -*difference };
            let beside = free.iter().map(|at| moved(&here.point, &[(*at, signed(*at))])).collect();
            let beside = self.places(beside, evaluate)?;
            let columns = beside.iter().zip(&free).map(|(place, at)| {
                let slope = |(there, known): (&f64, &f64)| (there - known) / signed(*at);
                place
                    .residuals
                    .as_ref()
                    .map_or_else(|| vec![0.0; known.len()], |there| there.iter().zip(&known).map(slope).collect())
            });
            let columns: Matrix = columns.collect();
            *flat = free.iter().zip(&columns).filter(|(_, column)| self.is_flat(column)).map(|(at, _)| *at).collect();
            let weights: Vec<f64> =
                known.iter().zip(self.weights).map(|(residual, weight)| weight / residual.abs().max(SMALL)).collect();
            let trial = |damping: &f64| {
                let step = least_squares(&columns, &known, &weights, *damping);
                let moves: Vec<(usize, f64)> =
                    free.iter().zip(step).map(|(at, step)| (*at, (-step).clamp(-MOVE_MAX, MOVE_MAX))).collect();
                moved(&here.point, &moves)
            };
            let trials = self.places(DAMPINGS.iter().map(trial).collect(), evaluate)?;
            *left = left.saturating_sub(self.step_evaluations());
            steps -= 1;
            let before = here.loss;
            for place in beside.into_iter().chain(trials) {
                if place.loss < here.loss {
                    *here = place;
                }
            }
            if here.loss > before * 0.98 {
                *difference /= 2.0;
            }
        }
        Ok(())
    }

    /// Slopes that say that a parameter makes no difference.
    fn is_flat(&self, slopes: &[f64]) -> bool {
        slopes.iter().zip(self.weights).map(|(slope, weight)| slope.abs() * weight).sum::<f64>() < FLAT
    }
}

/// The point with another value of a parameter that makes no difference there, in all parts of its range.
fn other_values(end: &Descent) -> Vec<Point> {
    let point = &end.here.point;
    let part = |x: f64| ((x * PARTS as f64) as usize).min(PARTS - 1);
    let others = |at: &usize| {
        let (at, own) = (*at, part(point[*at]));
        (0..PARTS).filter(move |other| *other != own).map(move |other| {
            let mut point = point.clone();
            point[at] = (other as f64 + 0.5) / PARTS as f64;
            point
        })
    };
    end.flat.iter().flat_map(others).collect()
}

/// The point with some coordinates moved, inside the cube.
fn moved(point: &Point, moves: &[(usize, f64)]) -> Point {
    let mut point = point.clone();
    for (at, by) in moves {
        point[*at] = (point[*at] + by).clamp(0.0, 1.0);
    }
    point
}

/// Points one of which lies in each of as many equal parts of every coordinate as there are points.
fn hypercube(dimensions: usize, points: usize, random: &mut Random) -> Vec<Point> {
    let mut found = vec![Vec::with_capacity(dimensions); points];
    for _ in 0..dimensions {
        let mut cells: Vec<usize> = (0..points).collect();
        for last in (1..points).rev() {
            cells.swap(last, random.below(last + 1));
        }
        for (point, cell) in found.iter_mut().zip(cells) {
            point.push((cell as f64 + random.unit()) / points as f64);
        }
    }
    found
}

/// Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014).
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// From 0 to below 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// A number below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOAL: [f64; 4] = [0.31, 0.72, 0.55, 0.12];

    /// Sums and products of coordinates; the last coordinate is a choice of five, of which the first is right.
    fn residuals(point: &Point) -> Vec<f64> {
        let of = |x: &[f64]| [x[0] + 2.0 * x[1], x[0] * x[1] + x[1], (x[2] + 1.0).ln() + x[0], x[3].exp(), x[3] * x[2]];
        let wrong = f64::from(u8::from(point[4] >= 0.2));
        let pairs = of(point).into_iter().zip(of(&GOAL)).map(|(there, goal)| there - goal + wrong);
        pairs.collect()
    }

    fn search(seed: u64) -> (Vec<Point>, Point) {
        let (mut all, mut best) = (Vec::new(), (f64::INFINITY, Vec::new()));
        let weights = [0.2; 5];
        let choices = [None, None, None, None, Some(5)];
        let search = Search { seed, evaluations: 300, start: vec![0.9; 5], choices: &choices, weights: &weights };
        let mut evaluate = |points: Vec<Point>| {
            let found: Vec<Residuals> = points.iter().map(|point| Some(residuals(point))).collect();
            for (point, residuals) in points.into_iter().zip(&found) {
                let loss = loss(residuals, &weights);
                if loss < best.0 {
                    best = (loss, point.clone());
                }
                all.push(point);
            }
            Ok(found)
        };
        search.run(&mut evaluate).unwrap();
        (all, best.1)
    }

    #[test]
    fn search_finds_a_point_that_only_residuals_tell() {
        for seed in 1..6 {
            let (points, best) = search(seed);
            let error = best.iter().zip(GOAL).map(|(x, goal)| (x - goal).abs()).fold(0.0, f64::max);
            assert!(error < 0.01 && best[4] < 0.2, "seed {seed}: {best:?}");
            assert!(points.len() <= 320, "{}", points.len());
            assert!(points.iter().flatten().all(|x| (0.0..=1.0).contains(x)));
        }
    }

    /// Requests take what they take, and some of them what a small buffer adds; a large one adds nothing, whatever its size.
    fn buffered(point: &Point) -> Vec<f64> {
        let full = (0.4 - point[0]).max(0.0);
        let others = point[1..].iter().enumerate().map(|(at, x)| (x - 0.5) * (1.0 + at as f64 / 4.0));
        let tails = [full - 0.15, 2.0 * (full - 0.15) + point[1] - 0.5];
        others.chain(tails).collect()
    }

    #[test]
    fn search_leaves_a_place_where_a_parameter_makes_no_difference() {
        for seed in 1..6 {
            let mut best = (f64::INFINITY, Vec::new());
            let weights = [0.1; 13];
            let mut start = vec![0.52; 12];
            start[0] = 0.9;
            let search = Search { seed, evaluations: 400, start, choices: &[None; 12], weights: &weights };
            let mut evaluate = |points: Vec<Point>| {
                let found: Vec<Residuals> = points.iter().map(|point| Some(buffered(point))).collect();
                for (point, residuals) in points.into_iter().zip(&found) {
                    let loss = loss(residuals, &weights);
                    if loss < best.0 {
                        best = (loss, point);
                    }
                }
                Ok(found)
            };
            search.run(&mut evaluate).unwrap();
            assert!((best.1[0] - 0.25).abs() < 0.01, "seed {seed}: {best:?}");
        }
    }

    #[test]
    fn hypercube_has_one_point_in_each_slice() {
        let points = hypercube(3, 50, &mut Random(9));
        for at in 0..3 {
            let mut slices: Vec<usize> = points.iter().map(|point| (point[at] * 50.0) as usize).collect();
            slices.sort_unstable();
            assert_eq!(slices, (0..50).collect::<Vec<_>>());
        }
    }
}
