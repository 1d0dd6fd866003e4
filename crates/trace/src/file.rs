//! One file of a trace: its rows as recorded.

mod rows;

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use self::rows::{Rows, broken};
use crate::buffer::{Buffer, Failure};
use crate::detect::{by_name, detect};
use crate::error::{BadRow, Place, TraceError};
use crate::event::Events;
use crate::formats::columns;
use crate::generators;
use crate::input::{Compression, Input};
use crate::memory::MemoryTrace;
use crate::names::Names;
use crate::options::Options;
use crate::provenance::About;
use crate::registry::{Format, Sniff};
use crate::row::{Extra, Row, TraceRecord};
use crate::unit::TimeUnit;

/// What the files of a trace have in common.
pub(crate) struct Common {
    pub(crate) options: Options,
    /// Format of the first file.
    pub(crate) format: Option<&'static Format>,
    /// Bad rows that may still be skipped.
    pub(crate) bad_left: Arc<AtomicU64>,
    pub(crate) names: Names,
}

impl Common {
    pub(crate) fn new(options: &Options) -> Result<Self, TraceError> {
        options.check()?;
        let bad_left = Arc::new(AtomicU64::new(options.skip_bad.unwrap_or(0)));
        Ok(Self { options: options.clone(), format: None, bad_left, names: Names::of_a_trace() })
    }

    /// The format of a file, and why.
    fn detect(&self, name: &str, head: &[u8]) -> Result<(&'static Format, String), TraceError> {
        if self.options.columns.is_some() {
            return match &self.options.format {
                Some(named) if named != columns::FORMAT.name => {
                    let allowed = format!(
                        "columns, or nothing: you say what the columns are, and those of {named} are fixed; leave one of the two out"
                    );
                    Err(TraceError::Option { option: "format", value: named.clone(), allowed })
                }
                _ => Ok((&columns::FORMAT, "because you named its columns".to_owned())),
            };
        }
        if let Some(named) = &self.options.format {
            return Ok((by_name(named)?, "because you named it".to_owned()));
        }
        let same = |format: &'static Format| (format, format!("because the first file is {}", format.name));
        match (detect(name, head), self.format) {
            (Err(TraceError::Ambiguous { candidates, .. }), Some(first))
                if candidates.iter().any(|candidate| candidate.format == first.name) =>
            {
                Ok(same(first))
            }
            (Ok((format, _)), Some(first)) if format.name != first.name => {
                Err(TraceError::FormatsDiffer { name: name.to_owned(), format: format.name, first: first.name })
            }
            (found, _) => found,
        }
    }
}

/// What was seen in a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) requests: u64,
    pub(crate) other_rows: u64,
    pub(crate) blank_rows: u64,
    pub(crate) bad_rows: u64,
    pub(crate) first_bad: Option<String>,
    /// Files that end with a request and without a line break.
    pub(crate) open_ends: u64,
    /// Where the first of them ends.
    pub(crate) first_open_end: Option<String>,
}

impl Seen {
    pub(crate) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.other_rows += other.other_rows;
        self.blank_rows += other.blank_rows;
        self.bad_rows += other.bad_rows;
        self.first_bad = self.first_bad.take().or_else(|| other.first_bad.clone());
        self.open_ends += other.open_ends;
        self.first_open_end = self.first_open_end.take().or_else(|| other.first_open_end.clone());
    }

    /// What is to be known of files that may have been cut within their last number.
    pub(crate) fn open_end(&self) -> Option<String> {
        let first = self.first_open_end.as_ref()?;
        let others = match self.open_ends - 1 {
            0 => String::new(),
            1 => " (nor does 1 other file)".to_owned(),
            others => format!(" (nor do {others} other files)"),
        };
        Some(format!(
            "{first}, the last, does not end with a line break{others}: a file that was cut within its last number looks the same, \
             and it is read as it stands"
        ))
    }
}

/// What a generator has instead of a format.
static MADE: Format = Format {
    name: "generator",
    title: "synthetic, see `nandlab list generators`",
    extensions: &[],
    extra: Extra::HINTS,
    write: None,
    sniff: |_| Sniff::No,
    parser: |_| unreachable!("a generator is not read"),
};

/// What rows in memory have instead of a format.
static HELD: Format = Format {
    name: "memory",
    title: "rows that a program holds",
    extra: Extra::NONE,
    parser: |_| unreachable!("rows in memory are not read"),
    ..MADE
};

/// Requests as a file records them, in file order. Ends after the first error.
pub(crate) struct RecordFile {
    name: Arc<str>,
    pub(crate) format: &'static Format,
    pub(crate) reason: String,
    /// Requests that there will be, if that is known before: of a generator.
    pub(crate) requests_total: Option<u64>,
    /// Unit of its times, if that is a guess.
    pub(crate) guessed_unit: Option<TimeUnit>,
    /// What rows in memory carry.
    held: Extra,
    rows: Rows,
    compression: Option<Compression>,
    taken: Arc<AtomicU64>,
    skip_bad: u64,
    bad_left: Arc<AtomicU64>,
    place: Place,
    done: bool,
    seen: Seen,
}

impl RecordFile {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// The file cannot be read, is empty, or its format is unknown.
    pub(crate) fn open(path: &str, common: &Common) -> Result<Self, TraceError> {
        if let Some(memory) = common.options.memory.as_ref().filter(|memory| memory.path() == path) {
            return Self::hold(memory, common);
        }
        match path.strip_prefix(generators::PREFIX) {
            Some(spec) => Self::make(path, spec, common),
            None => Self::new(Input::open(path, common.options.passes.as_ref())?, common),
        }
    }

    fn make(path: &str, spec: &str, common: &Common) -> Result<Self, TraceError> {
        Self::refuse_options(path, &MADE, common)?;
        let options = &common.options;
        let made = generators::make(spec, generators::Context::of(options)).map_err(TraceError::Generator)?;
        let (requests, reason) = (options.limit.unwrap_or(made.requests), "because you named a generator");
        Ok(Self::unread(path, (&MADE, reason), made.records, requests, common))
    }

    fn hold(memory: &MemoryTrace, common: &Common) -> Result<Self, TraceError> {
        Self::refuse_options(memory.path(), &HELD, common)?;
        let (held, limit) = (memory.rows(), common.options.limit.unwrap_or(u64::MAX));
        if held.rows() == 0 {
            return Err(TraceError::Empty { name: memory.path().to_owned() });
        }
        let (requests, reason) = (limit.min(held.rows()), "because it is no file");
        let extra = held.extra();
        Ok(Self { held: extra, ..Self::unread(memory.path(), (&HELD, reason), held.stream(), requests, common) })
    }

    /// Options that say how a file is read.
    fn refuse_options(path: &str, format: &Format, common: &Common) -> Result<(), TraceError> {
        let options = &common.options;
        if let Some(named) = &options.format {
            let allowed = format!("nothing: a {} has no format, leave it out", format.name);
            return Err(TraceError::Option { option: "format", value: named.clone(), allowed });
        }
        if options.time_unit.is_some() {
            return Err(TraceError::TimeFixed { name: path.to_owned(), format: format.name });
        }
        if let Some(event) = options.event {
            return Err(TraceError::NoEvents { name: path.to_owned(), format: format.name, event: event.letter() });
        }
        if options.object_unit.is_some() {
            return Err(TraceError::NoObjects { name: path.to_owned(), format: format.name });
        }
        if let Some(columns) = &options.columns {
            let allowed = format!("nothing: a {} has no columns, leave them out", format.name);
            return Err(TraceError::Option { option: "columns", value: columns.to_string(), allowed });
        }
        Ok(())
    }

    /// Rows that are no bytes.
    fn unread(
        path: &str,
        (format, reason): (&'static Format, &str),
        records: generators::RequestStream,
        requests: u64,
        common: &Common,
    ) -> Self {
        let rows = Rows::Made(Box::new(records.take(requests as usize)));
        let (taken, place) = (Arc::default(), Place::Row(0));
        let format = (format, reason.to_owned());
        Self { requests_total: Some(requests), ..Self::with(path.into(), format, rows, (None, taken, place), common) }
    }

    /// Reads any reader; `name` is for messages.
    ///
    /// # Errors
    /// As [`RecordFile::open`].
    pub(crate) fn from_reader(
        name: &str,
        reader: impl Read + Send + 'static,
        common: &Common,
    ) -> Result<Self, TraceError> {
        Self::new(Input::new(name, Box::new(reader))?, common)
    }

    fn new(input: Input, common: &Common) -> Result<Self, TraceError> {
        let Input { name, reader, compression, taken } = input;
        let mut buffer = Buffer::new(reader);
        let head = buffer.peek().map_err(|error| broken(&name, compression, Place::Byte(0), error.into()))?;
        if head.is_empty() {
            return Err(TraceError::Empty { name: name.to_string() });
        }
        let seen = head.len() as u64;
        let detected = common.detect(&name, head);
        // Of half a line no format can be told.
        let cut = if detected.is_err() { buffer.take_broken() } else { None };
        if let Some(error) = cut {
            return Err(broken(&name, compression, Place::Byte(seen), error.into()));
        }
        let (format, mut reason) = detected?;
        let (mut rows, place) = Rows::new((format.parser)(&common.names), buffer, &name, compression, &taken, common)?;
        let told = rows.time_is_told();
        let mut guessed_unit = None;
        match (rows.time_unit(), common.options.time_unit) {
            (Some(unit), Some(told)) => {
                *unit = told;
                reason = format!("{reason}; its times are {}, as you said", told.title());
            }
            (Some(unit), None) => guessed_unit = Some(*unit).filter(|_| !told),
            (None, Some(_)) => return Err(TraceError::TimeFixed { name: name.to_string(), format: format.name }),
            (None, None) => {}
        }
        match (rows.events(), common.options.event) {
            (Some(events), chosen) => {
                events.chosen = chosen.unwrap_or_default();
                let Events { chosen, .. } = *events;
                reason = format!("{reason}; its events {} ({}) are read", chosen.letter(), chosen.title());
            }
            (None, Some(event)) => {
                return Err(TraceError::NoEvents {
                    name: name.to_string(),
                    format: format.name,
                    event: event.letter(),
                });
            }
            (None, None) => {}
        }
        if common.options.object_unit.is_some() && !rows.has_objects() {
            return Err(TraceError::NoObjects { name: name.to_string(), format: format.name });
        }
        Ok(Self { guessed_unit, ..Self::with(name, (format, reason), rows, (compression, taken, place), common) })
    }

    fn with(
        name: Arc<str>,
        (format, reason): (&'static Format, String),
        rows: Rows,
        (compression, taken, place): (Option<Compression>, Arc<AtomicU64>, Place),
        common: &Common,
    ) -> Self {
        Self {
            name,
            format,
            reason,
            requests_total: None,
            guessed_unit: None,
            held: Extra::NONE,
            rows,
            compression,
            taken,
            skip_bad: common.options.skip_bad.unwrap_or(0),
            bad_left: Arc::clone(&common.bad_left),
            place,
            done: false,
            seen: Seen::default(),
        }
    }

    /// Reads no row before its turn, because several files are read at once and number their names together.
    pub(crate) fn one_by_one(&mut self) {
        if let Rows::Lines(lines) = &mut self.rows {
            lines.one_by_one();
        }
    }
    /// Where the last row was.
    pub(crate) fn place(&self) -> Place {
        self.place
    }
    /// Bytes read from the source so far (compressed, if it is).
    pub(crate) fn bytes_read(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
    /// What was seen so far; `named`: places name the file too.
    pub(crate) fn seen(&self, named: bool) -> Seen {
        let first_bad = self.seen.first_bad.as_ref();
        let at = |place: &str| if named { format!("{}: {place}", self.name) } else { place.to_owned() };
        let first_bad = first_bad.map(|bad| at(bad));
        let open_end = matches!(&self.rows, Rows::Lines(lines) if lines.has_open_end());
        let first_open_end = open_end.then(|| at(&self.place.to_string()));
        Seen { first_bad, open_ends: u64::from(open_end), first_open_end, ..self.seen }
    }
    /// The events seen so far, if rows are events.
    pub(crate) fn events(&mut self) -> Option<Events> {
        self.rows.events().copied()
    }
    /// What the file has said about itself so far.
    pub(crate) fn about(&self) -> &About {
        self.rows.about()
    }

    /// What its requests carry besides the rest.
    pub(crate) fn extra(&self) -> Extra {
        self.format.extra.or(self.held).or(self.about().extra)
    }

    #[cold]
    fn bad(&mut self, row: Box<BadRow>) -> Result<(), TraceError> {
        // The allowance is that of all files together.
        let left = self.bad_left.load(Ordering::Relaxed);
        if left > 0 {
            self.bad_left.store(left - 1, Ordering::Relaxed);
            self.seen.bad_rows += 1;
            if self.seen.first_bad.is_none() {
                self.seen.first_bad = Some(format!("{}: {row}", self.place));
            }
            return Ok(());
        }
        let (name, place, allowed) = (self.name.to_string(), self.place, self.skip_bad);
        Err(if allowed == 0 {
            TraceError::Row { name, place, row }
        } else {
            TraceError::TooManyBad { name, place, row, allowed }
        })
    }

    #[inline]
    fn step(&mut self) -> Result<Option<Row>, Failure> {
        match &mut self.rows {
            Rows::Lines(lines) => {
                let next = lines.next();
                self.place = Place::Line(lines.number());
                next
            }
            Rows::Binary(parser, buffer) => {
                self.place = Place::Byte(buffer.offset());
                parser.next(buffer)
            }
            Rows::Columns(columns) => {
                let next = columns.next();
                self.place = Place::Row(columns.number());
                Ok(next?.map(Row::Request))
            }
            Rows::Made(records) => {
                self.place = Place::Row(self.seen.requests + 1);
                Ok(records.next().map(Row::Request))
            }
        }
    }

    /// The bad row was passed over. A header, which is looked at before anything is read, would be met again for ever.
    fn is_past_it(&self) -> bool {
        match &self.rows {
            Rows::Binary(_, buffer) => Place::Byte(buffer.offset()) != self.place,
            _ => true,
        }
    }

    fn next_row(&mut self) -> Option<Result<TraceRecord, TraceError>> {
        while !self.done {
            let failed = match self.step() {
                Ok(Some(Row::Request(record))) => {
                    self.seen.requests += 1;
                    return Some(Ok(record));
                }
                Ok(Some(Row::Other)) => {
                    self.seen.other_rows += 1;
                    continue;
                }
                Ok(Some(Row::Blank)) => {
                    self.seen.blank_rows += 1;
                    continue;
                }
                Ok(None) => {
                    self.done = true;
                    return None;
                }
                Err(Failure::Bad(row)) if self.is_past_it() => self.bad(row),
                Err(failure) => Err(broken(&self.name, self.compression, self.place, failure)),
            };
            if let Err(error) = failed {
                self.done = true;
                return Some(Err(error));
            }
        }
        None
    }
}

impl Iterator for RecordFile {
    type Item = Result<TraceRecord, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let ahead = match &mut self.rows {
            Rows::Lines(lines) => lines.ahead().map(|record| (record, Place::Line(lines.number()))),
            Rows::Columns(columns) => columns.ahead().map(|record| (record, Place::Row(columns.number()))),
            Rows::Binary(..) | Rows::Made(_) => None,
        };
        let Some((record, place)) = ahead else { return self.next_row() };
        self.place = place;
        self.seen.requests += 1;
        Some(Ok(record))
    }
}
