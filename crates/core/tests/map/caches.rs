//! Do the mapping caches do what their rules say? Each is compared after every access with a reference that keeps plain
//! lists and searches them from end to end.

use std::collections::BTreeMap;

use nandlab::flash::{Flash, Media};
use nandlab::ftl::{Batch, Ftl, PageWrite};
use nandlab::ledger::{Cause, Ledger, Op};
use nandlab::types::{Lpn, Ppn};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::device::{build, fill, flash, host, shape, start};

const LOGICAL: u32 = 96;

/// What a reference counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Counts {
    hits: u64,
    second_hits: u64,
    misses: u64,
    prefetches: u64,
    /// Translation pages read to be rewritten, and programmed.
    patched: u64,
    programmed: u64,
}

impl Counts {
    fn of(l: &Ledger) -> Self {
        assert_eq!(l.count(Op::Read, Cause::MapMiss), l.map_misses);
        Self {
            hits: l.map_hits,
            second_hits: l.map_second_hits,
            misses: l.map_misses,
            prefetches: l.map_prefetches,
            patched: l.count(Op::Read, Cause::MapEvict),
            programmed: l.count(Op::Program, Cause::MapEvict),
        }
    }
}

/// A mapping cache as its rules say, slowly.
trait Reference {
    /// One page of a request that goes on to `end`, and where all pages lay before and after it.
    fn access(&mut self, lpn: u32, end: u32, write: bool, places: [&[Ppn]; 2]);
    fn counts(&self) -> Counts;
    /// State in the form of the golden files.
    fn state(&self) -> Value;
}

/// Requests: first page, pages, write.
type Requests = Vec<(u32, u32, bool)>;

fn requests() -> impl Strategy<Value = Requests> {
    let hot = (0..LOGICAL / 4, 1u32..4, any::<bool>());
    let wide = (0..LOGICAL, 1u32..12, any::<bool>());
    proptest::collection::vec(prop_oneof![3 => hot, 1 => wide], 1..200)
}

/// Runs requests on the FTL, over a device so large that nothing is collected, and on the reference.
fn compare(name: &str, params: Value, reference: &mut dyn Reference, requests: &Requests) {
    let shape = shape(1, 200, 64, LOGICAL, 512);
    let mut flash: Flash = flash(&shape, Media::None);
    let mut params = params;
    params["frontiers"] = json!("single");
    let mut ftl = build(name, params, &shape);
    fill(&mut *ftl, &mut flash, &shape);
    for (first, pages, write) in requests {
        let end = (first + pages).min(LOGICAL);
        for lpn in *first..end {
            let before = places(&*ftl, &flash);
            if *write {
                let batch: Vec<PageWrite> = (lpn..end).map(|lpn| host(lpn, 1)).collect();
                // Page by page, so that the state can be compared after each; the run is announced instead.
                ftl.announce(Lpn(end));
                ftl.write(&mut flash, Batch { pages: &batch[..1], bytes: &[] }, start());
            } else {
                ftl.announce(Lpn(end));
                ftl.read(&mut flash, Lpn(lpn), Cause::Host, start());
            }
            reference.access(lpn, end, *write, [&before, &places(&*ftl, &flash)]);
            let what = format!("{name}, lpn {lpn} of {first}..{end}, write {write}");
            assert_eq!(Counts::of(&flash.ledger), reference.counts(), "{what}");
            let (state, expected) = (ftl.golden_state(&flash), reference.state());
            for (key, value) in expected.as_object().expect("an object") {
                assert_eq!(state[key], *value, "{key} after {what}");
            }
            ftl.check(&flash);
        }
    }
    assert_eq!(flash.ledger.gc_runs, 0);
}

fn places(ftl: &dyn Ftl, flash: &Flash) -> Vec<Ppn> {
    (0..LOGICAL).map(|lpn| ftl.locate(flash, Lpn(lpn))).collect()
}

/// Removes an element from a list.
fn take<T: Clone>(list: &mut Vec<T>, found: impl Fn(&T) -> bool) -> T {
    let at = list.iter().position(found).expect("it is there");
    list.remove(at)
}

/// TPFTL. All lists from LRU to MRU.
#[derive(Default)]
struct Tpftl {
    entries_per_tp: u32,
    capacity: usize,
    threshold: i32,
    /// (translation page, its (page, dirty)).
    nodes: Vec<(u32, Vec<(u32, bool)>)>,
    selective: bool,
    counter: i32,
    counts: Counts,
    /// LearnedFTL's models.
    models: Option<Learned>,
}

impl Tpftl {
    fn node(&mut self, tp: u32) -> Option<&mut Vec<(u32, bool)>> {
        self.nodes.iter_mut().find(|(other, _)| *other == tp).map(|(_, entries)| entries)
    }
    fn holds(&self, lpn: u32) -> bool {
        self.nodes.iter().any(|(_, entries)| entries.iter().any(|(other, _)| *other == lpn))
    }
    fn len(&self) -> usize {
        self.nodes.iter().map(|(_, entries)| entries.len()).sum()
    }
    fn count(&mut self, change: i32) {
        self.counter += change;
        if self.counter.abs() == self.threshold {
            self.selective = self.counter < 0;
            self.counter = 0;
        }
    }
    /// The entry that would go now.
    fn victim(&self) -> u32 {
        let entries = &self.nodes[0].1;
        entries.iter().find(|(_, dirty)| !dirty).unwrap_or(&entries[0]).0
    }
    /// True if a node went. `places` are those of all pages now.
    fn evict(&mut self, places: &[Ppn]) -> bool {
        let tp = self.nodes[0].0;
        let victim = self.victim();
        let entries = &mut self.nodes[0].1;
        if take(entries, |(lpn, _)| *lpn == victim).1 {
            for (_, dirty) in entries.iter_mut() {
                *dirty = false;
            }
            self.counts.patched += 1;
            self.counts.programmed += 1;
            if let Some(models) = &mut self.models {
                models.train(tp, self.entries_per_tp, places);
            }
        }
        let entries = &mut self.nodes[0].1;
        let gone = entries.is_empty();
        if gone {
            self.nodes.remove(0);
            self.count(-1);
        }
        gone
    }
}

impl Reference for Tpftl {
    fn access(&mut self, lpn: u32, end: u32, write: bool, [places, _]: [&[Ppn]; 2]) {
        let tp = lpn / self.entries_per_tp;
        if let Some(models) = self.models.as_mut().filter(|models| models.exact.is_empty()) {
            models.exact = vec![false; LOGICAL as usize];
            (0..LOGICAL.div_ceil(self.entries_per_tp)).for_each(|tp| models.train(tp, self.entries_per_tp, places));
        }
        let told = |cache: &Self| cache.models.as_ref().is_some_and(|models| models.exact[lpn as usize]);
        if self.holds(lpn) {
            self.counts.hits += 1;
        } else if told(self) && !write {
            self.counts.hits += 1;
            self.counts.second_hits += 1;
            return;
        } else {
            let first = tp * self.entries_per_tp;
            let run = (first..lpn).rev().take_while(|before| self.holds(*before)).count() as u32;
            let mut stop = self.len() == self.capacity && self.evict(places);
            let told = told(self);
            self.counts.hits += u64::from(told);
            self.counts.second_hits += u64::from(told);
            self.counts.misses += u64::from(!told);
            if self.node(tp).is_none() {
                self.nodes.push((tp, Vec::new()));
                self.count(1);
            }
            self.node(tp).expect("just made").push((lpn, false));
            let ahead = if told { 0 } else { end.max(if self.selective { lpn + 1 + run } else { 0 }) };
            let at = self.nodes.iter().position(|(other, _)| *other == tp).expect("just made");
            let node = self.nodes.remove(at);
            self.nodes.push(node);
            for next in lpn + 1..ahead.min(first + self.entries_per_tp).min(LOGICAL) {
                if self.holds(next) {
                    continue;
                }
                if stop || (self.len() == self.capacity && self.victim() == lpn) {
                    break;
                }
                stop = self.len() == self.capacity && self.evict(places);
                self.node(tp).expect("holds the page asked for").insert(0, (next, false));
                self.counts.prefetches += 1;
            }
        }
        let (_, mut entries) = take(&mut self.nodes, |(other, _)| *other == tp);
        let (_, dirty) = take(&mut entries, |(other, _)| *other == lpn);
        entries.push((lpn, dirty || write));
        self.nodes.push((tp, entries));
        if let Some(models) = self.models.as_mut().filter(|_| write) {
            models.exact[lpn as usize] = false;
        }
    }
    fn counts(&self) -> Counts {
        self.counts
    }
    fn state(&self) -> Value {
        let mut state = json!({"nodes_lru_to_mru": self.nodes, "selective": self.selective, "counter": self.counter});
        if let Some(models) = &self.models {
            let exact = (0..LOGICAL).filter(|lpn| models.exact[*lpn as usize]);
            state["predicted_lpns"] = exact.collect();
        }
        state
    }
}

/// The models of LearnedFTL with a single frontier: a piece is (its first page, place of that, slope).
#[derive(Default)]
struct Learned {
    pieces: usize,
    models: BTreeMap<u32, Vec<(u32, i64, i64)>>,
    /// By page; empty before the first access.
    exact: Vec<bool>,
}

impl Learned {
    /// Where a model sees a page.
    fn place(model: &[(u32, i64, i64)], lpn: u32) -> Option<i64> {
        let (first, base, slope) = model.iter().rev().find(|(first, _, _)| *first <= lpn)?;
        Some(base + (i64::from(lpn - first) * slope).div_euclid(65536))
    }

    /// The least slope that is exact for pages that all are mapped, if there is one.
    fn slope(pages: &[u32], places: &[Ppn]) -> Option<i64> {
        let place = |lpn: u32| i64::from(places[lpn as usize].0);
        let exact = |slope: i64| {
            pages.iter().all(|lpn| Self::place(&[(pages[0], place(pages[0]), slope)], *lpn) == Some(place(*lpn)))
        };
        // Every page bounds the slope from below; the largest of these bounds is the least slope, if any is exact.
        let bounds = pages[1..].iter().map(|lpn| {
            let (run, rise) = (i64::from(lpn - pages[0]), place(*lpn) - place(pages[0]));
            (rise * 65536).div_euclid(run) + i64::from((rise * 65536).rem_euclid(run) > 0)
        });
        Some(bounds.max().unwrap_or(65536)).filter(|slope| exact(*slope))
    }

    fn train(&mut self, tp: u32, entries_per_tp: u32, places: &[Ppn]) {
        let range = tp * entries_per_tp..((tp + 1) * entries_per_tp).min(LOGICAL);
        let mut pages: &[u32] = &range.clone().collect::<Vec<_>>();
        let mut found = Vec::new();
        while !pages.is_empty() {
            let most = (1..=pages.len()).take_while(|n| Self::slope(&pages[..*n], places).is_some()).count();
            let slope = Self::slope(&pages[..most], places).expect("one page always lies on a line");
            found.push((most, (pages[0], i64::from(places[pages[0] as usize].0), slope)));
            pages = &pages[most..];
        }
        while found.len() > self.pieces {
            // The shortest goes, the last of several.
            let (at, _) = found.iter().enumerate().rev().min_by_key(|(_, piece)| piece.0).expect("not empty");
            found.remove(at);
        }
        let learned = found.into_iter().map(|(_, piece)| piece).collect::<Vec<_>>();
        let hits = |model: &[(u32, i64, i64)]| {
            let exact = |lpn: u32| Self::place(model, lpn) == Some(i64::from(places[lpn as usize].0));
            range.clone().map(exact).collect::<Vec<_>>()
        };
        let count = |model: &[(u32, i64, i64)]| hits(model).iter().filter(|hit| **hit).count();
        let model = self.models.entry(tp).or_default();
        if count(&learned) > count(model) {
            *model = learned;
        }
        let hits = hits(model);
        self.exact[range.start as usize..range.end as usize].copy_from_slice(&hits);
    }
}

/// S-FTL. The list from LRU to MRU.
#[derive(Default)]
struct Sftl {
    entries_per_tp: u32,
    budget: u64,
    /// (translation page, dirty, bytes).
    pages: Vec<(u32, bool, u64)>,
    counts: Counts,
}

impl Sftl {
    fn shrink(&mut self) {
        while self.pages.iter().map(|(_, _, bytes)| bytes).sum::<u64>() > self.budget && self.pages.len() > 1 {
            self.counts.programmed += u64::from(self.pages.remove(0).1);
        }
    }
}

impl Reference for Sftl {
    fn access(&mut self, lpn: u32, _: u32, write: bool, places: [&[Ppn]; 2]) {
        let tp = lpn / self.entries_per_tp;
        let range = tp * self.entries_per_tp..((tp + 1) * self.entries_per_tp).min(LOGICAL);
        let [before, after] = places.map(|places| {
            let places = &places[range.start as usize..range.end as usize];
            let runs = 1 + places.windows(2).filter(|pair| pair[1].0 != pair[0].0 + 1).count() as u64;
            u64::from(self.entries_per_tp.div_ceil(8)) + 4 * runs
        });
        if self.pages.iter().any(|(other, _, _)| *other == tp) {
            self.counts.hits += 1;
            let (_, dirty, _) = take(&mut self.pages, |(other, _, _)| *other == tp);
            self.pages.push((tp, dirty || write, after));
        } else {
            self.counts.misses += 1;
            self.pages.push((tp, write, before));
            self.shrink();
            self.pages.last_mut().expect("just pushed").2 = after;
        }
        self.shrink();
    }
    fn counts(&self) -> Counts {
        self.counts
    }
    fn state(&self) -> Value {
        json!({"lru_to_mru": self.pages})
    }
}

/// CDFTL. All lists from LRU to MRU.
#[derive(Default)]
struct Cdftl {
    entries_per_tp: u32,
    cmt_entries: usize,
    ctp_pages: usize,
    cmt: Vec<(u32, bool)>,
    ctp: Vec<(u32, bool)>,
    counts: Counts,
}

impl Reference for Cdftl {
    fn access(&mut self, lpn: u32, _: u32, write: bool, _: [&[Ppn]; 2]) {
        let tp = |lpn: u32| lpn / self.entries_per_tp;
        if let Some(at) = self.cmt.iter().position(|(other, _)| *other == lpn) {
            self.counts.hits += 1;
            let (_, dirty) = self.cmt.remove(at);
            return self.cmt.push((lpn, dirty || write));
        }
        if let Some(at) = self.ctp.iter().position(|(other, _)| *other == tp(lpn)) {
            self.counts.hits += 1;
            self.counts.second_hits += 1;
            let page = self.ctp.remove(at);
            self.ctp.push(page);
        } else {
            self.counts.misses += 1;
            if self.ctp.len() == self.ctp_pages {
                self.counts.programmed += u64::from(self.ctp.remove(0).1);
            }
            self.ctp.push((tp(lpn), false));
        }
        if self.cmt.len() == self.cmt_entries {
            let cached: BTreeMap<u32, usize> = self.ctp.iter().enumerate().map(|(at, page)| (page.0, at)).collect();
            let free = self.cmt.iter().position(|(other, dirty)| !dirty || cached.contains_key(&tp(*other)));
            let (victim, dirty) = self.cmt.remove(free.unwrap_or(0));
            match cached.get(&tp(victim)) {
                Some(at) if dirty => self.ctp[*at].1 = true,
                None if dirty => {
                    self.counts.patched += 1;
                    self.counts.programmed += 1;
                }
                _ => {}
            }
        }
        self.cmt.push((lpn, write));
    }
    fn counts(&self) -> Counts {
        self.counts
    }
    fn state(&self) -> Value {
        json!({"cmt_lru_to_mru": self.cmt, "ctp_lru_to_mru": self.ctp})
    }
}

/// DFTL's table in its three orders. All lists begin with the entry that goes first.
struct Dftl {
    order: &'static str,
    capacity: usize,
    protected: usize,
    /// (page, dirty, age or heat), by segment: probation and protected, or the clean and the dirty queue.
    lists: [Vec<(u32, bool, u64)>; 2],
    /// (page, block and page where it lies).
    places: Vec<Ppn>,
    counts: Counts,
}

impl Dftl {
    /// Smallest age first, then smallest page.
    fn sort(&mut self) {
        if self.order == "age" {
            for list in &mut self.lists {
                list.sort_by_key(|(lpn, _, age)| (*age, *lpn));
            }
        }
    }
    fn hit(&mut self, lpn: u32, write: bool) {
        let at = usize::from(self.lists[1].iter().any(|(other, _, _)| *other == lpn));
        let heat = u64::from(self.order != "segmented");
        if self.order == "clock" {
            let entry = self.lists[at].iter_mut().find(|(other, _, _)| *other == lpn).expect("it is there");
            *entry = (lpn, entry.1 || write, entry.2 + heat);
            return;
        }
        let (_, dirty, age) = take(&mut self.lists[at], |(other, _, _)| *other == lpn);
        let entry = (lpn, dirty || write, age + heat);
        let promoted = match self.order {
            "segmented" => self.protected > 0,
            _ => at == 1 || self.lists[1].first().is_some_and(|(_, _, least)| *least <= entry.2),
        };
        if promoted && (at == 0 && self.lists[1].len() == self.protected) {
            let demoted = self.lists[1].remove(0);
            self.lists[0].push(demoted);
        }
        self.lists[usize::from(promoted)].push(entry);
        self.sort();
    }
    /// Turns the hand until an entry goes; true if that one was dirty.
    fn turn(&mut self) -> bool {
        loop {
            for queue in 0..2 {
                for _ in 0..self.lists[queue].len() {
                    let (lpn, dirty, heat) = self.lists[queue].remove(0);
                    match (usize::from(dirty) == queue, heat) {
                        (true, 0) => return dirty,
                        (true, _) => self.lists[queue].push((lpn, dirty, heat - 1)),
                        (false, _) => self.lists[1 - queue].push((lpn, dirty, heat)),
                    }
                }
            }
        }
    }
    fn evict(&mut self) {
        let dirty = if self.order == "clock" {
            self.turn()
        } else {
            let list = usize::from(self.lists[0].is_empty());
            self.lists[list].remove(0).1
        };
        self.counts.patched += u64::from(dirty);
        self.counts.programmed += u64::from(dirty);
    }
}

impl Reference for Dftl {
    fn access(&mut self, lpn: u32, _: u32, write: bool, places: [&[Ppn]; 2]) {
        self.places = places[1].to_vec();
        if self.lists.iter().flatten().any(|(other, _, _)| *other == lpn) {
            self.counts.hits += 1;
            return self.hit(lpn, write);
        }
        self.counts.misses += 1;
        if self.lists[0].len() + self.lists[1].len() == self.capacity {
            self.evict();
        }
        let segment = usize::from(self.order == "age" && self.protected > 0);
        if segment == 1 && self.lists[1].len() == self.protected {
            let demoted = self.lists[1].remove(0);
            self.lists[0].push(demoted);
        }
        let rank = match self.order {
            "age" => self.lists[segment].iter().map(|(_, _, age)| age + 1).max().unwrap_or(1),
            "clock" => 1,
            _ => 0,
        };
        self.lists[segment].push((lpn, write, rank));
        self.sort();
    }
    fn counts(&self) -> Counts {
        self.counts
    }
    fn state(&self) -> Value {
        let [first, second] = self.lists.each_ref().map(|list| {
            let place = |lpn: u32| self.places[lpn as usize].0;
            list.iter()
                .map(|(lpn, dirty, _)| json!([lpn, [place(*lpn) / 64, place(*lpn) % 64], dirty]))
                .collect::<Vec<_>>()
        });
        json!({"cmt": {"probation_lru_to_mru": first, "protected_lru_to_mru": second}})
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn does_dftl_follow_its_rules_in_every_order(
        requests in requests(), capacity in 1u32..40, share in 0u32..=100, order in 0usize..3,
    ) {
        let (order, protected) = (["segmented", "age", "clock"][order], capacity * share / 100);
        let params = json!({"cmt_entries": capacity, "cmt_protected": protected, "cmt_order": order});
        let mut reference = Dftl {
            order, capacity: capacity as usize, protected: protected as usize, lists: [Vec::new(), Vec::new()],
            places: Vec::new(), counts: Counts::default(),
        };
        compare("dftl", params, &mut reference, &requests);
    }

    #[test]
    fn does_tpftl_follow_its_rules(
        requests in requests(), capacity in 1u32..40, entries_per_tp in 1u32..20, threshold in 1i32..5, on: bool,
    ) {
        let params = json!({"cmt_entries": capacity, "entries_per_tp": entries_per_tp, "selective_threshold": threshold,
            "selective_prefetch": if on { "start_on" } else { "start_off" }});
        let mut reference = Tpftl {
            entries_per_tp, capacity: capacity as usize, threshold, selective: on, ..Tpftl::default()
        };
        compare("tpftl", params, &mut reference, &requests);
    }

    #[test]
    fn does_learnedftl_follow_its_rules(
        requests in requests(), capacity in 1u32..20, entries_per_tp in 1u32..40, pieces in 1u32..6,
    ) {
        let params = json!({"cmt_entries": capacity, "entries_per_tp": entries_per_tp, "pieces": pieces.min(entries_per_tp)});
        let models = Learned { pieces: pieces.min(entries_per_tp) as usize, ..Learned::default() };
        let mut reference = Tpftl {
            entries_per_tp, capacity: capacity as usize, threshold: 3, selective: true, models: Some(models),
            ..Tpftl::default()
        };
        compare("learnedftl", params, &mut reference, &requests);
    }

    #[test]
    fn does_sftl_follow_its_rules(requests in requests(), spare in 0u32..120, entries_per_tp in 1u32..20) {
        let budget = entries_per_tp.div_ceil(8) + 4 + spare;
        let params = json!({"cache_bytes": budget, "entries_per_tp": entries_per_tp});
        let mut reference = Sftl { entries_per_tp, budget: u64::from(budget), ..Sftl::default() };
        compare("sftl", params, &mut reference, &requests);
    }

    #[test]
    fn does_cdftl_follow_its_rules(
        requests in requests(), cmt_entries in 1u32..20, ctp_pages in 1u32..6, entries_per_tp in 1u32..20,
    ) {
        let params = json!({"cmt_entries": cmt_entries, "ctp_pages": ctp_pages, "entries_per_tp": entries_per_tp});
        let mut reference = Cdftl {
            entries_per_tp, cmt_entries: cmt_entries as usize, ctp_pages: ctp_pages as usize, ..Cdftl::default()
        };
        compare("cdftl", params, &mut reference, &requests);
    }
}
