//! Do our own forms lose nothing, and are damaged and foreign Parquet files refused?
#![allow(clippy::needless_for_each, clippy::cast_possible_wrap, reason = "short rows of a test")]

use std::path::PathBuf;
use std::sync::Arc;

use nandlab::types::{Hint, HostOp, Nanos, Pattern};
use nandlab_trace::{Extra, Options, Origin, Records, Step, TraceError, TraceRecord, Writer};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;

fn temporary(name: &str) -> PathBuf {
    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn write(name: &str, records: &[TraceRecord], steps: &[Step], all: bool) -> String {
    let path = temporary(name).to_str().unwrap().to_owned();
    let mut writer = Writer::create(&path, &[], if all { Extra::ALL } else { Extra::NONE }).unwrap();
    records.iter().for_each(|record| writer.write(record).unwrap());
    writer.set_steps(steps.to_vec());
    writer.finish().unwrap();
    path
}

fn read(path: &str) -> Result<(Vec<TraceRecord>, Vec<Step>, Extra), TraceError> {
    let mut records = Records::open(path, &Options::default())?;
    let all = records.by_ref().collect::<Result<Vec<_>, _>>()?;
    Ok((all, records.steps(), records.extra()))
}

fn any_record() -> impl Strategy<Value = TraceRecord> {
    let ops = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush];
    let patterns = [Pattern::Sequential, Pattern::Looping, Pattern::ClusteredHot, Pattern::Random];
    let at = prop_oneof![0..1000u64, Just(u64::MAX), Just(12_816_637_200_000_000_000), any::<u64>()];
    let offset_max = (1u64 << 63) - 1 - (1 << 30);
    let offset = prop_oneof![0..100_000u64, Just(offset_max), 0..=offset_max];
    let length = prop_oneof![0..70_000u32, Just(1 << 30)];
    let hint = (prop::sample::select(patterns.to_vec()), any::<u32>(), any::<u32>(), any::<u32>(), any::<u16>());
    let who = (prop_oneof![0..9u64, 0..=i64::MAX as u64], any::<u32>(), any::<[u32; 3]>());
    let place = (offset, length, prop_oneof![0..3u32, 0..u32::MAX]);
    (at, place, prop::sample::select(ops.to_vec()), hint, who).prop_map(
        |(
            at,
            (offset, length, device),
            op,
            (pattern, pc, run_pages, period, mappings),
            (latency_ns, process, [file, file_page, stack]),
        )| {
            let hint = Hint { pattern, pc, run_pages, period, mappings };
            let origin = Origin { file, file_page, stack };
            TraceRecord { at: Nanos(at), offset, length, device, op, hint, latency_ns, process, origin }
        },
    )
}

fn any_step() -> impl Strategy<Value = Step> {
    let counts = prop::collection::btree_map("[a-z_]{1,9}", any::<u64>(), 0..3);
    (".{0,30}", prop::collection::vec(".{0,20}", 0..3), counts).prop_map(|(tool, inputs, counts)| {
        let mut step = Step::new(tool, inputs);
        step.counts = counts;
        step
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn trace_survives_text_and_columns_whole(
        mut records in prop::collection::vec(any_record(), 0..9000),
        steps in prop::collection::vec(any_step(), 0..4),
        hints in any::<bool>(),
    ) {
        if !hints {
            for record in &mut records {
                (record.hint, record.latency_ns, record.process) = (Hint::default(), 0, 0);
                record.origin = Origin::default();
            }
        }
        let forms = ["whole.csv", "whole.csv.zst", "whole.csv.gz", "whole.parquet"];
        for form in forms {
            let (read, found, extra) = read(&write(form, &records, &steps, hints)).unwrap();
            prop_assert!(read == records, "{}", form);
            prop_assert_eq!(&found, &steps, "{}", form);
            prop_assert_eq!(extra, if hints { Extra::ALL } else { Extra::NONE }, "{}", form);
        }
    }
}

fn some(n: u64) -> Vec<TraceRecord> {
    let op = |i| [HostOp::Write, HostOp::Read, HostOp::Flush, HostOp::Trim][i as usize % 4];
    let record = |i: u64| TraceRecord {
        at: Nanos(i * 1000),
        offset: i * 7919 % 1000 * 512,
        length: 512 << (i % 4),
        device: (i % 3) as u32,
        op: op(i),
        hint: Hint { pc: i as u32, ..Hint::default() },
        latency_ns: i % 5 * 1_000,
        process: (i % 7) as u32,
        origin: Origin { file: (i % 11) as u32, file_page: i as u32, stack: (i % 13) as u32 },
    };
    (0..n).map(record).collect()
}

#[test]
fn row_groups_and_pages_are_joined() {
    let records = some(600_000);
    let read = read(&write("groups.parquet", &records, &[], true)).unwrap().0;
    assert!(read == records);
}

#[test]
fn every_truncation_is_refused() {
    let whole = std::fs::read(write("cut.parquet", &some(300), &[Step::new("test", vec![])], true)).unwrap();
    let path = temporary("truncated.parquet").to_str().unwrap().to_owned();
    for length in 1..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        let error = read(&path).expect_err("half a file is not a trace").to_string();
        assert!(error.contains("truncated.parquet") && error.len() < 1000, "{length}: {error}");
    }
}

#[test]
fn changed_bit_is_refused_or_changes_nothing() {
    for form in ["sound.parquet", "sound.csv.zst", "sound.csv.gz"] {
        let path = write(form, &some(300), &[Step::new("test", vec![])], true);
        let (whole, sound) = (std::fs::read(&path).unwrap(), read(&path).unwrap());
        let path = temporary(&form.replace("sound", "changed")).to_str().unwrap().to_owned();
        let (mut refused, mut by_sum) = (0, 0);
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at * 5 % 8);
            std::fs::write(&path, &bytes).unwrap();
            match read(&path) {
                Ok((rows, steps, extra)) => {
                    assert!(rows == sound.0 && extra == sound.2, "{form}: byte {at} of {}", whole.len());
                    // One bit hides all keys together, and the program's name with them.
                    assert!(steps == sound.1 || steps.is_empty(), "{form}: byte {at} of {}", whole.len());
                }
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.contains(&path), "{error}");
                    refused += 1;
                    by_sum += usize::from(error.contains("its rows are not those that were written"));
                }
            }
        }
        // The others lie in names, statistics and places that nobody reads.
        assert!(refused * 10 > whole.len() * 9 || form == "sound.parquet", "{form}: {refused} of {}", whole.len());
        assert_eq!(by_sum * 5 > whole.len(), form == "sound.parquet", "{form}: {by_sum} of {}", whole.len());
    }
}

#[test]
fn part_of_a_changed_file_is_read_as_it_is() {
    let path = write("part.parquet", &some(9000), &[], false);
    let mut bytes = std::fs::read(&path).unwrap();
    let sums = b"\"length\":";
    let at = bytes.windows(sums.len()).position(|part| part == sums).unwrap() + sums.len();
    bytes[at] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    assert!(Records::open(&path, &Options::default()).unwrap().take(8999).all(|record| record.is_ok()));
    let error = read(&path).unwrap_err().to_string();
    assert!(error.contains("part.parquet") && error.contains("column `length` differs"), "{error}");
}

#[test]
fn flipped_bits_never_panic() {
    let whole = std::fs::read(write("flip.parquet", &some(5000), &[Step::new("test", vec![])], true)).unwrap();
    let path = temporary("flipped.parquet").to_str().unwrap().to_owned();
    let options = Options { format: Some("parquet".to_owned()), skip_bad: Some(u64::MAX), ..Options::default() };
    let mut random = 1u64;
    for round in 0..1000 {
        let mut bytes = whole.clone();
        for _ in 0..=round % 3 {
            random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            // Half of the flips hit the index, which is smaller than the pages.
            let from = if round % 2 == 0 { 0 } else { bytes.len() - 1500 };
            let at = from + (random >> 33) as usize % (bytes.len() - from);
            bytes[at] ^= 1 << (random >> 29 & 7);
        }
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(records) = Records::open(&path, &options) {
            assert!(records.take(100_000).filter_map(Result::err).count() <= 1);
        }
    }
}

/// A column of a foreign file.
enum Values {
    Long(Vec<i64>, Option<Vec<i16>>),
    Int(Vec<i32>),
    Text(Vec<&'static str>),
}

fn foreign(name: &str, schema: &str, columns: &[Values], dictionary: bool) -> String {
    let path = temporary(name).to_str().unwrap().to_owned();
    let schema = parse_message_type(&format!("message foreign {{ {schema} }}")).unwrap();
    // Other software hands our keys on, as pyarrow does, with rows that are not ours.
    let stale = KeyValue::new("nandlab.trace.crc32".to_owned(), r#"{"time_ns":1}"#.to_owned());
    let properties = WriterProperties::builder().set_dictionary_enabled(dictionary);
    let properties = properties.set_key_value_metadata(Some(vec![stale])).build();
    let file = std::fs::File::create(&path).unwrap();
    let mut file = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).unwrap();
    let mut group = file.next_row_group().unwrap();
    for values in columns {
        let mut column = group.next_column().unwrap().unwrap();
        match values {
            Values::Long(v, levels) => column.typed::<Int64Type>().write_batch(v, levels.as_deref(), None),
            Values::Int(v) => column.typed::<Int32Type>().write_batch(v, None, None),
            Values::Text(v) => {
                let texts: Vec<ByteArray> = v.iter().map(|text| ByteArray::from(*text)).collect();
                column.typed::<ByteArrayType>().write_batch(&texts, None, None)
            }
        }
        .unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    file.close().unwrap();
    path
}

const SCHEMA: &str = "required int64 more; required int32 length; required binary op (STRING); required int64 offset; \
                      required int64 device; optional int64 time_ns;";

fn columns(time: i64, op: &'static str, length: i32, offset: i64, device: i64) -> Vec<Values> {
    vec![
        Values::Long(vec![0; 2], None),
        Values::Int(vec![512, length]),
        Values::Text(vec!["R", op]),
        Values::Long(vec![0, offset], None),
        Values::Long(vec![0, device], None),
        Values::Long(vec![0, time], Some(vec![1, 1])),
    ]
}

#[test]
fn columns_of_other_order_and_width_are_read() {
    for dictionary in [true, false] {
        let path = foreign("wide.parquet", SCHEMA, &columns(5, "W", 1024, 4096, 3), dictionary);
        let (records, steps, hints) = read(&path).unwrap();
        assert_eq!((steps.len(), hints, records.len()), (0, Extra::NONE, 2));
        let TraceRecord { at, offset, length, device, op, .. } = records[1];
        assert_eq!((at.0, offset, length, device, op), (5, 4096, 1024, 3, HostOp::Write));
    }
}

#[test]
fn absurd_values_are_refused_with_their_row() {
    let cases = [
        (columns(-1, "W", 0, 0, 0), "row 2: time_ns `-1` is negative"),
        (columns(0, "Read", 0, 0, 0), "row 2: op `Re...` is not known"),
        (columns(0, "W", -5, 0, 0), "row 2: length `-5` is negative"),
        (columns(0, "W", i32::MAX, 0, 0), "row 2: length `2147483647` is too large"),
        (columns(0, "W", 0, i64::MAX, 0), "row 2: offset `9223372036854775807` is too large"),
        (columns(0, "W", 0, 0, 1 << 32), "row 2: device `4294967296` is too large"),
    ];
    for (columns, said) in cases {
        let error = read(&foreign("absurd.parquet", SCHEMA, &columns, true)).unwrap_err().to_string();
        assert!(error.contains(said), "{said}: {error}");
    }
}

#[test]
fn other_tables_are_refused_with_the_column() {
    let good = || columns(0, "W", 0, 0, 0);
    let mut empty = good();
    empty[5] = Values::Long(vec![0], Some(vec![1, 0]));
    let stamp = SCHEMA.replace("int64 time_ns", "int64 time_ns (TIMESTAMP(MICROS,true))");
    let cases = [
        (SCHEMA.replace("op (", "kind ("), good(), "no column `op`; its columns are more, length, kind"),
        (stamp, good(), "column `time_ns` holds INT64"),
        (SCHEMA.to_owned(), empty, "column `time_ns` has empty values"),
        (SCHEMA.replace("int64 more", "int64 period"), good(), "some are there and some are not"),
    ];
    for (schema, columns, said) in cases {
        let error = read(&foreign("other.parquet", &schema, &columns, true)).unwrap_err().to_string();
        assert!(error.contains(said), "{said}: {error}");
    }
}

#[test]
fn parquet_that_is_not_read_says_how_to_write_it() {
    let path = foreign("codec.parquet", SCHEMA, &columns(0, "W", 0, 0, 0), true);
    let bytes = std::fs::read(&path).unwrap();
    // The name of the column in its chunk, and the codec behind it.
    let mark = b"\x19\x18\x06offset\x15";
    let at = bytes.windows(mark.len()).position(|window| window == mark).unwrap() + mark.len();
    for (codec, name) in [(4, "GZIP"), (8, "BROTLI"), (10, "LZ4"), (14, "LZ4_RAW")] {
        let mut other = bytes.clone();
        other[at] = codec;
        std::fs::write(&path, other).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("column `offset` is compressed with {name}")), "{error}");
        assert!(error.contains("compression='zstd'") && !error.contains("damaged"), "{error}");
    }
    let mut empty = columns(0, "W", 0, 0, 0);
    empty[5] = Values::Long(vec![0], Some(vec![1, 0]));
    let error = read(&foreign("null.parquet", SCHEMA, &empty, true)).unwrap_err().to_string();
    assert!(error.contains("has empty values (null); fill them") && !error.contains("damaged"), "{error}");
}

#[test]
fn parquet_from_a_stream_is_refused_with_the_way_out() {
    let bytes = std::fs::read(write("stream.parquet", &some(10), &[], false)).unwrap();
    let error = Records::from_reader("pipe", std::io::Cursor::new(bytes), &Options::default()).err().unwrap();
    assert!(matches!(error, TraceError::NeedsFile { .. }) && error.to_string().contains("pipe text"), "{error}");
}

#[test]
fn request_that_no_reader_would_believe_is_not_written() {
    let good = some(1)[0];
    let bad = [
        TraceRecord { device: u32::MAX, ..good },
        TraceRecord { offset: 1 << 63, ..good },
        TraceRecord { length: (1 << 30) + 1, ..good },
    ];
    for (name, bad) in ["bad.csv", "bad.parquet"].into_iter().flat_map(|name| bad.map(|bad| (name, bad))) {
        let mut writer = Writer::create(temporary(name).to_str().unwrap(), &[], Extra::NONE).unwrap();
        writer.write(&good).unwrap();
        let error = writer.write(&bad).unwrap_err().to_string();
        assert!(error.starts_with("request 2: "), "{error}");
    }
}

#[test]
fn file_is_whole_or_absent() {
    for name in ["half.csv", "half.csv.gz", "half.csv.zst", "half.parquet"] {
        let path = temporary(name);
        std::fs::write(&path, "old").unwrap();
        let mut writer = Writer::create(path.to_str().unwrap(), &[], Extra::NONE).unwrap();
        writer.write(&some(1)[0]).unwrap();
        drop(writer);
        assert_eq!(std::fs::read(&path).unwrap(), b"old", "{name}");
    }
    let left = std::fs::read_dir(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_str().unwrap().starts_with(".half")), "{left:?}");
}

/// Found by the fuzzer: a number of more bytes than a number has.
#[test]
fn panic_of_the_library_is_reported_as_damage() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/endless_number.parquet");
    let error = read(path).unwrap_err().to_string();
    assert!(error.contains("endless_number.parquet") && error.contains("its parts contradict each other"), "{error}");
}
