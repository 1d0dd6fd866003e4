//! A budget in minutes: a few cells on two beginnings of the workload tell what a cell costs, and so for what part of the sweep
//! there is time.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Place, Rung, Search, plan_of};
use crate::error::Error;
use crate::experiment::Experiment;
use crate::files::{cannot_write, write_file};
use crate::sweep::SweepStep;
use crate::watch::Watch;

/// Beginnings of the workload that are tried, as parts of it, and cells that are.
const PARTS: [f64; 2] = [0.01, 0.05];
const CELLS: usize = 8;
/// The budget is given in this many parts of a whole sweep: 0.001.
const STEP: f64 = 1000.0;

/// What the clock decided, as it is kept.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct ClockChoice {
    /// The experiment that it is about.
    experiment: String,
    /// Seconds of a processor that a cell takes whatever its length, and those that it takes in addition when it runs in full.
    fixed_seconds: f64,
    full_seconds: f64,
}

impl ClockChoice {
    /// Seconds that a search with a budget takes.
    fn seconds(&self, budget: f64, cells: usize, threads: usize) -> f64 {
        let plan = plan_of(budget, cells);
        let cost = plan.iter().map(|(share, count)| *count as f64 * (self.fixed_seconds + self.full_seconds * share));
        cost.sum::<f64>() / threads as f64
    }

    /// The greatest budget for which there is time; nothing if even the least one takes longer.
    pub(super) fn budget(&self, minutes: f64, least: f64, cells: usize, threads: usize) -> Option<f64> {
        let fits = |step: &u64| self.seconds(*step as f64 / STEP, cells, threads) <= 60.0 * minutes;
        let from = (least * STEP).ceil() as u64;
        (from..=STEP as u64).rev().find(fits).map(|step| step as f64 / STEP)
    }

    /// Minutes that the least budget takes.
    pub(super) fn least_minutes(&self, least: f64, cells: usize, threads: usize) -> f64 {
        self.seconds((least * STEP).ceil() / STEP, cells, threads) / 60.0
    }
}

impl Search {
    /// What a cell costs: measured once for a folder and an experiment; `None` if it was stopped.
    pub(super) fn clock(
        &self,
        experiment: &Experiment,
        all: &[Place],
        lengths: &BTreeMap<String, u64>,
        watch: &Watch<'_>,
        step: &mut (impl FnMut(&str, SweepStep<'_>) + Send),
    ) -> Result<Option<ClockChoice>, Error> {
        let target = self.folder.join("clock.json");
        let text = toml::to_string(experiment).expect("an experiment is plain data");
        let known = std::fs::read_to_string(&target).ok().and_then(|text| serde_json::from_str(&text).ok());
        if let Some(known) = known.filter(|known: &ClockChoice| known.experiment == text) {
            return Ok(Some(known));
        }
        let every = all.len().div_ceil(CELLS);
        let some: Vec<Place> = all.iter().step_by(every).cloned().collect();
        let mut seconds = [0.0; 2];
        for (number, part) in PARTS.into_iter().enumerate() {
            let name = format!("clock-{}", number + 1);
            let folder = self.folder.join(&name);
            // What is there already would take no time.
            remove(&folder)?;
            let failed = Cell::new(0);
            let rung = Rung { folder, share: part, places: &some, failed: &failed };
            let mut told = |told: SweepStep<'_>| step(&name, told);
            let Some((_, busy)) = self.sweep(experiment, lengths, &rung, watch, &mut told)? else { return Ok(None) };
            seconds[number] = busy.as_secs_f64() / some.len() as f64;
        }
        let full_seconds = ((seconds[1] - seconds[0]) / (PARTS[1] - PARTS[0])).max(0.0);
        let fixed_seconds = (seconds[0] - PARTS[0] * full_seconds).max(0.0);
        let choice = ClockChoice { experiment: text, fixed_seconds, full_seconds };
        write_file(&target, serde_json::to_string(&choice).expect("it is plain data") + "\n")?;
        Ok(Some(choice))
    }
}

fn remove(folder: &Path) -> Result<(), Error> {
    match std::fs::remove_dir_all(folder) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(cannot_write(folder)(source)),
        _ => Ok(()),
    }
}

/// What the clock decided of a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SearchClock {
    /// The minutes that were given.
    pub minutes: f64,
    /// The part of the whole sweep for which it took them to be enough.
    pub budget: f64,
    /// How long this search took now; less if a part was there already.
    pub took: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_is_the_greatest_for_which_there_is_time() {
        let choice = ClockChoice { experiment: String::new(), fixed_seconds: 0.1, full_seconds: 10.0 };
        for minutes in [3.0, 10.0, 60.0] {
            let budget = choice.budget(minutes, 0.01, 252, 2).unwrap();
            assert!(choice.seconds(budget, 252, 2) <= 60.0 * minutes);
            assert!(budget == 1.0 || choice.seconds(budget + 1.0 / STEP, 252, 2) > 60.0 * minutes, "{budget}");
        }
        assert_eq!(choice.budget(0.1, 0.01, 252, 2), None);
        assert!(choice.least_minutes(0.01, 252, 2) > 0.1);
        assert_eq!(choice.budget(1e9, 0.01, 252, 2), Some(1.0));
    }
}
