//! One column of a Parquet file as whole numbers.

use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result as Parquet};
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, SchemaDescriptor, Type};

use super::pages::{self, Pages};
use super::sums::Sum;
use crate::error::{BadRow, Problem};
use crate::row::Field;

/// Why a file is not a trace.
pub(super) struct Unfit(pub(super) String);

/// What the values are in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Whole numbers of 8 to 64 bits.
    Signed,
    Unsigned,
    /// Texts of one letter.
    Letter,
}

enum Reader {
    Short(ColumnReaderImpl<Int32Type>),
    Long(ColumnReaderImpl<Int64Type>),
}

/// A column and the rows decoded from it.
pub(super) struct Column {
    name: &'static str,
    index: usize,
    kind: Kind,
    /// How the column is read: for texts as 32-bit numbers.
    shape: ColumnDescPtr,
    reader: Option<Reader>,
    short: Vec<i32>,
    levels: Vec<i16>,
    /// Unsigned numbers beyond 2^63 are negative here; texts are numbers of [`pages`].
    pub(super) values: Vec<i64>,
    /// Of the values decoded so far, if the file says what it is to be.
    sum: Option<Sum>,
}

impl Column {
    /// The column of this name, if there is one.
    pub(super) fn find(schema: &SchemaDescriptor, name: &'static str) -> Result<Option<Self>, Unfit> {
        let found = schema.columns().iter().position(|column| column.path().string() == name);
        let Some(index) = found else { return Ok(None) };
        let shape = schema.column(index);
        let wanted = if matches!(name, "op" | "pattern") { "text" } else { "whole numbers" };
        let kind = kind(&shape).filter(|kind| (*kind == Kind::Letter) == (wanted == "text"));
        let unfit = |problem: &str| Unfit(format!("column `{name}` {problem}"));
        let kind = kind.ok_or_else(|| {
            let logical = shape.logical_type_ref().map(|logical| format!(" ({logical:?})")).unwrap_or_default();
            unfit(&format!("holds {}{logical} and not {wanted}", shape.physical_type()))
        })?;
        if shape.max_rep_level() > 0 || shape.max_def_level() > 1 {
            return Err(unfit("is nested and not flat"));
        }
        let shape = if kind == Kind::Letter { as_numbers(&shape).map_err(|e| unfit(&e.to_string()))? } else { shape };
        let (reader, short, levels, values) = (None, Vec::new(), Vec::new(), Vec::new());
        Ok(Some(Self { name, index, kind, shape, reader, short, levels, values, sum: None }))
    }

    fn nullable(&self) -> bool {
        self.shape.max_def_level() > 0
    }

    /// Begins a row group.
    pub(super) fn open(&mut self, group: &dyn RowGroupReader) -> Parquet<()> {
        let chunk = group.metadata().column(self.index);
        let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
        if start < 0 || chunk.compressed_size() < 0 {
            // The library takes such an index for its own mistake and panics.
            return Err(ParquetError::General(format!("column `{}` lies before the file", self.name)));
        }
        let codec = chunk.compression();
        if !matches!(codec, Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_)) {
            return Err(ParquetError::NYI(format!(
                "column `{}` is compressed with {codec}; write it with zstd, snappy or without compression, as in pandas \
                 df.to_parquet(FILE, compression='zstd')",
                self.name
            )));
        }
        let pages = group.get_column_page_reader(self.index)?;
        let shape = Arc::clone(&self.shape);
        let pages = Box::new(Pages::new(pages, self.kind == Kind::Letter, self.nullable()));
        self.reader = Some(match shape.physical_type() {
            Physical::INT32 => Reader::Short(ColumnReaderImpl::new(shape, pages)),
            _ => Reader::Long(ColumnReaderImpl::new(shape, pages)),
        });
        Ok(())
    }

    /// Replaces the values by those of the next `rows` rows.
    pub(super) fn decode(&mut self, rows: usize) -> Parquet<()> {
        let nullable = self.nullable();
        let Self { reader, short, levels, values, .. } = self;
        values.clear();
        let read = match reader {
            None => 0,
            Some(Reader::Long(reader)) => read(reader, rows, nullable.then_some(levels), values)?,
            Some(Reader::Short(reader)) => {
                short.clear();
                let read = read(reader, rows, nullable.then_some(levels), short)?;
                if self.kind == Kind::Unsigned {
                    values.extend(short.iter().map(|value| i64::from(*value as u32)));
                } else {
                    values.extend(short.iter().map(|value| i64::from(*value)));
                }
                read
            }
        };
        if self.values.len() == rows {
            self.add_up();
            return Ok(());
        }
        if read == rows {
            return Err(ParquetError::NYI(format!(
                "column `{}` has empty values (null); fill them or leave these rows out, as in pandas df.dropna(subset=['{}'])",
                self.name, self.name
            )));
        }
        Err(ParquetError::General(format!("column `{}` ends before the others", self.name)))
    }

    fn add_up(&mut self) {
        let Self { sum: Some(sum), kind, reader, values, short, .. } = self else { return };
        match reader {
            // Longer texts, which are negative, were never written; neither was this letter.
            _ if *kind == Kind::Letter => sum.add(values, |letter| [u8::try_from(letter).unwrap_or(0)]),
            Some(Reader::Short(_)) => sum.add(short, i32::to_le_bytes),
            _ => sum.add(values, i64::to_le_bytes),
        }
    }

    /// Values are summed from now on.
    pub(super) fn begin_sum(&mut self) {
        self.sum = Some(Sum::default());
    }

    /// Its name, and the sum of what was decoded, if that was asked for.
    pub(super) fn sum(&self) -> Option<(&str, u32)> {
        Some((self.name, self.sum.as_ref()?.value()))
    }

    /// The text of a row, or the beginning of it.
    pub(super) fn text(&self, row: usize) -> Vec<u8> {
        pages::text(self.values[row])
    }

    /// Numbers below zero are such, and not beyond 2^63.
    pub(super) fn is_signed(&self) -> bool {
        self.kind == Kind::Signed
    }

    /// What is wrong with a number, if it is not what is allowed.
    pub(super) fn bad_number(&self, row: usize, field: Field) -> Option<Box<BadRow>> {
        let value = self.values[row];
        let negative = value < 0 && self.is_signed();
        if (value as u64) <= field.max && !negative {
            return None;
        }
        let (text, problem) = if negative {
            (value.to_string(), Problem::Negative)
        } else {
            ((value as u64).to_string(), Problem::TooLarge)
        };
        Some(BadRow::new(field.name, text.as_bytes(), problem, field.allowed))
    }
}

/// Reads rows until there are `rows` of them; how many there were, empty values included.
fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    mut levels: Option<&mut Vec<i16>>,
    values: &mut Vec<T::T>,
) -> Parquet<usize> {
    if let Some(levels) = &mut levels {
        levels.clear();
    }
    Ok(reader.read_records(rows, levels, None, values)?.0)
}

fn kind(shape: &ColumnDescriptor) -> Option<Kind> {
    let (logical, converted) = (shape.logical_type_ref(), shape.converted_type());
    match shape.physical_type() {
        Physical::BYTE_ARRAY => Some(Kind::Letter),
        Physical::INT32 | Physical::INT64 => match (logical, converted) {
            (Some(LogicalType::Integer(integer)), _) => {
                Some(if integer.is_signed { Kind::Signed } else { Kind::Unsigned })
            }
            (None, ConvertedType::NONE) => Some(Kind::Signed),
            (None, ConvertedType::INT_8 | ConvertedType::INT_16 | ConvertedType::INT_32 | ConvertedType::INT_64) => {
                Some(Kind::Signed)
            }
            (
                None,
                ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64,
            ) => Some(Kind::Unsigned),
            _ => None,
        },
        _ => None,
    }
}

/// The same column with 32-bit numbers instead of texts.
fn as_numbers(shape: &ColumnDescriptor) -> Parquet<ColumnDescPtr> {
    let repetition = if shape.max_def_level() > 0 { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let number = Type::primitive_type_builder(shape.name(), Physical::INT32).with_repetition(repetition).build()?;
    let (definition, path) = (shape.max_def_level(), shape.path().clone());
    Ok(Arc::new(ColumnDescriptor::new(Arc::new(number), definition, 0, path)))
}
