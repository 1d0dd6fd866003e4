//! Delimited text: what its header and `--columns` say holds, and what they do not say is assumed aloud.
mod common;

use std::fmt::Write as _;
use std::io::Cursor;

use nandlab::types::HostOp;
use nandlab_trace::{ColumnSpec, Options, Records, TraceRecord};

/// The rows of a text.
fn opened(text: &str, options: &Options) -> Records {
    Records::from_reader("test", Cursor::new(text.to_owned().into_bytes()), options)
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// (offset, length) of the rows of a text with a header, and what was assumed.
fn ranges(header: &str, rows: &[&str]) -> (Vec<(u64, u32)>, Option<String>) {
    let mut text = format!("{header}\n");
    for at in 0..24 {
        writeln!(text, "{at},{}", rows[at % rows.len()]).unwrap();
    }
    let records = opened(&text, &Options::default());
    assert_eq!(records.format(), "columns", "{header}");
    let assumed = records.assumed().map(str::to_owned);
    let found: Vec<_> = records.map(Result::unwrap).map(|record| (record.offset, record.length)).collect();
    (found[..rows.len()].to_vec(), assumed)
}

/// The rows that `--columns` reads, or the error.
fn columns(spec: &str, text: &str) -> Result<Vec<TraceRecord>, String> {
    let spec = ColumnSpec::parse(spec).unwrap();
    let options = Options { columns: Some(spec.into()), ..Options::default() };
    opened(text, &options).collect::<Result<_, _>>().map_err(|error| error.to_string())
}

#[test]
fn header_that_tells_units_is_believed() {
    let rows = ["R,4096,8", "W,8,16", "R,24,24"];
    let (bytes, assumed) = ranges("time_s,op,offset_bytes,size_bytes", &rows);
    assert_eq!((bytes, assumed), (vec![(4096, 8), (8, 16), (24, 24)], None));
    assert_eq!(ranges("time_s,op,byte_offset,bytes", &rows).0, [(4096, 8), (8, 16), (24, 24)]);
    assert_eq!(ranges("time_s,op,lba,bytes", &rows).0, [(4096 * 512, 8), (8 * 512, 16), (24 * 512, 24)]);
    assert_eq!(ranges("time_s,op,offset_bytes,sectors", &rows).0, [(4096, 8 * 512), (8, 16 * 512), (24, 24 * 512)]);
}

#[test]
fn unit_of_sizes_that_is_assumed_is_said() {
    let rows = ["R,4096,8", "W,8,16", "R,24,24"];
    let sectors = vec![(4096 * 512, 8 * 512), (8 * 512, 16 * 512), (24 * 512, 24 * 512)];
    for header in ["time_s,op,offset,size", "time_s,op,lba,size"] {
        let (found, assumed) = ranges(header, &rows);
        assert_eq!(found, sectors, "{header}");
        assert!(assumed.unwrap().contains("taken for sectors of 512 bytes"), "{header}");
    }
    // A unit that is told stays, whatever is assumed of the other.
    let (found, assumed) = ranges("time_s,op,offset_bytes,size", &rows);
    assert_eq!(found, [(4096, 8 * 512), (8, 16 * 512), (24, 24 * 512)]);
    assert!(assumed.is_some());
    // Pages; whole pages in sectors; sizes in bytes.
    let (pages, assumed) = ranges("time_s,op,lpn,size", &["R,7,1", "W,9,2"]);
    assert_eq!(pages, [(7 * 4096, 4096), (9 * 4096, 8192)]);
    assert!(assumed.unwrap().contains("taken for pages of 4096 bytes"));
    assert_eq!(ranges("time_s,op,page,size", &["R,7,8", "W,9,16"]).0, [(7 * 4096, 4096), (9 * 4096, 8192)]);
    assert_eq!(
        ranges("time_s,op,page,size", &["R,7,512", "W,9,4096"]),
        (vec![(7 * 4096, 512), (9 * 4096, 4096)], None)
    );
}

#[test]
fn sizes_of_cached_objects_are_bytes_however_small() {
    for size in ["size", "value_size"] {
        let (found, assumed) = ranges(&format!("ts,obj_id,{size}"), &["5,50", "6,77"]);
        assert_eq!((found, assumed), (vec![(0, 50), (4096, 77)], None), "{size}");
    }
}

#[test]
fn fractions_of_units_are_exact_or_refused() {
    let lengths =
        |spec: &str, text: &str| columns(spec, text).map(|rows| rows.iter().map(|row| row.length).collect::<Vec<_>>());
    let spec = "op=1,offset=2,size=3:1024";
    assert_eq!(
        lengths(spec, "R,0,0.5\nR,0,4.5\nR,0,4.0\nR,0,1e1\nR,0,25e-2\n"),
        Ok(vec![512, 4608, 4096, 10_240, 256])
    );
    assert_eq!(lengths("op=1,offset=2,size=3", "R,0,512.0\nR,0,512 B\nR,0,5.12e2\n"), Ok(vec![512, 512, 512]));
    assert_eq!(ranges("time_s,op,lba,size_kb", &["R,1.5,0.5"]).0, [(768, 512)]);
    for (spec, field, said) in [
        (spec, "0.3", "no whole number of bytes"),
        ("op=1,offset=2,size=3", "512.5", "no whole number of bytes"),
        (spec, "0.33333333333333333333333333333333333333333333", "no whole number of bytes"),
        (spec, "4 KB", "is not a number"),
        (spec, "4 B", "is not a number"),
        (spec, "1e9", "is too large"),
        (spec, "-0.5", "is negative"),
    ] {
        let error = lengths(spec, &format!("R,0,512\nR,0,{field}\n")).unwrap_err();
        assert!(error.contains("line 2: size") && error.contains(said), "{field}: {error}");
    }
}

#[test]
fn date_is_read_to_its_end_or_refused() {
    let spec = "time=1:date,op=2,offset=3,size=4";
    let seconds = |rows: &str| columns(spec, rows).map(|rows| (rows[1].at.0 - rows[0].at.0) / 1_000_000_000);
    assert_eq!(seconds("2016-02-22 01:00:00 AM,R,0,512\n2016-02-22 01:00:00 PM,R,0,512\n"), Ok(43_200));
    assert_eq!(seconds("2016-02-22 10:00:00 +0200,R,0,512\n2016-02-22T10:00:00+01:00,R,0,512\n"), Ok(3_600));
    for date in ["2016-02-31 10:00:00", "2016-02-22 10:00:00 CET", "2016-02-22 13:00:00 PM"] {
        let error = seconds(&format!("2016-02-22 10:00:00,R,0,512\n{date},R,0,512\n")).unwrap_err();
        assert!(error.contains("line 2") && error.contains("AM, PM, Z, UTC or an offset"), "{date}: {error}");
    }
}

#[test]
fn third_number_of_an_operation_is_refused() {
    let ops = |text: &str| columns("op=1:w=1,offset=2,size=3", text);
    let kinds: Vec<_> = ops("2,0,512\n1,0,512\n01,0,512\n2,0,512\n").unwrap().iter().map(|row| row.op).collect();
    assert_eq!(kinds, [HostOp::Read, HostOp::Write, HostOp::Write, HostOp::Read]);
    let error = ops("0,0,512\n1,0,512\n2,0,512\n").unwrap_err();
    assert!(error.contains("line 3: op `2` is not known") && error.contains("1 and 0; say what each"), "{error}");
    assert!(columns("op=1:w=1:r=0:d=2,offset=2,size=3", "0,0,512\n1,0,512\n2,0,512\n").is_ok());
}

#[test]
fn latency_without_a_unit_is_in_microseconds_next_to_dates() {
    let text = "date,op,offset,size,latency\n".to_owned() + &"2016-02-22 10:00:00,R,4096,4096,80\n".repeat(3);
    let latencies: Vec<_> = opened(&text, &Options::default())
        .map(|row| row.map(|row| row.latency_ns).map_err(|error| error.to_string()))
        .collect();
    assert_eq!(latencies, vec![Ok(80_000); 3]);
}

#[test]
fn flush_needs_neither_an_offset_nor_a_size() {
    for row in ["F,,", "F,-,-", "F,,512", "F,0,"] {
        let rows = columns("op=1,offset=2,size=3", &format!("R,0,512\n{row}\n")).unwrap();
        assert_eq!((rows[1].op, rows[1].offset, rows[1].length), (HostOp::Flush, 0, 0), "{row}");
    }
}

#[test]
fn header_holds_where_a_row_has_no_address() {
    let row = |i| format!("{i},R,{},4096\n", if i == 30 { -1 } else { i * 8 });
    let text = "time_us,op,lba,size_bytes\n".to_owned() + &(0..60).map(row).collect::<String>();
    let error = opened(&text, &Options::default()).find_map(Result::err).unwrap().to_string();
    assert!(error.contains("line 32: offset `-1` is negative"), "{error}");
    let options = Options { skip_bad: Some(1), ..Options::default() };
    assert_eq!(opened(&text, &options).map(Result::unwrap).count(), 59);
}

#[test]
fn object_unit_of_nothing_is_refused() {
    let options = Options { object_unit: Some(0), ..Options::default() };
    let text = "ts,obj_id,size\n1,5,50\n2,6,50\n";
    let error = Records::from_reader("test", Cursor::new(text), &options).err().unwrap().to_string();
    assert!(error.contains("object_unit = 0: allowed is 1 byte or more"), "{error}");
}
