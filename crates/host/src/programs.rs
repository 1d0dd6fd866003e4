//! What is known of one program location.

use nandlab::types::Pattern;

/// Requests of a location between two judgements.
pub(crate) const JUDGED_EVERY: u32 = 16;
/// Streams of a location that are thought to be under way at once.
const RUNS: usize = 4;
/// Weight of a request that has just come. All weights are halved at every judgement, so that the last 32 requests count
/// most.
const WEIGHT: u32 = 1 << 16;
/// Fraction bits of means.
const FRACTION: u32 = 8;

/// A run under way.
#[derive(Clone, Copy, Default, Debug)]
struct RunLength {
    stream: u32,
    pages: u32,
}

/// A program location: what its requests were like lately.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    requests: u32,
    /// Weights: of all requests, of sequential ones, of those that touch a page that the location touched before.
    all: u32,
    sequential: u32,
    repeated: u32,
    pub pattern: Pattern,
    /// Runs under way, the one used last at the front.
    runs: [RunLength; RUNS],
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
        let at = self.runs.iter().position(|run| run.pages > 0 && run.stream == stream);
        let moved = at.unwrap_or(RUNS - 1);
        if at.is_none() && self.runs[moved].pages > 0 {
            self.run_mean = follow(self.run_mean, self.runs[moved].pages);
        }
        self.runs.copy_within(0..moved, 1);
        self.runs[0] = RunLength { stream, pages };
    }

    /// The pages of a stream grew because someone else went on with it.
    pub fn outgrow(&mut self, stream: u32, pages: u32) {
        let run = self.runs.iter_mut().find(|run| run.pages > 0 && run.stream == stream);
        if let Some(run) = run {
            run.pages = pages;
        }
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
        let longest_before = self.runs[1..].iter().map(|run| run.pages).max().unwrap_or(0);
        let mean = if self.run_mean > 0 { (self.run_mean + (1 << (FRACTION - 1))) >> FRACTION } else { longest_before };
        let so_far = self.runs[0].pages;
        if so_far >= mean { so_far.saturating_mul(2) } else { mean }
    }

    /// Mean requests of the host between two accesses to a page from here; 0 if there were none.
    pub fn period(&self) -> u32 {
        (self.period_mean + (1 << (FRACTION - 1))) >> FRACTION
    }
}
