//! Are the patterns of program locations told apart, and do lengths and periods come out as they are?
//!
//! The workloads are made with labels that the classifier never sees: it gets location, file, offset and length.

#![allow(clippy::format_push_string, reason = "the text is short and for people")]

mod mixes;

use std::collections::BTreeMap;

use mixes::{Labelled, Random, mix};
use nandlab::types::Pattern;
use nandlab_host::{FileAccess, Patterns};

/// Requests of a location before it must be known.
const FIRST: u32 = 32;

/// Requests by label and by what was said, after the first of each location.
type Confusion = BTreeMap<(Pattern, Pattern), u64>;

fn judge(seed: u64, confusion: &mut Confusion) {
    let mut patterns = Patterns::new(Patterns::LONGEST);
    let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
    for Labelled { access, label } in mix(seed) {
        let said = patterns.see(&access).pattern;
        let n = seen.entry(access.pc).or_default();
        *n += 1;
        if *n > FIRST {
            *confusion.entry((label, said)).or_default() += 1;
        }
    }
}

#[test]
fn patterns_are_told_apart_after_32_requests_of_each_location() {
    let mut confusion = Confusion::new();
    (0..1000).for_each(|seed| judge(seed, &mut confusion));
    let total: u64 = confusion.values().sum();
    let right: u64 = confusion.iter().filter(|((label, said), _)| label == said).map(|(_, n)| n).sum();
    let mut rows = String::new();
    for label in [Pattern::Sequential, Pattern::Looping, Pattern::ClusteredHot, Pattern::Random] {
        let row = |said| confusion.get(&(label, said)).copied().unwrap_or(0);
        let all: u64 = confusion.iter().filter(|((l, _), _)| *l == label).map(|(_, n)| n).sum();
        let share = row(label) as f64 / all as f64;
        rows += &format!(
            "{label:?}: {} {} {} {} ({:.2} % right)\n",
            row(Pattern::Sequential),
            row(Pattern::Looping),
            row(Pattern::ClusteredHot),
            row(Pattern::Random),
            100.0 * share
        );
        assert!(share >= 0.95, "{rows}");
    }
    assert!(total > 3_000_000 && right as f64 / total as f64 > 0.95, "{right} of {total}\n{rows}");
    eprintln!("{right} of {total} right; said: sequential, looping, clustered hot, random\n{rows}");
}

/// Requests of one location, each of these bytes.
fn feed(patterns: &mut Patterns, pc: u32, file: u32, places: &[(u64, u64)]) -> Vec<nandlab::types::Hint> {
    places
        .iter()
        .map(|(offset, length)| patterns.see(&FileAccess { pc, file, offset: *offset, length: *length }))
        .collect()
}

#[test]
fn runs_of_one_length_are_announced_to_their_end() {
    let mut patterns = Patterns::new(32);
    let mut hints = Vec::new();
    for run in 0..40u64 {
        let places: Vec<_> = (0..8).map(|page| ((1000 * run + page) * 4096, 4096)).collect();
        hints = feed(&mut patterns, 7, 3, &places);
    }
    assert_eq!(hints.iter().map(|hint| hint.pattern).collect::<Vec<_>>(), [Pattern::Sequential; 8]);
    assert_eq!(
        hints.iter().map(|hint| hint.run_pages).collect::<Vec<_>>(),
        [8, 7, 6, 5, 4, 3, 2, 9],
        "then twice as long"
    );
}

#[test]
fn loop_is_known_with_its_period_among_other_requests() {
    let mut patterns = Patterns::new(32);
    let mut last = Vec::new();
    for _ in 0..10 {
        for page in 0..20 {
            last = feed(&mut patterns, 1, 1, &[(page * 4096, 4096)]);
            feed(&mut patterns, 2, 2, &[(page * 7919 % 1_000_003 * 4096, 4096)]);
        }
    }
    assert_eq!((last[0].pattern, last[0].period), (Pattern::Looping, 40), "20 of its own and as many of another");
}

#[test]
fn first_block_by_one_location_and_the_rest_by_another_are_both_sequential() {
    let mut patterns = Patterns::new(32);
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for file in 1..50 {
        first = feed(&mut patterns, 10, file, &[(8192, 4096)]);
        rest = feed(&mut patterns, 11, file, &[(12288, 4096), (16384, 4096), (20480, 4096)]);
    }
    assert_eq!((first[0].pattern, rest[2].pattern), (Pattern::Sequential, Pattern::Sequential));
    assert_eq!(first[0].run_pages, 4, "the run is as long as the stream of the file, whoever reads it");
}

#[test]
fn pieces_of_a_page_are_no_repetition() {
    let mut patterns = Patterns::new(32);
    let places: Vec<_> = (0..400).map(|piece| (piece * 512, 512)).collect();
    assert!(feed(&mut patterns, 5, 5, &places)[32..].iter().all(|hint| hint.pattern == Pattern::Sequential));
    let again = vec![(0, 512); 64];
    assert_eq!(feed(&mut patterns, 6, 5, &again)[63].pattern, Pattern::Looping, "the same piece again is one");
}

#[test]
fn hostile_accesses_neither_panic_nor_grow_the_tables() {
    let mut patterns = Patterns::new(u32::MAX);
    let mut random = Random(3);
    for _ in 0..200_000 {
        let extreme = [0, 1, 4095, 4096, u64::MAX / 2, u64::MAX - 1, u64::MAX];
        let any = |random: &mut Random| match random.below(3) {
            0 => extreme[random.below(7) as usize],
            1 => random.next(),
            _ => random.below(1 << 20),
        };
        let (offset, length) = (any(&mut random), any(&mut random) >> random.below(64));
        let (pc, file) = (random.next() as u32 >> random.below(32), random.next() as u32 >> random.below(32));
        let hint = patterns.see(&FileAccess { pc, file, offset, length });
        assert_eq!(hint.pc, pc);
    }
    const { assert!(Patterns::BYTES < 512 << 10) };
}
