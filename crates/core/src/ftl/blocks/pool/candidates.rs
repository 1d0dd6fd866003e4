//! The closed blocks of a group, as a victim policy sees them.

use rand::Rng;

use super::Pool;
use crate::flash::Flash;
use crate::types::Pbn;

/// A victim policy: which closed block is collected.
#[derive(Clone, Copy, Debug)]
pub struct VictimRule {
    /// What the number in `victim = { NAME = number }` (1 or more) means; `None` if it takes none: `victim = "NAME"`.
    pub number: Option<&'static str>,
    /// It asks for blocks in the order of closing ([`Candidates::oldest`], [`Candidates::in_order`]).
    pub by_age: bool,
    /// Of blocks with equally few valid pages the one with the lowest number comes first, not the one closed earliest.
    pub lowest_first: bool,
    /// Chooses among the closed blocks, of which there is at least one; the number is 0 if it takes none.
    pub pick: fn(&mut Candidates<'_>, u32) -> u32,
}

/// The closed blocks of a group, as a victim policy sees them. Blocks are given by position in their group; at
/// least one is closed.
#[derive(Debug)]
pub struct Candidates<'a> {
    pub(super) pool: &'a mut Pool,
    pub(super) flash: &'a Flash,
}

impl Candidates<'_> {
    /// The block with the fewest valid pages, in constant time; ties as the policy's rule says.
    pub fn fewest_valid(&mut self) -> u32 {
        self.pool.fewest_valid(self.flash)
    }

    /// The block closed earliest, for a rule that is `by_age`.
    pub fn oldest(&self) -> u32 {
        self.in_order().next().expect("closed blocks are in the queue")
    }

    /// Closed blocks in the order of closing, for a rule that is `by_age`.
    pub fn in_order(&self) -> impl Iterator<Item = u32> + '_ {
        let live = self.pool.order.iter().filter(|(position, at)| self.pool.closed_at[*position as usize] == *at);
        live.map(|(position, _)| *position)
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.pool.closed.len() as u32
    }

    /// A closed block at random.
    pub fn random(&mut self) -> u32 {
        let pick = (u128::from(self.pool.rng.next_u64()) * self.pool.closed.len() as u128) >> 64;
        self.pool.closed[pick as usize]
    }

    /// Valid pages of a block.
    pub fn valid(&self, position: u32) -> u32 {
        self.pool.valid(self.flash, position)
    }

    /// The block with the highest score, of (valid pages, pages, age, erases); ties go to the block closed earliest.
    pub fn best(&self, score: impl Fn(u32, u32, u64, u32) -> f64) -> u32 {
        let (pool, flash) = (&*self.pool, self.flash);
        let pages = flash.geometry().pages_per_block;
        let score = |position: u32| {
            let pbn = Pbn(pool.first + position * pool.stride);
            let age = pool.next_close - pool.closed_at[position as usize];
            score(flash.valid_pages(pbn), pages, age, flash.erase_count(pbn))
        };
        // The order of `closed` must not matter.
        let better = |a: &(f64, u32), b: &(f64, u32)| {
            let by_age = pool.closed_at[b.1 as usize].cmp(&pool.closed_at[a.1 as usize]);
            a.0.total_cmp(&b.0).then(by_age)
        };
        let scored = pool.closed.iter().map(|position| (score(*position), *position));
        scored.max_by(better).map_or(0, |best| best.1)
    }
}
