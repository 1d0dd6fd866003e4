//! How many ranks HitStat makes of the ages: hill climbing over the group misses (the thesis says
//! that the levels adapt, but neither by what rule nor how often).
//!
//! After every period of write requests its group misses are compared with those of the period before. If they rose, the
//! direction turns; then the levels move by one step.

use super::Params;
use crate::error::ConfigError;

/// The number of age ranks in use, moved by hill climbing over the group misses of each period.
#[derive(Debug)]
pub(super) struct Levels {
    now: u32,
    max: u32,
    step: u32,
    /// Write requests; `None` if the levels stay.
    period: Option<u32>,
    rising: bool,
    /// Group misses of this period and of the one before.
    misses: u32,
    misses_before: Option<u32>,
}

impl Levels {
    /// The levels to start with.
    ///
    /// # Errors
    /// If there are more than the log of ages can tell apart.
    pub fn new(params: &Params) -> Result<Self, ConfigError> {
        let max = params.hit_log_len.saturating_add(1);
        if params.levels > max {
            let help = format!("use 1 to {max} (hit_log_len + 1)");
            return Err(ConfigError::new("buffer.levels", format!("{} levels", params.levels), help));
        }
        Ok(Self {
            now: params.levels,
            max,
            step: params.levels_step,
            period: params.levels_adapt.then_some(params.levels_period),
            rising: true,
            misses: 0,
            misses_before: None,
        })
    }
    /// Ranks there are at most.
    #[inline]
    pub const fn now(&self) -> u32 {
        self.now
    }
    /// A request wrote to a block without a group.
    #[inline]
    pub const fn count_miss(&mut self) {
        self.misses += 1;
    }
    /// A write request begins; that many were before it.
    #[inline]
    pub fn begin_request(&mut self, before: u32) {
        if self.period.is_some_and(|period| before > 0 && before.is_multiple_of(period)) {
            self.adapt();
        }
    }

    fn adapt(&mut self) {
        let misses = std::mem::take(&mut self.misses);
        if self.misses_before.replace(misses).is_some_and(|before| misses > before) {
            self.rising = !self.rising;
        }
        let moved = if self.rising { self.now.saturating_add(self.step) } else { self.now.saturating_sub(self.step) };
        self.now = moved.clamp(1, self.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direction_turns_when_misses_rise() {
        let params = Params { levels: 8, hit_log_len: 15, levels_period: 10, ..Params::default() };
        let mut levels = Levels::new(&params).unwrap();
        let mut requests = 0;
        for (misses, after) in [(5, 12), (5, 16), (4, 16), (6, 12), (7, 16), (8, 12), (1, 8), (1, 4), (1, 1), (2, 5)] {
            (0..misses).for_each(|_| levels.count_miss());
            let before = levels.now();
            for _ in 0..10 {
                assert_eq!(levels.now(), before, "the period is not over after {requests} requests");
                requests += 1;
                levels.begin_request(requests);
            }
            assert_eq!(levels.now(), after, "after {requests} requests");
        }
    }
}
