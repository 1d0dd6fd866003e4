//! Reads traces from Parquet, batch by batch: memory holds one page of each column and [`BATCH_ROWS`] rows.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nandlab::types::{Hint, Nanos};
use parquet::errors::Result as Parquet;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;

use super::column::{Column, Unfit};
use super::guard::guarded;
use super::{STEPS_KEY, VERSION, VERSION_KEY};
use crate::buffer::Failure;
use crate::error::{BadRow, Problem};
use crate::formats::nandlab::{op_of, pattern_of};
use crate::provenance::{About, Step};
use crate::row::{Field, TraceRecord};

/// Rows decoded at a time.
const BATCH_ROWS: usize = 4096;

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
    /// pc, pattern, `run_pages`, period.
    hints: Option<[Column; 4]>,
}

/// An open file.
pub(crate) struct Columns {
    file: SerializedFileReader<File>,
    about: About,
    table: Table,
    /// Row groups opened.
    groups: usize,
    /// Rows of the open group that are not decoded yet.
    left: usize,
    /// Rows decoded, and of those, given.
    rows: usize,
    given: usize,
    taken: Arc<AtomicU64>,
}

impl Columns {
    /// Reads the index at the end of the file. `taken` tells the progress in bytes.
    pub(crate) fn open(file: File, taken: Arc<AtomicU64>) -> Result<Self, Failure> {
        let file = guarded(|| SerializedFileReader::new(file))?;
        let metadata = file.metadata().file_metadata();
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
        let hints = match hints {
            [Some(pc), Some(pattern), Some(run_pages), Some(period)] => Some([pc, pattern, run_pages, period]),
            [None, None, None, None] => None,
            _ => {
                let problem = "of the columns pc, pattern, run_pages and period some are there and some are not";
                return Err(Failure::NoTrace(problem.to_owned()));
            }
        };
        let about = About { steps, hints: hints.is_some() };
        let (time_ns, device, op) = (need("time_ns")?, need("device")?, need("op")?);
        let table = Table { time_ns, device, op, offset: need("offset")?, length: need("length")?, hints };
        Ok(Self { about, table, groups: 0, left: 0, rows: 0, given: 0, taken, file })
    }

    /// Where it comes from.
    pub(crate) fn about(&self) -> &About {
        &self.about
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

    /// Decodes the next rows; false at the end.
    #[cold]
    fn decode(&mut self) -> Result<bool, Failure> {
        while self.left == 0 {
            if !guarded(|| self.open_group())? {
                return Ok(false);
            }
        }
        let rows = self.left.min(BATCH_ROWS);
        guarded(|| self.table.all().try_for_each(|column| column.decode(rows)))?;
        self.left -= rows;
        (self.rows, self.given) = (rows, 0);
        Ok(true)
    }

    /// The next request, or `None` at the end.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<TraceRecord>, Failure> {
        if self.given == self.rows && !self.decode()? {
            return Ok(None);
        }
        self.given += 1;
        self.table.record(self.given - 1).map(Some)
    }
}

impl Table {
    fn all(&mut self) -> impl Iterator<Item = &mut Column> {
        let Self { time_ns, device, op, offset, length, hints } = self;
        [time_ns, device, op, offset, length].into_iter().chain(hints.iter_mut().flatten())
    }

    #[inline]
    fn record(&self, row: usize) -> Result<TraceRecord, Failure> {
        let [at, device, offset, length] =
            [&self.time_ns, &self.device, &self.offset, &self.length].map(|column| column.values[row] as u64);
        let good = at <= Field::TIME_NS.max
            && device <= Field::DEVICE.max
            && offset <= Field::OFFSET.max
            && length <= Field::LENGTH.max;
        let op = op_of(self.op.values[row]).filter(|_| good).ok_or_else(|| self.bad(row))?;
        let hint = match &self.hints {
            None => Hint::default(),
            Some(columns) => hint(columns, row)?,
        };
        Ok(TraceRecord { at: Nanos(at), offset, length: length as u32, device: device as u32, op, hint })
    }

    /// What is wrong with a row.
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
    })
}
