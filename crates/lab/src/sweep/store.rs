//! The file of one result, and Parquet tables of text and numbers.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::types::Type;
use twox_hash::XxHash3_128;

use crate::error::Error;
use crate::files::{cannot_write, write_file};

/// The result of a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CellResult {
    /// The hash of the key.
    pub(super) id: String,
    /// All that decided it, as JSON.
    pub(super) key: String,
    /// The report as JSON, without the time that it took.
    pub(super) report: Option<String>,
    /// How the run went, as JSON.
    pub(super) course: Option<String>,
    /// Why there is none.
    pub(super) error: Option<String>,
}

impl CellResult {
    /// Tells a file that was damaged from one that was written.
    fn sum(&self) -> String {
        let Self { id, key, report, course, error } = self;
        let parts = serde_json::to_vec(&(id, key, report, course, error)).expect("text is plain data");
        format!("{:032x}", XxHash3_128::oneshot(&parts))
    }
}

/// The folder of the results of cells.
#[derive(Clone, Debug)]
pub(super) struct Store(pub(super) PathBuf);

impl Store {
    fn path(&self, id: &str) -> PathBuf {
        self.0.join(format!("{id}.parquet"))
    }

    /// There is a result.
    pub(super) fn has(&self, id: &str) -> bool {
        self.path(id).is_file()
    }

    /// Writes a result, as a whole or not at all.
    pub(super) fn write(&self, result: &CellResult) -> Result<(), Error> {
        let CellResult { id, key, report, course, error } = result;
        let text = |value: Option<&String>| Values::Text(vec![value.cloned()]);
        let columns = [
            ("id".to_owned(), text(Some(id))),
            ("key".to_owned(), text(Some(key))),
            ("report".to_owned(), text(report.as_ref())),
            ("course".to_owned(), text(course.as_ref())),
            ("error".to_owned(), text(error.as_ref())),
            ("sum".to_owned(), text(Some(&result.sum()))),
        ];
        write_parquet(&self.path(id), &columns)
    }

    /// Reads a result.
    pub(super) fn read(&self, id: &str) -> Result<CellResult, Error> {
        let path = self.path(id);
        let cannot = |problem: &dyn std::fmt::Display| {
            let help = "remove the file and run the sweep again";
            Error::input(format!("{}: is not a result of a cell: {problem}", path.display()), help)
        };
        let file = File::open(&path).map_err(|error| cannot(&error))?;
        let reader = SerializedFileReader::new(file).map_err(|error| cannot(&error))?;
        let mut rows = reader.get_row_iter(None).map_err(|error| cannot(&error))?;
        let row = rows.next().ok_or_else(|| cannot(&"there is no row"))?.map_err(|error| cannot(&error))?;
        let text = |name: &str| {
            let field = row.get_column_iter().find(|(column, _)| *column == name).map(|(_, field)| field);
            match field {
                Some(Field::Str(text)) => Ok(Some(text.clone())),
                Some(Field::Null) => Ok(None),
                _ => Err(cannot(&format!("there is no column `{name}` with text"))),
            }
        };
        let need = |name: &str| text(name)?.ok_or_else(|| cannot(&format!("`{name}` is empty")));
        let (report, course, error) = (text("report")?, text("course")?, text("error")?);
        let result = CellResult { id: need("id")?, key: need("key")?, report, course, error };
        // Sweeps of earlier versions have none.
        if row.get_column_iter().any(|(column, _)| column == "sum") && need("sum")? != result.sum() {
            return Err(cannot(&"it is damaged: its sum is another"));
        }
        if result.id == id { Ok(result) } else { Err(cannot(&format!("it is that of {}", result.id))) }
    }
}

/// The values of a column.
pub(super) enum Values {
    Text(Vec<Option<String>>),
    Number(Vec<Option<f64>>),
}

/// Writes columns of equal length as one row group, as a whole or not at all.
pub(super) fn write_parquet(target: &Path, columns: &[(String, Values)]) -> Result<(), Error> {
    let bytes = encode(columns).map_err(|error| cannot_write(target)(io::Error::other(error)))?;
    write_file(target, bytes)
}

fn encode(columns: &[(String, Values)]) -> Result<Vec<u8>, ParquetError> {
    let field = |(name, values): &(String, Values)| {
        let (physical, converted) = match values {
            Values::Text(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
            Values::Number(_) => (Physical::DOUBLE, ConvertedType::NONE),
        };
        let field = Type::primitive_type_builder(name, physical).with_converted_type(converted);
        Ok::<_, ParquetError>(Arc::new(field.with_repetition(Repetition::OPTIONAL).build()?))
    };
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    let schema = Arc::new(Type::group_type_builder("nandlab").with_fields(fields).build()?);
    let zstd = Compression::ZSTD(parquet::basic::ZstdLevel::try_new(3)?);
    // Neither the version of the library nor the day is in the file: equal results are equal bytes.
    let properties = WriterProperties::builder().set_compression(zstd).set_created_by("nandlab".to_owned()).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (_, values) in columns {
        let Some(mut column) = group.next_column()? else { break };
        match (column.untyped(), values) {
            (ColumnWriter::ByteArrayColumnWriter(writer), Values::Text(values)) => {
                let present: Vec<ByteArray> = values.iter().flatten().map(|text| text.as_str().into()).collect();
                writer.write_batch(&present, Some(&levels(values)), None)?;
            }
            (ColumnWriter::DoubleColumnWriter(writer), Values::Number(values)) => {
                let present: Vec<f64> = values.iter().copied().flatten().collect();
                writer.write_batch(&present, Some(&levels(values)), None)?;
            }
            _ => unreachable!("the schema is made of the same columns"),
        }
        column.close()?;
    }
    group.close()?;
    writer.into_inner()
}

/// 1 where there is a value.
fn levels<T>(values: &[Option<T>]) -> Vec<i16> {
    values.iter().map(|value| i16::from(value.is_some())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_that_was_changed_on_the_disk_is_refused() {
        let folder = std::env::temp_dir().join(format!("nandlab-store-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let store = Store(folder.clone());
        let result = |report: &str| CellResult {
            id: "1".to_owned(),
            key: "{}".to_owned(),
            report: Some(report.to_owned()),
            course: None,
            error: None,
        };
        store.write(&result("{\"waf\": 1.25}")).unwrap();
        assert_eq!(store.read("1").unwrap(), result("{\"waf\": 1.25}"));
        let text = |text: &str| Values::Text(vec![Some(text.to_owned())]);
        let none = || Values::Text(vec![None]);
        let columns = |sum: &str| {
            let names = ["id", "key", "report", "course", "error", "sum"].map(str::to_owned);
            let values = [text("1"), text("{}"), text("{\"waf\": 1.26}"), none(), none(), text(sum)];
            names.into_iter().zip(values).collect::<Vec<_>>()
        };
        write_parquet(&store.path("1"), &columns(&result("{\"waf\": 1.25}").sum())).unwrap();
        let error = store.read("1").unwrap_err().to_string();
        assert!(error.contains("its sum is another") && error.contains("run the sweep again"), "{error}");
        write_parquet(&store.path("1"), &columns("")[..5]).unwrap();
        assert_eq!(store.read("1").unwrap(), result("{\"waf\": 1.26}"), "sweeps of earlier versions have no sum");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
