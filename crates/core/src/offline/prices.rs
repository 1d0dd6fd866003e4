//! The lower bound: capacity as prices.
//!
//! Lagrangian relaxation (Geoffrion, Mathematical Programming Study 2, 1974): in place of 'no more pages than frames', a
//! frame has a price for every step of time. Each page then chooses for itself, and what all save at most, plus the price
//! of the frames there are, is no less than what any buffer saves: for whatever prices (weak duality). Prices that are
//! too low for the demand rise, and the others fall, with smaller and smaller steps; the best bound counts.

use super::segments::{Prices, Segments};

/// Rounds of adjustment of [`lower_bound`] after which little is gained.
pub const ROUNDS: u32 = 200;
/// Windows of constant price: no fewer than this number (unless there are fewer steps), for whatever buffer.
const WINDOWS_MIN: usize = 1 << 10;
/// No more than about this number: their tables should stay in the processor's cache.
const WINDOWS_MAX: usize = 1 << 18;
/// Between the two a window has a step for that many frames: a page stays for many windows.
const FRAMES_PER_STEP: usize = 16;
/// A price that demand lifts from nothing begins at this part of the mean price.
const PRICE_FIRST: i64 = 64;
/// The first adjustment: by this share of the price for each share of frames too many or too few.
const STEP: f64 = 4.0;
/// What is left of it from round to round, 1/57 in the end: prices that still move by much do not come to rest. Where a quarter
/// was left in the end, gaps of a real trace were two to five times as wide (docs/bounds.md).
const DECAY: f64 = 0.98;

/// A lower bound of the cost, and the prices that prove it.
#[derive(Debug)]
pub struct LowerBound {
    /// No buffer with that many frames costs less, in units of [`Costs`](super::Costs).
    pub cost: u64,
    pub(super) prices: Prices,
}

/// A cost below which no buffer with that many frames can serve the history, whatever it knows: the best of some rounds
/// of adjusted prices, each of which takes time in proportion to the events.
pub fn lower_bound(segments: &Segments, frames: u32, rounds: u32) -> LowerBound {
    let events = segments.events();
    let window = (events / WINDOWS_MIN).min(frames as usize / FRAMES_PER_STEP).max(events / WINDOWS_MAX);
    let shift = window.max(1).ilog2();
    let mut prices = Prices::new(events, shift);
    let mut best = LowerBound { cost: 0, prices: Prices::new(events, shift) };
    let first = segments.mean_price(frames) / PRICE_FIRST + 1;
    let mut step = STEP;
    for _ in 0..=rounds {
        prices.settle();
        let (savings, usage) = segments.savings(&prices);
        let relaxed = savings + i128::from(prices.total()) * i128::from(frames);
        let cost = i128::from(segments.uncached()) - Segments::floor(relaxed);
        if cost > i128::from(best.cost) {
            best.cost = cost as u64;
            best.prices.steps.clone_from(&prices.steps);
        }
        for (window, used) in usage.frames().enumerate() {
            let there = i64::from(frames) * i64::from(prices.len(window));
            let price = &mut prices.steps[window];
            if used > there {
                *price = (*price).max(first);
            }
            let excess = (used - there) as f64 / there.max(1) as f64;
            *price = (*price as f64 * (1.0 + (step * excess).clamp(-0.5, 1.0))) as i64;
        }
        step *= DECAY;
    }
    best.prices.settle();
    best
}
