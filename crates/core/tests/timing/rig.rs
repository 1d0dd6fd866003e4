//! Random numbers, the times of a device, and what a clock tells at its end.

use nandlab::flash::clock::{Clock, ClockTimes, Ticket};
use nandlab::types::Nanos;

/// Splitmix64: the tests need no more, and it stays the same for ever.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
    /// Exponentially distributed with mean 1.
    pub fn exponential(&mut self) -> f64 {
        let uniform = ((self.next() >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
        -uniform.ln()
    }
}

pub const NOW: Ticket = Ticket::at(Nanos::ZERO);

/// RFTL's times.
pub const RFTL: ClockTimes = ClockTimes {
    page_read: Nanos::from_us(25),
    page_program: Nanos::from_us(200),
    block_erase: Nanos::from_us(1_500),
    page_transfer: Nanos::from_us(100),
    command: Nanos::ZERO,
};

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
