//! Do waiting times and throughput follow queueing theory?

use nandlab::flash::clock::{Clock, ClockTimes, Release, TimingModel};
use nandlab::ledger::Op;
use nandlab::types::Nanos;

use super::rig::{NOW, RFTL, finish_times};
use crate::kit::{Dice, point};

pub fn assert_close(got: f64, want: f64, within: f64, what: &str) {
    assert!((got / want - 1.0).abs() < within, "{what}: {got} instead of {want}");
}

#[test]
fn single_die_waits_as_queueing_theory_says() {
    queue_of_one_die(
        &[
            (TimingModel::named("parallel"), 0.3),
            (TimingModel::named("parallel"), 0.7),
            (TimingModel::named("serial"), 0.7),
        ],
        1_000_000,
    );
}

#[test]
#[ignore = "the nightly matrix, see docs/theory.md"]
fn single_die_waits_as_queueing_theory_says_at_every_load() {
    queue_of_one_die(
        &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9].map(|rho| (TimingModel::named("parallel"), rho)),
        8_000_000,
    );
}

/// W = lambda E\[S^2\] / (2 (1 - rho)): Pollaczek and Khinchine.
fn queue_of_one_die(loads: &[(TimingModel, f64)], count: u64) {
    for (model, rho) in loads.iter().copied() {
        let mut clock = Clock::new(model, RFTL, 1, 1);
        let mut r = Dice(42);
        let mix = [(Op::Read, 0.60), (Op::Program, 0.39), (Op::Erase, 0.01)];
        let s = |op: Op| clock.service(op).0 as f64;
        let mean: f64 = mix.iter().map(|&(op, p)| p * s(op)).sum();
        let square: f64 = mix.iter().map(|&(op, p)| p * s(op) * s(op)).sum();
        let lambda = rho / mean;
        let want = lambda * square / (2.0 * (1.0 - rho));
        let (mut at, mut begun, mut waited) = (0.0, vec![], 0.0);
        for id in 0..count {
            at += r.exponential() / lambda;
            clock.advance(Nanos(at as u64));
            let op = match r.below64(100) {
                0..60 => Op::Read,
                60..99 => Op::Program,
                _ => Op::Erase,
            };
            begun.push((clock.now(), clock.service(op)));
            let t = clock.issue(0, op, NOW, Release::Done);
            clock.watch(t, id);
        }
        clock.drain();
        while let Some((id, at)) = clock.take_resolved() {
            let (arrival, service) = begun[id as usize];
            waited += (at - arrival - service).0 as f64;
        }
        let waited = waited / count as f64;
        point::compare("queue", "mean waiting time us", rho, want / 1e3, waited / 1e3, 0.02 * want / 1e3);
    }
}

/// Operations per second of an endless supply of programs to `dies` dies on one channel.
fn saturated(times: ClockTimes, op: Op, dies: u32) -> f64 {
    let mut clock = Clock::new(TimingModel::named("parallel"), times, 1, dies);
    let count = 4_000;
    for i in 0..count {
        clock.issue(i % dies, op, NOW, Release::Done);
    }
    clock.drain();
    f64::from(count) / clock.now().as_secs()
}

#[test]
fn device_saturates_where_theory_says() {
    let (transfer, program) = (RFTL.page_transfer.as_secs(), RFTL.page_program.as_secs());
    for dies in [1, 2, 3, 4, 8, 64] {
        let want = (1.0 / transfer).min(f64::from(dies) / (transfer + program));
        let got = saturated(RFTL, Op::Program, dies);
        point::compare("saturation", "programs a second", f64::from(dies), want, got, 0.01 * want);
    }
    assert_close(saturated(RFTL, Op::Read, 8), 1.0 / transfer, 0.01, "reads per second of a saturated channel");
    assert_close(saturated(RFTL, Op::Program, 1), 1.0 / (transfer + program), 0.01, "programs per second of a die");
    let with_command = ClockTimes { command: Nanos::from_us(5), ..RFTL };
    let want = 1.0 / (transfer + 5e-6);
    assert_close(saturated(with_command, Op::Program, 8), want, 0.01, "programs per second with commands");
    assert_close(saturated(with_command, Op::Read, 8), want, 0.01, "reads per second with commands");
}

/// Lindley's equation: with one die per channel the end of an operation is the end of its service after the later of
/// its arrival and the end before.
#[test]
fn die_of_its_own_channel_is_never_idle_while_it_has_work() {
    let dies = 5;
    let mut clock = Clock::new(TimingModel::named("parallel"), ClockTimes { command: Nanos(7), ..RFTL }, dies, dies);
    let mut serial = Clock::new(TimingModel::named("serial"), ClockTimes { command: Nanos(7), ..RFTL }, dies, dies);
    let (mut r, mut free, mut want) = (Dice(3), vec![0; dies as usize], vec![]);
    let (mut serial_free, mut total) = (0, 0);
    for id in 0..20_000 {
        let now = clock.now() + Nanos(r.below64(100_000));
        clock.advance(now);
        serial.advance(now);
        let (die, op) = (r.below64(u64::from(dies)) as usize, Op::ALL[r.below64(3) as usize]);
        let service = clock.service(op).0;
        free[die] = now.0.max(free[die]) + service;
        want.push(free[die]);
        let t = clock.issue(die as u32, op, NOW, Release::Done);
        clock.watch(t, id);
        serial_free = now.0.max(serial_free) + service;
        total += service;
        let t = serial.issue(die as u32, op, NOW, Release::Done);
        assert_eq!(serial.time(t), Some(Nanos(serial_free)));
        assert_eq!(serial.channel_busy_until(0).0, serial_free);
    }
    assert_eq!(finish_times(&mut clock, want.len()), want);
    assert_eq!((0..dies).map(|d| clock.die_busy_ns(d).0).sum::<u64>(), total);
    assert_eq!((0..dies).map(|d| serial.die_busy_ns(d).0).sum::<u64>(), total);
    serial.drain();
    assert_eq!(serial.now().0, serial_free);
}
