//! The rows of a trace as recorded: one file or several, before any policy for times, devices and addresses.

mod facts;
mod paired;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::io::Read;

use crate::error::{Place, TraceError};
use crate::event::Events;
use crate::file::{Common, RecordFile, Seen};
use crate::generators;
use crate::input::STDIN;
use crate::memory::MemoryTrace;
use crate::options::Options;
use crate::order::FileOrder;
use crate::pairing::{PairCounts, Pairing};
use crate::provenance::About;
use crate::row::{Extra, TraceRecord};
use crate::unit::TimeUnit;

/// A file of the trace (its index) and a place in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Locus {
    file: u32,
    pub(crate) place: Place,
}

/// The next row of a file that is merged with others. The earliest is the greatest; of equal times that of the first
/// file is.
struct Pending {
    key: Reverse<(u64, u32)>,
    record: TraceRecord,
    place: Place,
}

impl PartialEq for Pending {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl Eq for Pending {}
impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Pending {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// Requests as the trace records them, with recorded times: the files one after the other, or merged by time with one
/// row of each in memory (see [`FileOrder`]). Ends after the first error.
pub struct Records {
    names: Vec<String>,
    common: Common,
    order: FileOrder,
    /// Sequence: the file that is read. Otherwise all; `None` for an empty one.
    files: Vec<Option<RecordFile>>,
    /// Sequence: the index of that file.
    at: usize,
    /// Merge: one row of each file.
    pending: BinaryHeap<Pending>,
    /// [`FileOrder::Devices`]: the number that each file uses itself, once it is known.
    own: Vec<Option<u32>>,
    locus: Locus,
    /// If rows are events: the requests that wait for their completion.
    pairing: Option<Box<Pairing<Locus>>>,
    /// Of the last row, if it waited.
    waited: Option<Locus>,
    /// Everything is read, though rows may still wait, and the error that comes after them.
    ended: bool,
    error: Option<TraceError>,
    /// Of the files that were read to their end and closed.
    past: Seen,
    past_events: Events,
    past_bytes: u64,
    past_about: About,
    later_extra: Extra,
    reason: String,
    guessed_unit: Option<TimeUnit>,
    bytes_total: Option<u64>,
    /// Files that hold nothing, as far as that is known.
    without_data: BTreeSet<usize>,
    done: bool,
}

impl Records {
    /// Opens a trace in one file; `-` is standard input, and `make:NAME...` a generator (see [`crate::generators`]), which
    /// makes as many requests as the limit of the options says or, without one, as belong to it.
    ///
    /// # Errors
    /// The file cannot be read, is empty, or its format is unknown; an option is out of range.
    pub fn open(path: &str, options: &Options) -> Result<Self, TraceError> {
        Self::open_all(&[path.to_owned()], options)
    }

    /// Opens a trace in several files, of one format; `-` is standard input. Of several files some may be empty.
    ///
    /// # Errors
    /// As [`Records::open`]; standard input is named twice, or no file at all.
    pub fn open_all(paths: &[String], options: &Options) -> Result<Self, TraceError> {
        if paths.is_empty() {
            return Err(TraceError::Inputs { problem: "no trace is named" });
        }
        if paths.iter().filter(|path| *path == "-").count() > 1 {
            return Err(TraceError::Inputs { problem: "standard input is named more than once" });
        }
        let made = paths.iter().filter(|path| path.starts_with(generators::PREFIX)).count();
        if made > 0 && made < paths.len() {
            let problem = "a generator and files are not one trace; nandlab trace merge puts them together by time";
            return Err(TraceError::Inputs { problem });
        }
        let mut bytes_total = Some(0);
        let held = options.memory.as_ref().map(MemoryTrace::path);
        let mut without_data = BTreeSet::new();
        let is_file =
            |path: &&String| *path != "-" && !path.starts_with(generators::PREFIX) && Some(path.as_str()) != held;
        for (index, path) in paths.iter().enumerate().filter(|(_, path)| is_file(path)) {
            let meta = std::fs::metadata(path).map_err(|source| TraceError::Open { name: path.clone(), source })?;
            bytes_total = bytes_total.filter(|_| meta.is_file()).map(|sum| sum + meta.len());
            without_data.extend((meta.is_file() && meta.len() == 0).then_some(index));
        }
        if !paths.iter().all(|path| is_file(&path)) {
            bytes_total = None;
        }
        let mut records = Self { without_data, ..Self::empty(paths.to_vec(), options, bytes_total)? };
        records.start()?;
        Ok(records)
    }

    /// Reads a trace from any reader; `name` is for messages.
    ///
    /// # Errors
    /// As [`Records::open`].
    pub fn from_reader(name: &str, reader: impl Read + Send + 'static, options: &Options) -> Result<Self, TraceError> {
        let mut records = Self::empty(vec![name.to_owned()], options, None)?;
        let file = RecordFile::from_reader(name, reader, &records.common)?;
        records.accept(file);
        Ok(records)
    }

    fn empty(names: Vec<String>, options: &Options, bytes_total: Option<u64>) -> Result<Self, TraceError> {
        Ok(Self {
            names,
            common: Common::new(options)?,
            order: FileOrder::Sequence,
            files: Vec::new(),
            at: 0,
            pending: BinaryHeap::new(),
            own: Vec::new(),
            locus: Locus { file: 0, place: Place::Line(0) },
            pairing: None,
            waited: None,
            ended: false,
            error: None,
            past: Seen::default(),
            past_events: Events::default(),
            past_bytes: 0,
            past_about: About::default(),
            later_extra: Extra::NONE,
            reason: String::new(),
            guessed_unit: None,
            bytes_total,
            without_data: BTreeSet::new(),
            done: false,
        })
    }

    fn accept(&mut self, mut file: RecordFile) {
        if file.events().is_some() {
            self.pairing.get_or_insert_default();
        }
        if self.common.format.is_none() {
            self.common.format = Some(file.format);
            self.reason.clone_from(&file.reason);
            self.guessed_unit = file.guessed_unit;
            self.past_about.assumed.clone_from(&file.about().assumed);
        }
        self.locus = Locus { file: self.at as u32, place: file.place() };
        self.files.push(Some(file));
    }

    /// Opens the first file that is not empty, and with it knows the format; then the others, if all are read at once.
    fn start(&mut self) -> Result<(), TraceError> {
        if !self.open_next()? {
            return Err(TraceError::Empty { name: self.name() });
        }
        let format = self.format();
        if self.names.len() == 1 {
            return Ok(());
        }
        self.order = self.common.options.files.unwrap_or_else(|| FileOrder::of(format));
        if self.order == FileOrder::Sequence {
            if crate::formats::is_own(format) {
                self.later_extra = crate::ahead::extra(&self.names[self.at + 1..], &self.common);
            }
            return Ok(());
        }
        let mut files: Vec<_> = (0..self.at).map(|_| None).collect();
        files.append(&mut self.files);
        self.files = files;
        for index in self.at + 1..self.names.len() {
            let file = self.open_file(index)?;
            self.files.push(file);
        }
        self.files.iter_mut().flatten().for_each(RecordFile::one_by_one);
        self.own = vec![None; self.files.len()];
        for index in 0..self.files.len() {
            self.pull(index)?;
        }
        self.join_parts();
        Ok(())
    }

    /// Files that all begin with the same volume of the same host are parts of it, and not a volume each.
    fn join_parts(&mut self) {
        let mut own = self.own.iter().flatten();
        let Some(&volume) = own.next() else { return };
        let chosen = self.common.options.files.is_some();
        if chosen || self.order != FileOrder::Devices || self.format() != "msr" || own.any(|other| *other != volume) {
            return;
        }
        self.order = FileOrder::Merge;
        let pending = std::mem::take(&mut self.pending).into_vec();
        let part = |row: Pending| Pending { record: TraceRecord { device: volume, ..row.record }, ..row };
        self.pending = pending.into_iter().map(part).collect();
    }

    /// A file; `None` if it is empty.
    fn open_file(&mut self, index: usize) -> Result<Option<RecordFile>, TraceError> {
        match RecordFile::open(&self.names[index], &self.common) {
            Ok(file) => Ok(Some(file)),
            Err(TraceError::Empty { .. }) => {
                self.without_data.insert(index);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Sequence: opens the next file, from the one at `self.at` on, that is not empty; false if there is none.
    fn open_next(&mut self) -> Result<bool, TraceError> {
        while self.at < self.names.len() {
            if let Some(file) = self.open_file(self.at)? {
                self.accept(file);
                return Ok(true);
            }
            self.at += 1;
        }
        Ok(false)
    }

    /// Merge: puts the next row of a file next to those of the others.
    fn pull(&mut self, index: usize) -> Result<(), TraceError> {
        let Some(file) = &mut self.files[index] else { return Ok(()) };
        let Some(record) = file.next() else { return Ok(()) };
        let (mut record, place) = (record?, file.place());
        if self.order == FileOrder::Devices {
            let first = *self.own[index].get_or_insert(record.device);
            if first != record.device {
                let name = shown(&self.names[index]).to_owned();
                return Err(TraceError::DevicesInFile { name, place, first, second: record.device });
            }
            record.device = index as u32;
        }
        self.pending.push(Pending { key: Reverse((record.at.0, index as u32)), record, place });
        Ok(())
    }

    fn next_merged(&mut self) -> Option<Result<TraceRecord, TraceError>> {
        let Some(Pending { key: Reverse((_, file)), record, place }) = self.pending.pop() else {
            return self.finish().map(Err);
        };
        self.locus = Locus { file, place };
        if let Err(error) = self.pull(file as usize) {
            self.done = true;
            return Some(Err(error));
        }
        Some(Ok(record))
    }

    /// The file of a sequence has ended: goes on with the next.
    #[cold]
    fn next_file(&mut self) -> Option<Result<TraceRecord, TraceError>> {
        if let Some(Some(mut file)) = self.files.pop() {
            self.past.add(&file.seen(self.names.len() > 1));
            self.past_events.add(&file.events().unwrap_or_default());
            self.past_bytes += file.bytes_read();
            self.past_about.steps.extend_from_slice(&file.about().steps);
            self.past_about.extra = self.past_about.extra.or(file.extra());
            self.past_about.recording.join(&file.about().recording);
        }
        self.at += 1;
        match self.open_next() {
            Ok(true) => self.read(),
            Ok(false) => self.finish().map(Err),
            Err(error) => {
                self.done = true;
                Some(Err(error))
            }
        }
    }

    /// # Errors
    /// Everything is read, and the event that was chosen is not there.
    fn finish(&mut self) -> Option<TraceError> {
        self.done = true;
        let mut events = self.past_events;
        for file in self.files.iter_mut().flatten() {
            events.add(&file.events().unwrap_or_default());
        }
        let (seen, event) = (events.list(), events.chosen.letter());
        let missing = self.seen().requests == 0 && events.seen[events.chosen as usize] == 0 && !seen.is_empty();
        missing.then(|| TraceError::NoSuchEvent { name: self.name(), event, seen })
    }

    /// Paths, or `<stdin>`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| shown(name))
    }
    /// Those of files that are known to hold nothing.
    pub(crate) fn names_without_data(&self) -> Vec<&str> {
        self.without_data.iter().map(|index| shown(&self.names[*index])).collect()
    }
    /// All paths in one line.
    pub fn name(&self) -> String {
        self.names().collect::<Vec<_>>().join(", ")
    }
    /// How several files are put together.
    pub fn order(&self) -> FileOrder {
        self.order
    }
    /// Name of the format.
    pub fn format(&self) -> &'static str {
        self.common.format.map_or("", |format| format.name)
    }
    /// Where the last row was, in the file of [`Records::file`].
    pub fn place(&self) -> Place {
        self.locus().place
    }
    /// The file of the last row.
    pub fn file(&self) -> &str {
        self.file_of(self.locus())
    }
    pub(crate) fn file_of(&self, locus: Locus) -> &str {
        shown(&self.names[locus.file as usize])
    }
    pub(crate) fn locus(&self) -> Locus {
        self.waited.unwrap_or_else(|| self.read_locus())
    }
    /// Of the row that was read last.
    fn read_locus(&self) -> Locus {
        match self.files.last() {
            Some(Some(file)) if self.order == FileOrder::Sequence => {
                Locus { file: self.at as u32, place: file.place() }
            }
            _ => self.locus,
        }
    }
    /// Bytes read from the sources so far (compressed, if they are).
    pub fn bytes_read(&self) -> u64 {
        self.past_bytes + self.files.iter().flatten().map(RecordFile::bytes_read).sum::<u64>()
    }
    /// Bytes of the sources, if all are files.
    pub fn bytes_total(&self) -> Option<u64> {
        self.bytes_total
    }
    /// Requests that there will be, if that is known before: of a single generator.
    pub fn requests_total(&self) -> Option<u64> {
        match &self.files[..] {
            [Some(file)] if self.names.len() == 1 => file.requests_total,
            _ => None,
        }
    }
    /// What was seen so far.
    pub(crate) fn seen(&self) -> Seen {
        let several = self.names.len() > 1;
        let mut seen = self.past.clone();
        for file in self.files.iter().flatten() {
            seen.add(&file.seen(several));
        }
        let PairCounts { marks, .. } = self.pairs();
        seen.requests -= marks;
        seen.other_rows += marks;
        seen
    }
    /// What was found of issues and completions.
    pub(crate) fn pairs(&self) -> PairCounts {
        self.pairing.as_ref().map_or(PairCounts::default(), |pairing| pairing.counts())
    }

    /// The next row of the files.
    #[inline]
    fn read(&mut self) -> Option<Result<TraceRecord, TraceError>> {
        if self.order != FileOrder::Sequence {
            return self.next_merged();
        }
        match self.files.last_mut() {
            Some(Some(file)) => match file.next() {
                None => self.next_file(),
                next => next,
            },
            _ => None,
        }
    }
}

/// A path as it is shown.
fn shown(name: &str) -> &str {
    if name == "-" { STDIN } else { name }
}

impl Iterator for Records {
    type Item = Result<TraceRecord, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.done && !self.ended {
            return None;
        }
        if self.common.options.is_stopped() {
            self.done = true;
            return Some(Err(TraceError::Interrupted));
        }
        if self.pairing.is_some() { self.next_paired() } else { self.read() }
    }
}
