//! Stack distances: how many distinct pages were accessed since.
//!
//! Source: Bennett and Kruskal, LRU stack processing (IBM J. Res. Dev. 19, 1975): mark, on the line of all accesses, the
//! last access of each page; the distance of a reuse is the number of marks after the last access of its page. Olken
//! (LBL-12370, 1981) gives the same in a tree. Here a bit is a mark, and a Fenwick tree (Fenwick, Softw. Pract. Exp. 24,
//! 1994) counts the marks by blocks of 512 bits, so that the tree stays in the cache. When the line is full, the marks
//! move together at its beginning: time O(log n) an access, memory in proportion to the distinct pages.

/// Words of a block.
const BLOCK_WORDS: usize = 8;
/// Bits of a block.
const BLOCK_BITS: usize = BLOCK_WORDS * 64;
/// Positions of a new line.
const POSITIONS_MIN: usize = 128 * BLOCK_BITS;
/// Positions for each mark when a line begins: the more, the more seldom marks move, and the more bits there are.
const POSITIONS_PER_MARK: usize = 4;
/// Most marks: a position has 32 bits.
pub const MARKS_MAX: usize = (1 << 32) / POSITIONS_PER_MARK;

/// The line of accesses with its marks.
#[derive(Debug)]
pub struct Stack {
    marks: Vec<u64>,
    /// Fenwick tree: entry `i` (from 1) is the marks of the `i & -i` blocks that end with block `i`.
    tree: Vec<u32>,
    next: usize,
    marked: u32,
}

impl Default for Stack {
    fn default() -> Self {
        Self::with_first(0)
    }
}

impl Stack {
    /// A line whose first positions are marked.
    fn with_first(marked: u32) -> Self {
        let positions = (POSITIONS_PER_MARK * marked as usize).next_multiple_of(BLOCK_BITS).max(POSITIONS_MIN);
        let mut marks = vec![0; positions / 64];
        let full = marked as usize / 64;
        marks[..full].fill(u64::MAX);
        if !marked.is_multiple_of(64) {
            marks[full] = (1 << (marked % 64)) - 1;
        }
        let mut tree = vec![0; positions / BLOCK_BITS + 1];
        for i in 1..tree.len() {
            let words = &marks[(i - 1) * BLOCK_WORDS..i * BLOCK_WORDS];
            tree[i] += words.iter().map(|word| word.count_ones()).sum::<u32>();
            let parent = i + (i & i.wrapping_neg());
            if parent < tree.len() {
                tree[parent] += tree[i];
            }
        }
        Self { marks, tree, next: marked as usize, marked }
    }

    /// There is no position left: [`renumber`](Self::renumber) before the next access.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.next == self.marks.len() * 64
    }

    /// A new access: its position, which is marked.
    #[inline]
    pub fn push(&mut self) -> u32 {
        let position = self.next;
        self.marks[position / 64] |= 1 << (position % 64);
        let mut i = position / BLOCK_BITS + 1;
        while i < self.tree.len() {
            self.tree[i] += 1;
            i += i & i.wrapping_neg();
        }
        self.next += 1;
        self.marked += 1;
        position as u32
    }

    /// Marks after the one at `position`.
    #[inline]
    pub fn depth(&self, position: u32) -> u32 {
        self.marked - 1 - self.before(position)
    }

    /// Takes the mark at `position` away; returns the marks after it.
    #[inline]
    pub fn pull(&mut self, position: u32) -> u32 {
        let after = self.depth(position);
        let position = position as usize;
        self.marks[position / 64] &= !(1 << (position % 64));
        let mut i = position / BLOCK_BITS + 1;
        while i < self.tree.len() {
            self.tree[i] -= 1;
            i += i & i.wrapping_neg();
        }
        self.marked -= 1;
        after
    }

    /// Marks before `position`.
    #[inline]
    fn before(&self, position: u32) -> u32 {
        let position = position as usize;
        let (word, block) = (position / 64, position / BLOCK_BITS);
        let mut sum = (self.marks[word] & ((1 << (position % 64)) - 1)).count_ones();
        for word in &self.marks[block * BLOCK_WORDS..word] {
            sum += word.count_ones();
        }
        let mut i = block;
        while i > 0 {
            sum += self.tree[i];
            i &= i - 1;
        }
        sum
    }

    /// Moves all marks together; `positions` are all that are marked, in any order.
    pub fn renumber<'a>(&mut self, positions: impl Iterator<Item = &'a mut u32>) {
        for position in positions {
            *position = self.before(*position);
        }
        *self = Self::with_first(self.marked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_is_the_same_before_and_after_renumbering() {
        let mut stack = Stack::default();
        // Three pages in turn, and one that comes seldom.
        let mut last = [stack.push(), stack.push(), stack.push(), stack.push()];
        let mut renumbered = 0;
        for i in 0..5 * POSITIONS_MIN {
            let page = if i % 1_000 == 999 { 3 } else { i % 3 };
            if stack.is_full() {
                stack.renumber(last.iter_mut());
                renumbered += 1;
            }
            let distance = stack.pull(last[page]);
            assert!(distance == 2 || distance == 3 || (page == 3 && i == 999), "{i}: {distance}");
            last[page] = stack.push();
        }
        assert!(renumbered >= 4);
    }
}
