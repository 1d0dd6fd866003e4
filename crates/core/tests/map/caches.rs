//! Do the mapping caches do what their rules say? Each is compared after every access with a reference that keeps plain
//! lists and searches them from end to end.

mod cdftl;
mod dftl;
mod learned;
mod sftl;
mod tpftl;

use nandlab::flash::{Flash, Media};
use nandlab::ftl::{Batch, Ftl, PageRead, PageWrite};
use nandlab::ledger::{Cause, Ledger, Op};
use nandlab::types::{Lpn, Ppn};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::device::{build, fill, flash, host, shape, start};
use cdftl::Cdftl;
use dftl::Dftl;
use learned::Learned;
use sftl::Sftl;
use tpftl::Tpftl;

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
                // Page by page, so that the state can be compared after each; `end` tells of the run instead.
                ftl.write(&mut flash, Batch { end: Lpn(end), ..Batch::new(&batch[..1], &[]) }, start());
            } else {
                let page = PageRead { end: Lpn(end), ..PageRead::new(Lpn(lpn), Cause::Host) };
                ftl.read(&mut flash, page, start());
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn dftl_follows_its_rules_in_every_order(
        requests in requests(), capacity in 1u32..40, share in 0u32..=100, order in 0usize..3,
    ) {
        let (order, protected) = (["segmented", "age", "clock"][order], capacity * share / 100);
        // The clock has no protected segment, and refuses the size of one.
        let given = (order != "clock").then_some(protected);
        let params = json!({"cmt_entries": capacity, "cmt_protected": given, "cmt_order": order});
        let mut reference = Dftl {
            order, capacity: capacity as usize, protected: protected as usize, lists: [Vec::new(), Vec::new()],
            places: Vec::new(), counts: Counts::default(),
        };
        compare("dftl", params, &mut reference, &requests);
    }

    #[test]
    fn tpftl_follows_its_rules(
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
    fn tpftl_counts_the_run_when_it_prefetches_if_told(
        requests in requests(), capacity in 1u32..12, entries_per_tp in 4u32..20, threshold in 1i32..5,
    ) {
        let params = json!({"cmt_entries": capacity, "entries_per_tp": entries_per_tp, "selective_threshold": threshold,
            "selective_run": "at_prefetch"});
        let mut reference = Tpftl {
            entries_per_tp, capacity: capacity as usize, threshold, selective: true, run_at_prefetch: true,
            ..Tpftl::default()
        };
        compare("tpftl", params, &mut reference, &requests);
    }

    #[test]
    fn learnedftl_follows_its_rules(
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
    fn sftl_follows_its_rules(requests in requests(), spare in 0u32..120, entries_per_tp in 1u32..20) {
        let budget = entries_per_tp.div_ceil(8) + 4 + spare;
        let params = json!({"cache_bytes": budget, "entries_per_tp": entries_per_tp});
        let mut reference = Sftl { entries_per_tp, budget: u64::from(budget), ..Sftl::default() };
        compare("sftl", params, &mut reference, &requests);
    }

    #[test]
    fn cdftl_follows_its_rules(
        requests in requests(), cmt_entries in 1u32..20, ctp_pages in 1u32..6, entries_per_tp in 1u32..20,
    ) {
        let params = json!({"cmt_entries": cmt_entries, "ctp_pages": ctp_pages, "entries_per_tp": entries_per_tp});
        let mut reference = Cdftl {
            entries_per_tp, cmt_entries: cmt_entries as usize, ctp_pages: ctp_pages as usize, ..Cdftl::default()
        };
        compare("cdftl", params, &mut reference, &requests);
    }
}
