//! The ledger: every physical operation with its cause, and every logical event that a paper's metric needs.
//!
//! It is cumulative, `Copy` and subtractable: a window is the difference of two snapshots. Every metric of the report
//! is a function of ledgers, with its formula in [`crate::report`]; nothing else in the device counts anything.

use std::ops::Sub;

use serde::Serialize;

/// Physical operation of the flash array.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Page read.
    Read,
    /// Page program.
    Program,
    /// Block erase.
    Erase,
}

/// Why a physical operation was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Data of the host: a read miss, a write-back, a write-through.
    Host,
    /// Reading and programming pages that complete a block (padding) or a partly written page.
    Pad,
    /// Read ahead of the host.
    Prefetch,
    /// Garbage collection of page-mapped data.
    Gc,
    /// Merge of log blocks or replacement of a data block.
    Merge,
    /// Translation page read because a mapping was not in RAM.
    MapMiss,
    /// Translation page read, patched and programmed to evict a dirty mapping.
    MapEvict,
    /// Translation page read, patched and programmed because data garbage collection moved pages.
    MapUpdate,
    /// Valid translation page moved by garbage collection of a translation block, and that block's erase.
    MapGc,
    /// Wear levelling.
    Wear,
    /// Relocation of a block that was read too often (read disturb).
    Refresh,
    /// Recovery after a power cut.
    Recover,
}

/// Number of [`Op`]s.
pub const OPS: usize = 3;
/// Number of [`Cause`]s.
pub const CAUSES: usize = 12;

impl Op {
    /// All operations in table order.
    pub const ALL: [Self; OPS] = [Self::Read, Self::Program, Self::Erase];
}
impl Cause {
    /// All causes in table order.
    pub const ALL: [Self; CAUSES] = [
        Self::Host,
        Self::Pad,
        Self::Prefetch,
        Self::Gc,
        Self::Merge,
        Self::MapMiss,
        Self::MapEvict,
        Self::MapUpdate,
        Self::MapGc,
        Self::Wear,
        Self::Refresh,
        Self::Recover,
    ];
}

/// What is known beforehand of the merges of an FTL with log blocks. Policies that weigh padding against merges ask for it
/// ([`Ftl::merges`](crate::ftl::Ftl::merges)), so that they need not know which FTL there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MergeKind {
    /// Log blocks belong to one logical block: a merge reclaims one data block.
    OneDataBlock,
    /// A log block takes pages of all logical blocks until it is full: a merge reclaims one, full.
    OneFullLogBlock,
    /// Neither: averages over what happened tell.
    Measured,
}

/// What an erased block held, as its owner sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// Host data at page- or block-mapped places.
    Data,
    /// Log (update) block of a hybrid FTL.
    Log,
    /// Translation pages.
    Map,
}

macro_rules! ledger {
    (
        tables { $( $(#[$tdoc:meta])* $table:ident : [$len:expr], )* }
        kinds { $( $(#[$kdoc:meta])* $kinds:ident : [$klen:expr], )* }
        counters { $( $(#[$doc:meta])* $field:ident, )* }
    ) => {
        /// Cumulative counts of operations and events since the device was made (or since preconditioning ended).
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
        pub struct Ledger {
            $( $(#[$tdoc])* pub $table: [[u64; CAUSES]; $len], )*
            $( $(#[$kdoc])* pub $kinds: [u64; $klen], )*
            $( $(#[$doc])* pub $field: u64, )*
        }
        impl Sub for Ledger {
            type Output = Self;
            /// The window between an earlier snapshot `start` and this one.
            fn sub(mut self, start: Self) -> Self {
                $( for (now, then) in self.$table.iter_mut().flatten().zip(start.$table.iter().flatten()) { *now -= then; } )*
                $( for (now, then) in self.$kinds.iter_mut().zip(start.$kinds) { *now -= then; } )*
                $( self.$field -= start.$field; )*
                self
            }
        }
    };
}

ledger! {
    tables {
        /// Physical operations, indexed by op, then cause: see [`Ledger::count`].
        ops: [OPS],
        /// Service nanoseconds (cell + transfer, without waiting) of the same operations: see [`Ledger::nanos`].
        op_ns: [OPS],
    }
    kinds {
        /// Erases by what the block held: data, log, map.
        erases_by_kind: [3],
        /// Mapping look-ups by what they were for, in the order of [`Purpose`](crate::ftl::frame::Purpose): to read a
        /// page, to write it, to read and rewrite it, to trim it.
        look_ups: [4],
    }
    counters {
        /// Pages the host asked to read.
        host_page_reads,
        /// Pages the host asked to write.
        host_page_writes,
        /// Pages the host trimmed.
        host_page_trims,
        /// Requests of the host: reads.
        host_read_requests,
        /// Requests of the host: writes.
        host_write_requests,
        /// Requests of the host: trims.
        host_trim_requests,
        /// Requests of the host: flushes.
        host_flush_requests,
        /// Sectors the host asked to read.
        host_sector_reads,
        /// Sectors the host asked to write.
        host_sector_writes,
        /// Flash page reads answered with zeros because the page was never written or is trimmed.
        unmapped_reads,

        /// Read accesses (pages) found in the data buffer.
        buffer_read_hits,
        /// Write accesses (pages) found in the data buffer.
        buffer_write_hits,
        /// Read requests all of whose pages were found in the data buffer.
        request_read_hits,
        /// Write requests all of whose pages were found in the data buffer.
        request_write_hits,
        /// Sectors of read requests found in the data buffer.
        sector_read_hits,
        /// Sectors of write requests found in the data buffer (HitStat's hit ratio).
        sector_write_hits,
        /// Groups (logical blocks) touched by write requests and already in the buffer, at most once per request.
        group_hits,
        /// Groups touched by write requests and not in the buffer, at most once per request.
        group_misses,
        /// Groups touched by read requests and in the buffer when they came; counted with `replay.read_groups` only.
        group_read_hits,
        /// Groups touched by read requests and not in the buffer; counted with `replay.read_groups` only.
        group_read_misses,
        /// Page accesses to DRAM frames: reads, by the host and by moves (not by write-backs).
        dram_reads,
        /// Page accesses to DRAM frames: writes, by the host, by moves and by what flash delivers.
        dram_writes,
        /// Page accesses to NVRAM frames: reads, by the host and by moves (not by write-backs).
        nvram_reads,
        /// Page accesses to NVRAM frames: writes, by the host, by moves and by what flash delivers (wear of an NVRAM).
        nvram_writes,
        /// Pages dropped from the buffer without a flash operation.
        buffer_drops,
        /// Write-back commands (pages, clusters or padded blocks).
        write_back_commands,
        /// Logical blocks in those commands, each once a command: HitStat's flushed groups.
        flushed_groups,
        /// Commands that padding completed to a whole logical block.
        padded_write_backs,
        /// Dirty pages written back.
        write_back_pages,
        /// Of those, pages that were evicted ahead of need (`ram.flush.above`).
        flushed_by_fill,
        /// Of those, pages that were written because they had been dirty for long (`ram.flush.age`).
        flushed_by_age,
        /// Of those, pages that were written because enough of them had gathered (`ram.flush.gather`).
        flushed_gathered,
        /// Pages of the flash that stay without data because the rest of their unit was programmed alone (`ftl.whole_units`).
        dummy_pages,
        /// Of those, pages of blocks in SLC mode.
        slc_dummy_pages,
        /// Pages added to write-backs by padding (whether read from flash or copied from RAM).
        padded_pages,
        /// Of those, pages that had to be read from flash; the others had a copy in RAM.
        padded_from_flash,
        /// Pages that padding would have added and that turned out to be unwritten: looked up, neither read nor programmed.
        padding_holes,
        /// Pages fetched ahead of the host into the buffer.
        prefetched_pages,
        /// Of those, pages that a later request accessed before they left (not counted over nothing).
        prefetch_hits,
        /// Of those, pages that the request accessed which had read them ahead (not counted over nothing).
        own_prefetch_hits,
        /// Pages that the buffer asked the FTL to read (misses, pads, prefetches) and that were answered.
        buffer_read_pages,
        /// Nanoseconds from issue to completion of those reads.
        buffer_read_ns,
        /// Pages that the buffer sent to the FTL (dirty and padded): Bf_w of AALRU equation 4.
        buffer_write_pages,
        /// Nanoseconds from issue to completion of those writes, map and GC work included: D_w of AALRU.
        buffer_write_ns,

        /// Mapping look-ups answered in RAM.
        map_hits,
        /// Of these, by what backs the cached entries: a cached translation page (CDFTL), a model (LearnedFTL).
        map_second_hits,
        /// Mappings fetched ahead of a look-up, with a translation page that was read anyway.
        map_prefetches,
        /// Mapping look-ups that had to read a translation page.
        map_misses,
        /// Copies of translation pages that turned out to be unreadable (`device.reliability.map_page_loss`).
        map_unreadable,
        /// Reads of translation pages that found no readable copy: the mapping asked for is lost.
        map_lost,
        /// Translation pages read to move them for wear levelling, or because their block was read too often, with that cause.
        map_move_reads,
        /// Translation pages programmed for the same.
        map_move_programs,
        /// Service nanoseconds of those reads and programs.
        map_move_ns,
        /// Victim blocks collected.
        gc_runs,
        /// Pages programmed into blocks in SLC mode.
        slc_programs,
        /// Pages that were moved out of blocks in SLC mode: collection, wear levelling, relocation.
        slc_pages_folded,
        /// Erases of blocks in SLC mode.
        slc_erases,
        /// Switch merges (log block or padded block becomes the data block).
        merges_switch,
        /// Partial merges.
        merges_partial,
        /// Full merges (log blocks or chains reclaimed with copies).
        merges_full,
        /// Logical blocks rewritten by full merges: the sum of HitStat's R_DB.
        merges_full_lbns,
        /// Log blocks reclaimed by full merges.
        merges_full_log_blocks,
        /// Pages that were programmed in those log blocks.
        merges_full_log_pages,
        /// Pages programmed in log blocks, except for copies of merges.
        log_pages,
        /// Pages of log blocks that a merge took to a data block without data of any other write command: HitStat's overhead
        /// pages.
        log_pages_merged_alone,
        /// Pages that were programmed in log blocks when those were erased.
        log_pages_reclaimed,
        /// Log blocks reclaimed without a valid page: erase only.
        merges_dead,
        /// Data blocks replaced by the block-mapped FTL.
        merges_replace,
        /// Merges that HitStat's padding model counts: full ones of appended log blocks, and (HitStat 3.5) padded blocks that
        /// free such log blocks.
        padding_merges,
        /// Log blocks reclaimed in those merges: the sum of HitStat's R_LB.
        padding_log_blocks,
        /// Data blocks reclaimed in those merges: the sum of HitStat's R_DB.
        padding_data_blocks,
        /// Pages programmed in those log blocks: the sum of R_LB * N * U_LB.
        padding_log_pages,
        /// Page accesses for which the policy had to make room, or that waited for a frame whose page was still on its way.
        eviction_waits,
    }
}

impl Ledger {
    /// Number of physical operations of a kind and cause.
    #[inline]
    pub const fn count(&self, op: Op, cause: Cause) -> u64 {
        self.ops[op as usize][cause as usize]
    }
    /// Service nanoseconds of those operations.
    #[inline]
    pub const fn nanos(&self, op: Op, cause: Cause) -> u64 {
        self.op_ns[op as usize][cause as usize]
    }
    /// Records one physical operation.
    #[inline]
    pub const fn add(&mut self, op: Op, cause: Cause, ns: u64) {
        self.ops[op as usize][cause as usize] += 1;
        self.op_ns[op as usize][cause as usize] += ns;
    }
    /// Requests of the host that were carried out, of all kinds.
    pub const fn host_requests(&self) -> u64 {
        self.host_read_requests + self.host_write_requests + self.host_trim_requests + self.host_flush_requests
    }
    /// Mapping look-ups, by the answers of the map cache; 0 for FTLs whose map is in RAM. One for every data page that is
    /// read, written (read before or not) or trimmed below the buffer.
    #[inline]
    pub const fn map_look_ups(&self) -> u64 {
        self.map_hits + self.map_misses
    }
    /// Physical operations of a kind, all causes.
    pub fn total(&self, op: Op) -> u64 {
        self.ops[op as usize].iter().sum()
    }
    /// Pages read by the flash array.
    pub fn reads(&self) -> u64 {
        self.total(Op::Read)
    }
    /// Pages programmed.
    pub fn programs(&self) -> u64 {
        self.total(Op::Program)
    }
    /// Blocks erased.
    pub fn erases(&self) -> u64 {
        self.total(Op::Erase)
    }
    /// Programs of the host's pages and of pages that padding added: what the buffer sent down.
    pub const fn programs_from_above(&self) -> u64 {
        self.count(Op::Program, Cause::Host) + self.count(Op::Program, Cause::Pad)
    }
    /// Programs the FTL added: garbage collection, merges, mapping, wear levelling, recovery. (Of AALRU's GC_w see `aalru`.)
    pub fn programs_from_below(&self) -> u64 {
        self.programs() - self.programs_from_above()
    }
    /// Those of them that garbage collection and merges caused, with the mappings they moved: not what the map cache wrote
    /// back on its own account, nor wear levelling.
    pub fn programs_by_collection(&self) -> u64 {
        [Cause::Gc, Cause::Merge, Cause::MapUpdate, Cause::MapGc]
            .map(|cause| self.count(Op::Program, cause))
            .iter()
            .sum()
    }
    /// All programs per page that the host wrote to the device; 0 without writes.
    pub fn waf_host(&self) -> f64 {
        ratio(self.programs(), self.host_page_writes)
    }
    /// All programs per page that the buffer sent to the FTL, padding included: AALRU's Wf (equation 4).
    pub fn waf_buffer(&self) -> f64 {
        ratio(self.programs(), self.programs_from_above())
    }
}

/// `part / whole`, 0 when the whole is 0.
pub fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Growth of some counters since an earlier look at them.
pub fn since<const N: usize>(now: [u64; N], start: [u64; N]) -> [u64; N] {
    std::array::from_fn(|i| now[i] - start[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_is_the_difference_of_two_snapshots() {
        let mut ledger = Ledger::default();
        ledger.add(Op::Program, Cause::Gc, 10);
        let start = ledger;
        ledger.add(Op::Program, Cause::Gc, 10);
        ledger.add(Op::Program, Cause::Host, 10);
        ledger.host_page_writes += 1;
        let window = ledger - start;
        assert_eq!(window.programs(), 2);
        assert_eq!(window.programs_from_below(), 1);
        assert_eq!(window.nanos(Op::Program, Cause::Gc), 10);
        assert!((window.waf_host() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn every_cause_has_its_own_column() {
        for (i, cause) in Cause::ALL.iter().enumerate() {
            assert_eq!(*cause as usize, i);
        }
    }
}
