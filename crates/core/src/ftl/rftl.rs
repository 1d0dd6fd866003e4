//! rftl - Demand-based page mapping with replicated translation pages (RFTL)
//!
//! # Source
//! Ronnie Mativenga, Joon-Young Paik, Youngjae Kim, Junghee Lee and Tae-Sun Chung, "RFTL: improving performance of
//! selective caching-based page-level FTL through replication", Cluster Computing 22(1), 2019, sections 3.1 and 3.2,
//! figure 5, equations 1 to 3, table 1. Built on `dftl`, which is the case of 0 replicas.
//!
//! # What it does
//! Every translation page (TP) has `replicas` further copies on other channels, so that a look-up that misses need not
//! wait behind garbage collection or other traffic: it reads the copy whose channel is idle. A TP is written by
//! programming all its copies at the same time, and the request that evicts waits for the slowest. Garbage collection
//! of a data block writes every affected TP `1 + replicas` times. Programs of translation pages are `1 + replicas`
//! times those of DFTL, reads are the same.
//!
//! The original of TP `t` lies on channel `t mod C`, replica `i` on `(t + i) mod C`; a copy that is rewritten or moved
//! stays on its channel. A read takes the first copy whose channel is idle at that moment, in the order original,
//! replica 1, ...; when none is, the copy whose channel becomes idle first.
//!
//! # Parameters
//! The reserve is kept on every channel (in slices, `gc_slice`, on every die, and `C` above is the number of dies). Data
//! frontiers lie on every die under every preset. The authors extended EagleTree's DFTL, so their baseline is probably
//! `preset = "eagletree"`.
//!
//! RAM: `8 * cmt_entries + 4 * (1 + replicas) * ceil(logical_pages / entries_per_tp)` bytes.
//!
//! # Deviations and chosen readings
//! - On a device with one channel any number of replicas is accepted; the copies then lie one after the other in the
//!   only translation frontier. There is no copy to choose; the case serves to count programs.
//! - The directory of replicas is switched copy by copy, in state, at the moment the programs are issued: state runs
//!   ahead of time, and a read of a new copy queues behind its program.
//! - The paper lets at most two collections run at a time. Here a collection is complete in state before the next
//!   operation begins, and its flash operations overlap in time as dies and channels allow; there is nothing to bound.
//! - The paper counts a replica as safe because die registers finish queued programs after a reboot. Registers of NAND
//!   are volatile, and there is no option to say otherwise: recovery rebuilds the map from data pages and rewrites all
//!   copies, so that it would change nothing.
//! - What replicas do protect against is unreadable translation pages: with `device.reliability.map_page_loss` a read that
//!   meets an unreadable copy reads another one, and reports count unreadable copies and mappings that no copy tells.
//!   A copy found unreadable is not repaired before its TP is rewritten or collected.
//! - They also protect against the loss of channels: after any `replicas` of them every TP has a copy left,
//!   whereas `dftl` loses the TPs of the one that fails. A test shows it on the state of the array; runs do not model
//!   failed channels, which would take data pages with them too.
//! - Section 3.1's RAM of the replica directory (8 KB for two replicas) leaves out the original; 4 KB pages hold 1,024
//!   entries, not 512.
//! - Algorithm 1 looks at the channels whenever the chip is accessed. Here a look-up chooses its copy when it begins, also
//!   where it must first write an evicted entry back: while it waits (with the segmented LRU) the channels may change,
//!   and the copy may lie on one that has become busy. With `preset = "eagletree"` look-ups seldom wait so.
//!
//! # Known ambiguities
//! - Which copy is read when all channels are busy is not told ("wait until channel is idle").
//! - Table 6's hit ratios come from an LRU-like cache under uniform draws of 43,520 mappings to within 0.07, except for the
//!   step from 208 to 247 KB, which bends the other way; the workload is not told.
//! - Victims of collection: "an analysis adopted from" Kawaguchi's paper (section 3.2.5) or greedy (section 5.1; the default).

use super::dftl::cmt_params;
use super::{Ftl, Shape};
use crate::error::ConfigError;
use crate::ftl::frame::Frame;
use crate::ftl::frame::space::Frontiers;
use crate::ftl::frame::translation::MAX_COPIES;

cmt_params! {
    /// Copies of a translation page besides the original, at most channels - 1. The paper uses 1 to 3.
    replicas: u32 = 1, "copies";
}

/// Builds the FTL.
///
/// # Errors
/// When a relation between parameters and device is broken.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    let channels = shape.geometry.channels;
    let most = if channels == 1 { MAX_COPIES as u32 - 1 } else { (channels - 1).min(MAX_COPIES as u32 - 1) };
    if params.replicas > most {
        let problem = format!("{} is outside 0 to {most}: every copy needs a channel of {channels}", params.replicas);
        return Err(ConfigError::new("ftl.replicas", problem, "lower it or add channels"));
    }
    let table = params.table(shape)?;
    let map = params.common(Frontiers::Die).translation(shape, 1 + params.replicas)?;
    Ok(Box::new(Frame::new(map, table, shape)))
}

/// Channels of the copies of translation page `tp`: the original, then the replicas.
pub fn placement(tp: u32, replicas: u32, channels: u32) -> impl Iterator<Item = u32> {
    (0..=replicas).map(move |copy| (tp + copy) % channels)
}

/// Constants of the paper's model, microseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Model {
    /// Look-up in RAM.
    pub look_up_us: f64,
    /// Time that a collection blocks a channel.
    pub collection_us: f64,
    /// Page read.
    pub page_read_us: f64,
    /// Page program.
    pub page_program_us: f64,
}

/// The values of table 3 of the paper.
pub const PAPER_MODEL: Model =
    Model { look_up_us: 0.1, collection_us: 900.0, page_read_us: 25.0, page_program_us: 200.0 };

impl Model {
    /// Mean time of a mapping access with DFTL at `miss_ratio`, when a collection is met with probability `collecting`:
    /// equation 1 for a probability of 1. Figure 6 shows 0 and 0.5 too; that these scale the wait is our reading.
    pub fn base_us(&self, miss_ratio: f64, collecting: f64) -> f64 {
        let miss = collecting * self.collection_us + 2.0 * self.page_read_us + self.page_program_us;
        self.look_up_us + miss_ratio * miss
    }
    /// The same with replicas, when a copy on an idle channel is there with probability `idle_copy`: equations 2 (1, the best
    /// case) and 3 (0, the worst). Figure 6 shows values between; that the wait shrinks in proportion is our reading.
    pub fn replicated_us(&self, miss_ratio: f64, idle_copy: f64) -> f64 {
        self.base_us(miss_ratio, 1.0 - idle_copy)
    }
}

/// Table 2 of the paper: `P = N / F`, its probability that a replica is on an idle channel, of `N` replicas and `F` channels.
pub fn replica_share(replicas: u32, channels: u32) -> f64 {
    f64::from(replicas) / f64::from(channels)
}
