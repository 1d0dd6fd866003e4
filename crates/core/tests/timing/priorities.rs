//! Do waiting times under the schedulers follow the closed forms of queues with two classes?

use nandlab::flash::clock::{ClockShape, CommandConfig, OpClass, Release, Scheduler, SchedulerConfig, Suspend};
use nandlab::ledger::Op;
use nandlab::types::Nanos;

use super::rig::{NOW, one_die, scheduled};
use crate::kit::{Dice, point};

const READ: f64 = 100e-6;
const PROGRAM: f64 = 700e-6;

/// Mean time from arrival to end of reads and of programs on one die, seconds: Poisson arrivals with these loads, channels that
/// take no time.
fn mean_times(policy: &str, suspend: Suspend, [reads, programs]: [f64; 2], count: u64) -> [f64; 2] {
    let scheduler = SchedulerConfig {
        policy: Scheduler::named(policy),
        most_wait: Nanos(u64::MAX >> 8),
        suspend,
        ..SchedulerConfig::default()
    };
    let die = one_die([(READ * 1e9) as u64, (PROGRAM * 1e9) as u64, 1, 0, 0], CommandConfig::default());
    let mut clock = scheduled(&ClockShape { scheduler, ..die });
    let mut r = Dice(11);
    let (read_rate, program_rate) = (reads / READ, programs / PROGRAM);
    let mut at = 0.0;
    for _ in 0..count {
        at += r.exponential() / (read_rate + program_rate);
        clock.advance(Nanos((at * 1e9) as u64));
        let op = if r.unit() < read_rate / (read_rate + program_rate) { Op::Read } else { Op::Program };
        clock.issue(0, op, NOW, Release::Done);
    }
    clock.drain();
    let waits = clock.waits().expect("it has a scheduler");
    [OpClass::HostRead, OpClass::HostWrite].map(|class| waits.of(class).latency.mean_ns() / 1e9)
}

fn check(case: &str, load: [f64; 2], want: [f64; 2], got: [f64; 2]) {
    let names = ["reads", "programs"];
    for ((want, got), name) in want.into_iter().zip(got).zip(names) {
        let what = format!("{case}: mean time of {name}, us");
        point::compare("priorities", &what, load[0] + load[1], want * 1e6, got * 1e6, 0.02 * want * 1e6);
    }
}

/// Mean of what is left of the operation in service, `R` of the textbooks: half of `lambda E[S^2]` of each class.
fn residual([reads, programs]: [f64; 2]) -> [f64; 2] {
    [reads * READ / 2.0, programs * PROGRAM / 2.0]
}

/// Cobham, "Priority Assignment in Waiting Line Problems", Operations Research 2(1), 1954.
#[test]
fn reads_first_wait_as_the_first_of_two_classes() {
    for load in [[0.3, 0.3], [0.1, 0.7], [0.5, 0.3]] {
        let left: f64 = residual(load).iter().sum();
        let (first, all) = (1.0 - load[0], 1.0 - load[0] - load[1]);
        let want = [READ + left / first, PROGRAM + left / (first * all)];
        check("two classes", load, want, mean_times("read_first", Suspend::None, load, 800_000));
    }
}

/// Preemptive-resume: L. Kleinrock, Queueing Systems, volume 2, 1976, section 3.4.
#[test]
fn suspending_reads_wait_for_reads_only() {
    for load in [[0.3, 0.3], [0.2, 0.6]] {
        let [of_reads, of_programs] = residual(load);
        let (first, all) = (1.0 - load[0], 1.0 - load[0] - load[1]);
        let want = [READ + of_reads / first, PROGRAM / first + (of_reads + of_programs) / (first * all)];
        check("suspension", load, want, mean_times("read_first", Suspend::EraseAndProgram, load, 800_000));
    }
}

/// Kleinrock's conservation law: what one class gains the other loses, weighted by their loads, whatever the order is.
#[test]
fn waits_are_conserved_whatever_the_order() {
    let load = [0.35, 0.45];
    let left: f64 = residual(load).iter().sum();
    let total = load[0] + load[1];
    let want = total * left / (1.0 - total);
    for policy in ["fifo", "read_first", "fair_share"] {
        let [reads, programs] = mean_times(policy, Suspend::None, load, 1_500_000);
        let got = load[0] * (reads - READ) + load[1] * (programs - PROGRAM);
        point::compare(
            "priorities",
            &format!("{policy}: sum of load * wait, us"),
            total,
            want * 1e6,
            got * 1e6,
            0.03 * want * 1e6,
        );
    }
}
