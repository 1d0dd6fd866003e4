//! Is the memory of the clock bounded, and does it repeat itself?

use nandlab::flash::clock::{Clock, Release, Ticket, TimingModel};
use nandlab::ledger::Op;
use nandlab::types::Nanos;

use super::rig::{NOW, RFTL, finish_times};
use crate::kit::Dice;

/// A closed loop of 32 operations with joins and bursts. Returns a digest of all times.
fn closed_loop(seed: u64, count: u64, mut each: impl FnMut(&Clock)) -> u64 {
    let (mut clock, mut r) = (Clock::new(TimingModel::named("parallel"), RFTL, 4, 16), Dice(seed));
    let (mut issued, mut digest, mut old) = (0, 0u64, NOW);
    let mut tokens: Vec<u64> = (0..32).collect();
    while issued < count {
        while let Some(token) = tokens.pop() {
            let delay = Ticket::at(clock.now() + Nanos(r.below64(2_000)));
            let a = clock.issue(r.below64(16) as u32, Op::Program, delay, Release::Transfer);
            let b = clock.issue(r.below64(16) as u32, Op::Read, old, Release::Done);
            let both = clock.join(a, b);
            let both = clock.delay(both, clock.now() + Nanos(10_000));
            clock.watch(both, token);
            (old, issued) = (if r.percent(10) { a } else { old }, issued + 2);
            if r.percent(1) {
                let die = r.below64(16) as u32;
                let mut last = NOW;
                for _ in 0..20 {
                    last = clock.issue(die, Op::Read, last, Release::Done);
                    last = clock.issue(r.below64(16) as u32, Op::Program, last, Release::Done);
                }
                clock.issue(die, Op::Erase, last, Release::Done);
                issued += 41;
            }
        }
        assert!(clock.step());
        each(&clock);
        while let Some((token, at)) = clock.take_resolved() {
            digest = (digest ^ token ^ at.0).wrapping_mul(0x100_0000_01b3);
            tokens.push(token);
        }
    }
    digest
}

#[test]
fn parallel_clock_memory_stays_bounded() {
    let mut places = vec![];
    closed_loop(1, 1_000_000, |clock| {
        if places.last() != Some(&clock.slab_len()) {
            places.push(clock.slab_len());
        }
    });
    assert!(*places.last().unwrap() <= 4_096, "{places:?}");
    let (mut clock, mut early) = (Clock::new(TimingModel::named("parallel"), RFTL, 8, 32), 0);
    for i in 0..1_000_000u32 {
        clock.issue(i % 32, Op::Program, NOW, Release::Done);
        while clock.in_flight() > 40 {
            clock.step();
        }
        if i == 1_000 {
            early = clock.slab_len();
        }
    }
    assert_eq!(clock.slab_len(), early, "operations that nobody waits for are forgotten too");
}

#[test]
fn same_input_gives_the_same_times() {
    assert_eq!(closed_loop(5, 30_000, |_| ()), closed_loop(5, 30_000, |_| ()));
    assert_ne!(closed_loop(5, 30_000, |_| ()), closed_loop(6, 30_000, |_| ()));
}

#[test]
fn hundred_thousand_operations_can_depend_on_one() {
    let mut clock = Clock::new(TimingModel::named("parallel"), RFTL, 2, 2);
    let first = clock.issue(0, Op::Erase, NOW, Release::Done);
    let (mut all, mut chain) = (first, first);
    for token in (0..100_000).rev() {
        let t = clock.issue(1, Op::Read, first, Release::Done);
        clock.watch(first, token);
        chain = clock.delay(chain, Nanos(token));
        all = clock.join(t, all);
        all = clock.join(all, chain);
    }
    clock.watch(all, 100_000);
    let finish = finish_times(&mut clock, 100_001);
    assert!(finish[..100_000].iter().all(|&t| t == 1_500_000));
    assert_eq!(finish[100_000], 1_500_000 + 100_000 * 125_000);
}
