//! Tables of whole numbers and letters: the same in both forms, as a whole or not at all.

use std::fs::File;

use nandlab_trace::{TableColumn, TableWriter};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::record::Field;

const COLUMNS: [TableColumn; 3] = [TableColumn::Number("n"), TableColumn::Maybe("maybe"), TableColumn::Letter("op")];

fn row(n: u64) -> [Option<u64>; 3] {
    [
        Some(n * n),
        (!n.is_multiple_of(3)).then_some(u64::MAX - n),
        Some(if n.is_multiple_of(2) { b'R' } else { b'W' }.into()),
    ]
}

fn write(target: &str, rows: u64) {
    let mut table = TableWriter::create(target, &COLUMNS, &[("key", "value")]).unwrap();
    for n in 0..rows {
        table.write(&row(n)).unwrap();
    }
    assert!(!std::path::Path::new(target).exists(), "not before it is whole");
    table.finish().unwrap();
}

#[test]
fn table_has_the_same_rows_in_both_forms() {
    // More than one row group, and more than one piece of text.
    const ROWS: u64 = (1 << 18) + 1_000;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    write(&path("t.csv"), ROWS);
    write(&path("t.parquet"), ROWS);
    let text = std::fs::read_to_string(path("t.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("n,maybe,op"));
    let columns = SerializedFileReader::new(File::open(path("t.parquet")).unwrap()).unwrap();
    assert_eq!(columns.metadata().num_row_groups(), 2);
    let facts = columns.metadata().file_metadata().key_value_metadata().unwrap();
    assert!(facts.iter().any(|fact| fact.key == "key" && fact.value.as_deref() == Some("value")));
    let mut read = columns.get_row_iter(None).unwrap();
    for n in 0..ROWS {
        let cells: Vec<String> =
            read.next().unwrap().unwrap().into_columns().into_iter().map(|(_, field)| shown(field)).collect();
        assert_eq!(cells.join(","), lines.next().unwrap(), "row {n}");
        let [number, maybe, op] = row(n);
        let maybe = maybe.map_or(String::new(), |maybe| maybe.to_string());
        assert_eq!(cells, [number.unwrap().to_string(), maybe, char::from(op.unwrap() as u8).to_string()]);
    }
    assert!(read.next().is_none() && lines.next().is_none());
}

fn shown(field: Field) -> String {
    match field {
        Field::ULong(number) => number.to_string(),
        Field::Str(text) => text,
        Field::Null => String::new(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn unfinished_table_leaves_nothing() {
    for name in ["t.csv", "t.parquet", "t.csv.gz", "t.csv.zst"] {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join(name);
        let mut table = TableWriter::create(target.to_str().unwrap(), &COLUMNS, &[]).unwrap();
        table.write(&row(1)).unwrap();
        drop(table);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{name}");
    }
}
