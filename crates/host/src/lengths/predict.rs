//! Predicting lengths, and judging predictions.

use nandlab::types::{Hint, Pattern};
use serde::Serialize;

use super::regression::LengthModel;
use super::{CLASSES, REGION_PAGES, RunFacts, class_of};
use crate::indicator::Indicator;

/// From where the lengths of mapping prefetches come.
#[derive(Clone, Debug)]
pub enum MappingLengths {
    /// The mean of the location's runs so far.
    Mean,
    /// The location's run before.
    Last,
    /// Regressions.
    Model(Box<LengthModel>),
    /// What the runs turn out to have: pages of each request in the order of the trace (0 for one without a length).
    Actual(Vec<u32>),
}

impl MappingLengths {
    /// Pages of a region.
    fn region(&self) -> u32 {
        if let Self::Model(model) = self { model.region() } else { REGION_PAGES }
    }

    /// Mappings that request `number` (from 0) is said to need: whole regions for a sequential or looping one, its own pages
    /// for others.
    pub(crate) fn mappings(&self, number: u64, facts: &RunFacts, pattern: Pattern) -> u16 {
        let pages = match self {
            _ if !has_runs(pattern) => return to_mappings(facts.pages),
            Self::Mean => libm::round(facts.mean) as u32,
            Self::Last => facts.last,
            Self::Model(model) => model.pages(facts),
            Self::Actual(pages) => usize::try_from(number).ok().and_then(|at| pages.get(at).copied()).unwrap_or(0),
        };
        let region = self.region();
        to_mappings((class_of(pages.max(facts.pages), region) as u32 + 1).saturating_mul(region))
    }
}

fn to_mappings(pages: u32) -> u16 {
    u16::try_from(pages).unwrap_or(u16::MAX)
}

/// Runs are predicted for these only.
fn has_runs(pattern: Pattern) -> bool {
    matches!(pattern, Pattern::Sequential | Pattern::Looping)
}

/// The runs of a whole trace: what was known of each request, and how long its run turned out to be.
#[derive(Clone, Debug, Default)]
pub struct LengthSurvey {
    /// How the PCs are made.
    indicator: Indicator,
    /// Of each request of the trace, if it has a length.
    requests: Vec<Option<(RunFacts, bool)>>,
    /// Pages of each run, by its number.
    runs: Vec<u32>,
}

/// How often a prediction is right.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LengthRow {
    /// What predicts.
    pub predictor: &'static str,
    /// Share of the judged requests whose region is predicted.
    pub right_percent: f64,
    /// The same of those that begin a run.
    pub right_at_beginnings_percent: f64,
}

/// How well lengths are predicted in the later part of a trace, by what its earlier part taught.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LengthReport {
    /// Pages of a region.
    pub region_pages: u32,
    /// Sequential and looping requests in the earlier part that begin a run.
    pub trained: u64,
    /// Sequential and looping requests in the later part.
    pub judged: u64,
    /// Those of them that begin a run.
    pub beginnings: u64,
    /// The judged requests by region.
    pub by_region: [u64; CLASSES],
    /// The predictions.
    pub rows: Vec<LengthRow>,
}

impl LengthSurvey {
    /// Of no request yet; their PCs are made by this indicator.
    pub fn new(indicator: Indicator) -> Self {
        Self { indicator, ..Self::default() }
    }

    /// Adds the next request, with the hint that the host gives it.
    pub fn add(&mut self, facts: Option<RunFacts>, hint: &Hint) {
        if let Some(facts) = facts {
            let at = facts.stream as usize;
            self.runs.resize(self.runs.len().max(at + 1), 0);
            let end = facts.before.saturating_add(facts.pages);
            self.runs[at] = self.runs[at].max(end);
        }
        self.requests.push(facts.map(|facts| (facts, has_runs(hint.pattern) && facts.pc != 0)));
    }

    fn length(&self, facts: &RunFacts) -> u32 {
        self.runs[facts.stream as usize] - facts.before
    }

    /// Pages that the run of each request has from it on; 0 for requests without a length.
    pub fn actual(&self) -> Vec<u32> {
        let lengths = self.requests.iter().map(|request| request.map_or(0, |(facts, _)| self.length(&facts)));
        lengths.collect()
    }

    /// The sequential and looping requests of a part of the trace.
    fn samples(&self, part: std::ops::Range<usize>) -> Vec<(RunFacts, u32)> {
        let runs = self.requests[part].iter().flatten().filter(|(_, has_runs)| *has_runs);
        runs.map(|(facts, _)| (*facts, self.length(facts))).collect()
    }

    /// Trains on the runs that begin in the first `share` of the requests (0 to 1) and judges on the others; judges `model`
    /// instead, on all that is left, if there is one.
    pub fn judge(&self, share: f64, region: u32, model: Option<LengthModel>) -> (LengthModel, LengthReport) {
        let cut = ((self.requests.len() as f64 * share) as usize).min(self.requests.len());
        let (mut before, after) = (self.samples(0..cut), self.samples(cut..self.requests.len()));
        before.retain(|(facts, _)| facts.begins);
        let model = model.unwrap_or_else(|| LengthModel::train(&before, region, self.indicator));
        let region = model.region();
        let (mut trained, mut by_region) = ([0u64; CLASSES], [0u64; CLASSES]);
        for (_, pages) in &before {
            trained[class_of(*pages, region)] += 1;
        }
        for (_, pages) in &after {
            by_region[class_of(*pages, region)] += 1;
        }
        let most = (0..CLASSES).rev().max_by_key(|class| trained[*class]).unwrap_or(0);
        let beginnings = after.iter().filter(|(facts, _)| facts.begins).count() as u64;
        let own = |facts: &RunFacts, pages: u32| class_of(pages.max(facts.pages), region);
        let row = |predictor, predict: &dyn Fn(&RunFacts) -> usize| {
            let right = |(facts, pages): &&(RunFacts, u32)| predict(facts) == class_of(*pages, region);
            let all = after.iter().filter(right).count();
            let begun = after.iter().filter(|(facts, _)| facts.begins).filter(right).count();
            let percent = |right: usize, of: u64| 100.0 * right as f64 / of.max(1) as f64;
            LengthRow {
                predictor,
                right_percent: percent(all, after.len() as u64),
                right_at_beginnings_percent: percent(begun, beginnings),
            }
        };
        let rows = vec![
            row("mean", &|facts| own(facts, libm::round(facts.mean) as u32)),
            row("last", &|facts| own(facts, facts.last)),
            row("regressions", &|facts| own(facts, model.pages(facts))),
            row("most frequent", &|_| most),
        ];
        let (trained, judged) = (before.len() as u64, after.len() as u64);
        let report = LengthReport { region_pages: region, trained, judged, beginnings, by_region, rows };
        (model, report)
    }
}
