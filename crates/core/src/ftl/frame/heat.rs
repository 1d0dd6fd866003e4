//! Update frequency of logical pages, to keep hot and cold data apart in streams.
//!
//! Source: Hsieh, Kuo and Chang, "Efficient identification of hot data for flash memory storage systems", ACM
//! Transactions on Storage 2006: counters of writes that are halved at every decay period, and a page is hot when its
//! counter is 4 or more. Chosen readings: one counter of 8 bits for every page in place of their hash table, a decay
//! period of as many page writes as there are logical pages (so that a page written at the mean rate stays between 1 and
//! 2), and further streams at the powers of two above: stream 1 from 4, stream 2 from 8, and so on.

use crate::types::Lpn;

/// Most streams: counters end at 255, stream 6 begins at 128.
pub const MAX_STREAMS: usize = 7;

/// How often logical pages are written, as the number of the stream that their writes go to.
#[derive(Debug)]
pub struct Heat {
    streams: u32,
    /// By LPN; empty with one stream.
    counters: Vec<u8>,
    /// Page writes until the next decay.
    left: u32,
}

impl Heat {
    /// No page was written yet.
    pub fn new(streams: u32, logical_pages: u32) -> Self {
        let counters = if streams > 1 { vec![0; logical_pages as usize] } else { Vec::new() };
        Self { streams, counters, left: logical_pages }
    }

    /// RAM, bytes.
    pub const fn bytes(&self) -> u64 {
        self.counters.len() as u64
    }

    /// True with more than one stream.
    #[inline]
    pub const fn is_on(&self) -> bool {
        self.streams > 1
    }

    /// The host writes a page.
    pub fn count(&mut self, lpn: Lpn) {
        let counter = &mut self.counters[lpn.index()];
        *counter = counter.saturating_add(1);
        self.left -= 1;
        if self.left == 0 {
            self.left = self.counters.len() as u32;
            self.counters.iter_mut().for_each(|counter| *counter /= 2);
        }
    }

    /// Stream of a page: 0 is the coldest.
    pub fn stream(&self, lpn: Lpn) -> u32 {
        let bits = u8::BITS - self.counters[lpn.index()].leading_zeros();
        bits.saturating_sub(2).min(self.streams - 1)
    }

    /// After a power cut: counters are volatile.
    pub fn forget(&mut self) {
        self.counters.fill(0);
        self.left = self.counters.len() as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_is_as_hot_as_it_is_written_often() {
        let mut heat = Heat::new(3, 8);
        let streams = |heat: &Heat| [0, 1, 2].map(|lpn| heat.stream(Lpn(lpn)));
        (0..3).for_each(|_| heat.count(Lpn(0)));
        assert_eq!(streams(&heat), [0, 0, 0]);
        heat.count(Lpn(0));
        (0..3).for_each(|_| heat.count(Lpn(1)));
        assert_eq!(streams(&heat), [1, 0, 0]);
        // The eighth write ends the period: 5 becomes 2.
        heat.count(Lpn(0));
        assert_eq!(streams(&heat), [0, 0, 0]);
        (0..7).for_each(|_| heat.count(Lpn(1)));
        assert_eq!(streams(&heat), [0, 2, 0]);
        heat.forget();
        assert_eq!(streams(&heat), [0, 0, 0]);
        assert_eq!(Heat::new(1, 8).bytes(), 0);
    }
}
