//! Lengths of runs: what became of each request by the definition, and regressions that are where the likelihood is largest.

use std::fmt::Write as _;

use nandlab::types::{Hint, HostOp, Pattern};
use nandlab_host::{
    HintControl, Hinter, Indicator, LengthModel, LengthSurvey, MappingLengths, Mix, Patterns, RunFacts, SkippedFrames,
};
use nandlab_trace::{Recording, TraceRecord};

const PAGE: u64 = 4096;

/// Random numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }
}

fn read(pc: u32, page: u64, pages: u64) -> TraceRecord {
    let hint = Hint { pc, ..Hint::default() };
    TraceRecord { hint, ..TraceRecord::plain(0, HostOp::Read, page * PAGE, pages * PAGE) }
}

fn hinter() -> Hinter {
    let indicator = Indicator { depth: 5, skip: SkippedFrames::None, mix: Mix::Hash };
    Hinter::new(indicator, Recording::default(), Patterns::new(32))
}

/// Runs of locations, interleaved: (location, pages of its runs).
fn runs(seed: u64, requests: usize, length: impl Fn(u32, &mut Dice) -> u64) -> Vec<TraceRecord> {
    let mut dice = Dice(seed);
    let mut open: Vec<(u64, u64)> = vec![(0, 0); 4];
    let mut next = 0;
    let mut records = Vec::new();
    while records.len() < requests {
        let at = dice.below(4) as usize;
        let pc = at as u32 + 1;
        if open[at].1 == 0 {
            next += 5000;
            open[at] = (next, length(pc, &mut dice).max(1));
        }
        let pages = (1 + dice.below(8)).min(open[at].1);
        records.push(read(pc, open[at].0, pages));
        open[at] = (open[at].0 + pages, open[at].1 - pages);
    }
    records
}

fn survey(records: &[TraceRecord]) -> (LengthSurvey, Vec<Option<(RunFacts, Hint)>>) {
    let (mut hinter, mut survey, mut facts) = (hinter(), LengthSurvey::default(), Vec::new());
    for record in records {
        let (hint, known) = hinter.look(record);
        survey.add(known, &hint);
        facts.push(known.map(|known| (known, hint)));
    }
    (survey, facts)
}

#[test]
fn actual_length_is_what_the_run_has_from_the_request_on() {
    let records = runs(7, 4000, |_, dice| 1 + dice.below(300));
    // Every run lies 5000 pages from all others: its end is the last page that anyone reads there.
    let run = |record: &TraceRecord| record.offset / PAGE / 5000;
    let end = |wanted: u64| {
        let ends = records.iter().filter(|record| run(record) == wanted);
        ends.map(|record| (record.offset + u64::from(record.length)) / PAGE).max().unwrap()
    };
    let expected: Vec<u32> = records.iter().map(|record| (end(run(record)) - record.offset / PAGE) as u32).collect();
    assert_eq!(survey(&records).0.actual(), expected);
}

#[test]
fn page_that_two_requests_share_counts_for_both() {
    // Requests of 1.5 pages, one after the other: every second one begins in the page in which the last one ended.
    let half = PAGE / 2;
    let records: Vec<TraceRecord> = (0..20)
        .map(|n| TraceRecord { offset: 8 * PAGE + n * 3 * half, length: (3 * half) as u32, ..read(3, 0, 1) })
        .collect();
    let (survey, facts) = survey(&records);
    let expected: Vec<u32> = records.iter().map(|record| (38 - record.offset / PAGE) as u32).collect();
    assert_eq!(survey.actual(), expected);
    let begins: Vec<bool> = facts.iter().map(|facts| facts.unwrap().0.begins).collect();
    assert_eq!(begins, (0..20).map(|n| n == 0).collect::<Vec<bool>>());
}

#[test]
fn mean_and_last_are_those_of_the_runs_before() {
    // One location, runs of 1, 2, 3 ... pages, one page each request.
    let mut records = Vec::new();
    for length in 1..40u64 {
        records.extend((0..length).map(|page| read(9, length * 100 + page, 1)));
    }
    for (record, facts) in records.iter().zip(survey(&records).1) {
        let (facts, run) = (facts.unwrap().0, record.offset / PAGE / 100);
        assert_eq!(
            (u64::from(facts.last), facts.begins),
            (run - 1, (record.offset / PAGE).is_multiple_of(100)),
            "run {run}"
        );
        // Four are thought to be under way.
        let ended = (run - 1).saturating_sub(3);
        let mean = if ended == 0 { (run - 1) as f64 } else { (1 + ended) as f64 / 2.0 };
        assert!((facts.mean - mean).abs() < 1e-9, "run {run}: {} is not {mean}", facts.mean);
    }
}

/// The likelihood that the model's own text says, computed anew.
fn penalised_loss(model: &toml::Table, samples: &[(RunFacts, u32)], class: usize, nudge: (usize, f64)) -> f64 {
    let numbers = |key: &str| -> Vec<f64> {
        model[key].as_array().unwrap().iter().map(|number| number.as_float().unwrap()).collect()
    };
    let (mean, scale) = (numbers("mean"), numbers("scale"));
    let row = model["weights"].as_array().unwrap()[class].as_array().unwrap();
    let mut weights: Vec<f64> = row.iter().map(|number| number.as_float().unwrap()).collect();
    weights[nudge.0] += nudge.1;
    let mut loss = weights[1..].iter().map(|w| w * w / 2.0).sum::<f64>();
    for (facts, pages) in samples {
        let raw = [f64::from(facts.pc), facts.page as f64, facts.mean];
        let g = weights[0] + (0..3).map(|i| weights[i + 1] * (raw[i] - mean[i]) / scale[i]).sum::<f64>();
        let own = (*pages as usize).div_ceil(102).clamp(1, 10) - 1 == class;
        let p = 1.0 / (1.0 + (-g).exp());
        loss -= if own { p.ln() } else { (1.0 - p).ln() };
    }
    loss
}

#[test]
fn trained_weights_are_where_the_likelihood_is_largest() {
    let records = runs(3, 3000, |pc, dice| u64::from(pc) * 60 + dice.below(150));
    let (survey, facts) = survey(&records);
    let samples: Vec<(RunFacts, u32)> =
        facts.iter().zip(survey.actual()).map(|(facts, pages)| (facts.unwrap().0, pages)).collect();
    let model = LengthModel::train(&samples, 102, Indicator::default());
    let text: toml::Table = model.text().parse().unwrap();
    for class in 0..4 {
        let best = penalised_loss(&text, &samples, class, (0, 0.0));
        for weight in 0..4 {
            for nudge in [-0.01, 0.01] {
                assert!(
                    penalised_loss(&text, &samples, class, (weight, nudge)) > best,
                    "class {class}, weight {weight}"
                );
            }
        }
    }
    assert_eq!(LengthModel::parse(&model.text()).unwrap(), model, "the text keeps every bit");
    assert_eq!(LengthModel::train(&samples, 102, Indicator::default()), model);
}

#[test]
fn regressions_know_locations_apart_where_the_mean_trails() {
    // Runs of 60 and of 700 pages alternate at every location, at low and at high addresses: the mean lies between.
    let mut records = Vec::new();
    let mut dice = Dice(11);
    for _ in 0..400 {
        let (pc, long) = (1 + dice.below(3) as u32, dice.below(2) == 1);
        let first = if long { 9_000_000 } else { 0 } + dice.below(900) * 2000;
        let pages = if long { 700 } else { 60 };
        records.extend((0..pages / 20).map(|at| read(pc, first + at * 20, 20)));
    }
    let (survey, _) = survey(&records);
    let (_, report) = survey.judge(0.5, 102, None);
    let right = |name: &str| report.rows.iter().find(|row| row.predictor == name).unwrap().right_at_beginnings_percent;
    assert!(report.beginnings > 100, "{report:?}");
    assert!(right("regressions") > 90.0 && right("mean") < 60.0, "{report:?}");
    // A region may be as long as numbers go.
    assert_eq!(survey.judge(0.5, u32::MAX, None).1.by_region[0], report.judged);
    let told: u64 = report.by_region.iter().sum();
    assert_eq!(told, report.judged);
}

#[test]
fn mappings_are_whole_regions_for_runs_and_the_pages_of_others() {
    let records = runs(5, 2000, |_, dice| 1 + dice.below(900));
    let (survey, _) = survey(&records);
    let actual = survey.actual();
    let mut hinter = hinter().with_lengths(MappingLengths::Actual(actual.clone()));
    let mut seen = [0; 2];
    for (record, pages) in records.iter().zip(actual) {
        let (hint, facts) = hinter.look(record);
        let runs = matches!(hint.pattern, Pattern::Sequential | Pattern::Looping);
        let expected = if runs { pages.div_ceil(102) * 102 } else { facts.unwrap().pages };
        assert_eq!(u32::from(hint.mappings), expected.min(1020));
        seen[usize::from(runs)] += 1;
    }
    assert!(seen[0] > 50 && seen[1] > 500, "{seen:?}");
}

#[test]
fn nonsense_is_no_model() {
    let (survey, _) = survey(&runs(3, 500, |_, dice| 1 + dice.below(300)));
    let text = survey.judge(0.5, 102, None).0.text();
    let mut wrong = String::new();
    for (from, to, says) in [
        ("version = 2", "version = 1", "version"),
        ("region = 102", "region = 0", "region"),
        ("requests =", "request =", "request"),
        ("region = 102", "region = 102\nmore = 1", "more"),
        ("weights = [[", "weights = [[nan, ", "finite"),
        ("scale = [", "scale = [0.0, 0.0, 0.0]\nx = [", "x"),
    ] {
        let bad = text.replacen(from, to, 1);
        let error = LengthModel::parse(&bad).expect_err(to);
        if bad == text || !error.contains(says) {
            writeln!(wrong, "{to}: {error}").unwrap();
        }
    }
    assert_eq!(wrong, "");
}

#[test]
fn controls_tell_less_or_something_else() {
    let records = runs(9, 3000, |pc, dice| u64::from(pc) * 20 + dice.below(60));
    let told = |mut hinter: Hinter| records.iter().map(|record| hinter.look(record).0).collect::<Vec<Hint>>();
    let all = told(hinter());
    let patterns = told(hinter().with_control(HintControl::Patterns));
    let lengths = told(hinter().with_control(HintControl::Lengths));
    for ((hint, pattern), length) in all.iter().zip(&patterns).zip(&lengths) {
        assert_eq!(*pattern, Hint { run_pages: 0, ..*hint });
        assert_eq!(*length, Hint { pattern: Pattern::Sequential, period: 0, ..*hint });
    }
    let pages = survey(&records).0.actual();
    let actual = told(hinter().with_control(HintControl::Actual(pages.clone(), 32)));
    for ((hint, actual), pages) in all.iter().zip(&actual).zip(pages) {
        assert_eq!(*actual, Hint { run_pages: if hint.run_pages > 0 { pages.min(32) } else { 0 }, ..*hint });
    }
    let shuffled = |seed| told(hinter().with_control(HintControl::shuffled(all.clone(), seed)));
    let moved = shuffled(1);
    let sorted = |hints: &[Hint]| {
        let mut words: Vec<String> = hints.iter().map(|hint| format!("{hint:?}")).collect();
        words.sort();
        words
    };
    assert_eq!(sorted(&moved), sorted(&all), "all hints are there");
    let same = moved.iter().zip(&all).filter(|(moved, own)| moved == own).count();
    assert!(same < all.len() / 4, "{same} of {} stayed", all.len());
    assert!(moved == shuffled(1) && moved != shuffled(2));
}
