//! Which chain of log blocks is merged when all log blocks are in use: the victim policies of block-associative logs, one file
//! and one line each.

use rand::Rng;
use rand_pcg::Pcg64Mcg;

use crate::ftl::log::chains::Chains;
use crate::registry::Plugin;
use crate::registry::rules::{self, Choice, rules};
use crate::types::Lbn;

rules! {
    /// All victim policies of chains; the first is the default.
    CHAIN_VICTIMS: ChainVictimRule, "chain_victim";
    lru,
    fifo,
    random,
    rr_longest,
}

/// A victim policy of chains.
#[derive(Clone, Copy, Debug)]
pub struct ChainVictimRule {
    /// Chains stand in the order in which they were written last, least recently first; else in that of their beginnings.
    pub(super) by_use: bool,
    /// Chooses a chain by its logical block.
    pick: fn(&mut ChainCandidates<'_>) -> Lbn,
}

impl ChainVictimRule {
    /// Logical block of the chain that is merged.
    pub(super) fn choose(self, mut candidates: ChainCandidates<'_>) -> Lbn {
        (self.pick)(&mut candidates)
    }
}

impl rules::Rule for ChainVictimRule {
    const KIND: &'static str = "chain-victim";
    const ALL: &'static [Plugin<Self>] = CHAIN_VICTIMS;
    const KEY: &'static str = "ftl.victim";
    const CHOSEN_BY: &'static str = "`bast`";
}

/// A victim policy of chains, as a configuration names it.
pub type ChainVictim = Choice<ChainVictimRule>;

/// The chains, as a victim policy sees them: in a ring, by logical block. There is one at least.
#[derive(Debug)]
pub struct ChainCandidates<'a> {
    pub(super) chains: &'a Chains,
    /// The chain after the one that was merged last as a victim, or none.
    pub(super) pointer: Lbn,
    /// Parameter `lookahead`: chains that a policy examines at most.
    pub(super) lookahead: u32,
    pub(super) rng: &'a mut Pcg64Mcg,
}

impl ChainCandidates<'_> {
    /// The first one in the order that the rule asks for.
    pub fn first(&self) -> Lbn {
        self.chains.head()
    }
    /// The next ones, `lookahead` at most, round robin from the last victim on.
    pub fn next_in_turn(&self) -> impl Iterator<Item = Lbn> + '_ {
        let from = if self.pointer.is_some() { self.pointer } else { self.first() };
        let turn = std::iter::successors(Some(from), |lbn| Some(self.chains.after(*lbn)));
        turn.take(self.lookahead.min(self.chains.count()) as usize)
    }
    /// Log blocks of a chain.
    pub fn log_blocks(&self, lbn: Lbn) -> u32 {
        self.chains.of(lbn).blocks
    }
    /// Any chain, with equal probability.
    pub fn random(&mut self) -> Lbn {
        let steps = (u128::from(self.rng.next_u64()) * u128::from(self.chains.count())) >> 64;
        (0..steps).fold(self.first(), |lbn, _| self.chains.after(lbn))
    }
}
