//! Sequential streams, each of one file, whichever program location goes on with it.

use nandlab_trace::FILE_PAGE_BYTES;

use crate::sets::Sets;

/// A run of accesses each of which begins where the last one ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    /// Tells it from all others.
    pub number: u32,
    /// First byte after it.
    end: u64,
    /// Pages so far, those of the latest access included.
    pub pages: u32,
    /// Who began it.
    pub began: u32,
    /// Its first access counts as sequential already.
    pub credited: bool,
}

/// What an access is to the streams of its file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joined {
    /// The stream, the access included.
    pub stream: Stream,
    /// The access goes on with it.
    pub continues: bool,
    /// Whose access is sequential as it turns out now: the one that began the stream.
    pub credit: Option<u32>,
    /// The page in which the stream ended is touched again, to go on in it: no re-use.
    pub first_is_old: bool,
}

/// The streams that may go on.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    open: Sets<Stream>,
    numbers: u32,
}

impl Streams {
    pub const fn bytes(places: usize) -> usize {
        Sets::<Stream>::bytes(places)
    }
    pub fn new(places: usize) -> Self {
        Self { open: Sets::new(places), numbers: 0 }
    }

    /// An access of `length` > 0 bytes joins the stream that it continues, or begins one. It continues one if it begins
    /// where that ended, or at the next page.
    pub fn join(&mut self, pc: u32, file: u32, offset: u64, length: u64) -> Joined {
        let end = offset.saturating_add(length);
        let page = |byte: u64| byte / FILE_PAGE_BYTES;
        let rest = |end: u64| (FILE_PAGE_BYTES - end % FILE_PAGE_BYTES) % FILE_PAGE_BYTES;
        let goes_on = |stream: &Stream| offset.checked_sub(stream.end).is_some_and(|gap| gap <= rest(stream.end));
        if let Some(stream) = self.open.find(file, goes_on) {
            let first_is_old = page(offset) == page(stream.end - 1);
            let new = page(end - 1) + 1 - page(offset) - u64::from(first_is_old);
            stream.end = end;
            stream.pages = stream.pages.saturating_add(new as u32);
            let credit = (!stream.credited).then_some(stream.began);
            stream.credited = true;
            return Joined { stream: *stream, continues: true, credit, first_is_old };
        }
        self.numbers = self.numbers.wrapping_add(1);
        let pages = (page(end - 1) + 1 - page(offset)) as u32;
        // An access to the start of a file begins to read it: what is no longer than one access is sequential too.
        let stream = Stream { number: self.numbers, end, pages, began: pc, credited: offset == 0 };
        self.open.add(file, stream);
        Joined { stream, continues: false, credit: None, first_is_old: false }
    }
}
