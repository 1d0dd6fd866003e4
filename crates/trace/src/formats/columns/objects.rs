//! Objects of cache traces as addresses.
//!
//! An object is a number (or a word) without a place. It gets a range of whole pages of 4 KiB at its first appearance, as
//! long as its size then, right after the range before: what is requested together at first lies together. An object
//! that comes back larger than its range gets a new one, as a file that is rewritten would; a smaller one keeps its
//! range. With a unit the numbers are addresses already, as in traces of disks that were turned into objects.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::cursor::Parse;
use crate::error::{BadRow, Problem};
use crate::row::Field;

/// Pages in which objects are placed.
const PAGE_BYTES: u64 = 4096;
/// Most objects that are told apart, at 32 to 64 bytes each.
const OBJECTS_MAX: usize = 1 << 26;

/// Where objects lie.
#[derive(Default)]
pub(crate) struct Objects {
    unit: Option<u64>,
    /// First page and pages of each.
    ranges: HashMap<u64, (u64, u32), FixedState>,
    next: u64,
}

impl Objects {
    pub(crate) fn new(unit: Option<u64>) -> Self {
        Self { unit, ..Self::default() }
    }

    /// The address of an object that is asked for with that many bytes.
    pub(crate) fn place(&mut self, object: u64, bytes: u64) -> Parse<u64> {
        let shown = || object.to_string().into_bytes();
        if let Some(unit) = self.unit {
            let offset = object.checked_mul(unit).filter(|offset| *offset <= Field::OFFSET.max);
            return offset.ok_or_else(|| BadRow::new("object", &shown(), Problem::TooLarge, Field::OFFSET.allowed));
        }
        let pages = bytes.div_ceil(PAGE_BYTES).max(1) as u32;
        let full = self.ranges.len() >= OBJECTS_MAX;
        let (first, kept) = self.ranges.entry(object).or_insert((self.next, pages));
        if *first == self.next {
            self.next += u64::from(pages);
        } else if *kept < pages {
            (*first, *kept) = (self.next, pages);
            self.next += u64::from(pages);
        }
        let offset = *first * PAGE_BYTES;
        if full && self.ranges.len() > OBJECTS_MAX {
            return Err(BadRow::new(
                "object",
                &shown(),
                Problem::TooLarge,
                "at most 2^26 different objects; use --limit",
            ));
        }
        if offset > Field::OFFSET.max {
            return Err(BadRow::new("object", &shown(), Problem::TooLarge, "objects of 8 EiB together"));
        }
        Ok(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::Objects;

    #[test]
    fn objects_get_ranges_in_order_of_appearance() {
        let mut objects = Objects::default();
        let mut place = |object, bytes| objects.place(object, bytes).unwrap() / 4096;
        assert_eq!([place(9, 4096), place(4, 10_000), place(9, 1), place(7, 0), place(4, 12_288)], [0, 1, 0, 4, 1]);
        assert_eq!([place(9, 4097), place(9, 1), place(8, 1)], [5, 5, 7], "a larger object moves");
    }

    #[test]
    fn objects_with_a_unit_are_addresses() {
        let mut objects = Objects::new(Some(512));
        assert_eq!(objects.place(9, 4096), Ok(4608));
        assert!(objects.place(u64::MAX, 1).is_err());
    }
}
