//! How far simulated times are from recorded ones.

use serde::Serialize;

use super::sample::{KINDS, Percentile, Sample, Subset, log_ratio, mean};

/// The percentiles that are reported.
const PERCENTILES: [f64; 3] = [50.0, 95.0, 99.0];

/// A percentile of a kind of requests, recorded and simulated.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct FitError {
    /// Of the part that the search did not see.
    pub held_out: bool,
    /// `reads`, `writes` or `flushes`.
    pub kind: &'static str,
    /// The percentile: 50, 95 or 99.
    pub percentile: f64,
    /// Requests with a recorded latency.
    pub requests: usize,
    /// Recorded, ns; of several jobs the geometric mean.
    pub recorded_ns: f64,
    /// Simulated, ns; of several jobs the geometric mean.
    pub simulated_ns: f64,
    /// How many times one is the other, less 1: 0.25 is a quarter too long, or too short by a fifth. Of several jobs from the
    /// mean absolute logarithm.
    pub error: f64,
}

/// The errors of samples with the responses of their requests.
pub(super) fn errors(samples: &[(&Sample, Vec<u64>)]) -> Vec<FitError> {
    let mut found = Vec::new();
    for held_out in [false, true] {
        for (kind, _) in KINDS {
            let of = |(sample, times): &(&Sample, Vec<u64>)| {
                let groups = sample.groups.iter();
                let groups = groups
                    .filter(|group| group.kind == kind && group.held_out == held_out && group.subset == Subset::All);
                groups.map(|group| (group.recorded.clone(), group.sorted(times))).collect::<Vec<_>>()
            };
            let groups: Vec<_> = samples.iter().flat_map(of).collect();
            for percentile in PERCENTILES {
                let what = Percentile(percentile);
                let pairs: Vec<(f64, f64)> = groups
                    .iter()
                    .filter_map(|(recorded, times)| {
                        let recorded = recorded.iter().find(|(known, _)| *known == what)?.1;
                        Some((recorded, what.of(times)))
                    })
                    .collect();
                if pairs.is_empty() {
                    continue;
                }
                let geometric =
                    |pick: fn(&(f64, f64)) -> f64| mean(pairs.iter().map(|pair| pick(pair).max(1.0).ln())).exp();
                let off = mean(pairs.iter().map(|(recorded, simulated)| log_ratio(*simulated, *recorded).abs()));
                found.push(FitError {
                    held_out,
                    kind,
                    percentile,
                    requests: groups.iter().map(|(_, times)| times.len()).sum(),
                    recorded_ns: geometric(|pair| pair.0),
                    simulated_ns: geometric(|pair| pair.1),
                    error: off.exp_m1(),
                });
            }
        }
    }
    found
}
