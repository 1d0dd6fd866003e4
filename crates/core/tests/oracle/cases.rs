//! What a run is made of: a device, a policy and an FTL with their parameters, for the product and for the oracle.

use serde_json::{Value, json};

use super::buffer_aalru::{self, Aalru};
use super::buffer_groups::{Groups, Order, Pads};
use super::buffer_hitstat::{self, Below, HitStat};
use super::buffer_pages::{Nothing, Recency};
use super::device::Setup;
use super::dice::Dice;
use super::flash::Times;
use super::ftl;
use super::ftl_bast::{Bast, Victim};
use super::ftl_block::BlockMapped;
use super::ftl_dftl::{self, Dftl};
use super::ftl_fast::Fast;
use super::ftl_page::PageMapped;
use super::policy::Policy;

#[derive(Clone, Copy, Debug)]
pub enum FtlChoice {
    Page { reserve: usize },
    Block,
    Bast { log_blocks: usize, max_chain: usize, partial_merge: bool, victim: Victim },
    Fast { rw_blocks: usize, use_sw: bool, checks_random: bool },
    Dftl(ftl_dftl::Choices),
}

pub const FTL_NAMES: [&str; 5] = ["page", "block", "bast", "fast", "dftl"];

impl FtlChoice {
    fn random(name: &str, dice: &mut Dice) -> Self {
        match name {
            "page" => Self::Page { reserve: dice.between(1, 3) },
            "block" => Self::Block,
            "bast" => Self::Bast {
                log_blocks: dice.between(1, 6),
                max_chain: dice.of(&[1, 1, 2, 4]),
                partial_merge: !dice.one_in(3),
                victim: dice.of(&[Victim::Lru, Victim::Fifo, Victim::Longest(2), Victim::Longest(50)]),
            },
            "fast" => {
                Self::Fast { rw_blocks: dice.between(1, 4), use_sw: !dice.one_in(3), checks_random: dice.one_in(3) }
            }
            "dftl" => {
                let cmt_entries = dice.between(1, 16);
                Self::Dftl(ftl_dftl::Choices {
                    entries_per_tp: dice.of(&[2, 4, 8, 16]),
                    cmt_entries,
                    protected: dice.between(0, cmt_entries),
                    reserve: dice.of(&[3, 3, 4, 5]),
                    evict_batch: dice.one_in(3),
                    write_miss_fetch: !dice.one_in(3),
                })
            }
            other => panic!("no FTL {other} in the oracle"),
        }
    }
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Page { .. } => "page",
            Self::Block => "block",
            Self::Bast { .. } => "bast",
            Self::Fast { .. } => "fast",
            Self::Dftl(_) => "dftl",
        }
    }
    /// Blocks besides those that the logical pages fill.
    fn spare_blocks(&self, logical_pages: usize, pages_per_block: usize) -> usize {
        match *self {
            Self::Dftl(choices) => {
                let maps = logical_pages.div_ceil(choices.entries_per_tp);
                let blocks = (logical_pages + maps) / pages_per_block - logical_pages / pages_per_block;
                blocks + choices.reserve + 3
            }
            Self::Page { reserve } => reserve + 1,
            Self::Block => 2,
            Self::Bast { log_blocks, .. } => log_blocks + 2,
            Self::Fast { rw_blocks, .. } => rw_blocks + 3,
        }
    }
    pub fn params(&self) -> Value {
        match *self {
            Self::Page { reserve } => json!({"reserve": reserve, "victim": "greedy", "frontiers": "single"}),
            Self::Block => json!({}),
            Self::Bast { log_blocks, max_chain, partial_merge, victim } => {
                let (victim, lookahead) = match victim {
                    Victim::Lru => ("lru", 50),
                    Victim::Fifo => ("fifo", 50),
                    Victim::Longest(lookahead) => ("rr_longest", lookahead),
                };
                json!({
                    "log_blocks": log_blocks, "max_chain": max_chain, "partial_merge": partial_merge,
                    "victim": victim, "lookahead": lookahead, "block_write": "bypass",
                })
            }
            Self::Fast { rw_blocks, use_sw, checks_random } => json!({
                "rw_blocks": rw_blocks, "use_sw": use_sw, "cond1_rw_check": use_sw && checks_random,
                "sw_switch": "eager", "block_write": "bypass",
            }),
            Self::Dftl(choices) => json!({
                "entries_per_tp": choices.entries_per_tp, "cmt_entries": choices.cmt_entries,
                "cmt_protected": choices.protected, "reserve": choices.reserve, "evict_batch": choices.evict_batch,
                "write_miss_fetch": choices.write_miss_fetch, "victim": "greedy", "frontiers": "single",
            }),
        }
    }
    pub fn oracle(&self, setup: &Setup) -> Box<dyn ftl::Ftl> {
        let (pages, per_block) = (setup.logical_pages, setup.pages_per_block);
        match *self {
            Self::Page { reserve } => Box::new(PageMapped::new(pages, reserve)),
            Self::Block => Box::new(BlockMapped::new(pages, per_block)),
            Self::Bast { log_blocks, max_chain, partial_merge, victim } => {
                Box::new(Bast::new(pages, per_block, log_blocks, max_chain).with(partial_merge, victim))
            }
            Self::Fast { rw_blocks, use_sw, checks_random } => {
                Box::new(Fast::new(pages, per_block, rw_blocks, use_sw, checks_random))
            }
            Self::Dftl(choices) => Box::new(Dftl::new(choices, pages)),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum BufferChoice {
    None,
    Fifo,
    Lru,
    Ahead(u32),
    Cflru(f64),
    Fab(Pads),
    Bplru(Order, Pads),
    Aalru(buffer_aalru::Choices),
    HitStat(buffer_hitstat::Choices),
}

pub const BUFFER_NAMES: [&str; 9] = ["none", "fifo", "lru", "ahead", "cflru", "fab", "bplru", "aalru", "hitstat"];

impl BufferChoice {
    fn random(name: &str, dice: &mut Dice, ftl: &FtlChoice) -> Self {
        let some_pads = [Pads::Never, Pads::Always, Pads::From(0.5)];
        match name {
            "none" => Self::None,
            "fifo" => Self::Fifo,
            "lru" => Self::Lru,
            "ahead" => Self::Ahead(dice.between(1, 4) as u32),
            "cflru" => Self::Cflru(dice.of(&[0.0, 0.25, 0.4, 0.5, 1.0])),
            "fab" => Self::Fab(dice.of(&some_pads)),
            "bplru" => Self::Bplru(
                dice.of(&[Order::Sequential, Order::FullFirst, Order::Recency]),
                dice.of(&[Pads::Always, Pads::Always, Pads::From(0.5), Pads::Never]),
            ),
            "aalru" => {
                use buffer_aalru::Source;
                Self::Aalru(buffer_aalru::Choices {
                    period: dice.of(&[1, 5, 16, 64, 200]),
                    by_request: dice.one_in(2),
                    beta: dice.of(&[1.5, 2.0, 3.0, 5.0]),
                    tau_min: dice.of(&[0.0, 0.1, 0.1, 0.3]),
                    continuous: dice.one_in(2),
                    source: dice.of(&[Source::Ftl, Source::Collection, Source::Delay]),
                    tau_strict: dice.one_in(2),
                    pad_strict: dice.one_in(2),
                    keep_written: dice.of(&[0.0, 0.0, 0.3, 0.5, 1.0]),
                    d_read: dice.of(&[None, None, Some(0.0), Some(30.0)]),
                    d_write: dice.of(&[None, None, Some(1.0), Some(100.0)]),
                })
            }
            "hitstat" => {
                let hit_log_len = dice.between(1, 20);
                let levels_period = dice.of(&[None, Some(10), Some(40)]);
                Self::HitStat(buffer_hitstat::Choices {
                    adj: dice.one_in(2),
                    pads: dice.of(&[None, None, Some(Pads::Never), Some(Pads::Always), Some(Pads::From(0.5))]),
                    pad_window: dice.of(&[1, 4, 20, 64]),
                    levels: dice.between(1, hit_log_len + 1) as u64,
                    levels_period,
                    levels_step: if levels_period.is_some() { dice.of(&[1, 2, 4, 5]) } else { 4 },
                    hit_log_len,
                    ages: dice.between(0, hit_log_len),
                    bounds: dice.of(&[None, None, Some(&[3, 7]), Some(&[1, 2, 9, 20, 32])]),
                    age_threshold: dice.of(&[10, 100, 150_000]),
                    eager: dice.one_in(3),
                    below: match ftl {
                        FtlChoice::Bast { .. } | FtlChoice::Fast { .. } if dice.one_in(4) => Below::Measured,
                        FtlChoice::Bast { .. } => Below::Bast,
                        FtlChoice::Fast { .. } => Below::Fast,
                        FtlChoice::Page { .. } | FtlChoice::Block | FtlChoice::Dftl(_) => Below::NoMerges,
                    },
                })
            }
            other => panic!("no buffer {other} in the oracle"),
        }
    }
    pub const fn pages_ahead(&self) -> u32 {
        if let Self::Ahead(pages) = self { *pages } else { 0 }
    }
    /// The policy is told that nothing is known of the merges below it.
    pub fn measures_merges(&self) -> bool {
        matches!(self, Self::HitStat(choices) if choices.below == Below::Measured)
    }
    /// The registered policy and its parameters; `None` for the policy of these tests.
    pub fn plugin(&self) -> Option<(&'static str, Value)> {
        let pads = |pads| match pads {
            Pads::Never => json!("never"),
            Pads::Always => json!("always"),
            Pads::From(share) => json!(share),
        };
        Some(match self {
            Self::Ahead(_) => return None,
            Self::None => ("none", json!({})),
            Self::Fifo => ("fifo", json!({})),
            Self::Lru => ("lru", json!({})),
            Self::Cflru(ratio) => ("cflru", json!({"window_ratio": ratio})),
            Self::Fab(rule) => ("fab", json!({"padding": pads(*rule)})),
            Self::Bplru(order, rule) => {
                let compensation = match order {
                    Order::Sequential => "seq",
                    Order::FullFirst => "full_first",
                    Order::Recency | Order::Largest => "none",
                };
                ("bplru", json!({"compensation": compensation, "padding": pads(*rule)}))
            }
            Self::Aalru(choices) => ("aalru", aalru_params(choices)),
            Self::HitStat(choices) => {
                let rule = choices.pads.map_or(json!("model"), pads);
                let params = json!({
                    "adj": choices.adj, "padding": rule, "levels": choices.levels,
                    "pad_window": if choices.pads.is_none() { choices.pad_window } else { 64 },
                    "levels_adapt": choices.levels_period.is_some(),
                    "levels_period": choices.levels_period.unwrap_or(2000), "levels_step": choices.levels_step,
                    "hit_log_len": choices.hit_log_len, "initial_log": choices.initial_log(),
                    "list_bounds": choices.bounds, "age_threshold": choices.age_threshold,
                    "full_flush": if choices.eager { "eager" } else { "lazy" },
                });
                ("hitstat", params)
            }
        })
    }
    pub fn oracle(&self, setup: &Setup) -> Box<dyn Policy> {
        let service = setup.times.service();
        match *self {
            Self::None => Box::new(Nothing),
            Self::Fifo => Box::new(Recency { first_in_first_out: true, ..Recency::default() }),
            Self::Lru => Box::new(Recency::default()),
            Self::Ahead(ahead) => Box::new(Recency { ahead, ..Recency::default() }),
            Self::Cflru(clean_first) => Box::new(Recency { clean_first, ..Recency::default() }),
            Self::Fab(pads) => Box::new(Groups::new(Order::Largest, pads)),
            Self::Bplru(order, pads) => Box::new(Groups::new(order, pads)),
            Self::Aalru(choices) => Box::new(Aalru::new(choices, setup.pages_per_block, service)),
            Self::HitStat(choices) => {
                Box::new(HitStat::new(choices, setup.pages_per_block, setup.page_sectors, service))
            }
        }
    }
}

fn aalru_params(choices: &buffer_aalru::Choices) -> Value {
    use buffer_aalru::Source;
    let compare = |strict| if strict { "gt" } else { "ge" };
    json!({
        "period": choices.period,
        "period_unit": if choices.by_request { "requests" } else { "pages" },
        "beta": choices.beta, "tau_min": choices.tau_min, "tau_start": 0.5,
        "tau_compare": compare(choices.tau_strict), "pad_compare": compare(choices.pad_strict),
        "padding": "aalru",
        "th_line": if choices.continuous { "continuous" } else { "eq6" },
        "wf_source": match choices.source {
            Source::Ftl => "ftl",
            Source::Collection => "collection",
            Source::Delay => "delay",
        },
        "keep_written": choices.keep_written,
        "d_read": choices.d_read, "d_write": choices.d_write,
    })
}

/// One run.
#[derive(Clone, Debug)]
pub struct Case {
    pub seed: u64,
    pub setup: Setup,
    pub buffer: BufferChoice,
    pub ftl: FtlChoice,
    /// The product holds bytes.
    pub media: bool,
    /// Every page was written once before.
    pub filled: bool,
}

impl Case {
    /// The run of a seed for a pair.
    pub fn new(seed: u64, buffer: &str, ftl: &str) -> Self {
        let mut dice = Dice::new(seed, &format!("{buffer} over {ftl}"));
        let ftl = FtlChoice::random(ftl, &mut dice);
        let buffer = BufferChoice::random(buffer, &mut dice, &ftl);
        let pages_per_block = dice.of(&[4, 4, 6, 8]);
        let page_sectors = dice.of(&[1, 2, 4, 8]);
        let logical_blocks = dice.between(3, 16);
        // The last logical block may be short.
        let logical_pages = logical_blocks * pages_per_block - dice.of(&[0, 0, 1, pages_per_block - 1]);
        let blocks = logical_blocks + ftl.spare_blocks(logical_pages, pages_per_block) + dice.of(&[0, 0, 1, 4]);
        let times = Times {
            read: 1000 * dice.between(1, 40) as u64,
            program: 1000 * dice.between(50, 300) as u64,
            erase: 1000 * dice.between(500, 2000) as u64,
            transfer: 1000 * dice.between(0, 12) as u64,
            command: 1000 * dice.of(&[0, 0, 1]),
        };
        let frames = match buffer {
            BufferChoice::None => dice.of(&[0, 4]),
            _ => dice.between(pages_per_block.max(2), 4 * pages_per_block),
        };
        let mut setup = Setup {
            pages_per_block,
            blocks,
            logical_pages,
            page_sectors,
            times,
            frames,
            shared_ram: None,
            fragment_bytes: 0,
            masks: dice.one_in(2),
            write_miss_fetch: dice.one_in(5),
            until_transfer: dice.one_in(4),
            open: dice.one_in(2),
            think: dice.of(&[0, 0, 5000]),
            depth: dice.of(&[1, 1, 2, 8]),
            ram_read: dice.of(&[0, 500]),
            ram_write: dice.of(&[0, 700]),
            read_groups: dice.one_in(2),
        };
        if dice.one_in(4) && !matches!(buffer, BufferChoice::None) {
            let page_bytes = (page_sectors * 512) as u64;
            let room = frames as u64 * page_bytes;
            setup.shared_ram = Some(ftl.oracle(&setup).map_bytes() + room);
            setup.fragment_bytes = room * dice.of(&[3, 6, 11]) / 10 / logical_pages as u64;
        }
        Self { seed, setup, buffer, ftl, media: dice.one_in(2), filled: !dice.one_in(3) }
    }
}
