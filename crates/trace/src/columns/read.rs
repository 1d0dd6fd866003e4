//! Reads traces from Parquet, batch by batch: memory holds one page of each column and a few batches of [`BATCH_ROWS`].
//!
//! Pages are decompressed and decoded on a thread of their own, which hands requests over a bounded channel: order and
//! content are those of the file, whatever the timing.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use nandlab::types::Hint;
use parquet::errors::Result as Parquet;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;

use super::column::{Column, Unfit};
use super::guard::guarded;
use super::sums::Sums;
use super::{RECORDING_KEY, STEPS_KEY, VERSION, VERSION_KEY};
use crate::buffer::Failure;
use crate::error::{BadRow, Problem};
use crate::formats::nandlab::{op_of, pattern_of};
use crate::provenance::{About, Step};
use crate::recording::Recording;
use crate::row::{Extra, Field, Origin, TraceRecord};

/// Rows decoded at a time: requests in 108 KiB, below the size at which the allocator asks the system for each batch.
const BATCH_ROWS: usize = 1536;
/// Batches in flight between the threads.
const BATCHES: usize = 8;

/// Requests of rows that follow each other, or what is wrong with the row or the file after them. An empty batch is the
/// end of the file.
type Batch = Result<Vec<TraceRecord>, Failure>;

impl From<Unfit> for Failure {
    fn from(Unfit(problem): Unfit) -> Self {
        Self::NoTrace(problem)
    }
}

/// The columns of a trace.
struct Table {
    time_ns: Column,
    device: Column,
    op: Column,
    offset: Column,
    length: Column,
    latency_ns: Option<Column>,
    process: Option<Column>,
    /// pc, pattern, `run_pages`, period.
    hints: Option<[Column; 4]>,
    mappings: Option<Column>,
    /// file, `file_page`, stack.
    origin: Option<[Column; 3]>,
}

/// The decoding end.
struct Decoder {
    file: SerializedFileReader<File>,
    table: Table,
    /// Row groups opened.
    groups: usize,
    /// Rows of the open group that are not decoded yet.
    left: usize,
    /// Rows decoded.
    rows: u64,
    /// What the rows are to sum up to, if the file says so.
    sums: Option<Sums>,
    taken: Arc<AtomicU64>,
}

/// An open file.
pub(crate) struct Columns {
    about: About,
    batches: Receiver<Batch>,
    batch: Vec<TraceRecord>,
    /// Requests of the batch that were given.
    given: usize,
    /// The last row given, counted from 1.
    number: u64,
}

impl Columns {
    /// Reads the index at the end of the file. `taken` tells the progress in bytes.
    pub(crate) fn open(file: File, taken: Arc<AtomicU64>) -> Result<Self, Failure> {
        let file = guarded(|| SerializedFileReader::new(file))?;
        let metadata = file.metadata().file_metadata();
        let sums = Sums::of(metadata)?;
        let schema = metadata.schema_descr();
        let find = |name| Column::find(schema, name);
        let need = |name| {
            find(name)?.ok_or_else(|| {
                let present: Vec<&str> = schema.columns().iter().map(|column| column.name()).take(24).collect();
                Unfit(format!("there is no column `{name}`; its columns are {}", present.join(", ")))
            })
        };
        let hints = [find("pc")?, find("pattern")?, find("run_pages")?, find("period")?];
        let value = |key: &str| {
            let found = metadata.key_value_metadata()?.iter().find(|pair| pair.key == key);
            found.and_then(|pair| pair.value.as_deref())
        };
        if let Some(version) = value(VERSION_KEY)
            && version.parse().ok().is_none_or(|version: u32| version > VERSION)
        {
            let problem = format!("{VERSION_KEY} is `{version}`, and this nandlab reads versions up to {VERSION}");
            return Err(Failure::NoTrace(problem));
        }
        let steps: Vec<Step> = match value(STEPS_KEY).map(serde_json::from_str) {
            None => Vec::new(),
            Some(Ok(steps)) => steps,
            Some(Err(error)) => return Err(Failure::NoTrace(format!("{STEPS_KEY} holds no steps: {error}"))),
        };
        let recording: Recording = match value(RECORDING_KEY).map(serde_json::from_str) {
            None => Recording::default(),
            Some(Ok(recording)) => recording,
            Some(Err(error)) => {
                return Err(Failure::NoTrace(format!("{RECORDING_KEY} holds no files and stacks: {error}")));
            }
        };
        let origin = match [find("file")?, find("file_page")?, find("stack")?] {
            [Some(file), Some(file_page), Some(stack)] => Some([file, file_page, stack]),
            [None, None, None] => None,
            _ => {
                let problem = "of the columns file, file_page and stack some are there and some are not";
                return Err(Failure::NoTrace(problem.to_owned()));
            }
        };
        let hints = match hints {
            [Some(pc), Some(pattern), Some(run_pages), Some(period)] => Some([pc, pattern, run_pages, period]),
            [None, None, None, None] => None,
            _ => {
                let problem = "of the columns pc, pattern, run_pages and period some are there and some are not";
                return Err(Failure::NoTrace(problem.to_owned()));
            }
        };
        let (latency_ns, process, mappings) = (find("latency_ns")?, find("process")?, find("mappings")?);
        let extra = Extra {
            latency: latency_ns.is_some(),
            process: process.is_some(),
            hints: hints.is_some(),
            mappings: mappings.is_some(),
            origin: origin.is_some(),
        };
        let about = About { steps, extra, recording, assumed: None };
        let (time_ns, device, op) = (need("time_ns")?, need("device")?, need("op")?);
        let (offset, length) = (need("offset")?, need("length")?);
        let mut table = Table { time_ns, device, op, offset, length, latency_ns, process, hints, mappings, origin };
        if sums.is_some() {
            table.all().for_each(Column::begin_sum);
        }
        let decoder = Decoder { file, table, groups: 0, left: 0, rows: 0, sums, taken };
        let (send, batches) = sync_channel(BATCHES);
        // The thread ends when the file does, or at its next batch after the receiver is dropped.
        std::thread::Builder::new().name("parquet".to_owned()).spawn(move || decoder.run(&send))?;
        Ok(Self { about, batches, batch: Vec::new(), given: 0, number: 0 })
    }

    /// Where it comes from.
    pub(crate) fn about(&self) -> &About {
        &self.about
    }
    /// The last row given, counted from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The next request of the batch at hand.
    #[inline]
    pub(crate) fn ahead(&mut self) -> Option<TraceRecord> {
        let record = *self.batch.get(self.given)?;
        self.given += 1;
        self.number += 1;
        Some(record)
    }

    /// The next request, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<TraceRecord>, Failure> {
        if self.given == self.batch.len() {
            self.given = 0;
            self.batch.clear();
            let batch = self.batches.recv().unwrap_or_else(|_| Err(io::Error::other("the decoder stopped").into()));
            self.number += u64::from(matches!(batch, Err(Failure::Bad(_))));
            self.batch = batch?;
        }
        Ok(self.ahead())
    }
}

impl Decoder {
    fn run(mut self, send: &SyncSender<Batch>) {
        loop {
            let rows = match self.decode() {
                Ok(rows) => rows,
                Err(failure) => return drop(send.send(Err(failure))),
            };
            if rows == 0 {
                return drop(send.send(Ok(Vec::new())));
            }
            let mut row = 0;
            while row < rows {
                let batch = self.table.records(row, rows);
                // A bad row is a batch of its own.
                row += batch.as_ref().map_or(1, Vec::len);
                if send.send(batch.map_err(|bad| self.bad(bad))).is_err() {
                    return;
                }
            }
        }
    }

    /// Begins the next row group; false at the end.
    fn open_group(&mut self) -> Parquet<bool> {
        if self.groups == self.file.num_row_groups() {
            return Ok(false);
        }
        let group = self.file.get_row_group(self.groups)?;
        self.groups += 1;
        self.left = usize::try_from(group.metadata().num_rows())?;
        let bytes = u64::try_from(group.metadata().compressed_size())?;
        self.taken.fetch_add(bytes, Ordering::Relaxed);
        for column in self.table.all() {
            column.open(&*group)?;
        }
        Ok(true)
    }

    /// Decodes the next rows: how many, 0 at the end.
    fn decode(&mut self) -> Result<usize, Failure> {
        while self.left == 0 {
            if !guarded(|| self.open_group())? {
                return self.check().map(|()| 0);
            }
        }
        let rows = self.left.min(BATCH_ROWS);
        guarded(|| self.table.all().try_for_each(|column| column.decode(rows)))?;
        self.left -= rows;
        self.rows += rows as u64;
        Ok(rows)
    }

    /// What a row is that no trace has: in a file of ours it was not written.
    fn bad(&self, row: Box<BadRow>) -> Failure {
        if self.sums.is_some() { Failure::Altered(format!("column `{}`", row.field)) } else { Failure::Bad(row) }
    }

    /// # Errors
    /// All was read, and it is not what was written.
    fn check(&mut self) -> Result<(), Failure> {
        let Self { sums, table, rows, .. } = self;
        sums.as_ref().map_or(Ok(()), |sums| sums.check(*rows, table.all().filter_map(|column| column.sum())))
    }
}

impl Table {
    fn all(&mut self) -> impl Iterator<Item = &mut Column> {
        let Self { time_ns, device, op, offset, length, latency_ns, process, hints, mappings, origin } = self;
        let others = latency_ns.iter_mut().chain(process).chain(hints.iter_mut().flatten());
        let others = others.chain(mappings).chain(origin.iter_mut().flatten());
        [time_ns, device, op, offset, length].into_iter().chain(others)
    }

    /// The requests of the rows from `from` up to the first bad row; what is wrong, if that is the first.
    fn records(&self, from: usize, to: usize) -> Result<Vec<TraceRecord>, Box<BadRow>> {
        let [at, device, op, offset, length] =
            [&self.time_ns, &self.device, &self.op, &self.offset, &self.length].map(|column| &column.values[from..to]);
        let time_max = if self.time_ns.is_signed() { i64::MAX as u64 } else { u64::MAX };
        let mut bad = None;
        let rows = at.iter().zip(device).zip(op).zip(offset).zip(length).zip(from..to);
        let mut records = Vec::with_capacity(to - from);
        records.extend(rows.map_while(|(((((at, device), op), offset), length), row)| {
            let [at, device, offset, length] = [at, device, offset, length].map(|value| *value as u64);
            let good = at <= time_max
                && device <= Field::DEVICE.max
                && offset <= Field::OFFSET.max
                && length <= Field::LENGTH.max;
            let Some(op) = op_of(*op).filter(|_| good) else {
                bad = Some(self.bad(row));
                return None;
            };
            let mut record = TraceRecord::plain(at, op, offset, length);
            record.device = device as u32;
            Some(record)
        }));
        if let Some(column) = &self.latency_ns {
            records
                .iter_mut()
                .zip(&column.values[from..])
                .for_each(|(record, value)| record.latency_ns = *value as u64);
        }
        if let Some(column) = &self.process {
            for (record, value) in records.iter_mut().zip(&column.values[from..]) {
                record.process = u32::try_from(*value).unwrap_or(0);
            }
        }
        if let Some(columns) = &self.hints {
            for (at, row) in (from..from + records.len()).enumerate() {
                match hint(columns, row) {
                    Ok(hint) => records[at].hint = hint,
                    Err(what) => {
                        records.truncate(at);
                        bad = Some(what);
                        break;
                    }
                }
            }
        }
        if let Some(column) = &self.mappings {
            for at in 0..records.len() {
                if let Some(what) = column.bad_number(from + at, Field::MAPPINGS) {
                    records.truncate(at);
                    bad = Some(what);
                    break;
                }
                records[at].hint.mappings = column.values[from + at] as u16;
            }
        }
        if let Some([file, file_page, stack]) = &self.origin {
            for (at, record) in records.iter_mut().enumerate() {
                // Whoever wrote larger ones meant something else: they are unknown, as processes are.
                let known = |column: &Column| u32::try_from(column.values[from + at]).unwrap_or(0);
                record.origin = Origin { file: known(file), file_page: known(file_page), stack: known(stack) };
            }
        }
        match bad {
            Some(bad) if records.is_empty() => Err(bad),
            _ => Ok(records),
        }
    }

    /// What is wrong with the numbers or the operation of a row.
    #[cold]
    #[allow(clippy::unnecessary_box_returns, reason = "what is wrong travels boxed: results stay small")]
    fn bad(&self, row: usize) -> Box<BadRow> {
        let numbers = [
            (&self.time_ns, Field::TIME_NS),
            (&self.device, Field::DEVICE),
            (&self.offset, Field::OFFSET),
            (&self.length, Field::LENGTH),
        ];
        let bad = numbers.into_iter().find_map(|(column, field)| column.bad_number(row, field));
        bad.unwrap_or_else(|| {
            BadRow::new("op", &self.op.text(row), Problem::Unknown, "the letter R, W, D or F as text")
        })
    }
}

fn hint([pc, pattern, run_pages, period]: &[Column; 4], row: usize) -> Result<Hint, Box<BadRow>> {
    let small = |column: &Column, name| match column.bad_number(row, Field::small(name)) {
        None => Ok(column.values[row] as u32),
        Some(bad) => Err(bad),
    };
    let unknown = || BadRow::new("pattern", &pattern.text(row), Problem::Unknown, "s, l, c or r");
    Ok(Hint {
        pattern: pattern_of(pattern.values[row]).ok_or_else(unknown)?,
        pc: small(pc, "pc")?,
        run_pages: small(run_pages, "run_pages")?,
        period: small(period, "period")?,
        mappings: 0,
    })
}
