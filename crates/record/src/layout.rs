//! Where files lie on the device: as a fresh file system would put them, one after the other.

use std::collections::BTreeMap;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// Pages that a growing file gets at a time.
const EXTENT_PAGES: u64 = 64;
/// Pages that a file gets in a row at most (1 TiB): one that is mostly holes takes no more of the device.
const HEAD_PAGES_MAX: u64 = 1 << 28;

#[derive(Clone, Debug, Default)]
struct Laid {
    /// First page on the device and pages, of what the file held when it was first seen.
    head: (u64, u64),
    /// What it grew by: extent number after the head to first page.
    grown: BTreeMap<u64, u64>,
}

/// The addresses of files on a device: each in a row when it is first seen, and in extents of 256 KiB as it grows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    files: HashMap<u32, Laid, FixedState>,
    /// Pages given away.
    next: u64,
}

impl Layout {
    /// A file is seen with this many pages.
    pub fn see(&mut self, file: u32, pages: u64) {
        let next = &mut self.next;
        self.files.entry(file).or_insert_with(|| {
            let pages = pages.min(HEAD_PAGES_MAX);
            let head = (*next, pages);
            *next += pages;
            Laid { head, grown: BTreeMap::new() }
        });
    }

    /// Where a page of a file lies, and how many of the `wanted` pages from it on, or a few more, lie in a row.
    pub fn place(&mut self, file: u32, page: u64, wanted: u64) -> (u64, u64) {
        let (place, mut pages) = self.piece(file, page);
        while pages < wanted {
            let (next, more) = self.piece(file, page + pages);
            if next != place + pages {
                break;
            }
            pages += more;
        }
        (place, pages)
    }

    /// Where a page of a file lies, and the pages from it on to the end of its extent.
    fn piece(&mut self, file: u32, page: u64) -> (u64, u64) {
        let laid = self.files.entry(file).or_default();
        let (first, pages) = laid.head;
        if page < pages {
            return (first + page, pages - page);
        }
        let (extent, within) = ((page - pages) / EXTENT_PAGES, (page - pages) % EXTENT_PAGES);
        let begin = *laid.grown.entry(extent).or_insert_with(|| {
            self.next += EXTENT_PAGES;
            self.next - EXTENT_PAGES
        });
        (begin + within, EXTENT_PAGES - within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_lies_in_a_row_and_grows_in_extents() {
        let mut layout = Layout::default();
        layout.see(1, 10);
        layout.see(2, 5);
        layout.see(1, 99);
        let mut place = |file, page| layout.place(file, page, 1);
        assert_eq!([place(1, 0), place(1, 9), place(2, 4)], [(0, 10), (9, 1), (14, 1)]);
        assert_eq!([place(1, 10), place(3, 70), place(1, 12)], [(15, 64), (85, 58), (17, 62)]);
    }

    #[test]
    fn extents_side_by_side_are_one_place() {
        let mut layout = Layout::default();
        assert_eq!(layout.place(1, 10, 200), (10, 246), "four extents in a row");
        assert_eq!(layout.place(2, 0, 64), (256, 64));
        assert_eq!(layout.place(1, 200, 100), (200, 56), "the next one lies behind another file's");
        layout.see(3, 3);
        assert_eq!(layout.place(3, 0, 4), (384, 67), "what a file held and what it grew by");
    }
}
