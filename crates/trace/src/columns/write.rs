//! Writes traces as Parquet.

use std::io::{self, Write};
use std::sync::Arc;

use nandlab::types::Hint;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result as Parquet};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use super::sums::{Sum, Sums};
use super::{
    GROUP_ROWS, HINT, LATENCY, MAPPINGS, ORIGIN, PROCESS, RECORDING_KEY, REQUEST, REQUESTS_KEY, STEPS_KEY, SUMMED,
    SUMS_KEY, UNITS, UNITS_KEY, VERSION, VERSION_KEY,
};
use crate::formats::nandlab::{op_letter, pattern_letter};
use crate::provenance::Step;
use crate::recording::Recording;
use crate::row::{Extra, Origin, TraceRecord};

/// The program that writes.
const MADE_BY: &str = concat!("nandlab ", env!("CARGO_PKG_VERSION"));
/// Letters turned into texts at a time.
const TEXTS: usize = 4096;

/// A row group, column by column.
#[derive(Default)]
struct Group {
    time_ns: Vec<i64>,
    device: Vec<i32>,
    op: Vec<u8>,
    offset: Vec<i64>,
    length: Vec<i32>,
    latency_ns: Vec<i64>,
    process: Vec<i32>,
    pc: Vec<i32>,
    pattern: Vec<u8>,
    run_pages: Vec<i32>,
    period: Vec<i32>,
    mappings: Vec<i32>,
    file: Vec<i32>,
    file_page: Vec<i32>,
    stack: Vec<i32>,
}

/// A Parquet file that is being written. A row group is held in memory: 2^18 requests in 7 MiB, 17 MiB with all columns.
pub(crate) struct ColumnsWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    group: Group,
    extra: Extra,
    requests: u64,
    /// Of the columns so far, in the order of the schema.
    sums: Vec<Sum>,
}

impl<W: Write + Send> ColumnsWriter<W> {
    /// Begins a file.
    pub(crate) fn new(out: W, extra: Extra) -> io::Result<Self> {
        Self::begin(out, extra).map_err(into_io)
    }

    fn begin(out: W, extra: Extra) -> Parquet<Self> {
        let optional = [
            (extra.latency, LATENCY),
            (extra.process, PROCESS),
            (extra.hints, HINT),
            (extra.mappings, MAPPINGS),
            (extra.origin, ORIGIN),
        ];
        let optional = optional.map(|(is_there, columns)| if is_there { columns } else { "" });
        let schema = parse_message_type(&format!("message trace {{ {REQUEST} {} }}", optional.join(" ")))?;
        let mut properties = properties()?.set_created_by(format!("{MADE_BY}{SUMMED}"));
        // Times rise in small steps and addresses repeat little: differences are smaller than a dictionary.
        for column in ["time_ns", "offset"].map(ColumnPath::from) {
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
        let file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties.build()))?;
        let sums = vec![Sum::default(); file.schema_descr().num_columns()];
        Ok(Self { file, group: Group::default(), extra, requests: 0, sums })
    }

    /// Adds a request.
    #[inline]
    pub(crate) fn write(&mut self, record: &TraceRecord) -> io::Result<()> {
        let group = &mut self.group;
        group.time_ns.push(record.at.0.cast_signed());
        group.device.push(record.device.cast_signed());
        group.op.push(op_letter(record.op));
        group.offset.push(record.offset.cast_signed());
        group.length.push(record.length.cast_signed());
        if self.extra.latency {
            group.latency_ns.push(record.latency_ns.cast_signed());
        }
        if self.extra.process {
            group.process.push(record.process.cast_signed());
        }
        if self.extra.hints {
            let Hint { pattern, pc, run_pages, period, .. } = record.hint;
            group.pc.push(pc.cast_signed());
            group.pattern.push(pattern_letter(pattern));
            group.run_pages.push(run_pages.cast_signed());
            group.period.push(period.cast_signed());
        }
        if self.extra.mappings {
            group.mappings.push(i32::from(record.hint.mappings));
        }
        if self.extra.origin {
            let Origin { file, file_page, stack } = record.origin;
            group.file.push(file.cast_signed());
            group.file_page.push(file_page.cast_signed());
            group.stack.push(stack.cast_signed());
        }
        if group.time_ns.len() == GROUP_ROWS { self.flush().map_err(into_io) } else { Ok(()) }
    }

    fn flush(&mut self) -> Parquet<()> {
        let Self { file, group, extra, requests, sums } = self;
        *requests += group.time_ns.len() as u64;
        let mut to = Summed { group: file.next_row_group()?, sums: sums.iter_mut() };
        to.long(&mut group.time_ns)?;
        to.short(&mut group.device)?;
        to.letters(&mut group.op)?;
        to.long(&mut group.offset)?;
        to.short(&mut group.length)?;
        if extra.latency {
            to.long(&mut group.latency_ns)?;
        }
        if extra.process {
            to.short(&mut group.process)?;
        }
        if extra.hints {
            to.short(&mut group.pc)?;
            to.letters(&mut group.pattern)?;
            to.short(&mut group.run_pages)?;
            to.short(&mut group.period)?;
        }
        if extra.mappings {
            to.short(&mut group.mappings)?;
        }
        if extra.origin {
            for column in [&mut group.file, &mut group.file_page, &mut group.stack] {
                to.short(column)?;
            }
        }
        to.group.close()?;
        Ok(())
    }

    /// Writes what is left and the index; gives back where it was written.
    pub(crate) fn finish(mut self, steps: &[Step], recording: &Recording) -> io::Result<W> {
        if !self.group.time_ns.is_empty() {
            self.flush().map_err(into_io)?;
        }
        let mut metadata = vec![
            (VERSION_KEY, VERSION.to_string()),
            (STEPS_KEY, serde_json::to_string(steps).map_err(io::Error::other)?),
            (REQUESTS_KEY, self.requests.to_string()),
            (UNITS_KEY, UNITS.to_owned()),
        ];
        if !recording.is_empty() {
            metadata.push((RECORDING_KEY, serde_json::to_string(recording).map_err(io::Error::other)?));
        }
        let schema = self.file.schema_descr().columns();
        let columns = schema.iter().map(|column| column.name()).zip(self.sums.iter().map(Sum::value));
        metadata.push((SUMS_KEY, Sums::text(columns, &metadata).map_err(io::Error::other)?));
        for (key, value) in metadata {
            self.file.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        self.file.into_inner().map_err(into_io)
    }
}

/// A row group whose columns are summed as they are written, in the order of the schema.
struct Summed<'a, W: Write + Send> {
    group: SerializedRowGroupWriter<'a, W>,
    sums: std::slice::IterMut<'a, Sum>,
}

impl<W: Write + Send> Summed<'_, W> {
    fn sum(&mut self) -> Parquet<&mut Sum> {
        self.sums.next().ok_or_else(fewer_columns)
    }
    fn long(&mut self, values: &mut Vec<i64>) -> Parquet<()> {
        self.sum()?.add(values, i64::to_le_bytes);
        numbers::<Int64Type, _>(&mut self.group, values)
    }
    fn short(&mut self, values: &mut Vec<i32>) -> Parquet<()> {
        self.sum()?.add(values, i32::to_le_bytes);
        numbers::<Int32Type, _>(&mut self.group, values)
    }
    fn letters(&mut self, values: &mut Vec<u8>) -> Parquet<()> {
        self.sum()?.add(values, u8::to_le_bytes);
        letters(&mut self.group, values)
    }
}

/// What all our files have in common.
pub(super) fn properties() -> Parquet<WriterPropertiesBuilder> {
    Ok(WriterProperties::builder()
        .set_created_by(MADE_BY.to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_statistics_enabled(EnabledStatistics::Chunk))
}

/// Writes the next column and empties it.
pub(super) fn numbers<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &mut Vec<T::T>,
) -> Parquet<()> {
    let mut column = next(group)?;
    column.typed::<T>().write_batch(values, None, None)?;
    values.clear();
    column.close()
}

/// Writes the next column as texts of one letter and empties it.
pub(super) fn letters<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &mut Vec<u8>,
) -> Parquet<()> {
    let texts: [ByteArray; 128] = std::array::from_fn(|letter| ByteArray::from(vec![letter as u8]));
    let mut column = next(group)?;
    for part in values.chunks(TEXTS) {
        let part: Vec<ByteArray> = part.iter().map(|letter| texts[usize::from(*letter)].clone()).collect();
        column.typed::<ByteArrayType>().write_batch(&part, None, None)?;
    }
    values.clear();
    column.close()
}

pub(super) fn next<'a, W: Write + Send>(
    group: &'a mut SerializedRowGroupWriter<'_, W>,
) -> Parquet<parquet::file::writer::SerializedColumnWriter<'a>> {
    group.next_column()?.ok_or_else(fewer_columns)
}

fn fewer_columns() -> ParquetError {
    ParquetError::General("the schema has fewer columns".to_owned())
}

/// What the system said, where it was the system.
pub(super) fn into_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
