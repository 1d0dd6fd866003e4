//! Tables by address in which most addresses may hold nothing, in memory that grows with what was stored.

use std::marker::PhantomData;
use std::ops::Range;

use prefetch_index::prefetch_index;

use crate::types::{Lbn, Lpn, Pbn, Ppn, Slot};

/// A 32-bit number one of whose values means 'nothing'.
pub trait Nullable: Copy + PartialEq + std::fmt::Debug {
    /// Nothing: all bits are set.
    const NONE: Self;
    /// The number with these bits.
    fn from_bits(bits: u32) -> Self;
    /// Its bits.
    fn bits(self) -> u32;
}

impl Nullable for u32 {
    const NONE: Self = Self::MAX;
    #[inline]
    fn from_bits(bits: u32) -> Self {
        bits
    }
    #[inline]
    fn bits(self) -> u32 {
        self
    }
}

macro_rules! word {
    ($($name:ident)*) => {$(
        impl Nullable for $name {
            const NONE: Self = Self::NONE;
            #[inline]
            fn from_bits(bits: u32) -> Self {
                Self(bits)
            }
            #[inline]
            fn bits(self) -> u32 {
                self.0
            }
        }
    )*};
}
word!(Lpn Ppn Lbn Pbn Slot);

/// A table by address in which most addresses may hold nothing.
///
/// Every word is stored inverted. A table in which nothing is stored is then all zeros, and zeroed memory costs address
/// space alone: the system gives a page of it (4 KiB on most) when something is first stored there. Reading costs one
/// instruction for the inversion, none for looking up where the word is.
#[derive(Clone, Debug, Default)]
pub struct SparseTable<T> {
    inverted: Vec<u32>,
    words: PhantomData<T>,
}

impl<T: Nullable> SparseTable<T> {
    /// A table of that many words, all [`Nullable::NONE`].
    pub fn new(len: usize) -> Self {
        Self { inverted: vec![0; len], words: PhantomData }
    }
    /// Words of the table.
    #[inline]
    pub const fn len(&self) -> usize {
        self.inverted.len()
    }
    /// True if the table has no word, not even a [`Nullable::NONE`].
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.inverted.is_empty()
    }
    /// The word at an index.
    ///
    /// # Panics
    /// Beyond the table, as all that follow.
    #[inline]
    pub fn at(&self, index: usize) -> T {
        T::from_bits(!self.inverted[index])
    }
    /// The word at an index, [`Nullable::NONE`] beyond the table.
    #[inline]
    pub fn find(&self, index: usize) -> T {
        self.inverted.get(index).map_or(T::NONE, |word| T::from_bits(!word))
    }
    /// Stores a word.
    #[inline]
    pub fn set(&mut self, index: usize, word: T) {
        self.inverted[index] = !word.bits();
    }
    /// Stores a word and returns the one that was there.
    #[inline]
    pub fn replace(&mut self, index: usize, word: T) -> T {
        T::from_bits(!std::mem::replace(&mut self.inverted[index], !word.bits()))
    }
    /// Takes a word out.
    #[inline]
    pub fn take(&mut self, index: usize) -> T {
        self.replace(index, T::NONE)
    }
    /// Takes all words out and gives their memory back.
    pub fn clear(&mut self) {
        *self = Self::new(self.len());
    }
    /// Takes the words of a range out; returns how many there were.
    pub fn clear_range(&mut self, range: Range<usize>) -> usize {
        let part = &mut self.inverted[range];
        let stored = part.iter().filter(|word| **word != 0).count();
        part.fill(0);
        stored
    }
    /// All words in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.inverted.iter().map(|word| T::from_bits(!word))
    }
    /// The words that are something, with their indices.
    pub fn stored(&self) -> impl Iterator<Item = (usize, T)> + '_ {
        self.iter().enumerate().filter(|(_, word)| *word != T::NONE)
    }
    /// Prefetches the word at an index.
    #[inline]
    pub fn prefetch(&self, index: usize) {
        prefetch_index(&self.inverted, index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_gives_what_was_stored_and_nothing_elsewhere() {
        let mut table = SparseTable::<Ppn>::new(5);
        table.set(3, Ppn(0));
        assert_eq!(table.replace(4, Ppn(7)), Ppn::NONE);
        let all: Vec<_> = table.iter().collect();
        assert_eq!(all, [Ppn::NONE, Ppn::NONE, Ppn::NONE, Ppn(0), Ppn(7)]);
        assert_eq!(table.stored().collect::<Vec<_>>(), [(3, Ppn(0)), (4, Ppn(7))]);
        assert_eq!((table.at(3), table.find(4), table.find(5)), (Ppn(0), Ppn(7), Ppn::NONE));
        assert_eq!((table.take(3), table.at(3), table.len()), (Ppn(0), Ppn::NONE, 5));
        table.set(1, Ppn(9));
        assert_eq!((table.clear_range(0..3), table.clear_range(0..3), table.at(1)), (1, 0, Ppn::NONE));
        table.clear();
        assert_eq!((table.stored().count(), table.len()), (0, 5));
    }
}
