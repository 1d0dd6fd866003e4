//! Every claim of every paper: what it is judged by, and that the judges tell good results from bad ones.

use super::section::{Row, crossed, markdown};
use super::verdict::Verdict::{self, Not, Partly, Reproduced};
use super::{EXPERIMENTS, Listed, Watch, named};
use crate::experiment::Experiment;

const PAGE: &str = include_str!("../../../../docs/claims.md");

fn listed(name: &str) -> &'static Listed {
    named(&[name]).unwrap()[0]
}

fn on_the_page(text: &str) {
    for line in text.lines() {
        let known = PAGE.lines().any(|written| written == line);
        assert!(known, "run `nandlab claims > docs/claims.md`: no line {line}");
    }
}

/// Runs the cells whose names are wanted at full length: the rows of these claims have the known verdicts, and stand on the
/// page, notes and all.
fn hold(name: &str, wanted: impl Fn(&str) -> bool, known: &[(&str, Verdict)]) {
    let experiment = listed(name).experiment().unwrap();
    let cells = experiment.run_those(wanted, None, None, &Watch::default()).unwrap();
    for (test, verdict) in known {
        let claim = experiment.claims.iter().find(|claim| claim.test.as_deref() == Some(test)).unwrap();
        let row = Row::of(claim, listed(name).judges, &cells).unwrap();
        assert_eq!(row.verdict, *verdict, "{test}");
        on_the_page(&markdown(&[row]));
    }
}

#[test]
fn every_experiment_parses_and_has_a_name_a_title_and_a_judge_for_every_claim() {
    for listed in EXPERIMENTS {
        // Parsing configures every cell, so that all plug-ins exist, and looks up the cells that notes name.
        let experiment = listed.experiment().unwrap();
        assert_eq!(EXPERIMENTS.iter().filter(|other| other.name() == listed.name()).count(), 1);
        assert!(!experiment.title.is_empty() && !experiment.sentence.is_empty() && !experiment.about.is_empty());
        let runs = experiment.runs().unwrap();
        assert!(runs.values().all(|run| run.device.configure().unwrap().1.build_hits().is_ok()), "{}", listed.name());
        let written = toml::to_string(&experiment).unwrap();
        let again = Experiment::parse("written", &written).unwrap();
        assert_eq!(toml::to_string(&again).unwrap(), written);
    }
}

#[test]
fn experiments_are_those_of_the_folder() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/experiments")).unwrap();
    let mut files: Vec<_> = folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    let mut known: Vec<_> = EXPERIMENTS.iter().map(|listed| format!("{}.toml", listed.module)).collect();
    known.sort();
    assert_eq!(files, known, "every file has its line in the list");
}

#[test]
fn claim_without_a_judge_and_judge_without_a_claim_are_errors() {
    let text = listed("rftl").text;
    let error = |text: String| {
        let changed = Listed { text: Box::leak(text.into_boxed_str()), ..*listed("rftl") };
        changed.experiment().unwrap_err().to_string()
    };
    for (text, words) in [
        (text.replace("test = \"tail\"", "test = \"tale\""), ["there is no `tale`", "did you mean `tail`?"]),
        (text.replace("test = \"tail\"\n", ""), ["`tail` is not the test of exactly one claim", "claims/rftl.rs"]),
        (text.replace("test = \"tail\"", "test = \"misses\""), ["`tail` is not the test of", "add the claim"]),
        (text.replace("name = \"rftl\"", "name = \"rtfl\""), ["name: `rtfl` is not that of the file", "write rftl"]),
        (
            text.replace("{narrow/filled/RFTL(1)/128KiB ", "{narow/filled/RFTL(1)/128KiB "),
            ["there is no `narow/filled/RFTL(1)/128KiB`", "did you mean `narrow/filled/RFTL(1)/128KiB`?"],
        ),
    ] {
        let said = error(text);
        assert!(said.starts_with("experiments/rftl.toml: "), "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
}

#[test]
fn named_experiments_are_in_the_order_of_the_list() {
    let names = |names: &[&str]| named(names).unwrap().into_iter().map(Listed::name).collect::<Vec<_>>();
    assert_eq!(names(&["urm", "wpa"]), ["wpa", "urm"]);
    assert_eq!(names(&[]).len(), EXPERIMENTS.len());
    assert!(named(&["wap"]).unwrap_err().help().contains("did you mean `wpa`?"));
}

#[test]
fn hitstat_claims_about_groups_hold() {
    let known =
        [("groups", Reproduced), ("intervals", Reproduced), ("large-groups", Reproduced), ("sector-hits", Reproduced)];
    let wanted = |cell: &str| cell.contains("/BAST/own/") && (cell.ends_with("/32MB") || cell.ends_with("/16MB"));
    hold("hitstat", wanted, &known);
}

#[test]
fn aalru_paper_padding_dominates_bplru_and_its_hit_order_still_fails() {
    // The order of figure 7a is a claim that does not hold here: AD-LRU is first, and BPLRU above AALRU.
    let wanted = |cell: &str| cell.starts_with("Fin1") && !cell.ends_with("/FAST");
    hold("aalru", wanted, &[("padding", Reproduced), ("hit-order", Partly)]);
}

#[test]
fn controls_show_the_reasons_that_notes_give() {
    // What is popular moves: AD-LRU falls behind, and two pairs of the order fail still.
    let wanted = |cell: &str| cell.starts_with("moving") || cell.starts_with("oltp");
    hold("aalru", wanted, &[("hit-order-moving", Partly)]);
    // No dirty entries in the map cache before the run: the miss ratio falls to nothing.
    hold("rftl", |cell| cell.starts_with("narrow/filled/"), &[("misses-control", Reproduced)]);
}

#[test]
fn wpa_writes_less_to_the_nvram_on_write_heavy_input_only() {
    // Hits, times, erases and flash accesses are claims that fail. Against CBM the mean of the NVRAM writes fails.
    let known = [("fig 5", Not), ("fig 6", Not), ("fig 7", Not), ("text", Not), ("text", Partly), ("text", Reproduced)];
    let section = listed("wpa").section(None, None, &Watch::default()).unwrap();
    let found: Vec<_> = section.rows.iter().map(|row| (row.place.as_str(), row.verdict)).collect();
    assert_eq!(found, known);
    on_the_page(&markdown(&section.rows));
    let matrix = section.matrix.unwrap();
    on_the_page(&crossed(&matrix));
    // With the NVRAM in pages WPA is ahead of more policies than with block frames; hits are first where the baselines
    // have the DRAM alone.
    let verdicts: Vec<Vec<Verdict>> =
        matrix.rows.iter().map(|row| row.cells.iter().map(|cell| cell.verdict).collect()).collect();
    let hits_and_others = [[Not, Partly, Not, Partly], [Not, Partly, Partly, Partly]];
    assert_eq!(verdicts[..2], hits_and_others);
}
