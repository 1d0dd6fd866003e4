//! When a block that is written back is completed first: fixed rules, the cost model of HitStat (equations 3 to 5) and
//! the threshold of AALRU (equations 4 and 6). Every policy that works in blocks takes them as its parameter `padding`.
//!
//! Padding turns `n` scattered pages into one whole block that replaces the old one without a merge; it pays when what
//! the `n` pages would cost in the log blocks is more. The model says from which `n` on, out of what the FTL's merges
//! cost lately. Only FTLs with log blocks have such merges.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::BufferShape;
use crate::error::ConfigError;
use crate::ledger::{Ledger, since};

/// Merges that the model averages over unless told otherwise (ours: HitStat's thesis does not say).
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

/// AALRU's line from the write amplification `Wf` to its threshold `Th`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThLine {
    /// Equation 6 as printed.
    #[default]
    Eq6,
    /// The line through (1, B) and (beta, 0).
    Continuous,
}

impl ThLine {
    /// Th in pages of a block of `pages_per_block`.
    pub fn th(self, wf: f64, beta: f64, pages_per_block: u32) -> f64 {
        let whole = f64::from(pages_per_block);
        match self {
            _ if wf <= 1.0 => whole,
            _ if wf >= beta => 0.0,
            Self::Eq6 => whole - whole / beta * wf,
            Self::Continuous => whole * (beta - wf) / (beta - 1.0),
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

/// Parameters of a policy that has none but the rule of padding.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// When an incomplete victim is completed.
    pub padding: PaddingRule,
}

impl Default for Params {
    fn default() -> Self {
        Self { padding: PaddingRule::Never }
    }
}

/// How the model sees the FTL below.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Merges {
    /// One data block per merge: equation 4.
    Bast,
    /// One log block per merge, full when it is reclaimed: equation 5.
    Fast,
    /// Equation 3 with every average measured.
    Other,
}

/// Averages over merges that the model needs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MergeCost {
    /// Data blocks reclaimed per merge, `R_DB`.
    pub data_blocks: f64,
    /// Log blocks reclaimed per merge, `R_LB`.
    pub log_blocks: f64,
    /// Share of the pages of those log blocks that were programmed, `U_LB`.
    pub log_use: f64,
}

/// `B_w` in pages (HitStat equation 3): padding a block costs no more than logging it from this many of its pages on.
/// `erase` and `program` are times in any one unit; reads cost nothing in the model.
pub fn break_even_pages(cost: MergeCost, pages_per_block: u32, erase: f64, program: f64) -> f64 {
    let MergeCost { data_blocks, log_blocks, log_use } = cost;
    let whole_block = f64::from(pages_per_block) * program;
    let merge = (log_blocks + data_blocks) * erase + (log_blocks * log_use + data_blocks) * whole_block;
    log_blocks * f64::from(pages_per_block) * log_use * (erase + whole_block) / merge
}

/// Merges, log blocks, data blocks, log pages counted so far.
type Seen = [u64; 4];

fn seen(ledger: &Ledger) -> Seen {
    [ledger.padding_merges, ledger.padding_log_blocks, ledger.padding_data_blocks, ledger.padding_log_pages]
}

#[derive(Clone, Debug)]
struct Model {
    merges: Merges,
    pages_per_block: u32,
    erase: f64,
    program: f64,
    /// Merges that the averages cover.
    window: u64,
    /// What was seen after each of the last merges, oldest first; the first entry is where the window starts.
    looks: VecDeque<Seen>,
}

impl Model {
    /// The threshold after the merges so far, or `None` if none came since the last look.
    fn look(&mut self, ledger: &Ledger) -> Option<f64> {
        let now = seen(ledger);
        let last = self.looks.back().copied().unwrap_or_default();
        if now[0] == last[0] {
            return None;
        }
        if self.looks.is_empty() {
            self.looks.push_back(Seen::default());
        }
        self.looks.push_back(now);
        while self.looks.len() > 2 && now[0] - self.looks[1][0] >= self.window {
            self.looks.pop_front();
        }
        let [merges, log_blocks, data_blocks, log_pages] = since(now, self.looks[0]).map(|count| count as f64);
        if merges == 0.0 || log_blocks == 0.0 {
            return None;
        }
        let measured = MergeCost {
            data_blocks: data_blocks / merges,
            log_blocks: log_blocks / merges,
            log_use: log_pages / (log_blocks * f64::from(self.pages_per_block)),
        };
        let cost = match self.merges {
            Merges::Bast => MergeCost { data_blocks: 1.0, ..measured },
            Merges::Fast => MergeCost { log_blocks: 1.0, log_use: 1.0, ..measured },
            Merges::Other => measured,
        };
        Some(break_even_pages(cost, self.pages_per_block, self.erase, self.program))
    }
}

/// AALRU's threshold (equations 4 and 6), followed from one eviction to the next.
#[derive(Clone, Debug)]
struct Amplification {
    pages_per_block: u32,
    /// Page accesses, programs of the FTL, programs of the buffer when the period began.
    start: [u64; 3],
}

impl Amplification {
    /// AALRU's T, page accesses; a period ends with the first eviction after them.
    const PERIOD: u64 = 8192;
    /// AALRU's beta.
    const BETA: f64 = 5.0;

    fn look(&mut self, ledger: &Ledger) -> Option<f64> {
        let accesses = ledger.host_page_reads + ledger.host_page_writes;
        if accesses < self.start[0] + Self::PERIOD {
            return None;
        }
        let now = [accesses, ledger.programs_from_below(), ledger.programs_from_above()];
        let [_, below, above] = since(now, self.start).map(|count| count as f64);
        self.start = now;
        (above > 0.0).then(|| ThLine::Eq6.th((below + above) / above, Self::BETA, self.pages_per_block))
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
    ///
    /// # Errors
    /// If the share is not between 0 and 1 or the window is empty.
    pub fn new(rule: PaddingRule, window: u32, shape: &BufferShape) -> Result<Self, ConfigError> {
        let pages = f64::from(shape.pages_per_block);
        let fixed = |share: f64| Self {
            threshold_pages: share * pages,
            compare: Compare::Ge,
            pages_per_block: pages,
            follows: Follows::Nothing,
        };
        let (merges, start) = match (rule, shape.ftl) {
            (PaddingRule::Aalru, _) => {
                let follows = Amplification { pages_per_block: shape.pages_per_block, start: [0; 3] };
                return Ok(Self { follows: Follows::Amplification(follows), ..fixed(1.0) });
            }
            (PaddingRule::Always, _) => return Ok(fixed(0.0)),
            (PaddingRule::Fraction(share), _) => {
                return if (0.0..=1.0).contains(&share) {
                    Ok(fixed(share))
                } else {
                    let mend = "give 0 (always) to 1 (never), or \"never\", \"always\", \"model\", \"aalru\"";
                    Err(ConfigError::new("buffer.padding", format!("{share} is not a share"), mend))
                };
            }
            (PaddingRule::Model, "bast") => (Merges::Bast, 1.0),
            (PaddingRule::Model, "fast") => (Merges::Fast, 0.33),
            (PaddingRule::Model, "superblock" | "last") => (Merges::Other, 1.0),
            (PaddingRule::Model | PaddingRule::Never, _) => return Ok(fixed(1.0)),
        };
        if window == 0 {
            return Err(ConfigError::new("buffer.pad_window", "0 merges have no average", "give at least 1"));
        }
        let model = Model {
            merges,
            pages_per_block: shape.pages_per_block,
            erase: shape.times.erase.as_us(),
            program: shape.times.program.as_us(),
            window: u64::from(window),
            looks: VecDeque::new(),
        };
        Ok(Self { follows: Follows::Merges(model), ..fixed(start) })
    }
    /// The rule for a device, with the model's default window.
    ///
    /// # Errors
    /// If the share is not between 0 and 1.
    pub fn of(rule: PaddingRule, shape: &BufferShape) -> Result<Self, ConfigError> {
        Self::new(rule, DEFAULT_WINDOW, shape)
    }
    /// The rule for a policy that follows the write amplification itself ([`Self::set_threshold`]); until it does so, nothing
    /// is padded. All other rules are as they are.
    ///
    /// # Errors
    /// If the share is not between 0 and 1.
    pub fn told(rule: PaddingRule, compare: Compare, shape: &BufferShape) -> Result<Self, ConfigError> {
        let padding = Self::of(rule, shape)?;
        let follows = if rule == PaddingRule::Aalru { Follows::Nothing } else { padding.follows };
        Ok(Self { compare, follows, ..padding })
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
mod tests {
    use super::*;
    use crate::buffer::{FlashTimes, Frames};
    use crate::types::Nanos;

    fn padding(ftl: &'static str) -> Padding {
        let shape = BufferShape {
            pages_per_block: 8,
            page_sectors: 1,
            logical_pages: 64,
            frames: Frames { dram: 8, nvram: 0 },
            times: FlashTimes { read: Nanos(0), program: Nanos::from_us(800), erase: Nanos::from_us(1500) },
            ftl,
            seed: 1,
        };
        Padding::new(PaddingRule::Model, 4, &shape).unwrap()
    }

    fn merge(ledger: &mut Ledger, data_blocks: u64) {
        ledger.padding_merges += 1;
        ledger.padding_log_blocks += 1;
        ledger.padding_data_blocks += data_blocks;
        ledger.padding_log_pages += 8;
    }

    #[test]
    fn does_the_average_cover_the_last_merges_only() {
        let mut padding = padding("fast");
        let mut ledger = Ledger::default();
        padding.observe(&ledger);
        assert_eq!(padding.threshold_pages(), 0.33 * 8.0);
        for (data_blocks, mean) in
            [(1, 1.0), (1, 1.0), (3, 5.0 / 3.0), (7, 3.0), (1, 3.0), (1, 3.0), (1, 2.5), (1, 1.0)]
        {
            merge(&mut ledger, data_blocks);
            padding.observe(&ledger);
            assert!((padding.threshold_pages() - 8.0 / (mean + 1.0)).abs() < 1e-9, "{data_blocks}");
        }
        assert!(padding.pads(4, 8) && !padding.pads(3, 8) && !padding.pads(8, 8));
    }

    #[test]
    fn which_ftls_have_merges_to_model() {
        let start = |ftl| padding(ftl).threshold_pages();
        assert_eq!((start("bast"), start("fast"), start("last"), start("page")), (8.0, 0.33 * 8.0, 8.0, 8.0));
        let follows = |ftl| matches!(padding(ftl).follows, Follows::Merges(_));
        assert!(!follows("dftl") && !follows("block") && follows("fast"));
    }
}
