//! What the data buffer did.

use serde::Serialize;

use super::share;
use crate::ledger::Ledger;

/// The data buffer's own work.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct BufferWork {
    /// Write-back commands: pages, clusters or padded blocks.
    pub write_backs: u64,
    /// Dirty pages written back.
    pub pages_written_back: u64,
    /// Of those, pages that were evicted ahead of need because the buffer was full (`ram.flush.above`).
    pub pages_flushed_by_fill: u64,
    /// Of those, pages that were written because they, or one that takes them along, had been dirty for long (`ram.flush.age`).
    pub pages_flushed_by_age: u64,
    /// Of those, pages that were written because enough of them had gathered (`ram.flush.gather`).
    pub pages_flushed_gathered: u64,
    /// Dirty pages written back / write-back commands.
    pub pages_per_write_back: Option<f64>,
    /// Clean pages dropped without a flash operation.
    pub drops: u64,
    /// `P_d` of URM: dirty pages written back / (dirty pages written back + clean pages dropped).
    pub dirty_eviction_ratio: Option<f64>,
    /// Page accesses for which the policy had to make room, or that waited for a frame whose page was still on its way to
    /// flash. Where clean pages are dropped for them they wait for nothing.
    pub eviction_waits: u64,
    /// Pages fetched ahead of the host.
    pub prefetched_pages: u64,
    /// Of those, pages that a later request accessed before they left.
    pub prefetch_hits: u64,
    /// Of those, pages of the very request that had read them ahead. They count as hits, because they are in the buffer when
    /// their turn comes, but they were not when the request came, and it waits for them: see `hits.at_arrival`.
    pub own_prefetch_hits: u64,
    /// Dirty pages in the buffer when the counts were taken; they are in no program. 0 with `replay.settle = "flush"`, which
    /// writes them before: see `settling`.
    pub dirty_at_end: u64,
    /// Pages read from the FTL: misses, pads, prefetches.
    pub pages_read: u64,
    /// Mean time from asking the FTL for such a page to having it.
    pub read_mean_ns: Option<f64>,
    /// Pages sent to the FTL, padding included: `Bf_w` of AALRU (equation 4).
    pub pages_sent: u64,
    /// Mean time from sending a write-back to its last program, mapping and collection work included, over the pages of all
    /// write-backs, padding included. A page that passes the buffer is in none: its time is that of its request.
    pub write_mean_ns: Option<f64>,
    /// Page reads from DRAM frames, by the host and by moves (not by write-backs).
    pub dram_reads: u64,
    /// Page writes to DRAM frames: by the host, by moves and by what flash delivers.
    pub dram_writes: u64,
    /// Page reads from NVRAM frames, by the host and by moves (not by write-backs).
    pub nvram_reads: u64,
    /// Page writes to NVRAM frames: by the host, by moves and by what flash delivers. Its wear (WPA).
    pub nvram_writes: u64,
    /// Page writes to NVRAM frames / NVRAM frames: its wear if it is level.
    pub nvram_writes_per_frame: Option<f64>,
}

impl BufferWork {
    pub(super) fn new(l: &Ledger, nvram_frames: u32, dirty_at_end: u64) -> Self {
        Self {
            write_backs: l.write_back_commands,
            pages_written_back: l.write_back_pages,
            pages_flushed_by_fill: l.flushed_by_fill,
            pages_flushed_by_age: l.flushed_by_age,
            pages_flushed_gathered: l.flushed_gathered,
            pages_per_write_back: share(l.write_back_pages, l.write_back_commands),
            drops: l.buffer_drops,
            dirty_eviction_ratio: share(l.write_back_pages, l.write_back_pages + l.buffer_drops),
            eviction_waits: l.eviction_waits,
            prefetched_pages: l.prefetched_pages,
            prefetch_hits: l.prefetch_hits,
            own_prefetch_hits: l.own_prefetch_hits,
            dirty_at_end,
            pages_read: l.buffer_read_pages,
            read_mean_ns: share(l.buffer_read_ns, l.buffer_read_pages),
            pages_sent: l.buffer_write_pages,
            write_mean_ns: share(l.buffer_write_ns, l.write_back_pages + l.padded_pages),
            dram_reads: l.dram_reads,
            dram_writes: l.dram_writes,
            nvram_reads: l.nvram_reads,
            nvram_writes: l.nvram_writes,
            nvram_writes_per_frame: share(l.nvram_writes, nvram_frames.into()),
        }
    }
}
