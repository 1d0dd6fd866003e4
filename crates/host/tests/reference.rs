//! Do the bounded tables say what the definition says? The reference remembers every access and looks everything up anew.

mod mixes;

use std::collections::BTreeMap;

use mixes::mix;
use nandlab::types::Pattern;
use nandlab_host::{FileAccess, Patterns};

const PAGE: u64 = 4096;

/// What became of an access: its location, and whether it is sequential by what is known `known` accesses later.
struct Fact {
    pc: u32,
    repeated: bool,
    /// When it was known to be sequential: the number of the access that told.
    sequential: Option<usize>,
}

/// The definition, slowly.
#[derive(Default)]
struct Reference {
    accesses: Vec<FileAccess>,
    facts: Vec<Fact>,
    /// Accesses that nothing follows yet, by file: end of the access and its number.
    ends: BTreeMap<u32, Vec<(u64, usize)>>,
    /// The last access that touched a page from a location.
    touched: BTreeMap<(u32, u32, u64), usize>,
    since: BTreeMap<u32, Vec<u64>>,
}

impl Reference {
    fn see(&mut self, access: FileAccess) {
        let number = self.accesses.len();
        let FileAccess { pc, file, offset, length } = access;
        let ends = self.ends.entry(file).or_default();
        let before = ends.iter().rposition(|(end, _)| *end <= offset && offset <= end.div_ceil(PAGE) * PAGE);
        let mut first = offset / PAGE;
        let mut sequential = (offset == 0).then_some(number);
        if let Some(at) = before {
            let (end, earlier) = ends.remove(at);
            first += u64::from((end - 1) / PAGE == first);
            self.facts[earlier].sequential.get_or_insert(number);
            sequential = Some(number);
        }
        ends.push((offset + length, number));
        let mut repeated = false;
        for page in first..=(offset + length - 1) / PAGE {
            if let Some(last) = self.touched.insert((pc, file, page), number) {
                repeated = true;
                if page == first {
                    self.since.entry(pc).or_default().push((number - last) as u64);
                }
            }
        }
        self.accesses.push(access);
        self.facts.push(Fact { pc, repeated, sequential });
    }

    /// The pattern of the location of the latest access.
    fn pattern(&self) -> Pattern {
        let pc = self.facts[self.facts.len() - 1].pc;
        let own: Vec<usize> = (0..self.facts.len()).filter(|number| self.facts[*number].pc == pc).collect();
        let judgements: Vec<usize> = own.chunks_exact(16).map(|chunk| chunk[15]).collect();
        let Some(last) = judgements.last() else { return Pattern::Random };
        // What became known up to the first judgement weighs least.
        let weight = |known: usize| {
            let age = judgements.iter().filter(|judged| **judged >= known).count();
            if known > *last { 0.0 } else { 0.5f64.powi(i32::try_from(age).unwrap_or(i32::MAX)) }
        };
        let (mut all, mut sequential, mut repeated) = (0.0, 0.0, 0.0);
        for number in own {
            all += weight(number);
            let fact = &self.facts[number];
            repeated += if fact.repeated { weight(number) } else { 0.0 };
            sequential += fact.sequential.map_or(0.0, weight);
        }
        match (repeated * 10.0 >= all * 3.0, sequential * 2.0 >= all) {
            (true, true) => Pattern::Looping,
            (true, false) => Pattern::ClusteredHot,
            (false, true) => Pattern::Sequential,
            (false, false) => Pattern::Random,
        }
    }
}

#[test]
fn bounded_tables_agree_with_the_definition() {
    for seed in 0..12 {
        let (mut reference, mut patterns) = (Reference::default(), Patterns::new(32));
        for (number, labelled) in mix(5_000 + seed).take(700).enumerate() {
            let hint = patterns.see(&labelled.access);
            reference.see(labelled.access);
            let expected = reference.pattern();
            assert_eq!(hint.pattern, expected, "mix {seed}, access {number}: {:?}", labelled.access);
            if let Some(since) = reference.since.get(&labelled.access.pc) {
                let (least, most) = (since.iter().min().unwrap(), since.iter().max().unwrap());
                assert!((*least..=*most).contains(&u64::from(hint.period)), "{} of {since:?}", hint.period);
            }
        }
    }
}
