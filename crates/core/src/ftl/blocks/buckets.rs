//! Closed blocks by their number of valid pages: the block with the fewest; among equals the one closed earliest, or the
//! one with the lowest number.
//!
//! An update costs a constant: the owner only notes *that* a block changed, and a block that changed any number of times
//! since the last pick is put into its bucket once. A pick costs a constant on top of that, unless a block entered the
//! least bucket out of order (by number that is often): then that bucket is sorted once.

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    after: u32,
    /// Number of valid pages under which the block is kept, or `NONE`.
    valid: u32,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    head: u32,
    tail: u32,
    /// From head to tail in the order of ties.
    ordered: bool,
}

const EMPTY: Bucket = Bucket { head: NONE, tail: NONE, ordered: true };

/// Closed blocks in buckets by their number of valid pages. Blocks are given by position.
#[derive(Debug)]
pub struct Buckets {
    links: Vec<Link>,
    /// By number of valid pages.
    by_valid: Vec<Bucket>,
    /// No bucket below this one holds a block.
    least: u32,
    changed: Vec<u32>,
    is_changed: Vec<bool>,
    /// Ties go to the lowest number.
    by_position: bool,
}

impl Buckets {
    /// No block is closed. `by_position`: ties go to the lowest number, not to the block closed earliest.
    pub fn new(blocks: usize, by_position: bool) -> Self {
        Self {
            links: vec![Link { before: NONE, after: NONE, valid: NONE }; blocks],
            by_valid: Vec::new(),
            least: 0,
            changed: Vec::with_capacity(blocks),
            is_changed: vec![false; blocks],
            by_position,
        }
    }

    /// What orders equals.
    #[inline]
    fn key(&self, position: u32, closed_at: &[u64]) -> u64 {
        if self.by_position { position.into() } else { closed_at[position as usize] }
    }

    /// The block was closed, or has fewer valid pages now.
    #[inline]
    pub fn note(&mut self, position: u32) {
        if !self.is_changed[position as usize] {
            self.is_changed[position as usize] = true;
            self.changed.push(position);
        }
    }

    /// The block is not closed any more.
    pub fn remove(&mut self, position: u32) {
        let Link { before, after, valid } = self.links[position as usize];
        if valid == NONE {
            return;
        }
        self.links[position as usize].valid = NONE;
        let bucket = &mut self.by_valid[valid as usize];
        match before {
            NONE => bucket.head = after,
            before => self.links[before as usize].after = after,
        }
        match after {
            NONE => bucket.tail = before,
            after => self.links[after as usize].before = before,
        }
        bucket.ordered |= bucket.head == NONE;
    }

    fn push(&mut self, position: u32, valid: u32, closed_at: &[u64]) {
        if valid as usize >= self.by_valid.len() {
            self.by_valid.resize(valid as usize + 1, EMPTY);
        }
        let before = self.by_valid[valid as usize].tail;
        let in_order = before == NONE || self.key(before, closed_at) < self.key(position, closed_at);
        let bucket = &mut self.by_valid[valid as usize];
        bucket.tail = position;
        if before == NONE {
            bucket.head = position;
        } else {
            self.links[before as usize].after = position;
            bucket.ordered &= in_order;
        }
        self.links[position as usize] = Link { before, after: NONE, valid };
        self.least = self.least.min(valid);
    }

    /// The block with the fewest valid pages. `closed_at` tells by position when a
    /// block was closed, 0 if it is not closed; `valid` its number of valid pages.
    pub fn least(&mut self, closed_at: &[u64], valid: impl Fn(u32) -> u32) -> Option<u32> {
        let mut changed = std::mem::take(&mut self.changed);
        for position in changed.drain(..) {
            self.is_changed[position as usize] = false;
            let now = valid(position);
            if closed_at[position as usize] != 0 && self.links[position as usize].valid != now {
                self.remove(position);
                self.push(position, now, closed_at);
            }
        }
        self.changed = changed;
        while self.by_valid.get(self.least as usize)?.head == NONE {
            self.least += 1;
        }
        if !self.by_valid[self.least as usize].ordered {
            self.sort(closed_at);
        }
        Some(self.by_valid[self.least as usize].head)
    }

    /// Puts the least bucket into the order of ties.
    fn sort(&mut self, closed_at: &[u64]) {
        let next = |at: &u32| Some(self.links[*at as usize].after).filter(|after| *after != NONE);
        let mut blocks: Vec<u32> = std::iter::successors(Some(self.by_valid[self.least as usize].head), next).collect();
        blocks.sort_unstable_by_key(|position| self.key(*position, closed_at));
        self.by_valid[self.least as usize] = EMPTY;
        for position in blocks {
            self.push(position, self.least, closed_at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closes blocks, lets their valid pages fall and picks, compared with a search through all blocks.
    #[test]
    fn pick_is_that_of_a_search_through_all_blocks() {
        picks_like_a_search(false);
        picks_like_a_search(true);
    }

    fn picks_like_a_search(by_position: bool) {
        const BLOCKS: usize = 40;
        let mut state = 1u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let mut buckets = Buckets::new(BLOCKS, by_position);
        let (mut closed_at, mut valid) = ([0; BLOCKS], [0u32; BLOCKS]);
        let mut picks = 0;
        for now in 1..60_000 {
            let position = below(BLOCKS as u64) as usize;
            match below(8) {
                0..=1 if closed_at[position] == 0 => {
                    closed_at[position] = now;
                    valid[position] = below(6) as u32;
                    buckets.note(position as u32);
                }
                2 => {
                    let slow = (0..BLOCKS)
                        .filter(|p| closed_at[*p] != 0)
                        .min_by_key(|p| (valid[*p], if by_position { *p as u64 } else { closed_at[*p] }));
                    let pick = buckets.least(&closed_at, |p| valid[p as usize]);
                    assert_eq!(pick, slow.map(|p| p as u32));
                    if let Some(pick) = slow.filter(|_| below(3) > 0) {
                        closed_at[pick] = 0;
                        buckets.remove(pick as u32);
                        picks += 1;
                    }
                }
                // Pages of open blocks fall too, and a block may leave without being picked.
                3 if closed_at[position] != 0 && below(8) == 0 => {
                    closed_at[position] = 0;
                    buckets.remove(position as u32);
                }
                _ => {
                    valid[position] = valid[position].saturating_sub(1);
                    buckets.note(position as u32);
                }
            }
        }
        assert!(picks > 3_000, "{picks} picks");
    }
}
