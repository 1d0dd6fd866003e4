//! Log blocks that belong to one logical block each: chains, and the ring in which a victim is looked for.

use crate::ftl::log::ring::Ring;
use crate::types::{Lbn, Pbn};

/// Log blocks of a logical block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chain {
    /// The oldest one.
    pub first: Pbn,
    /// The one that is written.
    pub last: Pbn,
    /// How many.
    pub blocks: u32,
}

impl Chain {
    /// No log block.
    pub const NONE: Self = Self { first: Pbn::NONE, last: Pbn::NONE, blocks: 0 };
}

/// All chains. The logical blocks that have one stand in a ring: in order of creation, unless they are moved.
#[derive(Debug)]
pub struct Chains {
    by_lbn: Vec<Chain>,
    /// By log block: the next one of its chain.
    next_log: Vec<Pbn>,
    ring: Ring,
    blocks: u32,
}

impl Chains {
    /// No chains.
    pub fn new(logical_blocks: u32, physical_blocks: u32) -> Self {
        Self {
            by_lbn: vec![Chain::NONE; logical_blocks as usize],
            next_log: vec![Pbn::NONE; physical_blocks as usize],
            ring: Ring::new(logical_blocks),
            blocks: 0,
        }
    }

    /// Forgets all chains.
    pub fn clear(&mut self) {
        *self = Self::new(self.by_lbn.len() as u32, self.next_log.len() as u32);
    }
    /// The chain of a logical block.
    #[inline]
    pub fn of(&self, lbn: Lbn) -> Chain {
        self.by_lbn[lbn.index()]
    }
    /// Logical blocks that have a chain.
    pub const fn count(&self) -> u32 {
        self.ring.count()
    }
    /// Log blocks in all chains.
    pub const fn blocks(&self) -> u32 {
        self.blocks
    }
    /// First in the ring, or none.
    pub fn head(&self) -> Lbn {
        self.ring.head().map_or(Lbn::NONE, Lbn)
    }
    /// The next one in the ring; after the last comes the first.
    #[inline]
    pub fn after(&self, lbn: Lbn) -> Lbn {
        Lbn(self.ring.after(lbn.0))
    }
    /// Log blocks of a chain, oldest first.
    pub fn logs(&self, chain: Chain) -> impl Iterator<Item = Pbn> + '_ {
        std::iter::successors(Some(chain.first), |log| Some(self.next_log[log.index()])).take(chain.blocks as usize)
    }

    /// Appends a log block to the chain of `lbn`; a new chain goes to the end of the ring.
    pub fn append(&mut self, lbn: Lbn, log: Pbn) {
        let chain = &mut self.by_lbn[lbn.index()];
        if chain.blocks == 0 {
            *chain = Chain { first: log, last: log, blocks: 1 };
            self.ring.push_last(lbn.0);
        } else {
            self.next_log[chain.last.index()] = log;
            chain.last = log;
            chain.blocks += 1;
        }
        self.blocks += 1;
    }

    /// Moves a logical block to the end of the ring.
    #[inline]
    pub fn move_last(&mut self, lbn: Lbn) {
        self.ring.move_last(lbn.0);
    }

    /// Takes the chain of a logical block away. Its log blocks can still be listed until they are appended again.
    pub fn remove(&mut self, lbn: Lbn) -> Chain {
        let chain = std::mem::replace(&mut self.by_lbn[lbn.index()], Chain::NONE);
        if chain.blocks > 0 {
            self.ring.remove(lbn.0);
            self.blocks -= chain.blocks;
        }
        chain
    }
}
