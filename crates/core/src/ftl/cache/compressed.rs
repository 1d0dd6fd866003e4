//! One translation page in URM's compressed form: runs of consecutive pages in consecutive places.
//!
//! An entry tells 10 bits of the page's number inside the translation page (RLPN), 32 bits of PPN, 5 bits of length
//! (stored as length - 1: 1 to 32) and a dirty bit: 48 bits, 6 bytes. A page is mapped by the entry with
//! `start <= rlpn < start + length`, at `ppn + (rlpn - start)`.
//!
//! An update takes the page out of its entry (0 to 2 remainders, which keep their dirty bit), appends it to the left
//! neighbour if that ends there, its run of places goes on and it is short enough, else inserts an entry of its own,
//! and then absorbs the right neighbour if both fit one entry. One update adds two entries at most. An entry with a
//! changed mapping is dirty as a whole.
//!
//! Where the entries would take as much as the uncompressed table (4 bytes a page), the page is kept raw, until its
//! runs certainly take less again (a run count is kept; cutting runs into entries can add `entries / max_run`).

use crate::types::Ppn;

/// Bytes of a compressed entry.
pub const ENTRY_BYTES: u32 = 6;
/// Bytes of an uncompressed mapping.
pub const RAW_BYTES: u32 = 4;
/// Most mappings of a translation page: RLPN has 10 bits.
pub const MAX_ENTRIES: u32 = 1024;
/// Longest run of an entry: the length has 5 bits.
pub const MAX_RUN: u32 = 32;

/// Limits of the format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Mappings of a translation page, at most [`MAX_ENTRIES`].
    pub entries_per_tp: u32,
    /// Longest run of an entry, at most [`MAX_RUN`].
    pub max_run: u32,
    /// Keep a page uncompressed where compression does not pay.
    pub raw_fallback: bool,
}

/// A compressed entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CompressedEntry {
    /// First page, inside the translation page.
    pub start: u16,
    /// Pages, 1 to 32.
    pub len: u8,
    /// A mapping of the run is not on flash.
    pub dirty: bool,
    /// Place of the first page.
    pub ppn: Ppn,
}

impl CompressedEntry {
    const fn end(self) -> u32 {
        self.start as u32 + self.len as u32
    }
    /// True if a run that starts at `start` and `ppn` continues this one.
    const fn continues_at(self, start: u32, ppn: Ppn) -> bool {
        self.end() == start && self.ppn.0 + self.len as u32 == ppn.0
    }
}

#[derive(Clone, Debug)]
enum Form {
    /// Entries, ascending and disjoint.
    Runs(Vec<CompressedEntry>),
    /// The uncompressed table and the number of its maximal runs.
    Raw(Box<[Ppn]>, u32),
}

/// One translation page as runs of consecutive mappings of 6 bytes each.
#[derive(Clone, Debug)]
pub struct CompressedPage {
    format: Format,
    form: Form,
    dirty: bool,
}

impl CompressedPage {
    /// Nothing is mapped.
    pub fn new(format: Format) -> Self {
        assert!((1..=MAX_ENTRIES).contains(&format.entries_per_tp) && (1..=MAX_RUN).contains(&format.max_run));
        Self { format, form: Form::Runs(Vec::new()), dirty: false }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::new(self.format);
    }

    /// Place of a page, [`Ppn::NONE`] if it is not mapped.
    #[inline]
    pub fn look_up(&self, rlpn: u32) -> Ppn {
        match &self.form {
            Form::Raw(table, _) => table[rlpn as usize],
            Form::Runs(runs) => {
                let after = runs.partition_point(|run| u32::from(run.start) <= rlpn);
                match after.checked_sub(1).map(|at| runs[at]) {
                    Some(run) if rlpn < run.end() => Ppn(run.ppn.0 + rlpn - u32::from(run.start)),
                    _ => Ppn::NONE,
                }
            }
        }
    }

    /// Bytes of the table without its header.
    #[inline]
    pub fn bytes(&self) -> u32 {
        match &self.form {
            Form::Runs(runs) => ENTRY_BYTES * runs.len() as u32,
            Form::Raw(..) => RAW_BYTES * self.format.entries_per_tp,
        }
    }
    /// True if a mapping is not on flash.
    pub const fn is_dirty(&self) -> bool {
        self.dirty
    }
    /// The entries, ascending; empty for a raw page.
    pub fn entries(&self) -> &[CompressedEntry] {
        match &self.form {
            Form::Runs(runs) => runs,
            Form::Raw(..) => &[],
        }
    }

    /// Maps a page to a place; the mapping is dirty.
    pub fn update(&mut self, rlpn: u32, ppn: Ppn) {
        self.dirty = true;
        let max_run = self.format.max_run;
        match &mut self.form {
            Form::Raw(table, runs) => set_raw(table, runs, rlpn, ppn),
            Form::Runs(runs) => {
                let mut at = cut(runs, rlpn);
                let left = at.checked_sub(1).map(|left| &mut runs[left]);
                match left.filter(|left| u32::from(left.len) < max_run && left.continues_at(rlpn, ppn)) {
                    Some(left) => {
                        left.len += 1;
                        left.dirty = true;
                        at -= 1;
                    }
                    None => runs.insert(at, CompressedEntry { start: rlpn as u16, len: 1, dirty: true, ppn }),
                }
                if let Some(right) = runs.get(at + 1).copied() {
                    let together = u32::from(runs[at].len) + u32::from(right.len);
                    if together <= max_run && runs[at].continues_at(u32::from(right.start), right.ppn) {
                        runs[at].len = together as u8;
                        runs.remove(at + 1);
                    }
                }
            }
        }
        self.reshape();
    }

    /// The page is not mapped any more; that is dirty too.
    pub fn unmap(&mut self, rlpn: u32) {
        self.dirty = true;
        match &mut self.form {
            Form::Raw(table, runs) => set_raw(table, runs, rlpn, Ppn::NONE),
            Form::Runs(runs) => {
                cut(runs, rlpn);
            }
        }
        self.reshape();
    }

    /// Loads the mappings of the pages `from..`, none of which is mapped here, from a translation page: greedy runs
    /// from left to right, clean.
    pub fn load(&mut self, from: u32, places: &[Ppn]) {
        match &mut self.form {
            Form::Raw(table, runs) => {
                for (rlpn, ppn) in (from..).zip(places) {
                    set_raw(table, runs, rlpn, *ppn);
                }
            }
            Form::Runs(runs) => {
                let at = runs.partition_point(|run| u32::from(run.start) < from);
                let loaded = compress(from, places, self.format.max_run);
                runs.splice(at..at, loaded);
            }
        }
        self.reshape();
    }

    /// The whole table.
    pub fn decompress(&self) -> Vec<Ppn> {
        let mut table = vec![Ppn::NONE; self.format.entries_per_tp as usize];
        match &self.form {
            Form::Raw(raw, _) => table.copy_from_slice(raw),
            Form::Runs(runs) => {
                for run in runs {
                    for i in 0..u32::from(run.len) {
                        table[(u32::from(run.start) + i) as usize] = Ppn(run.ppn.0 + i);
                    }
                }
            }
        }
        table
    }

    /// Checks order, lengths and counts; panics on a violation. For tests.
    pub fn check(&self) {
        match &self.form {
            Form::Raw(table, runs) => assert_eq!(*runs, count_runs(table), "run count of a raw page"),
            Form::Runs(runs) => {
                assert!(runs.iter().all(|run| (1..=self.format.max_run).contains(&u32::from(run.len))), "length");
                assert!(runs.windows(2).all(|two| two[0].end() <= u32::from(two[1].start)), "order");
                assert!(runs.last().is_none_or(|run| run.end() <= self.format.entries_per_tp), "range");
                assert!(self.dirty || runs.iter().all(|run| !run.dirty), "a dirty run of a clean page");
                let limit = RAW_BYTES * self.format.entries_per_tp;
                assert!(!self.format.raw_fallback || self.bytes() < limit, "a page that should be raw");
            }
        }
    }

    /// Takes the smaller form.
    #[inline]
    fn reshape(&mut self) {
        let limit = RAW_BYTES * self.format.entries_per_tp;
        match &self.form {
            Form::Runs(runs) => {
                if self.format.raw_fallback && ENTRY_BYTES * runs.len() as u32 >= limit {
                    let table = self.decompress();
                    let count = count_runs(&table);
                    self.form = Form::Raw(table.into_boxed_slice(), count);
                }
            }
            Form::Raw(table, runs) => {
                let most = runs + self.format.entries_per_tp / self.format.max_run;
                if ENTRY_BYTES * most < limit {
                    let mut runs = compress(0, table, self.format.max_run);
                    for run in &mut runs {
                        run.dirty = self.dirty;
                    }
                    self.form = Form::Runs(runs);
                }
            }
        }
    }
}

/// Takes a page out of its entry. Returns where its own entry would be inserted.
fn cut(runs: &mut Vec<CompressedEntry>, rlpn: u32) -> usize {
    let after = runs.partition_point(|run| u32::from(run.start) <= rlpn);
    let Some(at) = after.checked_sub(1).filter(|at| rlpn < runs[*at].end()) else { return after };
    let run = runs[at];
    let left = (rlpn - u32::from(run.start)) as u8;
    let right = run.len - left - 1;
    let tail = CompressedEntry {
        start: rlpn as u16 + 1,
        len: right,
        dirty: run.dirty,
        ppn: Ppn(run.ppn.0 + u32::from(left) + 1),
    };
    match (left, right) {
        (0, 0) => {
            runs.remove(at);
            return at;
        }
        (0, _) => {
            runs[at] = tail;
            return at;
        }
        (_, 0) => {}
        _ => runs.insert(after, tail),
    }
    runs[at].len = left;
    after
}

/// Greedy clean runs of a table whose first page is `from`.
fn compress(from: u32, places: &[Ppn], max_run: u32) -> Vec<CompressedEntry> {
    let mut runs: Vec<CompressedEntry> = Vec::new();
    for (rlpn, ppn) in (from..).zip(places).filter(|(_, ppn)| ppn.is_some()) {
        match runs.last_mut().filter(|run| u32::from(run.len) < max_run && run.continues_at(rlpn, *ppn)) {
            Some(run) => run.len += 1,
            None => runs.push(CompressedEntry { start: rlpn as u16, len: 1, dirty: false, ppn: *ppn }),
        }
    }
    runs
}

/// True if a run starts at `at`.
fn starts_run(table: &[Ppn], at: usize) -> bool {
    let Some(ppn) = table.get(at).filter(|ppn| ppn.is_some()) else { return false };
    at.checked_sub(1).is_none_or(|left| table[left].is_none() || table[left].0 + 1 != ppn.0)
}

fn count_runs(table: &[Ppn]) -> u32 {
    (0..table.len()).filter(|at| starts_run(table, *at)).count() as u32
}

fn set_raw(table: &mut [Ppn], runs: &mut u32, rlpn: u32, ppn: Ppn) {
    let at = rlpn as usize;
    let starts = |table: &[Ppn]| u32::from(starts_run(table, at)) + u32::from(starts_run(table, at + 1));
    *runs -= starts(table);
    table[at] = ppn;
    *runs += starts(table);
}
