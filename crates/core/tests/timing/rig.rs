//! The times of a device, and what a clock tells at its end.

use nandlab::flash::clock::{Clock, ClockShape, ClockTimes, CommandConfig, SchedulerConfig, Ticket, TimingModel};
use nandlab::types::Nanos;

use crate::kit::{Dice, times};

pub const NOW: Ticket = Ticket::at(Nanos::ZERO);

/// RFTL's times.
pub const RFTL: ClockTimes = times(25_000, 200_000, 1_500_000, 100_000);

/// One die whose operations name no pages, with times in ns: page read, page program, block erase, page transfer, command.
pub fn one_die(times: [u64; 5], commands: CommandConfig) -> ClockShape {
    let [page_read, page_program, block_erase, page_transfer, command] = times.map(Nanos);
    ClockShape {
        times: ClockTimes { page_read, page_program, block_erase, page_transfer, command },
        channels: 1,
        dies: 1,
        blocks: 0,
        pages_per_block: 1,
        planes: 1,
        commands,
        scheduler: SchedulerConfig::default(),
    }
}

/// A clock with a scheduler.
pub fn scheduled(shape: &ClockShape) -> Clock {
    Clock::of(TimingModel::named("scheduled"), shape)
}

/// Everything that is watched, as `finish[token]`, when nothing is pending any more.
pub fn finish_times(clock: &mut Clock, tokens: usize) -> Vec<u64> {
    clock.drain();
    let mut finish = vec![u64::MAX; tokens];
    let mut last = (0, 0);
    while let Some((token, at)) = clock.take_resolved() {
        assert!(last <= (at.0, token), "taken out of order: {last:?}, then {:?}", (at.0, token));
        last = (at.0, token);
        assert_eq!(finish[token as usize], u64::MAX, "token {token} twice");
        finish[token as usize] = at.0;
    }
    finish
}

/// The search for the die with the least work finds what a comparison of all dies finds, wherever it begins and whichever is
/// left out.
pub fn check_least_work(clock: &Clock, dies: u32, r: &mut Dice, context: &str) {
    let (first, not) = (r.below(dies), r.below(2 * dies));
    let order = || (first..dies).chain(0..first).map(|die| (dies - 1 - die, die));
    let wanted = order().filter(|(position, _)| *position != not).min_by_key(|(_, die)| clock.die_work_until(*die));
    let found = clock.least_work(order(), |position| position != not);
    assert_eq!(found, wanted.map(|(position, _)| position), "from {first} without {not}, {context}");
}
