//! Tables of any length that are written row by row: as comma-separated values or as Parquet.

use std::io;

use crate::columns::ColumnsTable;
use crate::sink::{Sink, ends};
use crate::whole::WholeFile;

/// Bytes of text collected before they are written.
const TEXT_BYTES: usize = 256 << 10;

/// A column with its name, and what its values are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableColumn {
    /// A whole number in every row.
    Number(&'static str),
    /// A whole number, or none: nothing between two commas, null in Parquet.
    Maybe(&'static str),
    /// A letter of ASCII.
    Letter(&'static str),
}

impl TableColumn {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Number(name) | Self::Maybe(name) | Self::Letter(name) => name,
        }
    }
}

enum TableForm {
    Text(Box<Sink>, Vec<u8>),
    Columns(Box<ColumnsTable<WholeFile>>),
}

/// A table that is being written. The file appears when [`TableWriter::finish`] has returned, and not before: as a whole or
/// not at all. Memory: a piece of text, or a row group of 2^18 rows.
pub struct TableWriter {
    columns: Vec<TableColumn>,
    form: TableForm,
}

impl TableWriter {
    /// Begins a table in a file: Parquet if its name ends in `.parquet`, with `facts` (keys and values) about it; else
    /// comma-separated values with a line of names, compressed if the name ends in `.zst` or `.gz`.
    ///
    /// # Errors
    /// The file cannot be made or written, or its name asks for a compression that is not written.
    pub fn create(target: &str, columns: &[TableColumn], facts: &[(&str, &str)]) -> io::Result<Self> {
        let form = if ends(target, ".parquet") {
            TableForm::Columns(Box::new(ColumnsTable::new(WholeFile::create(target)?, columns, facts)?))
        } else {
            let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
            TableForm::Text(Box::new(Sink::create(target)?), (names.join(",") + "\n").into_bytes())
        };
        Ok(Self { columns: columns.to_vec(), form })
    }

    /// Adds a row: for each column its number, or its letter as a number; `None` in [`TableColumn::Maybe`] only.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&mut self, row: &[Option<u64>]) -> io::Result<()> {
        assert_eq!(row.len(), self.columns.len(), "a value for each column");
        let (sink, bytes) = match &mut self.form {
            TableForm::Columns(columns) => return columns.write(row),
            TableForm::Text(sink, bytes) => (sink, bytes),
        };
        for (column, value) in self.columns.iter().zip(row) {
            match (column, value) {
                (TableColumn::Letter(_), Some(letter)) => bytes.push(*letter as u8),
                (_, Some(number)) => bytes.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
                (_, None) => {}
            }
            bytes.push(b',');
        }
        if let Some(last) = bytes.last_mut() {
            *last = b'\n';
        }
        if bytes.len() >= TEXT_BYTES {
            sink.write_all(bytes)?;
            bytes.clear();
        }
        Ok(())
    }

    /// Ends the table: the file is whole once this has returned.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(self) -> io::Result<()> {
        match self.form {
            TableForm::Columns(columns) => columns.finish()?.commit(),
            TableForm::Text(mut sink, bytes) => {
                sink.write_all(&bytes)?;
                sink.finish()
            }
        }
    }
}
