//! What the timing models share: what has resolved, and how much each die has done.

use super::ROWS;
use crate::types::Nanos;

/// Watched tickets that have resolved, as (time, token); those before `taken` have been taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Resolved {
    list: Vec<(u64, u64)>,
    taken: usize,
    unsorted: bool,
}

impl Resolved {
    /// Times arrive in order; tokens of one instant need not.
    #[inline]
    pub(super) fn push(&mut self, time: u64, token: u64) {
        if self.taken == self.list.len() {
            self.list.clear();
            self.taken = 0;
        } else if let Some(&last) = self.list.last() {
            self.unsorted |= (time, token) < last;
        }
        self.list.push((time, token));
    }

    /// True if one has not been taken.
    #[inline]
    pub(super) fn is_some(&self) -> bool {
        self.taken < self.list.len()
    }

    #[inline]
    pub(super) fn take(&mut self) -> Option<(u64, Nanos)> {
        if self.unsorted {
            self.sort();
        }
        let Some(&(time, token)) = self.list.get(self.taken) else {
            self.list.clear();
            self.taken = 0;
            return None;
        };
        self.taken += 1;
        Some((token, Nanos(time)))
    }

    /// Takes all that have not been taken.
    #[inline]
    pub(super) fn take_all(&mut self) -> &[(u64, u64)] {
        if self.unsorted {
            self.sort();
        }
        let first = std::mem::replace(&mut self.taken, self.list.len());
        &self.list[first..]
    }

    #[cold]
    fn sort(&mut self) {
        self.list.drain(..self.taken);
        self.taken = 0;
        self.list.sort_unstable();
        self.unsorted = false;
    }
}

/// Operations counted by die: busy times are this times constants, so that an operation pays for one increment only.
#[derive(Clone, Debug)]
pub(super) struct Finished {
    pub(super) channels: u32,
    by_die: Vec<[u64; ROWS]>,
    /// By die: what its operations took longer than those constants (with a minus, shorter), and that of its channel, ns.
    longer: Vec<(i64, i64)>,
}

impl Finished {
    pub(super) fn new(channels: u32, dies: u32) -> Self {
        Self { channels, by_die: vec![[0; ROWS]; dies as usize], longer: vec![(0, 0); dies as usize] }
    }

    /// Operations took this many ns longer than the constants say: on the die, and the part of that on the channel.
    #[inline]
    pub(super) fn took_longer(&mut self, die: u32, (on_die, on_channel): (i64, i64)) {
        let longer = &mut self.longer[die as usize];
        *longer = (longer.0 + on_die, longer.1 + on_channel);
    }

    /// An operation is finished; its number is below [`ROWS`].
    #[inline]
    pub(super) fn count(&mut self, die: u32, op: usize) {
        self.by_die[die as usize][op] += 1;
    }

    fn sum(&self, die: u32, each: &[u64; ROWS], longer: i64) -> Nanos {
        let counts = &self.by_die[die as usize];
        let sum: u64 = counts.iter().zip(each).map(|(n, ns)| n * ns).sum();
        Nanos(sum.checked_add_signed(longer).expect("nothing takes less than no time"))
    }

    pub(super) fn die_ns(&self, die: u32, each: &[u64; ROWS]) -> Nanos {
        self.sum(die, each, self.longer[die as usize].0)
    }

    /// The dies on a channel.
    pub(super) fn dies_of(&self, channel: u32) -> impl Iterator<Item = u32> {
        assert!(channel < self.channels, "channel {channel} of {}", self.channels);
        (channel..self.by_die.len() as u32).step_by(self.channels as usize)
    }

    pub(super) fn channel_ns(&self, channel: u32, each: &[u64; ROWS]) -> Nanos {
        self.dies_of(channel)
            .map(|die| self.sum(die, each, self.longer[die as usize].1))
            .fold(Nanos::ZERO, |a, b| a + b)
    }
}
