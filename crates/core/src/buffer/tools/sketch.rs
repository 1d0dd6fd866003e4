//! How often pages were accessed lately, in a few bytes for each frame: a count-min sketch behind a doorkeeper that ages.
//!
//! Source: G. Einziger, R. Friedman and B. Manes, "TinyLFU: a highly efficient cache admission policy", ACM Transactions on
//! Storage 13(4), 2017, sections 3.2 to 3.4. Counts are of 4 bits with minimal increment, four to a page; the first access
//! of a page is kept in a Bloom filter of three bits to a page (the doorkeeper). After a sample of accesses all counts are
//! halved and the doorkeeper is emptied.

use crate::types::Lpn;

const ROWS: u32 = 4;
const COUNT_MAX: u8 = 15;
const DOOR_PROBES: u32 = 3;
/// Bits of the doorkeeper for each place of a row: one in twenty new pages passes for known at the end of a sample of ten
/// times the frames.
const DOOR_BITS: u32 = 32;

/// A count-min sketch with a doorkeeper: how often pages were accessed lately. It takes 16 to 32 bytes a frame.
#[derive(Debug)]
pub struct Sketch {
    seed: u64,
    /// Row by row; a row has a power of two of places, at least two for each frame.
    counts: Vec<u8>,
    width: u32,
    door: Vec<u64>,
    accesses: u64,
    sample: u64,
}

/// A page's places: `first + n * step`.
#[derive(Clone, Copy)]
struct Places {
    first: u32,
    step: u32,
}

impl Places {
    fn at(self, n: u32, size: u32) -> usize {
        (self.first.wrapping_add(n.wrapping_mul(self.step)) & (size - 1)) as usize
    }
}

/// The finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Two halves of a hash; the step is odd, so that the places of a page differ.
const fn places(hash: u64) -> Places {
    Places { first: hash as u32, step: (hash >> 32) as u32 | 1 }
}

impl Sketch {
    /// An empty sketch for a number of frames; `sample` accesses, at least one, are counted before it ages.
    pub fn new(frames: u32, sample: u64, seed: u64) -> Self {
        let width = (2 * frames.clamp(8, 1 << 25)).next_power_of_two();
        let door = vec![0; (width * DOOR_BITS / u64::BITS) as usize];
        Self { seed, counts: vec![0; (ROWS * width) as usize], width, door, accesses: 0, sample }
    }
    /// Counts an access.
    pub fn record(&mut self, lpn: Lpn) {
        if self.enter(lpn) {
            let places = self.places_of(lpn);
            let least = self.least(places);
            for row in 0..ROWS {
                let count = &mut self.counts[(row * self.width) as usize + places.at(row, self.width)];
                if *count == least && least < COUNT_MAX {
                    *count += 1;
                }
            }
        }
        self.accesses += 1;
        if self.accesses >= self.sample {
            self.accesses /= 2;
            self.counts.iter_mut().for_each(|count| *count /= 2);
            self.door.fill(0);
        }
    }
    /// Accesses counted lately: never too few except for what aging took, 0 to 16.
    pub fn estimate(&self, lpn: Lpn) -> u32 {
        let known = (0..DOOR_PROBES).all(|n| {
            let (word, bit) = self.door_bit(lpn, n);
            self.door[word] & bit != 0
        });
        u32::from(self.least(self.places_of(lpn))) + u32::from(known)
    }

    fn places_of(&self, lpn: Lpn) -> Places {
        places(mix(u64::from(lpn.0) ^ mix(self.seed)))
    }
    fn least(&self, places: Places) -> u8 {
        let counts = (0..ROWS).map(|row| self.counts[(row * self.width) as usize + places.at(row, self.width)]);
        counts.min().expect("there are rows")
    }
    fn door_bit(&self, lpn: Lpn, n: u32) -> (usize, u64) {
        let places = places(mix(u64::from(lpn.0) ^ mix(!self.seed)));
        let bit = places.at(n, self.width * DOOR_BITS);
        (bit / 64, 1 << (bit % 64))
    }
    /// Makes a page known to the doorkeeper: true if it was.
    fn enter(&mut self, lpn: Lpn) -> bool {
        let mut known = true;
        for n in 0..DOOR_PROBES {
            let (word, bit) = self.door_bit(lpn, n);
            known &= self.door[word] & bit != 0;
            self.door[word] |= bit;
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_is_at_or_above_the_count_and_mostly_equal() {
        let mut sketch = Sketch::new(1_000, 1_000_000, 7);
        let count = |page: u32| if page.is_multiple_of(50) { 12 } else { 1 + page % 3 };
        (0..1_000).for_each(|page| (0..count(page)).for_each(|_| sketch.record(Lpn(page))));
        let estimates: Vec<u32> = (0..1_000).map(|page| sketch.estimate(Lpn(page))).collect();
        assert!((0..1_000).all(|page| estimates[page as usize] >= count(page)));
        let exact = (0..1_000).filter(|page| estimates[*page as usize] == count(*page)).count();
        assert!(exact > 950, "{exact}");
        let unknown = (1_000..2_000).filter(|page| sketch.estimate(Lpn(*page)) > 0).count();
        assert!(unknown < 50, "{unknown}");
    }

    #[test]
    fn sketch_ages_by_half() {
        let mut sketch = Sketch::new(8, 14, 7);
        (0..13).for_each(|_| sketch.record(Lpn(3)));
        assert_eq!(sketch.estimate(Lpn(3)), 13);
        sketch.record(Lpn(3));
        assert_eq!((sketch.estimate(Lpn(3)), sketch.accesses), (6, 7));
    }
}
