//! Every path on which something waits for something, with times worked out by hand.
//!
//! The device has two dies, each on a channel of its own, blocks of 4 pages and 16 logical pages, all written once. A read
//! takes 30 (20 on the die, 10 on the channel), a program 110 (10 on the channel, 100 on the die), an erase 500. RAM takes
//! no time unless a test says so. With `placement = "round_robin"` page `l` lies on die 1 if `l` is even and on die 0 if
//! it is odd, and the first page that is written goes to die 1, the next to die 0 and so on: so a page that is read and
//! written again changes its die, and no die's queue hides that somebody does not wait.

use nandlab::config::Config;
use nandlab::ledger::{Cause, Ledger, Op};
use nandlab::types::{Hint, HostOp, HostRequest, Nanos, Pattern};

use super::device::observe;

use Cause::{Gc, Host, MapMiss, Merge, Pad, Prefetch};
use Op::{Erase, Program, Read};

const SECTORS: u64 = 4;

/// The device with two dies.
pub fn config(settings: &[&str]) -> Config {
    const SMALL: [&str; 11] = [
        "device.geometry={channels=2, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, blocks_per_plane=10, \
         pages_per_block=4, page_bytes=2048}",
        "device.over_provisioning={logical_pages=16}",
        "device.timing={model=\"parallel\", page_read=\"20ns\", page_program=\"100ns\", block_erase=\"500ns\", \
         page_transfer=\"10ns\", command=\"0ns\"}",
        "ram.dram=2KiB",
        "ram.dram_read=0ns",
        "ram.dram_write=0ns",
        "ram.nvram_read=0ns",
        "ram.nvram_write=0ns",
        "precondition=full",
        "buffer.name=lru",
        "ftl={name=\"page\", placement=\"round_robin\"}",
    ];
    crate::kit::lab(SMALL.iter().chain(settings))
}

fn request(at: u64, op: HostOp, page: u64) -> HostRequest {
    let sectors = if matches!(op, HostOp::Flush) { 0 } else { SECTORS as u32 };
    HostRequest::new(Nanos(at), op, page * SECTORS, sectors)
}
pub fn read(at: u64, page: u64) -> HostRequest {
    request(at, HostOp::Read, page)
}
pub fn write(at: u64, page: u64) -> HostRequest {
    request(at, HostOp::Write, page)
}
/// A write of the first sector of a page.
fn part(at: u64, page: u64) -> HostRequest {
    HostRequest { sectors: 1, ..write(at, page) }
}
fn flush(at: u64) -> HostRequest {
    request(at, HostOp::Flush, 0)
}

/// Operation, cause, die, begin and end.
type Step = (Op, Cause, u32, u64, u64);

/// Runs requests: the operations must be `steps`, in the order of issue, and the requests must finish at these times.
fn check(settings: &[&str], requests: &[HostRequest], steps: &[Step], finished: &[u64]) -> Ledger {
    let seen = observe(&config(settings), requests.to_vec());
    let timed = seen.check(&format!("{settings:?}"));
    let step = |(o, [begin, end, _]): &(nandlab::flash::clock::Operation, [u64; 3])| {
        (o.op, o.target.cause, o.die, begin - seen.start, end - seen.start)
    };
    assert_eq!(timed.operations.iter().map(step).collect::<Vec<_>>(), steps, "{settings:?}: operations");
    let ends: Vec<u64> = seen.done.iter().map(|ticket| timed.of(*ticket) - seen.start).collect();
    assert_eq!(ends, finished, "{settings:?}: requests");
    seen.device.ledger()
}

#[test]
fn write_past_the_buffer_waits_for_the_rest_of_its_page() {
    let steps = [(Read, Pad, 0, 0, 30), (Program, Host, 1, 30, 140)];
    check(&["buffer.name=none"], &[part(0, 1)], &steps, &[140]);
}

#[test]
fn write_back_waits_for_the_rest_of_its_page() {
    // The part lies in the only frame; at 1000 another page needs it.
    let (mask, steps) = ("ram.partial_write=mask", [(Read, Pad, 0, 1000, 1030), (Program, Host, 1, 1030, 1140)]);
    let requests = [part(0, 1), write(1000, 4)];
    let ledger = check(&[mask], &requests, &steps, &[0, 1140]);
    assert_eq!((ledger.eviction_waits, ledger.buffer_write_ns, ledger.buffer_read_ns), (1, 140, 30));
    // The frame is free when the page has left it over the channel.
    check(&[mask, "ram.evict_wait=transfer"], &requests, &steps, &[0, 1040]);
}

#[test]
fn write_back_waits_for_the_read_that_fills_its_frame() {
    let steps = [(Read, Pad, 0, 0, 30), (Program, Host, 1, 30, 140)];
    let ledger = check(&[], &[part(0, 1), write(5, 4)], &steps, &[30, 140]);
    assert_eq!((ledger.eviction_waits, ledger.buffer_write_ns), (1, 135), "from 5 on");
}

#[test]
fn padded_write_back_waits_for_all_that_it_reads() {
    // Pages 0 and 2 come one after the other from die 1, page 3 from die 0; all is there at 1060.
    let steps = [
        (Read, Pad, 1, 1000, 1030),
        (Read, Pad, 1, 1030, 1060),
        (Read, Pad, 0, 1000, 1030),
        (Program, Pad, 1, 1060, 1170),
        (Program, Host, 0, 1060, 1170),
        (Program, Pad, 1, 1170, 1280),
        (Program, Pad, 0, 1170, 1280),
    ];
    // One block in four frames; the second needs a frame when the fourth page of it comes... so all are filled first.
    let bplru = ["buffer.name=bplru", "ram.dram=8KiB"];
    let others = [write(1, 4), write(2, 8), write(3, 12)];
    let requests = [&[write(0, 1)], &others[..], &[write(1000, 5)]].concat();
    check(&bplru, &requests, &steps, &[0, 1, 2, 3, 1280]);
}

#[test]
fn padded_write_back_waits_for_a_copy_in_flight_to_ram() {
    // Pages 0 and 3 are in RAM since 30, page 2 is on its way until 230 when the block of page 1 leaves.
    let aalru = ["buffer={name=\"aalru\", padding=\"always\", tau_start=0.9, tau_min=0.1}", "ram.dram=10KiB"];
    let requests = [read(0, 0), read(0, 3), read(200, 2), write(201, 1), write(202, 8), write(205, 4)];
    let steps = [
        (Read, Host, 1, 0, 30),
        (Read, Host, 0, 0, 30),
        (Read, Host, 1, 200, 230),
        (Program, Pad, 1, 230, 340),
        (Program, Host, 0, 230, 340),
        (Program, Pad, 1, 340, 450),
        (Program, Pad, 0, 340, 450),
    ];
    check(&aalru, &requests, &steps, &[30, 30, 230, 201, 202, 450]);
}

#[test]
fn read_that_needs_a_frame_waits_for_the_eviction() {
    // And a flush waits for a write-back that is under way, even if nothing is dirty any more.
    let steps = [(Program, Host, 1, 10, 120), (Read, Host, 0, 120, 150)];
    let ledger = check(&[], &[write(0, 2), read(10, 3), flush(20)], &steps, &[0, 150, 120]);
    assert_eq!((ledger.eviction_waits, ledger.host_flush_requests), (1, 1));
    assert_eq!((ledger.buffer_write_ns, ledger.buffer_read_ns), (110, 140), "what comes late counts too");
}

#[test]
fn flush_waits_for_what_it_writes() {
    let requests = [write(0, 1), write(1, 2), flush(10), flush(20)];
    let steps = [(Program, Host, 1, 10, 120), (Program, Host, 0, 10, 120)];
    check(&["ram.dram=8KiB"], &requests, &steps, &[0, 1, 120, 120]);
}

#[test]
fn flush_waits_for_every_write_back_and_not_for_the_last() {
    let requests = [write(0, 1), write(1, 2), read(5, 4), read(5, 6), flush(10)];
    let steps =
        [(Read, Host, 1, 5, 35), (Read, Host, 1, 35, 65), (Program, Host, 1, 65, 175), (Program, Host, 0, 10, 120)];
    check(&["ram.dram=8KiB"], &requests, &steps, &[0, 1, 35, 65, 175]);
}

#[test]
fn hit_on_a_page_in_flight_waits_for_it() {
    let requests = [read(0, 1), read(5, 1), write(6, 1), read(40, 1)];
    check(&[], &requests, &[(Read, Host, 0, 0, 30)], &[30, 30, 30, 40]);
}

#[test]
fn hit_on_a_prefetched_page_waits_for_it() {
    let run = Hint { pattern: Pattern::Sequential, run_pages: 3, ..Hint::default() };
    let requests = [HostRequest { hint: run, ..read(0, 1) }, read(5, 3), read(100, 2)];
    let steps = [(Read, Host, 0, 0, 30), (Read, Prefetch, 1, 0, 30), (Read, Prefetch, 0, 30, 60)];
    check(&["buffer.name=urm", "ram.dram=16KiB"], &requests, &steps, &[30, 60, 100]);
}

#[test]
fn copies_wait_for_their_reads_and_an_erase_for_the_copies() {
    // Blocks 0 to 3 hold the data; the fresh block 4 lies on die 0, block 1 on die 1. Die 0 programs page 4 first, then the
    // copies in the order in which their reads end. Nobody waits for the erase.
    let steps = [
        (Program, Host, 0, 0, 110),
        (Read, Merge, 1, 0, 30),
        (Program, Merge, 0, 110, 220),
        (Read, Merge, 1, 30, 60),
        (Program, Merge, 0, 220, 330),
        (Read, Merge, 1, 60, 90),
        (Program, Merge, 0, 330, 440),
        (Erase, Merge, 1, 440, 940),
    ];
    check(&["buffer.name=none", "ftl={name=\"block\"}"], &[write(0, 4)], &steps, &[440]);
}

#[test]
fn write_waits_for_the_merge_that_gives_it_a_log_block() {
    // Page 5 is logged in block 4 on die 0. The full merge copies pages 4, 6 and 7 from block 1 on die 1 and page 5 from
    // die 0 to block 5 on die 1: copies within a die keep the order of issue, and page 5 comes last as its read is
    // elsewhere. Both erases start when all copies are there; page 0 is logged, in block 6 on die 0, when both are over.
    let steps = [
        (Program, Host, 0, 0, 110),
        (Read, Merge, 1, 1000, 1030),
        (Program, Merge, 1, 1030, 1140),
        (Read, Merge, 0, 1000, 1030),
        (Program, Merge, 1, 1420, 1530),
        (Read, Merge, 1, 1140, 1170),
        (Program, Merge, 1, 1170, 1280),
        (Read, Merge, 1, 1280, 1310),
        (Program, Merge, 1, 1310, 1420),
        (Erase, Merge, 0, 1530, 2030),
        (Erase, Merge, 1, 1530, 2030),
        (Program, Host, 0, 2030, 2140),
    ];
    let bast = ["buffer.name=none", "ftl={name=\"bast\", log_blocks=1}"];
    check(&bast, &[write(0, 5), write(1000, 0)], &steps, &[110, 2140]);
}

#[test]
fn collection_copies_before_it_erases() {
    // One frontier over both dies, three blocks for eight pages in two: pages 0 to 7 fill blocks 0 and 1, pages 0, 1, 2 and
    // 4 block 2. Then one block is free: the next write collects block 0 (die 0), whose page 3 goes to block 3 (die 1).
    let single = [
        "buffer.name=none",
        "ftl={name=\"page\", frontiers=\"single\"}",
        "device.over_provisioning={logical_pages=8}",
        "device.geometry.blocks_per_plane=2",
    ];
    let requests: Vec<HostRequest> =
        [0, 1, 2, 4, 5].iter().zip([0, 1000, 2000, 3000, 4000]).map(|(page, at)| write(at, *page)).collect();
    // The host's page is programmed at once, the copy after its read and after that.
    let steps = [
        (Program, Host, 0, 0, 110),
        (Program, Host, 0, 1000, 1110),
        (Program, Host, 0, 2000, 2110),
        (Program, Host, 0, 3000, 3110),
        (Read, Gc, 0, 4000, 4030),
        (Program, Gc, 1, 4110, 4220),
        (Erase, Gc, 0, 4220, 4720),
        (Program, Host, 1, 4000, 4110),
    ];
    check(&single, &requests, &steps, &[110, 1110, 2110, 3110, 4110]);
}

#[test]
fn read_waits_for_its_mapping() {
    // Translation page 0 lies on channel 0, data page 1 on die 1. The second read finds its mapping in RAM, and the third
    // needs none of the first page's time.
    let dftl = ["buffer.name=none", "ftl={name=\"dftl\", entries_per_tp=16, cmt_entries=64}"];
    let steps = [(Read, MapMiss, 0, 0, 30), (Read, Host, 1, 30, 60), (Read, Host, 1, 100, 130)];
    check(&dftl, &[read(0, 1), read(100, 1)], &steps, &[60, 130]);
}

#[test]
fn requests_wait_for_their_turn_and_their_response_counts_it() {
    // One at a time: the trim and the flush arrive while the read is under way. `check` compares the response times.
    let requests = [read(0, 1), request(10, HostOp::Trim, 2), flush(15), read(20, 3)];
    let steps = [(Read, Host, 0, 0, 30), (Read, Host, 0, 30, 60)];
    check(&["buffer.name=none", "replay.queue_depth=1"], &requests, &steps, &[30, 30, 30, 60]);
    // In a closed loop the host thinks first.
    let closed = ["buffer.name=none", "replay.queue_depth=1", "replay.mode=closed", "replay.think_time=700ns"];
    let steps = [(Read, Host, 0, 0, 30), (Read, Host, 0, 730, 760)];
    check(&closed, &[read(0, 1), read(0, 3)], &steps, &[30, 760]);
    // Two at a time: the third takes the place of the first, and waits for its die.
    let two = ["buffer.name=none", "replay.queue_depth=2", "replay.mode=fast"];
    let steps = [(Read, Host, 0, 0, 30), (Read, Host, 0, 30, 60), (Read, Host, 0, 60, 90)];
    check(&two, &[read(0, 1), read(0, 3), read(0, 5)], &steps, &[30, 60, 90]);
}

#[test]
fn ram_takes_the_time_of_its_medium_and_operation() {
    let wpa = [
        "buffer.name=wpa",
        "ram.nvram=16KiB",
        "ram.dram_read=1ns",
        "ram.dram_write=2ns",
        "ram.nvram_read=3ns",
        "ram.nvram_write=5ns",
    ];
    // What is read goes to NVRAM, what is written to DRAM, and from there to NVRAM when the next page is written.
    let requests = [read(0, 1), read(100, 1), write(200, 1), write(300, 8), read(400, 8), write(500, 12)];
    let ledger = check(&wpa, &requests, &[(Read, Host, 0, 0, 30)], &[30, 103, 205, 302, 401, 502]);
    assert_eq!((ledger.eviction_waits, ledger.dram_reads, ledger.dram_writes), (1, 2, 2), "a move reads DRAM");
    assert_eq!((ledger.nvram_reads, ledger.nvram_writes), (2, 3), "and writes NVRAM, as a read that misses does");
}
