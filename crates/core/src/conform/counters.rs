//! The counters of golden files about FTLs.

use serde_json::{Map, Value, json};

use super::map_cache;
use crate::ledger::{BlockKind, Cause, Ledger, Op};

/// A counter of a golden file as a function of the ledger.
type Counter = (&'static str, fn(&Ledger) -> u64);

const COUNTERS: &[Counter] = &[
    ("host_writes", |l| l.host_page_writes),
    ("host_reads", |l| l.host_page_reads),
    ("host_trims", |l| l.host_page_trims),
    ("unmapped_reads", |l| l.unmapped_reads),
    ("data_reads", |l| l.count(Op::Read, Cause::Host)),
    ("host_programs", |l| l.count(Op::Program, Cause::Host)),
    ("pad_reads", |l| l.count(Op::Read, Cause::Pad)),
    ("pad_programs", |l| l.count(Op::Program, Cause::Pad)),
    ("copy_reads", |l| copies(l, Op::Read)),
    ("copy_programs", |l| copies(l, Op::Program)),
    ("map_reads_miss", |l| l.count(Op::Read, Cause::MapMiss)),
    ("map_reads_rmw", |l| l.count(Op::Read, Cause::MapEvict)),
    ("map_programs_evict", |l| l.count(Op::Program, Cause::MapEvict)),
    ("map_reads_gc", |l| l.count(Op::Read, Cause::MapUpdate)),
    ("map_programs_gc", |l| l.count(Op::Program, Cause::MapUpdate)),
    ("map_copy_reads", |l| l.count(Op::Read, Cause::MapGc) + map_moves(l, Op::Read)),
    ("map_copy_programs", |l| l.count(Op::Program, Cause::MapGc) + map_moves(l, Op::Program)),
    ("cmt_hits", |l| l.map_hits - l.map_second_hits),
    ("ctp_hits", |l| l.map_second_hits),
    ("prefetched", |l| l.map_prefetches),
    ("cmt_misses", |l| l.map_misses),
    ("gc_runs", |l| l.gc_runs),
    ("erases", Ledger::erases),
    ("erases_data", |l| l.erases_by_kind[BlockKind::Data as usize]),
    ("erases_log", |l| l.erases_by_kind[BlockKind::Log as usize]),
    ("erases_map", |l| l.erases_by_kind[BlockKind::Map as usize]),
    ("merges_switch", |l| l.merges_switch),
    ("merges_partial", |l| l.merges_partial),
    ("merges_full", |l| l.merges_full),
    ("merges_full_lbns", |l| l.merges_full_lbns),
    ("merges_dead", |l| l.merges_dead),
    ("merges_replace", |l| l.merges_replace),
];

fn copies(ledger: &Ledger, op: Op) -> u64 {
    let all = [Cause::Gc, Cause::Merge, Cause::Wear, Cause::Refresh].iter().map(|cause| ledger.count(op, *cause));
    all.sum::<u64>() - map_moves(ledger, op)
}

/// Translation pages moved for another reason than collection.
fn map_moves(ledger: &Ledger, op: Op) -> u64 {
    if op == Op::Read { ledger.map_move_reads } else { ledger.map_move_programs }
}

/// Counters that are not 0, by name.
pub(super) fn counters(ledger: &Ledger, map_only: bool) -> Map<String, Value> {
    let all = COUNTERS.iter().map(|(name, count)| (*name, count(ledger)));
    let told = all.filter(|(name, count)| *count > 0 && !(map_only && map_cache::ignores(name)));
    told.map(|(name, count)| (name.to_owned(), json!(count))).collect()
}
