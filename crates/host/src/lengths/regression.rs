//! The ten logistic regressions of URM.
//!
//! Each tells one region from all others: `g = W_a + W_b PC + W_c LBN + W_d AV`, and the region with the largest `g` is
//! predicted (equations 4 to 6 of the paper: the sigmoid grows with `g`). Trained apart from the replay, on requests whose
//! lengths are known, by Newton's method on the penalised likelihood. Inputs are standardised: raw PCs would swamp the rest.
//! The penalty (half the squared weights except for the constant one) keeps the weights finite where the data are separable.
//! Results are the same on every machine.

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use super::{CLASSES, RunFacts, class_of};
use crate::indicator::Indicator;

/// Weights of one regression: constant, PC, LBN, AV.
const INPUTS: usize = 4;
/// Steps of Newton's method at most; some ten are enough.
const STEPS: usize = 100;
/// The penalty on a squared weight, halved.
const PENALTY: f64 = 1.0;

/// Ten logistic regressions, as a small text file (TOML) keeps them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LengthModel {
    /// Version of the form: 2.
    version: u32,
    /// Pages of a region.
    region: u32,
    /// Requests that it was trained on.
    requests: u64,
    /// Hash (XXH3, 128 bits) of their inputs and regions.
    trained_on: String,
    /// Means of PC, LBN and AV.
    mean: [f64; INPUTS - 1],
    /// What they are divided by: their standard deviations.
    scale: [f64; INPUTS - 1],
    /// Of each region: constant, PC, LBN, AV.
    weights: [[f64; INPUTS]; CLASSES],
    /// How the PCs were made that it was trained on; others are other numbers.
    indicator: Indicator,
}

/// The raw inputs.
fn inputs(facts: &RunFacts) -> [f64; INPUTS - 1] {
    [f64::from(facts.pc), facts.page as f64, facts.mean]
}

fn dot(weights: &[f64; INPUTS], x: &[f64; INPUTS]) -> f64 {
    weights.iter().zip(x).fold(0.0, |sum, (w, x)| sum + w * x)
}

impl LengthModel {
    /// Pages of a region.
    pub fn region(&self) -> u32 {
        self.region
    }
    /// How the PCs were made that it was trained on.
    pub fn indicator(&self) -> Indicator {
        self.indicator
    }
    /// Requests that it was trained on.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Trains on requests, with PCs that `indicator` made, and the lengths that they turned out to have, in pages.
    pub fn train(samples: &[(RunFacts, u32)], region: u32, indicator: Indicator) -> Self {
        let mut hash = XxHash3_128::with_seed(0);
        let count = samples.len().max(1) as f64;
        let (mut mean, mut square) = ([0.0; INPUTS - 1], [0.0; INPUTS - 1]);
        for (facts, pages) in samples {
            for (at, x) in inputs(facts).into_iter().enumerate() {
                hash.write(&x.to_bits().to_le_bytes());
                mean[at] += x / count;
            }
            hash.write(&[class_of(*pages, region) as u8]);
        }
        for (facts, _) in samples {
            for (at, x) in inputs(facts).into_iter().enumerate() {
                square[at] += (x - mean[at]) * (x - mean[at]) / count;
            }
        }
        let scale = square.map(|square| if square > 0.0 { libm::sqrt(square) } else { 1.0 });
        let mut model = Self {
            version: 2,
            region,
            requests: samples.len() as u64,
            trained_on: format!("{:032x}", hash.finish_128()),
            mean,
            scale,
            weights: [[0.0; INPUTS]; CLASSES],
            indicator,
        };
        let rows: Vec<_> =
            samples.iter().map(|(facts, pages)| (model.standardised(facts), class_of(*pages, region))).collect();
        for class in 0..CLASSES {
            model.weights[class] = regress(&rows, class);
        }
        model
    }

    fn standardised(&self, facts: &RunFacts) -> [f64; INPUTS] {
        let mut x = [1.0; INPUTS];
        for (at, raw) in inputs(facts).into_iter().enumerate() {
            x[at + 1] = (raw - self.mean[at]) / self.scale[at];
        }
        x
    }

    /// The region that is predicted, 0 to 9; the first of several with the same value.
    fn class(&self, facts: &RunFacts) -> usize {
        let x = self.standardised(facts);
        let mut best = 0;
        let values = self.weights.map(|weights| dot(&weights, &x));
        for class in 1..CLASSES {
            if values[class] > values[best] {
                best = class;
            }
        }
        best
    }

    /// The length that is predicted, in pages: whole regions.
    pub(crate) fn pages(&self, facts: &RunFacts) -> u32 {
        (self.class(facts) as u32 + 1).saturating_mul(self.region)
    }

    /// Reads a model.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let model: Self = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        if model.version != 2 {
            return Err(format!("version is {}, and this nandlab reads version 2", model.version));
        }
        let numbers = model.mean.iter().chain(&model.scale).chain(model.weights.iter().flatten());
        if model.region == 0 || numbers.clone().any(|number| !number.is_finite()) || model.scale.contains(&0.0) {
            return Err("region and scale must not be 0, and all numbers finite".to_owned());
        }
        Ok(model)
    }

    /// The model as text.
    ///
    /// # Panics
    /// Never: every field has a form in TOML.
    pub fn text(&self) -> String {
        let head = "# Ten logistic regressions for the length of mapping prefetches, by `nandlab trace lengths`.\n";
        format!("{head}{}", toml::to_string(self).expect("numbers and text"))
    }
}

/// log(1 + exp(x)) without overflow.
fn softplus(x: f64) -> f64 {
    if x > 0.0 { x + libm::log1p(libm::exp(-x)) } else { libm::log1p(libm::exp(x)) }
}

/// What is minimised: minus the log of the likelihood, and the penalty.
fn loss(rows: &[([f64; INPUTS], usize)], class: usize, weights: &[f64; INPUTS]) -> f64 {
    let penalty = weights[1..].iter().fold(0.0, |sum, w| sum + w * w) * PENALTY / 2.0;
    rows.iter().fold(penalty, |sum, (x, c)| {
        let g = dot(weights, x);
        sum + softplus(g) - if *c == class { g } else { 0.0 }
    })
}

/// The weights that tell a class from all others.
fn regress(rows: &[([f64; INPUTS], usize)], class: usize) -> [f64; INPUTS] {
    let members = rows.iter().filter(|(_, c)| *c == class).count() as f64;
    // The log of the odds with a half to spare: finite for a class that no request or every request is in.
    let mut weights = [0.0; INPUTS];
    weights[0] = libm::log((members + 0.5) / (rows.len() as f64 - members + 0.5));
    if members == 0.0 || members == rows.len() as f64 {
        return weights;
    }
    let mut best = loss(rows, class, &weights);
    for _ in 0..STEPS {
        let Some(step) = newton_step(rows, class, &weights) else { break };
        let mut share = 1.0;
        let improved = loop {
            let mut tried = weights;
            tried.iter_mut().zip(step).for_each(|(w, step)| *w -= share * step);
            let value = loss(rows, class, &tried);
            if value < best {
                break Some((tried, value));
            }
            share /= 2.0;
            if share < 1e-6 {
                break None;
            }
        };
        let Some((tried, value)) = improved else { break };
        let gain = best - value;
        (weights, best) = (tried, value);
        if gain <= 1e-12 * best {
            break;
        }
    }
    weights
}

/// The gradient divided by the matrix of second derivatives; `None` if that cannot be inverted.
fn newton_step(rows: &[([f64; INPUTS], usize)], class: usize, weights: &[f64; INPUTS]) -> Option<[f64; INPUTS]> {
    // One row of the linear system each: second derivatives and, in the last column, the gradient.
    let mut system = [[0.0; INPUTS + 1]; INPUTS];
    for at in 1..INPUTS {
        system[at][at] = PENALTY;
        system[at][INPUTS] = PENALTY * weights[at];
    }
    for (x, c) in rows {
        let p = 1.0 / (1.0 + libm::exp(-dot(weights, x)));
        let error = p - f64::from(u8::from(*c == class));
        for row in 0..INPUTS {
            system[row][INPUTS] += error * x[row];
            for column in 0..INPUTS {
                system[row][column] += p * (1.0 - p) * x[row] * x[column];
            }
        }
    }
    solve(system)
}

/// Solves a linear system by elimination with pivots.
fn solve(mut system: [[f64; INPUTS + 1]; INPUTS]) -> Option<[f64; INPUTS]> {
    for column in 0..INPUTS {
        let pivot = (column..INPUTS).max_by(|a, b| system[*a][column].abs().total_cmp(&system[*b][column].abs()))?;
        system.swap(column, pivot);
        if system[column][column].abs() < 1e-300 {
            return None;
        }
        for row in (0..INPUTS).filter(|row| *row != column) {
            let factor = system[row][column] / system[column][column];
            let pivot = system[column];
            for (number, above) in system[row].iter_mut().zip(pivot).skip(column) {
                *number -= factor * above;
            }
        }
    }
    let mut solution = [0.0; INPUTS];
    for (row, x) in solution.iter_mut().enumerate() {
        *x = system[row][INPUTS] / system[row][row];
    }
    Some(solution)
}
