//! Every paper: that its file is whole, and what is left of it when a part is asked for.

use nandlab::config::{Config, ControllerConfig, FlushConfig, HostConfig, SleepConfig};
use nandlab::flash::{CellConfig, CommandConfig, SchedulerConfig};
use serde_json::json;

use super::{PAPERS, Paper, arithmetic_claims, papers};
use crate::device::Device;
use crate::experiment::Experiment;

#[test]
fn every_paper_parses_and_has_a_title_and_what_its_claims_need() {
    for paper in PAPERS {
        // Parsing configures every cell, so that all plug-ins exist, and looks up what claims and notes name.
        let experiment = paper.experiment().unwrap();
        assert_eq!(PAPERS.iter().filter(|other| other.name() == paper.name()).count(), 1);
        assert!(!experiment.title.is_empty() && !experiment.sentence.is_empty() && !experiment.about.is_empty());
        assert!(!experiment.open.is_empty() && !experiment.claims.is_empty() && !experiment.figures.is_empty());
        let metrics = crate::digest::metric_names(&experiment).unwrap();
        let named = experiment.claims.iter().filter(|claim| claim.test.is_some()).map(|claim| &claim.metric);
        for name in named.chain(experiment.figures.values().map(|figure| &figure.metric)) {
            let is_of_times = name.is_empty();
            assert!(is_of_times || metrics.contains(name), "{}: no metric {name}", paper.name());
        }
        let written = toml::to_string(&experiment).unwrap();
        let again = Experiment::parse("written", &written).unwrap();
        assert_eq!(toml::to_string(&again).unwrap(), written);
    }
}

#[test]
fn papers_are_those_of_the_folder() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/experiments")).unwrap();
    let mut files: Vec<_> = folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    let mut known: Vec<_> = PAPERS.iter().map(|paper| format!("{}.toml", paper.module)).collect();
    known.sort();
    assert_eq!(files, known, "every file has its line in the list");
}

#[test]
fn named_papers_are_in_the_order_of_the_list() {
    let names = |names: &[&str]| papers(names).unwrap().into_iter().map(Paper::name).collect::<Vec<_>>();
    assert_eq!(names(&["urm", "wpa"]), ["wpa", "urm"]);
    assert_eq!(names(&[]).len(), PAPERS.len());
    assert!(papers(&["wap"]).unwrap_err().help().contains("did you mean `wpa`?"));
}

#[test]
fn arithmetic_has_the_known_verdicts() {
    let text = arithmetic_claims();
    let verdicts: Vec<&str> = text.lines().filter_map(|line| line.split("**").nth(1)).collect();
    assert_eq!(verdicts, ["partly", "partly", "partly", "reproduced", "reproduced", "partly"]);
    assert!(include_str!("../../../../docs/claims.md").contains(&text), "docs/claims.md: run `nandlab reproduce`");
}

/// What a device does beyond the papers' simulators, by key; docs/models.md has the list ('The devices of papers').
fn beyond_the_papers(config: &Config) -> Vec<&'static str> {
    let (device, ftl) = (&config.device, &config.ftl.params);
    let is = |key: &str, value: &str| ftl.get(key).is_none_or(|chosen| *chosen == json!(value));
    [
        // With `fifo` it differs from `parallel` in what it counts.
        ("device.scheduler", device.scheduler == SchedulerConfig::default()),
        ("device.commands", device.commands == CommandConfig::default()),
        ("device.cells", device.cells == CellConfig::default()),
        ("device.host", device.host == HostConfig::default()),
        ("device.controller", device.controller == ControllerConfig::default()),
        ("device.sleep", device.sleep == SleepConfig::default()),
        ("ram.flush", config.ram.flush == FlushConfig::default()),
        ("ftl.gc_slice", is("gc_slice", "whole")),
        ("ftl.slc", is("slc", "none")),
        ("ftl.placement", is("placement", "lpn")),
    ]
    .into_iter()
    .filter_map(|(key, as_printed)| (!as_printed).then_some(key))
    .collect()
}

#[test]
fn devices_of_papers_serve_and_collect_as_the_papers_do() {
    for paper in PAPERS {
        let experiment = paper.experiment().unwrap();
        let named = experiment.devices.values().map(|device| ("its experiment", device.clone()));
        let bases = experiment.devices.values().map(|device| ("its preset", Device::of(&device.base)));
        for (what, device) in named.chain(bases) {
            let (_, config) = device.configure().unwrap();
            assert_eq!(beyond_the_papers(&config), [""; 0], "{} in {what}", paper.name());
        }
    }
    let (_, drive) = Device::of("nvme-client").configure().unwrap();
    assert_eq!(beyond_the_papers(&drive).len(), 9, "what a drive does: {:?}", beyond_the_papers(&drive));
}
