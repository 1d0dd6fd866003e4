//! When a block that is written back is completed first: padding rules, one file and one line each. Every policy that works
//! in blocks takes one as its parameter `padding`.
//!
//! Padding turns `n` scattered pages into one whole block that replaces the old one without a merge; it pays when what
//! the `n` pages would cost in the log blocks is more. A rule is a threshold for `n`, which may follow what the FTL does.

mod amplification;

use serde::{Deserialize, Serialize};

use crate::buffer::BufferShape;
use crate::ledger::Ledger;
use crate::registry::Plugin;
use crate::registry::rules::{self, Choice, Number, rules};
pub use amplification::{ThLine, write_amplification};
pub use model::{MergeCost, break_even_pages};

rules! {
    /// All padding rules.
    PADDINGS: PaddingRule, "padding";
    model,
    never,
    always,
    aalru,
    fraction,
}

/// A padding rule: from how many pages of a block on it is completed.
#[derive(Clone, Copy, Debug)]
pub struct PaddingRule {
    /// What its number means.
    number: Option<Number>,
    /// The threshold follows the write amplification, which a policy may measure itself ([`Padding::told`]).
    by_amplification: bool,
    /// The rule on a device.
    start: fn(&Setting<'_>) -> Start,
}

/// What most rules are except for where they start: without a number, whatever the write amplification is.
const FIXED: PaddingRule = PaddingRule { number: None, by_amplification: false, start: |_| Start::fixed(1.0) };

impl rules::Rule for PaddingRule {
    const KIND: &'static str = "padding";
    const ALL: &'static [Plugin<Self>] = PADDINGS;
    const KEY: &'static str = "buffer.padding";
    const CHOSEN_BY: &'static str = "buffers that work in blocks";
    fn number(&self) -> Option<Number> {
        self.number
    }
}

/// A padding rule with its number, as a configuration names it.
pub type PaddingChoice = Choice<PaddingRule>;

crate::params! {
    pub struct Params: Copy {
        /// When an incomplete victim is completed.
        padding: PaddingChoice = PaddingChoice::named("never"), in 0.0..=1.0, "share of its block";
    }
}

/// What a rule is built from.
struct Setting<'a> {
    /// Its number, 0 without one.
    number: f64,
    /// Merges to average over.
    window: u32,
    shape: &'a BufferShape,
}

/// A rule at its start on a device.
struct Start {
    /// The threshold, as a share of a block.
    share: f64,
    /// What moves it from there.
    follows: Option<Box<dyn Follow>>,
}

impl Start {
    /// A threshold that stays.
    const fn fixed(share: f64) -> Self {
        Self { share, follows: None }
    }
}

/// What moves a threshold.
trait Follow: std::fmt::Debug + Send {
    /// The threshold in pages, if it changed since the last look.
    fn look(&mut self, ledger: &Ledger) -> Option<f64>;
}

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

/// A rule at work on one device.
#[derive(Debug)]
pub struct Padding {
    threshold_pages: f64,
    compare: Compare,
    pages_per_block: f64,
    follows: Option<Box<dyn Follow>>,
    /// A policy may tell the threshold.
    by_amplification: bool,
}

impl Padding {
    /// The rule for a device; `window` is the number of merges that the model averages over.
    pub fn new(choice: PaddingChoice, window: u32, shape: &BufferShape) -> Self {
        let PaddingRule { start, by_amplification, .. } = choice.rule();
        let Start { share, follows } = start(&Setting { number: choice.number(), window, shape });
        let pages_per_block = f64::from(shape.pages_per_block);
        let threshold_pages = share * pages_per_block;
        Self { threshold_pages, compare: Compare::Ge, pages_per_block, follows, by_amplification }
    }
    /// The rule for a device, with the model's default window.
    pub fn of(choice: PaddingChoice, shape: &BufferShape) -> Self {
        Self::new(choice, DEFAULT_WINDOW, shape)
    }
    /// The rule for a policy that measures the write amplification itself and tells what follows from it ([`Self::tell`]).
    /// Until it does so, nothing is padded by a rule that goes by it. All other rules are as they are.
    pub fn told(choice: PaddingChoice, compare: Compare, shape: &BufferShape) -> Self {
        let padding = Self::of(choice, shape);
        let follows = padding.follows.filter(|_| !padding.by_amplification);
        Self { compare, follows, ..padding }
    }
    /// Sets the threshold that follows from the write amplification, in pages of a whole block. Rules that do not go by it
    /// take no notice.
    pub const fn tell(&mut self, pages: f64) {
        if self.by_amplification {
            self.threshold_pages = pages;
        }
    }
    /// Follows the FTL. Cheap when nothing new happened since the last call.
    #[inline]
    pub fn observe(&mut self, ledger: &Ledger) {
        if let Some(pages) = self.follows.as_mut().and_then(|follows| follows.look(ledger)) {
            self.threshold_pages = pages;
        }
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
    use crate::buffer::{Bypass, FlashTimes, Frames};
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
            bypass: Bypass::None,
            seed: 1,
        }
    }

    #[test]
    fn each_rule_pads_from_its_number_of_pages_on() {
        let least = |rule: PaddingChoice, merges: Option<MergeKind>, block_pages: u32| {
            let padding = Padding::of(rule, &shape(merges));
            assert!(!padding.pads(block_pages, block_pages), "a whole block misses nothing");
            (0..block_pages).find(|pages| padding.pads(*pages, block_pages))
        };
        assert_eq!(least(PaddingChoice::named("never"), Some(MergeKind::OneDataBlock), 8), None);
        assert_eq!(least(PaddingChoice::named("always"), None, 8), Some(0));
        assert_eq!(least(PaddingChoice::alone(0.5), None, 8), Some(4));
        assert_eq!(least(PaddingChoice::alone(0.5), None, 3), Some(2), "a short last block");
        assert_eq!(
            (
                least(PaddingChoice::named("model"), Some(MergeKind::OneFullLogBlock), 8),
                least(PaddingChoice::named("model"), None, 8)
            ),
            (Some(3), None)
        );
        assert_eq!(least(PaddingChoice::named("aalru"), None, 8), None);
    }
}
