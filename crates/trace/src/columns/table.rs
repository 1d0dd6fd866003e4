//! Writes any table of whole numbers and letters as Parquet.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::data_type::{DataType, Int64Type};
use parquet::errors::Result as Parquet;
use parquet::file::metadata::KeyValue;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::GROUP_ROWS;
use super::write::{into_io, letters, next, numbers, properties};
use crate::table::TableColumn;

/// The values of a row group in one column.
enum Values {
    Numbers(Vec<i64>),
    /// The numbers that are there, and for each row whether there is one (1) or not (0).
    Maybe(Vec<i64>, Vec<i16>),
    Letters(Vec<u8>),
}

impl Values {
    fn of(column: TableColumn) -> Self {
        match column {
            TableColumn::Number(_) => Self::Numbers(Vec::new()),
            TableColumn::Maybe(_) => Self::Maybe(Vec::new(), Vec::new()),
            TableColumn::Letter(_) => Self::Letters(Vec::new()),
        }
    }

    #[inline]
    fn push(&mut self, value: Option<u64>) {
        match self {
            Self::Numbers(numbers) => numbers.push(value.unwrap_or(0).cast_signed()),
            Self::Letters(letters) => letters.push(value.unwrap_or(0) as u8),
            Self::Maybe(numbers, there) => {
                there.push(i16::from(value.is_some()));
                numbers.extend(value.map(u64::cast_signed));
            }
        }
    }

    fn write<W: Write + Send>(&mut self, group: &mut SerializedRowGroupWriter<'_, W>) -> Parquet<()> {
        match self {
            Self::Numbers(values) => numbers::<Int64Type, _>(group, values),
            Self::Letters(values) => letters(group, values),
            Self::Maybe(values, there) => maybe::<Int64Type, _>(group, values, there),
        }
    }
}

/// Writes the next column, in which some rows have no value, and empties it.
fn maybe<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &mut Vec<T::T>,
    there: &mut Vec<i16>,
) -> Parquet<()> {
    let mut column = next(group)?;
    column.typed::<T>().write_batch(values, Some(there), None)?;
    values.clear();
    there.clear();
    column.close()
}

/// A table that is being written. A row group of 2^18 rows is held in memory: 8 bytes a number.
pub(crate) struct ColumnsTable<W: Write + Send> {
    file: SerializedFileWriter<W>,
    group: Vec<Values>,
    rows: usize,
}

impl<W: Write + Send> ColumnsTable<W> {
    /// Begins a file; `facts` are keys and values that go with it.
    pub(crate) fn new(out: W, columns: &[TableColumn], facts: &[(&str, &str)]) -> io::Result<Self> {
        Self::begin(out, columns, facts).map_err(into_io)
    }

    fn begin(out: W, columns: &[TableColumn], facts: &[(&str, &str)]) -> Parquet<Self> {
        let declare = |column: &TableColumn| match column {
            TableColumn::Number(name) => format!("required int64 {name} (INTEGER(64,false));"),
            TableColumn::Maybe(name) => format!("optional int64 {name} (INTEGER(64,false));"),
            TableColumn::Letter(name) => format!("required binary {name} (STRING);"),
        };
        let declared: Vec<String> = columns.iter().map(declare).collect();
        let schema = parse_message_type(&format!("message table {{ {} }}", declared.join(" ")))?;
        let fact = |(key, value): &(&str, &str)| KeyValue::new((*key).to_owned(), (*value).to_owned());
        let properties = properties()?.set_key_value_metadata(Some(facts.iter().map(fact).collect()));
        let file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties.build()))?;
        Ok(Self { file, group: columns.iter().map(|column| Values::of(*column)).collect(), rows: 0 })
    }

    /// Adds a row, a value for each column.
    pub(crate) fn write(&mut self, row: &[Option<u64>]) -> io::Result<()> {
        for (values, value) in self.group.iter_mut().zip(row) {
            values.push(*value);
        }
        self.rows += 1;
        if self.rows == GROUP_ROWS { self.flush().map_err(into_io) } else { Ok(()) }
    }

    fn flush(&mut self) -> Parquet<()> {
        let mut to = self.file.next_row_group()?;
        for values in &mut self.group {
            values.write(&mut to)?;
        }
        self.rows = 0;
        to.close().map(|_| ())
    }

    /// Writes what is left and the index; gives back where it was written.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.flush().map_err(into_io)?;
        }
        self.file.into_inner().map_err(into_io)
    }
}
