//! What tickets and watches tell, and what they wait for.

use nandlab::flash::clock::{Clock, Release, Ticket, TimingModel};
use nandlab::ledger::Op;
use nandlab::types::Nanos;

use super::rig::{NOW, RFTL, finish_times};

#[test]
fn ticket_tells_its_state_before_and_after_it_resolves() {
    let mut clock = Clock::new(TimingModel::named("parallel"), RFTL, 1, 2);
    let write = clock.issue(0, Op::Program, NOW, Release::Transfer);
    let read = clock.issue(0, Op::Read, write, Release::Done);
    assert_eq!((clock.time(write), clock.in_flight()), (None, 2));
    assert_eq!(clock.time(Ticket::at(Nanos(5))), Some(Nanos(5)));
    clock.advance(Nanos(99_999));
    assert_eq!(clock.time(write), None);
    assert!(clock.step());
    assert_eq!((clock.now(), clock.time(write), clock.time(read)), (Nanos(100_000), Some(Nanos(100_000)), None));
    clock.watch(write, 7);
    clock.watch(Ticket::at(Nanos(3)), 6);
    assert_eq!(clock.take_resolved(), Some((6, Nanos(100_000))));
    assert_eq!(clock.take_resolved(), Some((7, Nanos(100_000))));
    assert_eq!(clock.take_resolved(), None);
    assert_eq!(clock.next_event(), Some(Nanos(300_000)));
    // Joined with what has resolved, a ticket is itself.
    assert_eq!((clock.join(write, read), clock.join(read, NOW), clock.join(read, read)), (read, read, read));
    let later = clock.delay(read, Nanos(1_000_000));
    clock.watch(later, 1);
    clock.watch(read, 2);
    clock.watch(read, 3);
    clock.drain();
    assert_eq!(clock.take_resolved(), Some((2, Nanos(425_000))));
    assert_eq!(clock.take_resolved(), Some((3, Nanos(425_000))));
    assert_eq!(clock.take_resolved(), Some((1, Nanos(1_000_000))));
    assert!(!clock.step());
    assert_eq!((clock.next_event(), clock.in_flight()), (None, 0));
}

#[test]
fn watch_on_a_time_fires_at_that_time() {
    for model in [TimingModel::named("serial"), TimingModel::named("parallel")] {
        let mut clock = Clock::new(model, RFTL, 1, 1);
        for (token, at) in [(1, 500), (2, 300), (4, 400), (3, 400)] {
            clock.watch(Ticket::at(Nanos(at)), token);
        }
        assert_eq!(clock.next_event(), Some(Nanos(300)));
        assert!(clock.step());
        assert_eq!((clock.now(), clock.take_resolved()), (Nanos(300), Some((2, Nanos(300)))));
        clock.advance(Nanos(450));
        assert_eq!(clock.take_resolved(), Some((3, Nanos(400))));
        assert_eq!(clock.take_resolved(), Some((4, Nanos(400))));
        assert_eq!((clock.take_resolved(), clock.now()), (None, Nanos(450)));
        clock.drain();
        assert_eq!((clock.take_resolved(), clock.step()), (Some((1, Nanos(500))), false));
    }
}

#[test]
fn program_data_is_released_at_the_end_of_its_transfer() {
    for (model, second) in [(TimingModel::named("serial"), 300 + 100), (TimingModel::named("parallel"), 200)] {
        let mut clock = Clock::new(model, RFTL, 1, 2);
        for die in 0..2 {
            let t = clock.issue(die, Op::Program, NOW, Release::Transfer);
            clock.watch(t, u64::from(die));
        }
        assert_eq!(finish_times(&mut clock, 2), [100_000, second * 1_000]);
    }
}

#[test]
fn waiting_operation_lets_others_pass() {
    let mut clock = Clock::new(TimingModel::named("parallel"), RFTL, 2, 2);
    let erase = clock.issue(0, Op::Erase, NOW, Release::Done);
    let waits = clock.issue(1, Op::Read, erase, Release::Done);
    let passes = clock.issue(1, Op::Read, NOW, Release::Done);
    let behind = clock.issue(0, Op::Read, erase, Release::Done);
    for (token, t) in [waits, passes, behind].into_iter().enumerate() {
        clock.watch(t, token as u64);
    }
    assert_eq!(finish_times(&mut clock, 3), [1_625_000, 125_000, 1_625_000]);
}

#[test]
fn channel_says_when_it_is_expected_to_be_free() {
    let mut clock = Clock::new(TimingModel::named("parallel"), RFTL, 2, 4);
    let until = |clock: &Clock| (clock.channel_busy_until(0).0 / 1_000, clock.channel_busy_until(1).0 / 1_000);
    assert_eq!(until(&clock), (0, 0));
    clock.issue(0, Op::Program, NOW, Release::Done);
    clock.issue(2, Op::Read, NOW, Release::Done);
    assert_eq!(until(&clock), (300, 0));
    clock.issue(2, Op::Read, NOW, Release::Done);
    clock.issue(2, Op::Program, NOW, Release::Done);
    assert_eq!(until(&clock), (125 + 125 + 300, 0));
    // The first read has waited for the channel since 25.
    clock.advance(Nanos::from_us(60));
    assert_eq!(until(&clock), (60 + 100 + 125 + 300, 60));
    clock.advance(Nanos::from_us(150));
    assert_eq!(until(&clock), (200 + 125 + 300, 150));
    clock.drain();
    assert_eq!(until(&clock), (625, 625));
}

#[test]
#[should_panic(expected = "at most 64")]
fn impossible_devices_are_refused() {
    for (channels, dies) in [(0, 0), (2, 1), (2, 3)] {
        let new = || Clock::new(TimingModel::named("parallel"), RFTL, channels, dies);
        assert!(std::panic::catch_unwind(new).is_err(), "{dies} dies on {channels} channels");
    }
    Clock::new(TimingModel::named("serial"), RFTL, 1, 65);
}
