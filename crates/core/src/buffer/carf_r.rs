//! carf-r - Cost-aware recency and frequency (reconstruction)
//!
//! # Source
//! A **reconstruction** of CARF (Z. Jiang, Y. Zhang, J. Wang and C. Xing, "A cost-aware buffer management policy for
//! flash-based storage devices", DASFAA 2015) from what papers say of it: a weight of frequency and recency, and a cost
//! model that tells reads from writes (related work of the AALRU paper, abstract). The original text was not available,
//! so results must not be published as those of CARF. The weight is that of LRFU (Donghee Lee, Jongmoo Choi, Jong-Hun
//! Kim, Sam H. Noh, Sang Lyul Min, Yookun Cho and Chong Sang Kim, IEEE Transactions on Computers 50(12), 2001).
//!
//! # What it does
//! Reads and writes are cached by page. Page accesses are numbered. An access that comes `d` accesses after the page's
//! last one sets its weight to `cost + weight * 2^(-lam * d)`, where a new page has had none. The victim is the page of the
//! smallest weight, all decayed to now; of equal ones that used least recently. A dirty one is written back alone, a clean
//! one dropped. O(log frames): all weights decay alike, so pages keep the order of `weight * 2^(lam * last)`.
//!
//! # Deviations and chosen readings
//! - All formulas are ours.
//! - Powers of two are computed from square roots, which are exact to the last bit on every machine.
//! - A page that the host flushed stays as it is, clean.
//!
//! # Known ambiguities
//! The weight of the original and its resistance to scans are unknown.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Access, Admission, Buffer, BufferShape, Medium, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::types::Slot;

crate::params! {
    pub struct Params: Copy {
        /// Decay for each access. 0 is frequency times cost; from 3 on, with the costs below, it is little but LRU. The
        /// default is our choice.
        lam: Option<f64> = None, in 0.0..=64.0, absent "one by the frames at the start";
        /// Cost of a read.
        cost_read: f64 = 1.0, in 1e-6..=1e12, "any common unit";
        /// Cost of a write.
        cost_write: f64 = 4.0, in 1e-6..=1e12, "any common unit";
    }
}

const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;
const EXPONENT_BIAS: i64 = f64::MAX_EXP as i64 - 1;

/// Powers of two without the system's functions.
#[derive(Debug)]
struct Powers {
    /// 2^(1/2), 2^(1/4), ...
    roots: [f64; MANTISSA_BITS as usize],
}

impl Powers {
    fn new() -> Self {
        let mut root = 2.0_f64;
        Self {
            roots: std::array::from_fn(|_| {
                root = root.sqrt();
                root
            }),
        }
    }
    /// `2^x` as `m * 2^whole`, `m` from 1 to below 2.
    fn split(&self, x: f64) -> (i64, f64) {
        let whole = x.floor();
        // Just below a whole number the difference is rounded to 1.
        if x - whole >= 1.0 {
            return (whole as i64 + 1, 1.0);
        }
        let mut bits = ((x - whole) * (1_u64 << MANTISSA_BITS) as f64) as u64;
        let mut power = 1.0;
        while bits != 0 {
            let bit = bits.trailing_zeros();
            power *= self.roots[(MANTISSA_BITS - 1 - bit) as usize];
            bits &= bits - 1;
        }
        (whole as i64, power)
    }
    /// `weight * 2^(-x)` for `x` of 0 or more.
    fn decay(&self, weight: f64, x: f64) -> f64 {
        let (whole, power) = self.split(-x);
        let exponent = whole + EXPONENT_BIAS;
        if exponent > 0 { weight * power * f64::from_bits((exponent as u64) << MANTISSA_BITS) } else { 0.0 }
    }
}

/// What orders pages: exponent and mantissa of `weight * 2^(lam * last)`, then recency.
type Key = (i64, u64, u64);

#[derive(Clone, Copy, Default, Debug)]
struct Page {
    /// Weight at the last access.
    weight: f64,
    /// Number of the last access.
    last: u64,
    key: Key,
}

/// CARF (reconstruction): evicts the page with the smallest decayed weight of its accesses by cost.
#[derive(Debug)]
pub struct CarfR {
    lam: f64,
    cost_read: f64,
    cost_write: f64,
    powers: Powers,
    accesses: u64,
    /// By slot.
    pages: Vec<Page>,
    order: BTreeSet<(Key, Slot)>,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(params: Params, shape: &BufferShape) -> Result<CarfR, ConfigError> {
    shape.need_frames("carf-r", shape.frames.dram, 1, "one page")?;
    let Params { lam, cost_read, cost_write } = params;
    let lam = lam.unwrap_or(1.0 / f64::from(shape.frames.dram));
    let powers = Powers::new();
    Ok(CarfR { lam, cost_read, cost_write, powers, accesses: 0, pages: Vec::new(), order: BTreeSet::new() })
}

impl CarfR {
    fn touch(&mut self, slot: Slot, write: bool, weight_before: f64) {
        let weight = weight_before + if write { self.cost_write } else { self.cost_read };
        let last = self.accesses;
        let (whole, power) = self.powers.split(self.lam * last as f64);
        let bits = (weight * power).to_bits();
        let exponent = whole + (bits >> MANTISSA_BITS).cast_signed() - EXPONENT_BIAS;
        let key = (exponent, bits & ((1 << MANTISSA_BITS) - 1), last);
        self.pages[slot.index()] = Page { weight, last, key };
        self.order.insert((key, slot));
    }

    fn weight_now(&self, page: Page) -> f64 {
        self.powers.decay(page.weight, self.lam * (self.accesses - page.last) as f64)
    }
}

impl Buffer for CarfR {
    fn on_hit(&mut self, slot: Slot, access: &Access, _: &Slots, _: &Sense<'_>) {
        self.accesses += 1;
        let page = self.pages[slot.index()];
        self.order.remove(&(page.key, slot));
        self.touch(slot, access.write, self.weight_now(page));
    }
    fn on_miss(&mut self, _: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        self.accesses += 1;
        Admission::Admit(Medium::Dram)
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        if let Some((_, victim)) = self.order.pop_first() {
            plan.evict(victim, slots);
        }
    }
    fn on_insert(&mut self, slot: Slot, access: &Access, slots: &Slots) {
        slots.extend_table(&mut self.pages, Page::default());
        self.touch(slot, access.write, 0.0);
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        self.order.remove(&(self.pages[slot.index()].key, slot));
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let page = |(_, slot): &(Key, Slot)| {
            let known = self.pages[slot.index()];
            let mut page = slots.golden(*slot);
            (page["last"], page["weight"]) = (json!(known.last), json!(self.weight_now(known)));
            page
        };
        json!({"by_weight_desc": self.order.iter().rev().map(page).collect::<Vec<_>>()})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_those_of_the_system() {
        let powers = Powers::new();
        for step in 0..20_000 {
            let x = f64::from(step) * 0.013;
            let (whole, power) = powers.split(x);
            let expected = 2.0_f64.powf(x - whole as f64);
            assert!((power / expected - 1.0).abs() < 1e-14 && whole == x as i64, "2^{x}");
            let expected = 3.0 * 2.0_f64.powf(-x);
            assert!((powers.decay(3.0, x) / expected - 1.0).abs() < 1e-13, "3 * 2^-{x}");
        }
        // The difference to the whole number below is rounded to 1.
        assert_eq!([1e-17, f64::MIN_POSITIVE, 1e-15].map(|x| powers.decay(4.0, x) <= 4.0), [true; 3]);
        assert_eq!(powers.decay(4.0, 1e-17), 4.0);
        assert_eq!((powers.decay(5.0, 0.0), powers.decay(5.0, 3.0), powers.decay(5.0, 5_000.0)), (5.0, 0.625, 0.0));
    }
}
