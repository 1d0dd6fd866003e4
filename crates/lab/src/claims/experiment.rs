//! One simulation of a claim, and the results of all.

use std::collections::BTreeMap;

use nandlab::report::Report;
use nandlab_trace::generators::{PRESETS, Preset};

use crate::device::Device;
use crate::error::Error;
use crate::parallel;
use crate::run::simulate;
use crate::watch::{Part, Watch};
use crate::workload::Workload;

/// A device with its plug-ins, and what is replayed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Experiment {
    /// Device preset.
    pub device: &'static str,
    /// Settings over it.
    pub settings: Vec<String>,
    /// Buffer in short form.
    pub buffer: String,
    /// FTL in short form.
    pub ftl: String,
    /// Generator with parameters.
    pub trace: String,
    /// Requests replayed.
    pub requests: u64,
}

impl Experiment {
    fn simulate(&self, limit: Option<u64>, progress: &Part<'_>) -> Result<Report, Error> {
        // The figures of the papers are those of the requests.
        let set = ["replay.settle=none".to_owned()].into_iter().chain(self.settings.clone()).collect();
        let (buffer, ftl) = (Some(self.buffer.clone()), Some(self.ftl.clone()));
        let (builder, config) = Device { buffer, ftl, set, ..Device::of(self.device) }.configure()?;
        let limit = Some(limit.map_or(self.requests, |limit| limit.min(self.requests)));
        simulate(&builder, &config, &Workload { limit, ..Workload::of(format!("make:{}", self.trace)) }, progress)
    }
}

/// A preset of the generators.
///
/// # Panics
/// If there is none of this name.
pub fn preset(name: &str) -> &'static Preset {
    PRESETS.iter().find(|preset| preset.name == name).unwrap_or_else(|| panic!("no preset {name}"))
}

/// The reports of experiments.
#[derive(Default)]
pub struct Results(BTreeMap<Experiment, Report>);

impl Results {
    /// Carries out the experiments that are not known yet, each once.
    pub fn add(
        &mut self,
        mut experiments: Vec<Experiment>,
        limit: Option<u64>,
        threads: Option<usize>,
        watch: &Watch<'_>,
    ) -> Result<(), Error> {
        experiments.retain(|experiment| !self.0.contains_key(experiment));
        experiments.sort();
        experiments.dedup();
        let work = watch.work(experiments.len());
        let reports =
            parallel::map(threads, &watch.stop, &experiments, |experiment| experiment.simulate(limit, &work.part()))?;
        self.0.extend(experiments.into_iter().zip(reports));
        Ok(())
    }

    /// The report of an experiment that was listed.
    pub fn of(&self, experiment: &Experiment) -> &Report {
        self.0.get(experiment).unwrap_or_else(|| panic!("{experiment:?} is not among the experiments"))
    }
}
