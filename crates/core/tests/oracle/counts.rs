//! What the oracle counts: every field of the product's ledger by its definition, and the comparison of the two.

use nandlab::ledger::{BlockKind, CAUSES, Cause, Ledger, OPS, Op};

macro_rules! counts {
    ($($field:ident,)+) => {
        /// Counted where it happens, in the oracle's own parts.
        #[derive(Clone, Default, Debug)]
        pub struct Counts {
            /// Flash operations by kind and cause; their service times follow from the device's times.
            pub operations: [[u64; CAUSES]; OPS],
            pub erases_by_kind: [u64; 3],
            /// To read a page, to write it, to read and rewrite it, to trim it.
            pub look_ups: [u64; 4],
            $(pub $field: u64,)+
        }

        impl Counts {
            /// Whether [`Self::differences`] has nothing to tell, found out quickly.
            pub fn agrees(&self, ledger: &Ledger, service: [u64; 3]) -> bool {
                let Ledger { ops, op_ns, erases_by_kind, look_ups, $($field),+ } = *ledger;
                let times = (0..OPS).all(|o| (0..CAUSES).all(|c| op_ns[o][c] == self.operations[o][c] * service[o]));
                let tables = ops == self.operations && erases_by_kind == self.erases_by_kind && look_ups == self.look_ups;
                times && tables $(&& $field == self.$field)+
            }

            /// Every number in which a ledger differs, as (name, ledger, oracle). `service` is the time by operation.
            ///
            /// All fields are named, so that a new one does not compile until somebody says here how it is derived.
            pub fn differences(&self, ledger: &Ledger, service: [u64; 3]) -> Vec<(String, u64, u64)> {
                let Ledger { ops, op_ns, erases_by_kind, look_ups, $($field),+ } = *ledger;
                let mut all: Vec<(String, u64, u64)> = Vec::new();
                for op in Op::ALL {
                    for cause in Cause::ALL {
                        let (o, c) = (op as usize, cause as usize);
                        let mine = self.operations[o][c];
                        all.push((format!("ops {op:?} {cause:?}"), ops[o][c], mine));
                        all.push((format!("op_ns {op:?} {cause:?}"), op_ns[o][c], mine * service[o]));
                    }
                }
                for (i, kind) in [BlockKind::Data, BlockKind::Log, BlockKind::Map].into_iter().enumerate() {
                    let name = format!("erases_by_kind {kind:?}");
                    all.push((name, erases_by_kind[kind as usize], self.erases_by_kind[i]));
                }
                for (i, mine) in self.look_ups.into_iter().enumerate() {
                    all.push((format!("look_ups {i}"), look_ups[i], mine));
                }
                $(all.push((stringify!($field).to_owned(), $field, self.$field));)+
                all.retain(|(_, ledger, oracle)| ledger != oracle);
                all
            }
        }
    };
}

counts! {
    host_page_reads,
    host_page_writes,
    host_page_trims,
    host_read_requests,
    host_write_requests,
    host_trim_requests,
    host_flush_requests,
    host_sector_reads,
    host_sector_writes,
    unmapped_reads,
    buffer_read_hits,
    buffer_write_hits,
    request_read_hits,
    request_write_hits,
    sector_read_hits,
    sector_write_hits,
    group_hits,
    group_misses,
    group_read_hits,
    group_read_misses,
    dram_reads,
    dram_writes,
    nvram_reads,
    nvram_writes,
    buffer_drops,
    write_back_commands,
    flushed_groups,
    padded_write_backs,
    write_back_pages,
    flushed_by_fill,
    flushed_by_age,
    flushed_gathered,
    dummy_pages,
    slc_dummy_pages,
    padded_pages,
    padded_from_flash,
    padding_holes,
    prefetched_pages,
    prefetch_hits,
    own_prefetch_hits,
    buffer_read_pages,
    buffer_read_ns,
    buffer_write_pages,
    buffer_write_ns,
    map_hits,
    map_second_hits,
    map_prefetches,
    map_misses,
    map_unreadable,
    map_lost,
    map_move_reads,
    map_move_programs,
    map_move_ns,
    gc_runs,
    slc_programs,
    slc_pages_folded,
    slc_erases,
    merges_switch,
    merges_partial,
    merges_full,
    merges_full_lbns,
    merges_full_log_blocks,
    merges_full_log_pages,
    log_pages,
    log_pages_merged_alone,
    log_pages_reclaimed,
    merges_dead,
    merges_replace,
    padding_merges,
    padding_log_blocks,
    padding_data_blocks,
    padding_log_pages,
    eviction_waits,
}

impl Counts {
    /// One flash operation.
    pub fn operation(&mut self, op: Op, cause: Cause) {
        self.operations[op as usize][cause as usize] += 1;
    }
    /// Programs with one of these causes.
    pub fn programs(&self, causes: &[Cause]) -> u64 {
        causes.iter().map(|cause| self.operations[Op::Program as usize][*cause as usize]).sum()
    }
}
