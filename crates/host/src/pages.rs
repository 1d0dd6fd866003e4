//! The pages that program locations touched lately, and when.

use crate::sets::spread;

/// Places of a set.
const WAYS: usize = 4;

/// A page that was touched: what is left of its name, and the request that touched it last.
#[derive(Clone, Copy, Default, Debug)]
struct Touched {
    tag: u32,
    tick: u32,
}

/// A bounded table of touched pages: 8 bytes each, sets of four. Two pages of one set have the same tag with a chance of
/// 2^-32; such a page counts as touched before.
#[derive(Clone, Debug)]
pub(crate) struct TouchedPages(Vec<Touched>);

impl TouchedPages {
    pub const fn bytes(places: usize) -> usize {
        places * size_of::<Touched>()
    }
    pub fn new(places: usize) -> Self {
        Self(vec![Touched::default(); places])
    }

    /// The request that touched this page from the same location before, if it is remembered; `tick` (from 1) is the one
    /// that touches it now.
    pub fn touch(&mut self, pc: u32, file: u32, page: u64, tick: u32) -> Option<u32> {
        let name = spread(spread(u64::from(pc) << 32 | u64::from(file)).wrapping_add(page));
        let sets = self.0.len() / WAYS;
        let first = (name >> 32) as usize % sets * WAYS;
        let (set, tag) = (&mut self.0[first..first + WAYS], name as u32);
        if let Some(found) = set.iter_mut().find(|place| place.tick != 0 && place.tag == tag) {
            return Some(std::mem::replace(&mut found.tick, tick));
        }
        // An empty place has tick 0, the oldest of all.
        let oldest = set.iter_mut().min_by_key(|place| place.tick);
        if let Some(place) = oldest {
            *place = Touched { tag, tick };
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_is_remembered_for_its_location_until_newer_ones_need_its_place() {
        let mut pages = TouchedPages::new(WAYS);
        assert_eq!(pages.touch(1, 1, 0, 1), None);
        assert_eq!((pages.touch(2, 1, 0, 2), pages.touch(1, 2, 0, 3)), (None, None), "another program, another file");
        assert_eq!((pages.touch(1, 1, 0, 4), pages.touch(1, 1, 9, 5)), (Some(1), None));
        assert_eq!(pages.touch(1, 1, 10, 6), None);
        assert_eq!((pages.touch(2, 1, 0, 7), pages.touch(1, 1, 0, 8)), (None, Some(4)));
    }
}
