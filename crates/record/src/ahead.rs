//! Reading ahead as Linux does it (`mm/readahead.c`, "on-demand readahead"): a window of pages that grows while a reader goes on.

use std::ops::Range;

/// What is known of one reader of a file. All numbers are pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Ahead {
    /// The window that was read last.
    start: u64,
    size: u64,
    /// Its last pages: a reader who comes to the first of them makes the next window be read.
    lead: u64,
    /// Last page that was read by the program, and 1.
    end: u64,
}

/// First window: some times what was asked for.
fn first(asked: u64, most: u64) -> u64 {
    match asked.next_power_of_two() {
        size if size <= most / 32 => 4 * size,
        size if size <= most / 4 => 2 * size,
        _ => most,
    }
}

/// The window after one of this size.
fn next(size: u64, most: u64) -> u64 {
    match size {
        _ if size < most / 16 => 4 * size,
        _ if size <= most / 2 => 2 * size,
        _ => most,
    }
}

impl Ahead {
    fn window(&self) -> Range<u64> {
        self.start..self.start.saturating_add(self.size)
    }

    /// The next window behind the present one.
    fn advance(&mut self, most: u64) {
        self.start = self.start.saturating_add(self.size);
        self.size = next(self.size, most);
        self.lead = self.size;
    }

    /// A page is read that is not there, of `asked` that the program wants from it on; `before` of the pages just before it are
    /// there. Which pages are read; at most `longest` beyond what is asked for.
    pub fn miss(&mut self, page: u64, asked: u64, before: u64, longest: u64) -> Range<u64> {
        if longest == 0 {
            return page..page + asked;
        }
        let most = longest.max(asked);
        let follows = self.end > 0 && (page == self.end || page + 1 == self.end);
        if self.size > 0 && (page == self.window().end || page + self.lead == self.window().end) {
            self.advance(most);
        } else if page == 0 || follows {
            let size = first(asked, most);
            *self = Self { start: page, size, lead: if size > asked { size - asked } else { size }, ..*self };
        } else if before > asked {
            // What lies before was read by a stream that is not known.
            let before = if before >= page { 2 * before } else { before };
            *self = Self { start: page, size: (before + asked).min(most), lead: 1, ..*self };
        } else {
            return page..page + asked;
        }
        if self.start == page && self.lead == self.size {
            // The reader would come to the lead at once: the window after it is read with it.
            let more = next(self.size, most);
            let fits = self.size + more <= most;
            (self.size, self.lead) = if fits { (self.size + more, more) } else { (most, most / 2) };
        }
        let window = self.window();
        window.start.min(page)..window.end.max(page + asked)
    }

    /// A page is read that is there: what is to be read ahead now.
    pub fn hit(&mut self, page: u64, longest: u64) -> Range<u64> {
        if longest == 0 || self.lead == 0 || page + self.lead != self.window().end {
            return 0..0;
        }
        self.advance(longest);
        self.window()
    }

    /// The program has read up to here.
    pub fn read_to(&mut self, end: u64) {
        self.end = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The windows that a reader of pages causes.
    fn windows(pages: impl IntoIterator<Item = u64>, asked: u64) -> Vec<(u64, u64)> {
        let (mut ahead, mut present, mut read) = (Ahead::default(), vec![false; 4096], Vec::new());
        for page in pages {
            for at in page..page + asked {
                let before = (0..at).rev().take_while(|page| present[*page as usize]).count() as u64;
                let is_there = present[at as usize];
                let window = if is_there { ahead.hit(at, 32) } else { ahead.miss(at, page + asked - at, before, 32) };
                let new: Vec<u64> = window.filter(|page| !present[*page as usize]).collect();
                if let (Some(one), Some(last)) = (new.first(), new.last()) {
                    read.push((*one, last + 1 - one));
                    present[*one as usize..=*last as usize].fill(true);
                }
            }
            ahead.read_to(page + asked);
        }
        read
    }

    #[test]
    fn stream_is_read_in_windows_that_grow_to_128_kib() {
        // As `blktrace` shows it of `dd bs=4k` on a disk with read_ahead_kb=128: 16, 32, 64, 128, 128 KiB.
        assert_eq!(windows(0..60, 1), [(0, 4), (4, 8), (12, 16), (28, 32), (60, 32)]);
        assert_eq!(windows((0..64).step_by(8), 8)[..2], [(0, 16), (16, 32)]);
    }

    #[test]
    fn single_pages_here_and_there_are_read_as_they_are() {
        let pages = [700, 30, 1900, 512, 90];
        assert_eq!(windows(pages, 1), pages.map(|page| (page, 1)));
        assert_eq!(windows([700], 40), [(700, 40)], "a read longer than any window");
    }
}
