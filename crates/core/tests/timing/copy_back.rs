//! Copy-back: does a page that moves inside its plane cost the commands and the cells, and no transfers?

use nandlab::config::Config;
use nandlab::flash::clock::{Clock, ClockShape, CommandConfig, OpClass, OpTarget, Release, Ticket};
use nandlab::flash::{Flash, Geometry, Media, Oob, ProgramOrder};
use nandlab::ledger::{Cause, Op};
use nandlab::types::{HostOp, HostRequest, Lpn, Nanos, Pbn, Ppn};

use super::commands::config;
use super::rig::{NOW, finish_times, one_die, scheduled};
use crate::kit::Dice;

const READ: u64 = 50;
const PROGRAM: u64 = 100;
const TRANSFER: u64 = 30;
const COMMAND: u64 = 5;

/// Dies of two planes on one channel, 4 blocks of 4 pages on each plane.
fn shape(dies: u32) -> ClockShape {
    let commands = CommandConfig { copy_back: true, ..CommandConfig::default() };
    let die = one_die([READ, PROGRAM, 999, TRANSFER, COMMAND], commands);
    ClockShape { dies, blocks: 8 * dies, pages_per_block: 4, planes: 2, ..die }
}

fn clock(dies: u32) -> Clock {
    scheduled(&shape(dies))
}

/// A copy of a page of die 0 inside its plane: the ticket of its program.
fn copy(clock: &mut Clock, from: u32, to: u32, after: Ticket) -> Ticket {
    let target = |page| OpTarget { page: Ppn(page), cause: Cause::Gc, cells: Nanos::ZERO, inside: true };
    let read = clock.issue_for(target(from), 0, Op::Read, after, Release::Done);
    clock.issue_for(target(to), 0, Op::Program, read, Release::Done)
}

#[test]
fn copies_inside_a_plane_take_commands_and_cells() {
    let mut clock = clock(1);
    for (page, token) in (0..4).zip(0..) {
        let done = copy(&mut clock, page, 16 + page, NOW);
        clock.watch(done, token);
    }
    let each = 2 * COMMAND + READ + PROGRAM;
    assert_eq!(finish_times(&mut clock, 4), [each, 2 * each, 3 * each, 4 * each]);
    assert_eq!(clock.die_busy_ns(0), Nanos(4 * each));
    assert_eq!(clock.channel_busy_ns(0), Nanos(4 * 2 * COMMAND));
    // The program of each waits for its read; the copies wait for each other.
    let waits = clock.waits().unwrap().of(OpClass::Collection);
    let programs_wait: u64 = (0..4).map(|n| n * each + COMMAND + READ).sum();
    assert_eq!(waits.dependency, Nanos(programs_wait));
    assert_eq!(waits.die[OpClass::Collection as usize], Nanos((1 + 2 + 3) * each));
}

/// Between its commands a copy leaves the channel to other dies, and waits for it with the second.
#[test]
fn channel_is_free_while_the_cells_copy() {
    let mut clock = clock(2);
    let done = copy(&mut clock, 0, 4, NOW);
    clock.watch(done, 0);
    for token in 1..3 {
        let other = clock.issue(1, Op::Program, NOW, Release::Transfer);
        clock.watch(other, token);
    }
    // The channel: 0 to 5 command of the copy, 5 to 40 data of the other die, 55 to 60 command of the copy, 140 to 175 data.
    assert_eq!(finish_times(&mut clock, 3), [160, 40, 175]);
}

/// A copy begins when its target may be programmed, and what follows on its blocks waits for it.
#[test]
fn copies_keep_the_order_of_their_blocks() {
    let mut clock = clock(1);
    let target = |page, cause| OpTarget { page: Ppn(page), cause, cells: Nanos::ZERO, inside: false };
    let erase = clock.issue_for(target(16, Cause::Wear), 0, Op::Erase, Ticket::at(Nanos(500)), Release::Done);
    let copied = copy(&mut clock, 0, 16, NOW);
    // The source is erased after the copy though nobody says so, and a page of it that was being moved is read first.
    let source = clock.issue_for(target(0, Cause::Gc), 0, Op::Erase, NOW, Release::Done);
    let read = clock.issue_for(target(16, Cause::Host), 0, Op::Read, NOW, Release::Done);
    for (ticket, token) in [erase, copied, source, read].into_iter().zip(0..) {
        clock.watch(ticket, token);
    }
    let erased = 500 + COMMAND + 999;
    let copied = erased + 2 * COMMAND + READ + PROGRAM;
    let source = copied + COMMAND + 999;
    // With `fifo` the read waits for the copy, behind the erase.
    assert_eq!(finish_times(&mut clock, 4), [erased, copied, source, source + COMMAND + READ + TRANSFER]);
}

/// Overwrites at random, with a ledger of the copies.
fn overwritten(settings: &[&str]) -> (u64, [(u64, u64); 2]) {
    let config: Config = config(&[&["device.timing.page_transfer=100us"], settings].concat());
    let mut device = config.build().unwrap();
    let mut dice = Dice(3);
    let write = |lpn: u32| HostRequest::new(Nanos::ZERO, HostOp::Write, u64::from(lpn) * 8, 8);
    let requests: Vec<HostRequest> =
        (0..6_000).map(write).chain((0..20_000).map(|_| write(dice.below(6_000)))).collect();
    device.run(&requests).unwrap();
    device.drain();
    let of = |op| (device.ledger().count(op, Cause::Gc), device.ledger().nanos(op, Cause::Gc));
    (device.flash().now().0, [of(Op::Read), of(Op::Program)])
}

#[test]
fn collection_in_a_plane_transfers_nothing() {
    let frontiers = "ftl.frontiers=plane";
    let (slow, [reads, programs]) = overwritten(&[frontiers]);
    assert!(reads.0 > 5_000, "{reads:?}");
    assert_eq!((reads.1, programs.1), (reads.0 * 161_000, programs.0 * 701_000));
    let inside = "device.commands.copy_back=true";
    // Nobody checks what is read on the way, so that nothing is read again.
    for retries in ["device.cells={}", "device.cells={retries_per_1000_cycles=1.0, cycles_before=2500}"] {
        let (fast, [reads, programs]) = overwritten(&[frontiers, inside, retries]);
        assert_eq!((reads.1, programs.1), (reads.0 * 61_000, programs.0 * 601_000), "{retries}");
        assert!(fast < slow, "{retries}: {fast} and {slow} ns");
    }
    // One frontier for the device: some copies stay in their plane, by chance.
    let (_, [reads, _]) = overwritten(&[inside]);
    assert!(reads.1 < reads.0 * 161_000 && reads.1 > reads.0 * 111_000, "{reads:?}");
}

/// A copy to the other plane of the die is transferred.
#[test]
fn copies_to_another_plane_are_transferred() {
    let geometry = Geometry { planes_per_die: 2, blocks_per_plane: 4, ..Geometry::single_die(4, 4, 4096) };
    let time_of = |to: u32| {
        let mut flash = Flash::new(geometry, ProgramOrder::Strict, Media::None, clock(1));
        flash.use_copy_back();
        flash.program(Ppn(0), Oob::data(Lpn(0), 1), &[], Cause::Host, NOW);
        flash.clock.drain();
        let begin = flash.now();
        let to = geometry.first_page(Pbn(to));
        flash.copy(Ppn(0), to, Cause::Gc, NOW);
        flash.clock.drain();
        (flash.now() - begin).0
    };
    let moved = COMMAND + READ + TRANSFER + COMMAND + TRANSFER + PROGRAM;
    assert_eq!([1, 2, 3].map(time_of), [moved, 2 * COMMAND + READ + PROGRAM, moved]);
}
