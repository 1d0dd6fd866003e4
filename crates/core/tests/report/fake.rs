//! A device whose counts and times are random; all else is that of a device that ran.

use nandlab::buffer::{Frames, Slots};
use nandlab::engine::{Completion, FlushCounter, LateCompletion, Payload, Refused, Ssd, TestPort, Times};
use nandlab::flash::Flash;
use nandlab::ftl::Ftl;
use nandlab::histogram::Histogram;
use nandlab::ledger::{CAUSES, Cause, Ledger, Op};
use nandlab::probe::Probe;
use nandlab::types::{HostRequest, Nanos};

use crate::kit::Dice;

/// A device whose counts and times are random; all else is that of a device that ran.
pub struct Fake {
    device: Box<dyn Ssd>,
    pub ledger: Ledger,
    pub times: Times,
    /// Responses of reads, writes and others, ascending.
    pub responses: [Vec<u64>; 3],
}

/// Sets counters: every fifth is 0 unless the seed is odd, when none is.
macro_rules! fill {
    ($ledger:ident, $value:ident: $($field:ident)*) => { $( $ledger.$field = $value(); )* };
}

fn random_ledger(r: &mut Dice, seed: u64) -> Ledger {
    let mut value = || if seed.is_multiple_of(2) && r.below64(5) == 0 { 0 } else { 1 + r.below64(1_000_000) };
    let mut l = Ledger::default();
    for i in 0..3 * CAUSES {
        l.ops[i / CAUSES][i % CAUSES] = value();
        l.op_ns[i / CAUSES][i % CAUSES] = value();
    }
    l.look_ups = std::array::from_fn(|_| value());
    l.erases_by_kind = std::array::from_fn(|_| value());
    fill!(l, value: host_page_reads host_page_writes host_page_trims host_read_requests host_write_requests
        host_trim_requests host_flush_requests host_sector_reads host_sector_writes unmapped_reads buffer_read_hits
        buffer_write_hits request_read_hits request_write_hits sector_read_hits sector_write_hits group_hits group_misses
        group_read_hits group_read_misses dram_reads dram_writes nvram_reads nvram_writes buffer_drops write_back_commands
        flushed_groups padded_write_backs write_back_pages flushed_by_fill flushed_by_age flushed_gathered dummy_pages slc_dummy_pages padded_pages padding_holes padded_from_flash prefetched_pages prefetch_hits own_prefetch_hits
        buffer_read_pages buffer_read_ns buffer_write_pages buffer_write_ns map_hits map_second_hits map_prefetches
        map_misses map_unreadable map_lost map_move_reads map_move_programs map_move_ns gc_runs slc_programs slc_pages_folded slc_erases
        merges_switch merges_partial merges_full merges_full_lbns
        merges_full_log_blocks merges_full_log_pages log_pages log_pages_merged_alone log_pages_reclaimed merges_dead
        merges_replace padding_merges padding_log_blocks padding_data_blocks padding_log_pages eviction_waits);
    l.own_prefetch_hits = l.own_prefetch_hits.min(l.buffer_read_hits + l.buffer_write_hits);
    l
}

/// Durations whose histogram buckets end with them, so that percentiles are exact, with a tail in which the last per cent,
/// tenth and hundredth of it differ.
fn durations(r: &mut Dice, count: u64) -> Vec<u64> {
    let mut all: Vec<u64> = (0..count)
        .map(|_| {
            let shift = r.next().trailing_zeros().min(30) + r.below64(2) as u32;
            ((32 + r.below64(32) + 1) << shift) - 1
        })
        .collect();
    all.sort_unstable();
    all
}

impl Fake {
    pub fn new(device: Box<dyn Ssd>, r: &mut Dice, seed: u64) -> Self {
        let sizes = [[1, 0, 7], [100, 3, 0], [20_000, 12_345, 1_000], [0, 0, 0]][seed as usize % 4];
        let responses = sizes.map(|count| durations(r, count));
        let mut times = Times::default();
        let histograms = [&mut times.read_response, &mut times.write_response, &mut times.other_response];
        for (histogram, durations) in histograms.into_iter().zip(&responses) {
            let mut one = Histogram::default();
            for duration in durations {
                one.record(Nanos(*duration));
            }
            *histogram = one;
        }
        times.last_completion = Nanos(1_000 + r.below64(10_000_000));
        times.link.bytes = std::array::from_fn(|_| r.below64(1_000_000));
        times.link.busy = std::array::from_fn(|_| Nanos(r.below64(1_000_000)));
        times.controller_busy = Nanos(r.below64(1_000_000));
        Self { device, ledger: random_ledger(r, seed), times, responses }
    }
}

impl Ssd for Fake {
    fn ledger(&self) -> Ledger {
        self.ledger
    }
    fn times(&self) -> &Times {
        &self.times
    }
    fn flushes(&self) -> &FlushCounter {
        self.device.flushes()
    }
    fn flash(&self) -> &Flash {
        self.device.flash()
    }
    fn ftl(&self) -> &dyn Ftl {
        self.device.ftl()
    }
    fn slots(&self) -> &Slots {
        self.device.slots()
    }
    fn logical_pages(&self) -> u32 {
        self.device.logical_pages()
    }
    fn submit(&mut self, _: &HostRequest, _: Payload<'_>) -> Result<Completion, Refused> {
        unreachable!("a report changes nothing")
    }
    fn run(&mut self, _: &[HostRequest]) -> Result<(), Refused> {
        unreachable!()
    }
    fn submit_pieces(&mut self, _: &[HostRequest]) -> Result<Completion, Refused> {
        unreachable!()
    }
    fn remember_late(&mut self) {
        unreachable!()
    }
    fn take_late(&mut self, _: &mut Vec<LateCompletion>) {
        unreachable!()
    }
    fn finish(&mut self) {
        unreachable!()
    }
    fn drain(&mut self) {
        unreachable!()
    }
    fn precondition(&mut self, _: bool, _: f64, _: &mut dyn FnMut() -> bool) -> bool {
        unreachable!()
    }
    fn start_measuring(&mut self) {
        unreachable!()
    }
    fn set_frames(&mut self, _: Frames) {
        unreachable!()
    }
    fn set_probe(&mut self, _: Option<Box<dyn Probe>>) {
        unreachable!()
    }
    fn sees_neighbours(&self) -> bool {
        unreachable!()
    }
    fn test_port(&mut self) -> &mut dyn TestPort {
        unreachable!()
    }
}

/// A count of the ledger.
pub const fn count(l: &Ledger, op: Op, cause: Cause) -> u64 {
    l.ops[op as usize][cause as usize]
}
