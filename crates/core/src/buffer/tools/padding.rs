//! When a block that is written back is completed first: fixed rules, the cost model of HitStat (equations 3 to 5) and
//! the threshold of AALRU (equations 4 and 6). Every policy that works in blocks takes them as its parameter `padding`.
//!
//! Padding turns `n` scattered pages into one whole block that replaces the old one without a merge; it pays when what
//! the `n` pages would cost in the log blocks is more. The model says from which `n` on, out of what the FTL's merges
//! cost lately. Only FTLs with log blocks have such merges.

mod amplification;
mod model;

use serde::{Deserialize, Serialize};

use crate::buffer::BufferShape;
use crate::ledger::Ledger;
use crate::registry::Bounded;
use amplification::Amplification;
pub use amplification::{ThLine, write_amplification};
use model::Model;
pub use model::{MergeCost, break_even_pages};

/// Merges that the model averages over unless told otherwise (ours: HitStat's thesis does not say; the manual page of
/// `hitstat` says what other lengths cost).
pub const DEFAULT_WINDOW: u32 = 64;

/// How a value is compared with a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// At least.
    #[default]
    Ge,
    /// More than.
    Gt,
}

impl Compare {
    /// Whether the value has reached the limit.
    #[inline]
    pub fn reached(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Ge => value >= limit,
            Self::Gt => value > limit,
        }
    }
}

/// From how many pages on a block is padded, as a parameter.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PaddingRule {
    /// By the model, from what merges cost lately; never on an FTL without log blocks.
    #[default]
    Model,
    /// Never.
    Never,
    /// Whenever a page is missing.
    Always,
    /// By AALRU's threshold: from `B - (B / 5) Wf` pages on, never while the write amplification `Wf` of the last 8192 page
    /// accesses was 1, always from 5 on.
    Aalru,
    /// From this share of a block's pages on: 0 is always, 1 is never.
    #[serde(untagged)]
    Fraction(f64),
}

crate::params! {
    pub struct Params: Copy {
        /// When an incomplete victim is completed.
        padding: PaddingRule = PaddingRule::Never, in 0.0..=1.0, "share of its block";
    }
}

/// The share, for its range.
impl Bounded for PaddingRule {
    type Bound = f64;
    fn bound(&self) -> Option<f64> {
        if let Self::Fraction(share) = self { Some(*share) } else { None }
    }
}

/// What moves a threshold.
#[derive(Clone, Debug)]
enum Follows {
    Nothing,
    Merges(Model),
    Amplification(Amplification),
}

/// A rule at work on one device.
#[derive(Clone, Debug)]
pub struct Padding {
    threshold_pages: f64,
    compare: Compare,
    pages_per_block: f64,
    follows: Follows,
}

impl Padding {
    /// The rule for a device; `window` is the number of merges that the model averages over.
    pub fn new(rule: PaddingRule, window: u32, shape: &BufferShape) -> Self {
        let (share, follows) = match rule {
            PaddingRule::Never => (1.0, Follows::Nothing),
            PaddingRule::Always => (0.0, Follows::Nothing),
            PaddingRule::Fraction(share) => (share, Follows::Nothing),
            PaddingRule::Aalru => (1.0, Follows::Amplification(Amplification::new(shape.pages_per_block))),
            PaddingRule::Model => match Model::new(window, shape) {
                Some(model) => (model.start(), Follows::Merges(model)),
                None => (1.0, Follows::Nothing),
            },
        };
        let pages_per_block = f64::from(shape.pages_per_block);
        Self { threshold_pages: share * pages_per_block, compare: Compare::Ge, pages_per_block, follows }
    }
    /// The rule for a device, with the model's default window.
    pub fn of(rule: PaddingRule, shape: &BufferShape) -> Self {
        Self::new(rule, DEFAULT_WINDOW, shape)
    }
    /// The rule for a policy that follows the write amplification itself ([`Self::set_threshold`]); until it does so, nothing
    /// is padded. All other rules are as they are.
    pub fn told(rule: PaddingRule, compare: Compare, shape: &BufferShape) -> Self {
        let padding = Self::of(rule, shape);
        let follows = if rule == PaddingRule::Aalru { Follows::Nothing } else { padding.follows };
        Self { compare, follows, ..padding }
    }
    /// Sets the threshold, in pages of a whole block.
    pub const fn set_threshold(&mut self, pages: f64) {
        self.threshold_pages = pages;
    }
    /// Follows the FTL. Cheap when nothing new happened since the last call.
    #[inline]
    pub fn observe(&mut self, ledger: &Ledger) {
        let moved = match &mut self.follows {
            Follows::Nothing => None,
            Follows::Merges(model) => model.look(ledger),
            Follows::Amplification(amplification) => amplification.look(ledger),
        };
        self.threshold_pages = moved.unwrap_or(self.threshold_pages);
    }
    /// `B_w`, pages: an incomplete block with at least this many pages is padded. A whole block's worth means never.
    #[inline]
    pub const fn threshold_pages(&self) -> f64 {
        self.threshold_pages
    }
    /// Whether a write-back of `pages` of a block's `block_pages` pages is padded. For a short last block of the device the
    /// threshold is the same share of its pages.
    #[inline]
    pub fn pads(&self, pages: u32, block_pages: u32) -> bool {
        let (held, needed) = (f64::from(pages) * self.pages_per_block, self.threshold_pages * f64::from(block_pages));
        pages < block_pages && self.compare.reached(held, needed)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::buffer::{FlashTimes, Frames};
    use crate::ledger::MergeKind;
    use crate::types::Nanos;

    /// Blocks of 8 pages above an FTL with such merges.
    pub fn shape(merges: Option<MergeKind>) -> BufferShape {
        BufferShape {
            pages_per_block: 8,
            page_sectors: 1,
            logical_pages: 64,
            frames: Frames { dram: 8, nvram: 0 },
            times: FlashTimes { read: Nanos(0), program: Nanos::from_us(800), erase: Nanos::from_us(1500) },
            merges,
            seed: 1,
        }
    }

    #[test]
    fn each_rule_pads_from_its_number_of_pages_on() {
        let least = |rule: PaddingRule, merges: Option<MergeKind>, block_pages: u32| {
            let padding = Padding::of(rule, &shape(merges));
            assert!(!padding.pads(block_pages, block_pages), "a whole block misses nothing");
            (0..block_pages).find(|pages| padding.pads(*pages, block_pages))
        };
        assert_eq!(least(PaddingRule::Never, Some(MergeKind::OneDataBlock), 8), None);
        assert_eq!(least(PaddingRule::Always, None, 8), Some(0));
        assert_eq!(least(PaddingRule::Fraction(0.5), None, 8), Some(4));
        assert_eq!(least(PaddingRule::Fraction(0.5), None, 3), Some(2), "a short last block");
        assert_eq!(
            (least(PaddingRule::Model, Some(MergeKind::OneFullLogBlock), 8), least(PaddingRule::Model, None, 8)),
            (Some(3), None)
        );
        assert_eq!(least(PaddingRule::Aalru, None, 8), None);
    }
}
