//! Cache registers: does what ONFI lets overlap take the longer of the two times, and what it does not their sum?

use nandlab::flash::clock::{
    Clock, ClockShape, CommandConfig, OpClass, OpTarget, Release, Scheduler, SchedulerConfig, Suspend,
};
use nandlab::ledger::{Cause, Op};
use nandlab::types::{Nanos, Ppn};

use super::rig::{NOW, finish_times, one_die, scheduled};

/// One die with cache read and cache program or without both.
fn die(times: [u64; 5], cached: bool) -> ClockShape {
    one_die(times, CommandConfig { cache_read: cached, cache_program: cached, ..CommandConfig::default() })
}

/// When operations end that are all asked for at the start.
fn ends(shape: &ClockShape, ops: &[Op]) -> (Vec<u64>, Clock) {
    let mut clock = scheduled(shape);
    for (token, op) in ops.iter().enumerate() {
        let ticket = clock.issue(0, *op, NOW, Release::Done);
        clock.watch(ticket, token as u64);
    }
    (finish_times(&mut clock, ops.len()), clock)
}

#[test]
fn cache_programs_take_the_longer_of_transfer_and_program() {
    let programs = [Op::Program; 4];
    for (transfer, command) in [(100, 0), (100, 20), (300, 0), (300, 30), (250, 0), (230, 20)] {
        let (bus, cells) = (transfer + command, 250);
        let expected = |each: u64| (0..4).map(|n| bus + cells + n * each).collect::<Vec<_>>();
        assert_eq!(ends(&die([50, cells, 999, transfer, command], true), &programs).0, expected(bus.max(cells)));
        assert_eq!(ends(&die([50, cells, 999, transfer, command], false), &programs).0, expected(bus + cells));
    }
}

#[test]
fn cache_reads_take_the_longer_of_read_and_transfer() {
    let reads = [Op::Read; 4];
    for (transfer, command) in [(80, 0), (30, 0), (50, 0), (80, 10), (30, 10)] {
        let cells = 50;
        let each = command + cells.max(transfer);
        // The command of the next read goes before a page, and the last page has none behind it.
        let next_command = |n: u64| if n < 3 { command } else { 0 };
        let expected = (0..4).map(|n| command + cells + n * each + next_command(n) + transfer).collect::<Vec<_>>();
        let (found, clock) = ends(&die([cells, 250, 999, transfer, command], true), &reads);
        assert_eq!(found, expected, "transfer {transfer}, command {command}");
        let waits = clock.waits().unwrap().of(OpClass::HostRead);
        assert_eq!(waits.company, Nanos::ZERO, "single pages have no company");
        let (found, _) = ends(&die([cells, 250, 999, transfer, command], false), &reads);
        assert_eq!(found, (1..=4).map(|n| n * (command + cells + transfer)).collect::<Vec<_>>());
    }
}

/// A read, a program and an erase: 60, 110 and 500 ns, of which 10 on the channel except for the erase.
#[test]
fn other_operations_do_not_overlap() {
    use Op::{Erase, Program, Read};
    let shape = die([50, 100, 500, 10, 0], true);
    assert_eq!(ends(&shape, &[Read, Program, Read]).0, [60, 170, 230]);
    assert_eq!(ends(&shape, &[Program, Read, Program]).0, [110, 170, 280]);
    assert_eq!(ends(&shape, &[Erase, Erase]).0, [500, 1_000]);
    assert_eq!(ends(&shape, &[Program, Erase, Program]).0, [110, 610, 720]);
    assert_eq!(ends(&shape, &[Read, Erase, Read]).0, [60, 560, 620]);
}

/// Each kind has its own key.
#[test]
fn cache_read_and_cache_program_are_apart() {
    for (cache_read, cache_program) in [(true, false), (false, true)] {
        let mut shape = die([50, 100, 500, 10, 0], false);
        shape.commands = CommandConfig { cache_read, cache_program, ..shape.commands };
        assert_eq!(ends(&shape, &[Op::Read; 3]).0[2], if cache_read { 160 } else { 180 });
        assert_eq!(ends(&shape, &[Op::Program; 3]).0[2], if cache_program { 310 } else { 330 });
    }
}

/// What was asked to wait for something does not begin beside it, though its die is the same.
#[test]
fn dependent_operation_does_not_follow() {
    for (op, alone) in [(Op::Read, 60), (Op::Program, 110)] {
        let mut clock = scheduled(&die([50, 100, 500, 10, 0], true));
        let first = clock.issue(0, op, NOW, Release::Done);
        let second = clock.issue(0, op, first, Release::Done);
        clock.watch(second, 0);
        assert_eq!(finish_times(&mut clock, 1), [2 * alone]);
    }
}

/// A read of the host finds both registers taken: it waits for the cells, and suspends the program that comes next.
#[test]
fn die_with_two_programs_is_suspended_at_the_second() {
    let end_of_read = |programs: usize| {
        let mut shape = die([20, 100, 500, 10, 0], true);
        shape.scheduler = SchedulerConfig {
            policy: Scheduler::named("read_first"),
            suspend: Suspend::EraseAndProgram,
            suspend_time: Nanos(5),
            ..SchedulerConfig::default()
        };
        let mut clock = scheduled(&shape);
        for _ in 0..programs {
            clock.issue(0, Op::Program, NOW, Release::Done);
        }
        clock.advance(Nanos(50));
        let read = OpTarget { page: Ppn::NONE, cause: Cause::Host, cells: Nanos::ZERO, inside: false };
        let read = clock.issue_for(read, 0, Op::Read, NOW, Release::Done);
        clock.watch(read, 0);
        let end = finish_times(&mut clock, 1)[0];
        // In both cases one program was suspended for the read and has gone on.
        assert_eq!(clock.waits().unwrap().of(OpClass::HostWrite).suspensions, 1);
        end
    };
    assert_eq!(end_of_read(1), 50 + 5 + 20 + 10);
    assert_eq!(end_of_read(2), 110 + 5 + 20 + 10);
    assert_eq!(end_of_read(3), 110 + 5 + 20 + 10);
}

/// What two commands wait for each other counts as a wait for the die, by the class of the other.
#[test]
fn waits_for_the_other_command_are_waits_for_the_die() {
    // The second is loaded from 10 to 20 and waits for the cells until 110.
    let (_, clock) = ends(&die([50, 100, 500, 10, 0], true), &[Op::Program; 2]);
    let writes = clock.waits().unwrap().of(OpClass::HostWrite);
    assert_eq!(writes.die[OpClass::HostWrite as usize], Nanos(10 + 90));
    assert_eq!((writes.channel, writes.company), (Nanos::ZERO, Nanos::ZERO));
    // The cells of the second are done at 60 + 50, the first page has left at 60 + 80; it was in its queue until 60 (its command
    // went from 60 to 65, and the first page, in the registers since 55, waited for that).
    let (found, clock) = ends(&die([50, 100, 500, 80, 5], true), &[Op::Read; 2]);
    assert_eq!(found, [140, 220]);
    let reads = clock.waits().unwrap().of(OpClass::HostRead);
    assert_eq!(reads.die[OpClass::HostRead as usize], Nanos(5 + 55 + 30));
}
