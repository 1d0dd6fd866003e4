//! What is known of one program location.

use nandlab::types::Pattern;

use crate::runs::RunsUnderWay;

/// Requests of a location between two judgements.
pub(crate) const JUDGED_EVERY: u32 = 16;
/// Weight of a request that has just come. All weights are halved at every judgement, so that the last 32 requests count
/// most.
const WEIGHT: u32 = 1 << 16;
/// Fraction bits of means.
const FRACTION: u32 = 8;

/// A program location: what its requests were like lately.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    requests: u32,
    /// Weights: of all requests, of sequential ones, of those that touch a page that the location touched before.
    all: u32,
    sequential: u32,
    repeated: u32,
    pub pattern: Pattern,
    runs: RunsUnderWay,
    /// Mean pages of a run, with [`FRACTION`] bits; 0 = no run has ended yet.
    run_mean: u32,
    /// Mean requests between two accesses to a page, with [`FRACTION`] bits; 0 = none was accessed again.
    period_mean: u32,
}

/// A mean that follows its samples: an eighth of the way to each, all the way to the first.
fn follow(mean: u32, sample: u32) -> u32 {
    let sample = i64::from(sample.min(u32::MAX >> FRACTION) << FRACTION);
    let step = (sample - i64::from(mean)) / 8;
    if mean == 0 { sample as u32 } else { (i64::from(mean) + step).max(1) as u32 }
}

impl Program {
    /// A request was sequential, as is known now.
    pub fn credit(&mut self) {
        self.sequential += WEIGHT;
    }

    /// A stream of the location has this many pages now.
    pub fn run(&mut self, stream: u32, pages: u32) {
        if let Some(ended) = self.runs.run(stream, pages) {
            self.run_mean = follow(self.run_mean, ended);
        }
    }

    /// The pages of a stream grew because someone else went on with it.
    pub fn outgrow(&mut self, stream: u32, pages: u32) {
        self.runs.outgrow(stream, pages);
    }

    /// A request; `since`: requests of the host since its first page was accessed from here.
    pub fn request(&mut self, is_sequential: bool, is_repeated: bool, since: Option<u32>) {
        self.all += WEIGHT;
        self.sequential += if is_sequential { WEIGHT } else { 0 };
        self.repeated += if is_repeated { WEIGHT } else { 0 };
        if let Some(since) = since {
            self.period_mean = follow(self.period_mean, since);
        }
        self.requests = self.requests.wrapping_add(1);
        if self.requests.is_multiple_of(JUDGED_EVERY) {
            self.judge();
        }
    }

    /// Looping and clustered: three of ten requests repeat; looping and sequential: half of them are sequential.
    fn judge(&mut self) {
        let repeats = u64::from(self.repeated) * 10 >= u64::from(self.all) * 3;
        let runs = u64::from(self.sequential) * 2 >= u64::from(self.all);
        self.pattern = match (repeats, runs) {
            (true, true) => Pattern::Looping,
            (true, false) => Pattern::ClusteredHot,
            (false, true) => Pattern::Sequential,
            (false, false) => Pattern::Random,
        };
        for weight in [&mut self.all, &mut self.sequential, &mut self.repeated] {
            *weight /= 2;
        }
    }

    /// Pages that the run of the latest request is expected to have from its first page on: the mean, or, once it is longer
    /// than that, twice what it has.
    pub fn expected_run(&self) -> u32 {
        let rounded = (self.run_mean + (1 << (FRACTION - 1))) >> FRACTION;
        let mean = if self.run_mean > 0 { rounded } else { self.runs.longest_before() };
        let so_far = self.runs.latest();
        if so_far >= mean { so_far.saturating_mul(2) } else { mean }
    }

    /// Mean requests of the host between two accesses to a page from here; 0 if there were none.
    pub fn period(&self) -> u32 {
        (self.period_mean + (1 << (FRACTION - 1))) >> FRACTION
    }
}
