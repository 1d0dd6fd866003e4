//! Sequential requests, seen through windows of several lengths.

/// Lengths of the windows, in previous requests of the same device.
pub const WINDOWS: [usize; 4] = [1, 8, 32, 128];
const LONGEST: usize = WINDOWS[3];

/// Where the last requests of a device ended.
#[derive(Default)]
pub(crate) struct Ends {
    /// A ring once it is full.
    ends: Vec<u64>,
    /// Place of the next end.
    next: usize,
}

impl Ends {
    /// How many requests ago one ended at `lba` (1: the one before), if any of the last 128 did; then notes `end`.
    #[inline]
    pub(crate) fn follow(&mut self, lba: u64, end: u64) -> Option<usize> {
        let (newer, older) = self.ends.split_at(self.next);
        let back = newer.iter().rev().chain(older.iter().rev()).position(|before| *before == lba);
        if self.ends.len() < LONGEST {
            self.ends.push(end);
        } else {
            self.ends[self.next] = end;
        }
        self.next = (self.next + 1) % LONGEST;
        back.map(|index| index + 1)
    }
}
