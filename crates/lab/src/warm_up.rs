//! What of a run is not measured: a number of requests at its beginning, given or found by a rule.

use nandlab::types::Nanos;
use serde::{Deserialize, Serialize};

use crate::word::Word;

/// The name of the rule.
const MSER_5: &str = "mser-5";
/// Requests whose mean is one value of the rule.
const BATCH_OF_RULE: u64 = 5;

/// How many requests at the beginning of a workload bring the device into its state and are not measured. As TOML a number or
/// `"mser-5"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Given", into = "Given")]
pub enum WarmUp {
    /// That many.
    Requests(u64),
    /// As many as leave the mean response time known best: for every number of means of five requests that could be cut, the
    /// squared standard error of the mean of the others is estimated as if they were independent, and the least one wins. The
    /// workload runs twice: once for the rule, once for the result. At most half of the requests is cut.
    ///
    /// K. Preston White Jr., "An effective truncation heuristic for bias reduction in simulation output", Simulation 69(6), 1997;
    /// in batches of five: K. Preston White Jr., Michael J. Cobb and Stephen C. Spratt, "A comparison of five steady-state
    /// truncation heuristics for simulation", Winter Simulation Conference 2000.
    Mser5,
}

/// A warm-up as it is written.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number of requests, or \"mser-5\"")]
enum Given {
    Number(u64),
    Text(String),
}

impl TryFrom<Given> for WarmUp {
    type Error = String;

    fn try_from(given: Given) -> Result<Self, String> {
        match given {
            Given::Number(requests) => Ok(Self::Requests(requests)),
            Given::Text(text) => Self::read(&text),
        }
    }
}

impl From<WarmUp> for Given {
    fn from(warm_up: WarmUp) -> Self {
        match warm_up {
            WarmUp::Requests(requests) => Self::Number(requests),
            WarmUp::Mser5 => Self::Text(MSER_5.to_owned()),
        }
    }
}

impl Word for WarmUp {
    fn read(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(requests) => Ok(Self::Requests(requests)),
            Err(_) if text == MSER_5 => Ok(Self::Mser5),
            Err(_) => Err(format!("`{text}` is not a warm-up: give a number of requests, or {MSER_5}")),
        }
    }
    fn word(&self) -> String {
        match self {
            Self::Requests(requests) => requests.to_string(),
            Self::Mser5 => MSER_5.to_owned(),
        }
    }
}

/// The response times of a run for the rule, 8 bytes for five requests.
#[derive(Debug, Default)]
pub(crate) struct Mser5 {
    means: Vec<f64>,
    /// Of the batch that is not full.
    sum: u64,
    count: u64,
}

/// What the rule found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FoundCut {
    /// Requests at the beginning.
    pub(crate) requests: u64,
    /// More than half would have to be cut, as far as can be seen: the run is too short, or never comes to rest.
    pub(crate) is_at_bound: bool,
}

impl Mser5 {
    /// Adds the next request.
    pub(crate) fn add(&mut self, response: Nanos) {
        self.sum = self.sum.saturating_add(response.0);
        self.count += 1;
        if self.count == BATCH_OF_RULE {
            self.means.push(self.sum as f64 / BATCH_OF_RULE as f64);
            (self.sum, self.count) = (0, 0);
        }
    }

    /// Where to cut; of equally good places the first.
    pub(crate) fn cut(&self) -> FoundCut {
        let last = self.means.len() / 2;
        // Mean and sum of squared deviations of what is left, from the end on (Welford, Technometrics 4(3), 1962).
        let (mut mean, mut squares, mut left) = (0.0, 0.0, 0.0);
        let (mut best, mut least) = (0, f64::INFINITY);
        for (number, value) in self.means.iter().enumerate().rev() {
            left += 1.0;
            let off = value - mean;
            mean += off / left;
            squares += off * (value - mean);
            let error = squares / (left * left);
            if number <= last && error <= least {
                (best, least) = (number, error);
            }
        }
        FoundCut { requests: best as u64 * BATCH_OF_RULE, is_at_bound: best > 0 && best == last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from 0 to 999 without order: multiplicative congruences (Park and Miller, CACM 31(10), 1988).
    fn noise(count: usize) -> impl Iterator<Item = u64> {
        let mut state = 42_u64;
        (0..count).map(move |_| {
            state = state * 48_271 % 0x7fff_ffff;
            state % 1_000
        })
    }

    fn cut(series: impl Iterator<Item = u64>) -> FoundCut {
        let mut rule = Mser5::default();
        series.for_each(|value| rule.add(Nanos(value)));
        rule.cut()
    }

    #[test]
    fn step_is_cut_where_it_is() {
        for (length, step) in [(1_000, 100), (1_000, 250), (10_000, 4_000)] {
            let series = noise(length).enumerate().map(|(at, value)| if at < step { 5_000 + value } else { value });
            let found = cut(series);
            // By chance the first batches behind it are a little higher than the others.
            let behind = found.requests.checked_sub(step as u64);
            assert!(behind.is_some_and(|behind| behind <= 25) && !found.is_at_bound, "{step} of {length}: {found:?}");
        }
    }

    #[test]
    fn ramp_is_cut_near_its_end() {
        // From 20,000 down to 0 within 2,000 requests: what is left of it at 1,900 is as large as the noise.
        let series = noise(20_000).enumerate().map(|(at, value)| value + 20_000_u64.saturating_sub(10 * at as u64));
        let found = cut(series);
        assert!((1_800..=2_000).contains(&found.requests) && !found.is_at_bound, "{found:?}");
    }

    #[test]
    fn rest_is_not_cut() {
        assert_eq!(cut(std::iter::repeat_n(7, 1_000)).requests, 0, "nothing varies");
        assert!(cut(noise(100_000)).requests < 10_000, "{:?}", cut(noise(100_000)));
        for short in 0..10 {
            assert_eq!(cut(std::iter::repeat_n(7, short)), FoundCut { requests: 0, is_at_bound: false });
        }
    }

    #[test]
    fn run_that_never_rests_is_told() {
        let rising = cut((0..10_000).map(|at| at * 100));
        assert_eq!(rising, FoundCut { requests: 5_000, is_at_bound: true });
    }

    #[test]
    fn rule_agrees_with_its_definition() {
        let values: Vec<u64> = noise(200).enumerate().map(|(at, value)| value + 3_000 / (at as u64 + 1)).collect();
        let means: Vec<f64> = values.chunks(5).map(|batch| batch.iter().sum::<u64>() as f64 / 5.0).collect();
        let error = |cut: usize| {
            let left = &means[cut..];
            let mean = left.iter().sum::<f64>() / left.len() as f64;
            left.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (left.len() as f64).powi(2)
        };
        let best = (0..=means.len() / 2).min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap();
        assert_eq!(cut(values.into_iter()).requests, 5 * best as u64);
    }

    #[test]
    fn warm_up_is_a_number_or_the_rule() {
        #[derive(Deserialize)]
        struct File {
            warm_up: WarmUp,
        }
        let read = |text: &str| toml::from_str::<File>(text).map(|file| file.warm_up);
        assert_eq!(read("warm_up = 7"), Ok(WarmUp::Requests(7)));
        assert_eq!(read("warm_up = 'mser-5'"), Ok(WarmUp::Mser5));
        assert!(read("warm_up = 'mser'").unwrap_err().to_string().contains("a number of requests, or mser-5"));
    }
}
