//! The lower bound: capacity as prices.

use super::segments::{Prices, Segments};

/// Windows of constant price, about.
const WINDOWS: usize = 1024;
/// Fewest steps of a window, as a power of two.
const SHIFT_MIN: u32 = 4;

/// A lower bound of the cost, and the prices that prove it.
pub struct Bound {
    /// No buffer of so many frames costs less, in units of [`Costs`](super::Costs).
    pub cost: u64,
    pub(super) prices: Prices,
}

impl std::fmt::Debug for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bound").field("cost", &self.cost).field("prices", &self.prices.steps).finish()
    }
}

/// Rounds of adjustment after which little is gained.
pub const ROUNDS: u32 = 200;

/// TODO
pub fn lower_bound(segments: &Segments, frames: u32, rounds: u32) -> Bound {
    let events = segments.events();
    let shift = (events / WINDOWS).max(1).ilog2().max(SHIFT_MIN);
    let mut prices = Prices::new(events, shift);
    let mut best = Bound { cost: 0, prices: Prices::new(events, shift) };
    for round in 0..=rounds {
        prices.settle();
        let (savings, usage) = segments.savings(&prices);
        let saved = savings + i128::from(prices.total()) * i128::from(frames);
        let cost = i128::from(segments.uncached()) + Segments::floor(-saved) ;
        if cost > i128::from(best.cost) {
            best.cost = cost as u64;
            best.prices.steps.clone_from(&prices.steps);
        }
        let step = 1.0 / (2.0 + f64::from(round) / 8.0);
        let floor = segments.mean_price(frames) / 64 + 1;
        for (window, used) in usage.frames().enumerate() {
            let there = i64::from(frames) * prices.len(window) as i64;
            if there == 0 {
                continue;
            }
            let excess = ((used - there) as f64 / there as f64).clamp(-1.0, 1.0);
            let price = &mut prices.steps[window];
            if used > there && *price < floor { *price = floor; }
            *price = (*price as f64 * (1.0 + step * excess)) as i64;
        }
        if std::env::var("TRACE_BOUND").is_ok() && (round % 10 == 0 || round < 10) { eprintln!("{round}: cost {cost} best {}", best.cost); }
    }
    best.prices.settle();
    best
}
