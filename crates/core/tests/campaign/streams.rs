//! Random streams of which no two are equal, and the proof of it.

#![expect(clippy::disallowed_types, reason = "the sets are only asked, never iterated")]

use std::collections::HashSet;

use rand::Rng;
use rand_pcg::Pcg64Mcg;

use crate::kit::{below, mix};

/// A hash of numbers in their order: the finaliser of splitmix64 after each.
#[derive(Clone, Copy, Debug)]
pub struct Digest(u64);

impl Digest {
    pub const fn new(start: u64) -> Self {
        Self(start)
    }
    pub fn add(&mut self, number: u64) {
        self.0 = mix((self.0 ^ number).wrapping_add(0x9E37_79B9_7F4A_7C15));
    }
    pub const fn value(self) -> u64 {
        self.0
    }
    /// The digest of a text.
    pub fn of(start: u64, text: &str) -> Self {
        let mut digest = Self::new(start);
        text.bytes().for_each(|byte| digest.add(u64::from(byte)));
        digest
    }
}

/// The random numbers of a stream. Every letter of its name changes all of them.
#[derive(Clone, Debug)]
pub struct Dice {
    rng: Pcg64Mcg,
    /// Digest of all throws so far.
    thrown: Digest,
}

impl Dice {
    pub fn new(name: &str) -> Self {
        let [high, low] = [1, 2].map(|start| u128::from(Digest::of(start, name).value()));
        Self { rng: Pcg64Mcg::new(high << 64 | low), thrown: Digest::new(0) }
    }
    pub fn below(&mut self, bound: u32) -> u32 {
        let thrown = below(&mut self.rng, bound);
        self.thrown.add(u64::from(thrown) << 32 | u64::from(bound));
        thrown
    }
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.rng.next_u64()
    }
    /// What a host does is a function of its throws: two hosts with different digests do different things.
    pub const fn thrown(&self) -> u64 {
        self.thrown.value()
    }
}

/// What was seen so far: streams must differ, of cuts only those that differ count.
#[derive(Debug, Default)]
pub struct Seen {
    streams: HashSet<u64>,
    cuts: HashSet<u64>,
}

impl Seen {
    /// Takes the digest of a whole stream.
    ///
    /// # Panics
    /// If there was an equal one.
    pub fn stream(&mut self, dice: &Dice) {
        assert!(self.streams.insert(dice.thrown()), "the campaign repeats itself: this stream was run before");
    }
    /// Takes the digest of the cells and promises at a cut; 1 if it is a new one, else 0.
    pub fn cut(&mut self, digest: u64) -> u64 {
        u64::from(self.cuts.insert(digest))
    }
    /// Takes what was seen elsewhere, of other FTLs: their cuts differ by name.
    ///
    /// # Panics
    /// If a stream is among both.
    #[allow(dead_code, reason = "the example runs one FTL after the other")]
    pub fn join(&mut self, other: Self) {
        assert!(self.streams.is_disjoint(&other.streams), "the campaign repeats itself: two FTLs have one stream");
        self.streams.extend(other.streams);
        self.cuts.extend(other.cuts);
    }
    /// Streams, all of them different.
    pub fn streams(&self) -> u64 {
        self.streams.len() as u64
    }
}
