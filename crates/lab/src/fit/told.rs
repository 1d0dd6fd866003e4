//! Which parameters the data tells: how far each may go before the loss rises, while the others make up for it.
//!
//! A profile, as of a likelihood (Raue and others: Structural and practical identifiability analysis of partially observed
//! dynamical models by exploiting the profile likelihood, Bioinformatics 25, 2009): a parameter is set to other values, and
//! the others are fitted again, here by two steps of least squares with the derivatives at the best point.

use serde::Serialize;

use super::linear::{Matrix, least_squares};
use super::parameter::{FitParameter, FitRange, FitUnit};
use super::search::{Evaluate, Point};
use crate::error::Error;

/// Factors of the best value that are tried.
const FACTORS: [f64; 6] = [0.5, 0.8, 0.9, 1.1, 1.25, 2.0];
/// Profiles at most: one that finds a better point than the one around which it lies is made again around that.
pub(super) const PROFILES: usize = 5;
/// Simulations for each parameter and profile, about.
pub(super) const PROBES: usize = 2 + 3 * FACTORS.len();
/// A value is found if none beyond these factors of it does as well ...
const FOUND: (f64, f64) = (0.81, 1.24);
/// ... and found roughly if none beyond these does.
const ROUGHLY: (f64, f64) = (0.51, 1.99);
/// Derivatives are differences between this factor of the best value and its inverse.
const BESIDE: f64 = 1.05;
/// Keeps steps along which nothing changes short.
const DAMPING: f64 = 1e-3;
/// A residual below this weighs no more than one of it.
const SMALL: f64 = 0.01;

/// How well the data tells a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// Its value: less than 0.8 and more than 1.25 times it are worse; of choices all others are.
    Found,
    /// Its value, within a factor of two.
    Roughly,
    /// It is not less than `low`; much more does as well.
    AtLeast,
    /// It is not more than `high`; much less does as well.
    AtMost,
    /// Some of the choices are as good as the best.
    SomeOf,
    /// Nothing: whatever its value, the loss is the same; or no other value could be simulated.
    Nothing,
}

/// A parameter and what the data tells of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FittedParameter {
    /// Its key.
    pub key: String,
    /// The best value, as it is shown: times and sizes with their units.
    pub value: String,
    /// How well the data tells it.
    pub told: Told,
    /// The least value that does as well, as it is shown; of choices nothing.
    pub low: String,
    /// The greatest value that does as well; of choices nothing.
    pub high: String,
    /// The choices that do as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The best value is a bound of its range: the drive's may lie beyond.
    pub at_bound: bool,
    /// The best value in short: of a choice among tables only the keys in which they differ.
    #[serde(skip)]
    pub short: String,
    /// [`Self::choices`] in the same form.
    #[serde(skip)]
    pub short_choices: Vec<String>,
    /// The best value as a number: ns, bytes, bytes a second; of choices the place in the list.
    pub number: f64,
}

/// Choices in short: of tables only the keys in which they differ, as `key=value`.
fn in_short(choices: &[String]) -> Vec<String> {
    let table = |choice: &String| -> Option<toml::Table> {
        let parsed: toml::Table = toml::from_str(&format!("v = {choice}")).ok()?;
        parsed.get("v")?.as_table().cloned()
    };
    let Some(tables) = choices.iter().map(table).collect::<Option<Vec<toml::Table>>>() else { return choices.to_vec() };
    let differs = |key: &String| tables.iter().any(|table| table.get(key) != tables[0].get(key));
    let word = |(key, value): (&String, &toml::Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{key}={value}")
    };
    let short =
        |table: &toml::Table| table.iter().filter(|(key, _)| differs(key)).map(word).collect::<Vec<_>>().join(" ");
    tables.iter().map(short).collect()
}

/// The value that is tried for a factor of another one: the nearest possible one, but not the same where there is one beyond.
/// Around 0, which every factor leaves as it is, it is that part of the range.
fn other_value(parameter: &FitParameter, value: f64, factor: f64) -> f64 {
    let FitRange::Between { high, unit, .. } = parameter.range else { return value };
    let other = if value > 0.0 { factor * value } else { (factor - 1.0).max(0.0) * high };
    parameter.within(match unit {
        FitUnit::Whole if factor < 1.0 => other.floor(),
        FitUnit::Whole => other.ceil(),
        _ => other,
    })
}

/// Simulates points around one that tell which parameters matter. By parameter: another value of it could be simulated.
///
/// # Errors
/// Those of an evaluation.
pub(super) fn profile(
    parameters: &[FitParameter],
    best: &Point,
    residuals: &[f64],
    weights: &[f64],
    evaluate: &mut impl Evaluate,
) -> Result<Vec<bool>, Error> {
    let values: Vec<f64> = parameters.iter().zip(best).map(|(parameter, x)| parameter.value(*x)).collect();
    let point_of = |values: &[f64]| -> Point {
        parameters.iter().zip(values).map(|(parameter, value)| parameter.coordinate(*value)).collect()
    };
    let with = |values: &[f64], at: usize, value: f64| {
        let mut values = values.to_vec();
        values[at] = parameters[at].within(value);
        values
    };
    let is_number = |at: &usize| matches!(parameters[*at].range, FitRange::Between { .. });
    let numbers: Vec<usize> = (0..values.len()).filter(is_number).collect();
    // Derivatives, by parts of the best values: what a request costs is a sum of them.
    let beside = |at: &usize| [BESIDE, 1.0 / BESIDE].map(|factor| with(&values, *at, values[*at] * factor));
    let beside: Vec<Vec<f64>> = numbers.iter().flat_map(beside).collect();
    let found = evaluate(beside.iter().map(|values| point_of(values)).collect())?;
    let column = |(n, at): (usize, &usize)| {
        let apart = (beside[2 * n][*at] - beside[2 * n + 1][*at]) / values[*at];
        match (&found[2 * n], &found[2 * n + 1]) {
            (Some(up), Some(down)) if apart > 0.0 => {
                up.iter().zip(down).map(|(up, down)| (up - down) / apart).collect()
            }
            _ => vec![0.0; residuals.len()],
        }
    };
    let columns: Matrix = numbers.iter().enumerate().map(column).collect();
    let firm: Vec<f64> =
        residuals.iter().zip(weights).map(|(residual, weight)| weight / residual.abs().max(SMALL)).collect();
    // What the others than `fixed` do about residuals.
    let made_up = |from: &[f64], fixed: usize, residuals: &[f64]| {
        let (others, slopes): (Vec<usize>, Matrix) = numbers
            .iter()
            .zip(&columns)
            .filter(|(at, _)| **at != fixed)
            .map(|(at, slope)| (*at, slope.clone()))
            .unzip();
        let step = least_squares(&slopes, residuals, &firm, DAMPING);
        others
            .iter()
            .zip(step)
            .fold(from.to_vec(), |moved, (at, step)| with(&moved, *at, from[*at] - step * values[*at]))
    };
    // Other values, first with all else as it is.
    let mut tried: Vec<(usize, Vec<f64>)> = Vec::new();
    for (at, parameter) in parameters.iter().enumerate() {
        let others: Vec<f64> = match &parameter.range {
            FitRange::Choice(choices) => (0..choices.len()).map(|number| number as f64).collect(),
            FitRange::Between { .. } => {
                let mut others = FACTORS.map(|factor| other_value(parameter, values[at], factor)).to_vec();
                others.dedup();
                others
            }
        };
        let others = others.into_iter().filter(|other| *other != values[at]);
        tried.extend(others.map(|other| (at, with(&values, at, other))));
    }
    let mut found = evaluate(tried.iter().map(|(_, values)| point_of(values)).collect())?;
    let could = |at| tried.iter().zip(&found).any(|((other, _), residuals)| *other == at && residuals.is_some());
    let is_tried = (0..parameters.len()).map(could).collect();
    for _ in 0..2 {
        for ((at, values), residuals) in tried.iter_mut().zip(&found) {
            if let Some(residuals) = residuals {
                *values = made_up(values, *at, residuals);
            }
        }
        found = evaluate(tried.iter().map(|(_, values)| point_of(values)).collect())?;
    }
    Ok(is_tried)
}

/// What points that do as well as the profiled one tell of a parameter, of which the best value is said. If no other could be
/// tried, that one is a matter of the base, not of the data.
pub(super) fn judge(
    parameter: &FitParameter,
    at: usize,
    best: &Point,
    profiled: &Point,
    as_good: &[&Point],
    is_tried: bool,
) -> FittedParameter {
    let (best, value) = (parameter.value(best[at]), parameter.value(profiled[at]));
    let values = || as_good.iter().map(|point| parameter.value(point[at])).chain([value]);
    let (low, high) = values().fold((value, value), |(low, high), value| (low.min(value), high.max(value)));
    let (told, low, high, good, at_bound) = match &parameter.range {
        FitRange::Choice(choices) => {
            let mut good: Vec<usize> = values().map(|value| value as usize).collect();
            good.sort_unstable();
            good.dedup();
            let told = match good.len() {
                1 => Told::Found,
                n if n == choices.len() => Told::Nothing,
                _ => Told::SomeOf,
            };
            (told, String::new(), String::new(), good, false)
        }
        FitRange::Between { low: least, high: most, .. } => {
            let (at_low, at_high) = (best <= least * 1.01, best >= most * 0.99);
            // A side whose bound does as well is open, however near it is.
            let open_below = low <= value * ROUGHLY.0 || low <= least * 1.01;
            let twice = (value * ROUGHLY.1).max(other_value(parameter, value, 2.0) * 0.99);
            let open_above = high >= twice || high >= most * 0.99;
            let is_found = low > value * FOUND.0 && high < value * FOUND.1;
            let told = match (open_below, open_above) {
                (true, true) => Told::Nothing,
                (true, false) => Told::AtMost,
                (false, true) => Told::AtLeast,
                (false, false) if is_found => Told::Found,
                (false, false) => Told::Roughly,
            };
            (told, parameter.shown(low), parameter.shown(high), Vec::new(), at_low || at_high)
        }
    };
    let (all, short) = match &parameter.range {
        FitRange::Choice(choices) => (choices.clone(), in_short(choices)),
        FitRange::Between { .. } => (Vec::new(), Vec::new()),
    };
    let those = |all: &[String]| good.iter().map(|number| all[*number].clone()).collect();
    FittedParameter {
        key: parameter.key.clone(),
        value: parameter.shown(best),
        told: if is_tried { told } else { Told::Nothing },
        low,
        high,
        choices: those(&all),
        at_bound,
        short: short.get(best as usize).cloned().unwrap_or_else(|| parameter.shown(best)),
        short_choices: those(&short),
        number: best,
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::{Residuals, loss};
    use super::*;

    /// What a profile around these values tells of parameters, of which `residual` says what values give; an infinite one cannot
    /// be simulated.
    fn told(parameters: &[&str], values: &[f64], residual: fn(&[f64]) -> f64) -> Vec<Told> {
        let parameters: Vec<FitParameter> = parameters.iter().map(|text| FitParameter::read(text).unwrap()).collect();
        let values_of = |point: &Point| -> Vec<f64> {
            parameters.iter().zip(point).map(|(parameter, x)| parameter.value(*x)).collect()
        };
        let best: Point =
            parameters.iter().zip(values).map(|(parameter, value)| parameter.coordinate(*value)).collect();
        let mut as_good = Vec::new();
        let mut evaluate = |points: Vec<Point>| {
            let residuals = |point: &Point| vec![residual(&values_of(point))];
            let found: Vec<Residuals> =
                points.iter().map(residuals).map(|found| found[0].is_finite().then_some(found)).collect();
            let good = points.into_iter().zip(&found).filter(|(_, residuals)| loss(residuals, &[1.0]) < 0.005);
            as_good.extend(good.map(|(point, _)| point));
            Ok(found)
        };
        let tried = profile(&parameters, &best, &[residual(values)], &[1.0], &mut evaluate).unwrap();
        let as_good: Vec<&Point> = as_good.iter().collect();
        let judged = |(at, parameter)| judge(parameter, at, &best, &best, &as_good, tried[at]).told;
        parameters.iter().enumerate().map(judged).collect()
    }

    #[test]
    fn whole_number_without_effect_is_not_told_and_one_with_effect_is() {
        for value in 2..=8 {
            let values = [f64::from(value)];
            assert_eq!(told(&["a=1..9"], &values, |_| 0.0), [Told::Nothing], "{value}");
        }
        assert_eq!(told(&["a=0..9"], &[3.0], |values| values[0] - 3.0), [Told::Found]);
        assert_eq!(told(&["a=0..9"], &[1.0], |values| values[0] - 1.0), [Told::Found]);
    }

    #[test]
    fn nought_is_told_if_more_is_worse() {
        assert_eq!(told(&["a=0us..50us"], &[0.0], |values| values[0]), [Told::AtMost]);
        assert_eq!(told(&["a=0us..50us"], &[0.0], |_| 0.0), [Told::Nothing]);
    }

    #[test]
    fn value_that_no_other_could_replace_is_not_told() {
        let only = |values: &[f64]| if values[0] == 5.0 { values[1] - 20e3 } else { f64::INFINITY };
        assert_eq!(told(&["a=1..9", "b=1us..1ms"], &[5.0, 20e3], only), [Told::Nothing, Told::Found]);
        let first = |values: &[f64]| if values[0] == 0.0 { 0.0 } else { f64::INFINITY };
        assert_eq!(told(&["a=x|y|z"], &[0.0], first), [Told::Nothing]);
        // One other is enough to tell.
        let two = |values: &[f64]| if values[0] == 2.0 { f64::INFINITY } else { values[0] };
        assert_eq!(told(&["a=x|y|z"], &[0.0], two), [Told::Found]);
    }

    #[test]
    fn choice_among_tables_is_said_by_the_keys_that_differ() {
        let tables = [r#"{ a = 1, policy = "fifo" }"#, r#"{ a = 1, policy = "read_first", wait = "5us" }"#];
        assert_eq!(in_short(&tables.map(str::to_owned)), ["policy=fifo", "policy=read_first wait=5us"]);
        let words = ["4", "none"].map(str::to_owned);
        assert_eq!(in_short(&words), words);
    }

    #[test]
    fn best_value_beside_the_profiled_one_is_judged_with_it() {
        let parameter = FitParameter::read("a=1us..1s").unwrap();
        let point = |value: f64| vec![parameter.coordinate(value)];
        let (profiled, best, half, twice) = (point(1e6), point(3e6), point(0.5e6), point(2e6));
        let judged = judge(&parameter, 0, &best, &profiled, &[&profiled, &best, &half, &twice], true);
        assert_eq!((judged.told, judged.value.as_str(), judged.high.as_str()), (Told::Nothing, "3ms", "3ms"));
    }
}
