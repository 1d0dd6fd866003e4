//! Which pages of their blocks the groups hold: one bit for every page.

/// Bitmaps of equal length, by number.
#[derive(Clone, Debug)]
pub(super) struct Bitmaps {
    /// 64-page words of one bitmap.
    words: usize,
    bits: Vec<u64>,
}

impl Bitmaps {
    /// No bitmaps; each will have a bit for every one of `pages`.
    pub fn new(pages: u32) -> Self {
        Self { words: pages.div_ceil(64) as usize, bits: Vec::new() }
    }
    /// One more, without pages.
    pub fn push(&mut self) {
        self.bits.resize(self.bits.len() + self.words, 0);
    }
    #[inline]
    const fn place(&self, map: u32, page: u32) -> (usize, u64) {
        (map as usize * self.words + page as usize / 64, 1 << (page % 64))
    }
    /// Adds a page that is not there.
    #[inline]
    pub fn insert(&mut self, map: u32, page: u32) {
        let (word, bit) = self.place(map, page);
        debug_assert!(self.bits[word] & bit == 0, "page joins its group twice");
        self.bits[word] |= bit;
    }
    /// Takes a page out that is there.
    #[inline]
    pub fn remove(&mut self, map: u32, page: u32) {
        let (word, bit) = self.place(map, page);
        debug_assert!(self.bits[word] & bit != 0, "page leaves a group it is not in");
        self.bits[word] &= !bit;
    }
    /// Takes all pages out.
    pub fn clear(&mut self, map: u32) {
        self.bits[map as usize * self.words..][..self.words].fill(0);
    }
    /// True if the page is there.
    #[inline]
    pub fn contains(&self, map: u32, page: u32) -> bool {
        let (word, bit) = self.place(map, page);
        self.bits[word] & bit != 0
    }
    /// The pages, ascending: O(words + pages).
    pub fn iter(&self, map: u32) -> impl Iterator<Item = u32> + '_ {
        let words = &self.bits[map as usize * self.words..][..self.words];
        words.iter().enumerate().flat_map(|(i, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                rest &= rest.wrapping_sub(1);
                (bit < 64).then(|| i as u32 * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitmap_tells_the_pages_that_were_put_in() {
        for pages in [3, 64, 100, 130] {
            let mut maps = Bitmaps::new(pages);
            (0..3).for_each(|_| maps.push());
            for page in (0..pages).rev() {
                maps.insert(1, page);
                assert!(maps.contains(1, page) && !maps.contains(0, page) && !maps.contains(2, page));
            }
            for page in (0..pages).filter(|page| page % 3 != 0) {
                maps.remove(1, page);
            }
            let left: Vec<u32> = (0..pages).step_by(3).collect();
            assert_eq!(maps.iter(1).collect::<Vec<_>>(), left);
            maps.clear(1);
            assert_eq!((0..3).flat_map(|map| maps.iter(map)).count(), 0);
        }
    }
}
