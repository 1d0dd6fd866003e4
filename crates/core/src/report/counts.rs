//! Metrics of number.

use serde::Serialize;

use super::share;
use crate::ledger::{BlockKind, CAUSES, Cause, Ledger, Op};

/// What the host asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, schemars::JsonSchema)]
pub struct Requests {
    /// Read requests.
    pub reads: u64,
    /// Write requests.
    pub writes: u64,
    /// Trim (discard) requests.
    pub trims: u64,
    /// Flush requests.
    pub flushes: u64,
    /// All of them.
    pub total: u64,
    /// Pages that read requests touch.
    pub pages_read: u64,
    /// Pages that write requests touch.
    pub pages_written: u64,
    /// Pages trimmed.
    pub pages_trimmed: u64,
    /// Sectors (512 B) read.
    pub sectors_read: u64,
    /// Sectors written.
    pub sectors_written: u64,
    /// Pages wanted from flash, for the host or for the rest of a page that was written in part, that were never written, or
    /// trimmed: answered with zeros and without a flash read.
    pub unmapped_reads: u64,
}

impl Requests {
    pub(super) fn new(l: &Ledger) -> Self {
        Self {
            reads: l.host_read_requests,
            writes: l.host_write_requests,
            trims: l.host_trim_requests,
            flushes: l.host_flush_requests,
            total: l.host_requests(),
            pages_read: l.host_page_reads,
            pages_written: l.host_page_writes,
            pages_trimmed: l.host_page_trims,
            sectors_read: l.host_sector_reads,
            sectors_written: l.host_sector_writes,
            unmapped_reads: l.unmapped_reads,
        }
    }
}

/// A hit ratio of reads, of writes, and of both together (sums, not the mean of the two).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct Ratios {
    /// Hits of reads / reads.
    pub read: Option<f64>,
    /// Hits of writes / writes.
    pub write: Option<f64>,
    /// Hits / all.
    pub total: Option<f64>,
}

/// What the data buffer answered.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct HitRatios {
    /// Page accesses whose page was in the buffer / page accesses (AALRU, URM, WPA). With `ram.partial_write = "mask"` a read
    /// hits where all that it wants of the page was.
    pub page: Ratios,
    /// Page accesses whose page was in the buffer when the request came / page accesses, reads and writes together: without the
    /// pages that the request itself read ahead, for which it waits (`buffer.own_prefetch_hits`).
    pub at_arrival: Option<f64>,
    /// Requests all of whose pages were in the buffer / requests.
    pub request: Ratios,
    /// Sectors of requests whose page access was a hit / sectors (HitStat's hit ratio is the one of writes).
    pub sector: Ratios,
    /// Writes only: logical blocks touched by a request of which a page was in the buffer / logical blocks touched, each
    /// at most once a request (HitStat's group hit ratio).
    pub group_write: Option<f64>,
    /// The same for reads, as their groups are when the request comes; counted with `replay.read_groups = true` only.
    pub group_read: Option<f64>,
}

impl HitRatios {
    pub(super) fn new(l: &Ledger) -> Self {
        let ratios = |reads: (u64, u64), writes: (u64, u64)| Ratios {
            read: share(reads.0, reads.1),
            write: share(writes.0, writes.1),
            total: share(reads.0 + writes.0, reads.1 + writes.1),
        };
        Self {
            page: ratios((l.buffer_read_hits, l.host_page_reads), (l.buffer_write_hits, l.host_page_writes)),
            at_arrival: share(
                l.buffer_read_hits + l.buffer_write_hits - l.own_prefetch_hits,
                l.host_page_reads + l.host_page_writes,
            ),
            request: ratios((l.request_read_hits, l.host_read_requests), (l.request_write_hits, l.host_write_requests)),
            sector: ratios((l.sector_read_hits, l.host_sector_reads), (l.sector_write_hits, l.host_sector_writes)),
            group_write: share(l.group_hits, l.group_hits + l.group_misses),
            group_read: share(l.group_read_hits, l.group_read_hits + l.group_read_misses),
        }
    }
}

/// Operations of one kind, by what caused them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, schemars::JsonSchema)]
pub struct ByCause {
    /// All causes.
    pub total: u64,
    /// Data of the host: read misses, write-backs, write-through.
    pub host: u64,
    /// Pages that complete a block (padding) or a partly written page.
    pub pad: u64,
    /// Read ahead of the host.
    pub prefetch: u64,
    /// Garbage collection of page-mapped data.
    pub gc: u64,
    /// Merges of log blocks, replacement of data blocks.
    pub merge: u64,
    /// Translation pages read because a mapping was not in RAM.
    pub map_miss: u64,
    /// Translation pages read and programmed to evict dirty mappings.
    pub map_evict: u64,
    /// Translation pages read and programmed because garbage collection of data moved pages.
    pub map_update: u64,
    /// Translation pages moved by garbage collection of translation blocks, and the erases of those.
    pub map_gc: u64,
    /// Wear levelling.
    pub wear: u64,
    /// Relocation of blocks that were read too often (read disturb).
    pub refresh: u64,
    /// Recovery and journals.
    pub recover: u64,
    /// Sum of the service times (command, cell, transfer) of these operations, without waiting.
    pub service_ns: u64,
}

impl ByCause {
    fn new(l: &Ledger, op: Op) -> Self {
        let n = |cause| l.count(op, cause);
        Self {
            total: l.total(op),
            host: n(Cause::Host),
            pad: n(Cause::Pad),
            prefetch: n(Cause::Prefetch),
            gc: n(Cause::Gc),
            merge: n(Cause::Merge),
            map_miss: n(Cause::MapMiss),
            map_evict: n(Cause::MapEvict),
            map_update: n(Cause::MapUpdate),
            map_gc: n(Cause::MapGc),
            wear: n(Cause::Wear),
            refresh: n(Cause::Refresh),
            recover: n(Cause::Recover),
            service_ns: Cause::ALL.iter().map(|cause| l.nanos(op, *cause)).sum(),
        }
    }
    /// The causes with their names, in table order.
    pub const fn causes(&self) -> [(&'static str, u64); CAUSES] {
        [
            ("host", self.host),
            ("pad", self.pad),
            ("prefetch", self.prefetch),
            ("gc", self.gc),
            ("merge", self.merge),
            ("map_miss", self.map_miss),
            ("map_evict", self.map_evict),
            ("map_update", self.map_update),
            ("map_gc", self.map_gc),
            ("wear", self.wear),
            ("refresh", self.refresh),
            ("recover", self.recover),
        ]
    }
}

/// Physical operations by cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, schemars::JsonSchema)]
pub struct FlashWork {
    /// Page reads.
    pub reads: ByCause,
    /// Page programs (the papers' page writes).
    pub programs: ByCause,
    /// Block erases.
    pub erases: ByCause,
    /// Erases by what the block held.
    pub erases_by_kind: Erases,
    /// Page reads + page programs (WPA: number of accesses to flash).
    pub accesses: u64,
}

/// Erases by what the block held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, schemars::JsonSchema)]
pub struct Erases {
    /// Host data at page- or block-mapped places.
    pub data: u64,
    /// Log blocks of a hybrid FTL.
    pub log: u64,
    /// Translation pages.
    pub map: u64,
}

impl FlashWork {
    pub(super) fn new(l: &Ledger) -> Self {
        let [data, log, map] = l.erases_by_kind;
        Self {
            reads: ByCause::new(l, Op::Read),
            programs: ByCause::new(l, Op::Program),
            erases: ByCause::new(l, Op::Erase),
            erases_by_kind: Erases { data, log, map },
            accesses: l.reads() + l.programs(),
        }
    }
}

/// Merges by kind, and what became of the log of a hybrid FTL.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct Merges {
    /// A log block or padded block became the data block: no copies.
    pub switch: u64,
    /// A log block was completed by copies and became the data block.
    pub partial: u64,
    /// Log blocks were reclaimed by copying into fresh data blocks.
    pub full: u64,
    /// Logical blocks rewritten by those full merges.
    pub full_logical_blocks: u64,
    /// Log blocks reclaimed without a valid page in them: erase only.
    pub dead: u64,
    /// Data blocks replaced by a block-mapped FTL.
    pub replace: u64,
    /// Erases of full merges (one for every logical block rewritten and every log block reclaimed) / all erases (HitStat,
    /// figure 20). Nothing if full merges were of neither, as those of `superblock`.
    pub full_erase_share: Option<f64>,
    /// Pages programmed in log blocks, except for copies of merges.
    pub log_pages: u64,
    /// Of those, pages that a merge copied to a data block, or completed there, without data of any other write command in
    /// the log or with it: HitStat's overhead pages. Pages that were trimmed before do not count, nor do switch merges.
    pub overhead_pages: u64,
    /// Overhead pages / pages programmed in log blocks.
    pub overhead_share: Option<f64>,
    /// Pages programmed in log blocks when they were erased / (log blocks erased * pages a block): HitStat's log-block
    /// space utilisation.
    pub log_utilisation: Option<f64>,
}

impl Merges {
    pub(super) fn new(l: &Ledger, pages_per_block: u32) -> Self {
        let log_erases = l.erases_by_kind[BlockKind::Log as usize];
        let erased = l.merges_full_lbns + l.merges_full_log_blocks;
        Self {
            full_erase_share: (l.merges_full == 0 || erased > 0).then(|| share(erased, l.erases())).flatten(),
            log_pages: l.log_pages,
            overhead_pages: l.log_pages_merged_alone,
            overhead_share: share(l.log_pages_merged_alone, l.log_pages),
            log_utilisation: share(l.log_pages_reclaimed, log_erases * u64::from(pages_per_block)),
            switch: l.merges_switch,
            partial: l.merges_partial,
            full: l.merges_full,
            full_logical_blocks: l.merges_full_lbns,
            dead: l.merges_dead,
            replace: l.merges_replace,
        }
    }
    /// All merges that copy or erase.
    pub const fn total(&self) -> u64 {
        self.switch + self.partial + self.full + self.dead + self.replace
    }
}

/// HitStat's padding model (section 3.5): a padded block counts as a full merge of its chain with the unpadded pages logged.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct Padding {
    /// Merges that the model counts.
    pub merges: u64,
    /// `R_DB`: data blocks reclaimed / merges.
    pub r_db: Option<f64>,
    /// `R_LB`: log blocks reclaimed / merges.
    pub r_lb: Option<f64>,
    /// `U_LB`: pages programmed in those log blocks / (log blocks * pages a block); `merges.log_utilisation` counts the log
    /// blocks as they were.
    pub u_lb: Option<f64>,
    /// Pages added to write-backs, read from flash or copied from RAM.
    pub padded_pages: u64,
    /// Of those, pages that had to be read from flash: the padding reads. The others had a copy in RAM.
    pub padded_from_flash: u64,
    /// Pages added by padding / dirty pages written back (AALRU, figure 3).
    pub padded_per_dirty: Option<f64>,
    /// Write-back commands that padding completed to a whole logical block.
    pub padded_write_backs: u64,
    /// Pages that completed something and were read from flash: padding reads, and the rests of partly written pages.
    pub flash_reads: u64,
}

impl Padding {
    pub(super) fn new(l: &Ledger, pages_per_block: u32) -> Self {
        Self {
            merges: l.padding_merges,
            r_db: share(l.padding_data_blocks, l.padding_merges),
            r_lb: share(l.padding_log_blocks, l.padding_merges),
            u_lb: share(l.padding_log_pages, l.padding_log_blocks * u64::from(pages_per_block)),
            padded_pages: l.padded_pages,
            padded_from_flash: l.padded_from_flash,
            padded_per_dirty: share(l.padded_pages, l.write_back_pages),
            padded_write_backs: l.padded_write_backs,
            flash_reads: l.count(Op::Read, Cause::Pad),
        }
    }
}

/// Mapping look-ups by what they are for: one for every data page that is read, written or trimmed below the buffer. All are
/// 0 for FTLs whose map is in RAM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, schemars::JsonSchema)]
pub struct LookUps {
    /// Pages read: misses, prefetches, and rests of pages that the host waits for.
    pub read: u64,
    /// Pages written with all of their content in RAM.
    pub write: u64,
    /// Pages whose old copy is read to be rewritten in the same command: padding, and partly written pages. Pages that
    /// padding left out because they were never written are among them.
    pub rewrite: u64,
    /// Pages trimmed.
    pub trim: u64,
}

/// Work of the SLC cache (`ftl.slc`); all of it is part of the flash operations too.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct SlcWork {
    /// Pages programmed into it.
    pub programs: u64,
    /// These / pages that the buffer sent to flash.
    pub share: Option<f64>,
    /// Pages that left it for blocks of the native kind.
    pub folded_pages: u64,
    /// Erases of its blocks.
    pub erases: u64,
}

impl SlcWork {
    pub(super) fn new(l: &Ledger) -> Self {
        let sent = l.count(Op::Program, Cause::Host) + l.count(Op::Program, Cause::Pad);
        Self {
            programs: l.slc_programs,
            share: share(l.slc_programs, sent),
            folded_pages: l.slc_pages_folded,
            erases: l.slc_erases,
        }
    }
}

/// The mapping's own work.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct MappingWork {
    /// Look-ups answered by the map cache / look-ups; nothing for FTLs whose map is all in RAM.
    pub hit_ratio: Option<f64>,
    /// Look-ups, by what they are for.
    pub look_ups: LookUps,
    /// Look-ups that RAM could not answer. With `write_miss_fetch = false` those of a page that is only written read nothing.
    pub misses: u64,
    /// Copies of translation pages that were read and turned out to be unreadable (`device.reliability.map_page_loss`).
    pub unreadable_copies: u64,
    /// Reads of translation pages that found no readable copy: lost mappings. The run goes on as if they were known.
    pub lost: u64,
    /// Translation pages programmed, all causes: RFTL's mapping writes.
    pub map_writes: u64,
    /// Translation pages read, all causes.
    pub map_reads: u64,
    /// Service time of the reads and writes of translation pages, without waiting / look-ups: what RFTL's mapping response
    /// time is without queues.
    pub service_mean_ns: Option<f64>,
    /// Victim blocks collected.
    pub gc_runs: u64,
    /// Pages that garbage collection copied, those of translation blocks included / victim blocks.
    pub gc_copies_per_run: Option<f64>,
}

impl MappingWork {
    pub(super) fn new(l: &Ledger) -> Self {
        const CAUSES: [Cause; 4] = [Cause::MapMiss, Cause::MapEvict, Cause::MapUpdate, Cause::MapGc];
        let map = |op| CAUSES.iter().map(|cause| l.count(op, *cause)).sum::<u64>();
        let nanos = |op| CAUSES.iter().map(|cause| l.nanos(op, *cause)).sum::<u64>();
        let [read, write, rewrite, trim] = l.look_ups;
        Self {
            look_ups: LookUps { read, write, rewrite, trim },
            hit_ratio: share(l.map_hits, l.map_look_ups()),
            misses: l.map_misses,
            unreadable_copies: l.map_unreadable,
            lost: l.map_lost,
            map_writes: map(Op::Program) + l.map_move_programs,
            map_reads: map(Op::Read) + l.map_move_reads,
            service_mean_ns: share(nanos(Op::Read) + nanos(Op::Program) + l.map_move_ns, l.map_look_ups()),
            gc_runs: l.gc_runs,
            gc_copies_per_run: share(l.count(Op::Program, Cause::Gc) + l.count(Op::Program, Cause::MapGc), l.gc_runs),
        }
    }
}
