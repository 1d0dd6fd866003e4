//! A list of small numbers in order of creation or of use, with every step in constant time.

const NONE: u32 = u32::MAX;

/// Numbers below a bound, each at most once. After the last one comes the first.
#[derive(Debug)]
pub struct Ring {
    /// By number: neighbours before and after.
    links: Vec<(u32, u32)>,
    head: u32,
    tail: u32,
    count: u32,
}

impl Ring {
    /// An empty ring for the numbers `0..bound`.
    pub fn new(bound: u32) -> Self {
        Self { links: vec![(NONE, NONE); bound as usize], head: NONE, tail: NONE, count: 0 }
    }

    /// Numbers in the ring.
    pub const fn count(&self) -> u32 {
        self.count
    }
    /// The first one.
    pub fn head(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }
    /// The one after `number`, which is in the ring.
    #[inline]
    pub fn after(&self, number: u32) -> u32 {
        let next = self.links[number as usize].1;
        if next == NONE { self.head } else { next }
    }

    /// Appends a number that is not in the ring.
    pub fn push_last(&mut self, number: u32) {
        self.links[number as usize] = (self.tail, NONE);
        match self.tail {
            NONE => self.head = number,
            tail => self.links[tail as usize].1 = number,
        }
        self.tail = number;
        self.count += 1;
    }

    /// Moves a number of the ring to its end.
    #[inline]
    pub fn move_last(&mut self, number: u32) {
        if self.tail != number {
            self.remove(number);
            self.push_last(number);
        }
    }

    /// Takes a number out of the ring.
    pub fn remove(&mut self, number: u32) {
        let (before, after) = self.links[number as usize];
        match before {
            NONE => self.head = after,
            before => self.links[before as usize].1 = after,
        }
        match after {
            NONE => self.tail = before,
            after => self.links[after as usize].0 = before,
        }
        self.count -= 1;
    }
}
