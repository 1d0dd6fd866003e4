//! Does bad input give an error that helps, and never a panic, a hang or a wrong request?
mod common;

use common::{COMPRESSORS, fixture, format, read};
use nandlab::types::Nanos;
use nandlab_trace::{ColumnSpec, LINE_BYTES_MAX, Options, Place, Problem, Trace, TraceError};

/// Format, a good row before, the bad row, the field it must name, what is wrong with it.
type Case = (&'static str, &'static str, &'static str, &'static str, Problem);

const SPC: &str = "0,8,512,w,0";
const MSR: &str = "128200000000000000,lab,0,Write,4096,4096,1";
const LOAD: &str = "start ; sector\n0.5 ; 8 ; 8 ; W ; 0.0 ; 0.0";
const FIVE: &str = "1.5 0 8 8 1";
const NANO: &str = "1000 0 8 8 1";
const MON: &str = "0\t0.5\t0.1\t0\tRead\t8\t8";

const FIU: &str = "5 1 sh 8 8 W 8 0 0123456789abcdef0123456789abcdef";
const BIO: &str = "8\t8\t4096\t1\t1.5\t1.6\t1.7\t1.8";
const PIXEL: &str = "sh-1,8388608,R,8,8,1.5";

const CASES: &[Case] = &[
    ("spc", SPC, "0,8,512,w", "Timestamp", Problem::Missing),
    ("spc", SPC, "0,8", "Size", Problem::Missing),
    ("spc", SPC, "garbage", "ASU", Problem::NotANumber),
    ("spc", SPC, "0,-8,512,w,1", "LBA", Problem::Negative),
    ("spc", SPC, "0,99999999999999999999,512,w,1", "LBA", Problem::TooLarge),
    ("spc", SPC, "0,18014398509481985,512,w,1", "LBA", Problem::TooLarge),
    ("spc", SPC, "4294967295,8,512,w,1", "ASU", Problem::TooLarge),
    ("spc", SPC, "0,8,1073741825,w,1", "Size", Problem::TooLarge),
    ("spc", SPC, "0,8,5.5,w,1", "Size", Problem::NotANumber),
    ("spc", SPC, "0,8,512,x,1", "Opcode", Problem::Unknown),
    ("spc", SPC, "0,8,512,w,NaN", "Timestamp", Problem::NotANumber),
    ("spc", SPC, "0,8,512,w,inf", "Timestamp", Problem::NotANumber),
    ("spc", SPC, "0,8,512,w,-1.5", "Timestamp", Problem::Negative),
    ("spc", SPC, "0,8,512,w,18446744074", "Timestamp", Problem::TooLarge),
    ("spc", SPC, "0;8;512;w;1", "ASU", Problem::NotANumber),
    ("msr", MSR, "128200000000000000,lab,0,Write,4096,4096", "ResponseTime", Problem::Missing),
    ("msr", MSR, "128200000000000000,lab,0,Write,4096,4096,1,2", "row", Problem::Extra),
    ("msr", MSR, "128200000000000000,lab,0,Erase,4096,4096,1", "Type", Problem::Unknown),
    ("msr", MSR, "9999999999999999999,lab,0,Write,4096,4096,1", "Timestamp", Problem::TooLarge),
    ("msr", MSR, "128200000000000000,lab,65535,Write,4096,4096,1", "DiskNumber", Problem::TooLarge),
    ("msr", MSR, "128200000000000000,lab,0,Write,9223372036854775807,4096,1", "Offset", Problem::TooLarge),
    ("msr", MSR, "128200000000000000,lab,0,Write,4096,4294967296,1", "Size", Problem::TooLarge),
    ("msr", MSR, "128200000000000000,lab,0,Write,0x10,4096,1", "Offset", Problem::NotANumber),
    ("msr", MSR, "128200000000000000,lab,0,Write,4096,4096,-1", "ResponseTime", Problem::Negative),
    ("blkreplay", LOAD, "0.5 ; 8 ; 8 ; X ; 0.0 ; 0.0", "op", Problem::Unknown),
    ("blkreplay", LOAD, "0.5 ; 8 ; 2097153 ; W ; 0.0 ; 0.0", "length", Problem::TooLarge),
    ("blkreplay", LOAD, "0.5 ; 8", "length", Problem::Missing),
    ("blkreplay", LOAD, "  junk ; junk", "start", Problem::NotANumber),
    ("blkreplay", LOAD, "0.5 ; 8 ; 8 ; W ; 0.0 ; 0.0 ; 1", "row", Problem::Extra),
    ("blkreplay", "no header here", "0.5 ; 8 ; 8 ; W ; 0.0 ; 0.0", "header", Problem::Missing),
    ("disksim", FIVE, "1.5 0 8 8", "flags", Problem::Missing),
    ("disksim", FIVE, "1.5 0 8 8 1 1", "row", Problem::Extra),
    ("disksim", FIVE, "1.5 0 8 8 g", "flags", Problem::NotANumber),
    ("disksim", FIVE, "1.5 0 8 8 100000000", "flags", Problem::TooLarge),
    ("disksim", FIVE, "1.5 -1 8 8 1", "device", Problem::Negative),
    ("disksim", FIVE, "1,5 0 8 8 1", "time", Problem::NotANumber),
    ("ssdsim", NANO, "1.5 0 8 8 1", "time", Problem::NotANumber),
    ("ssdsim", NANO, "1000 0 8 8 2", "operation", Problem::TooLarge),
    ("mqsim", NANO, "1000 0 8 99999999 1", "size", Problem::TooLarge),
    ("mqsim", NANO, "-1000 0 8 8 1", "time", Problem::Negative),
    ("flashsim", FIVE, "1.5 0 8 262145 1", "size", Problem::TooLarge),
    ("flashsim", FIVE, "1.5 0 8 1 81", "operation", Problem::TooLarge),
    ("heimdall", FIVE, "1.5 0 8 1073741825 1", "size", Problem::TooLarge),
    ("heimdall", FIVE, "1.5 0 nan 512 1", "offset", Problem::NotANumber),
    ("diskmon", MON, "0\t0.5\t0.1\t0\tOpen\t8\t8", "request", Problem::Unknown),
    ("diskmon", MON, "0\t0.5\t0.1\t0\tRead\t8486082789636758048\t8", "sector", Problem::TooLarge),
    ("diskmon", MON, "0\t0.5\t0.1\t0\tRead\t8\t2742488", "length", Problem::TooLarge),
    ("diskmon", MON, "0\t0.5\t0.1\t0\tRead\t8", "length", Problem::Missing),
    ("diskmon", MON, "0\t0.5\t0.1\t0\tRead\t8\t8\t8", "row", Problem::Extra),
    ("fiu", FIU, "5 1 sh 8 8 X 8 0 0123456789abcdef0123456789abcdef", "operation", Problem::Unknown),
    ("fiu", FIU, "5 1 sh 8 8 W 4095 0 0123456789abcdef0123456789abcdef", "major", Problem::TooLarge),
    ("biotracer", BIO, "8\t8\t4096\t1\t1.5\t1.6\t1.7", "t_finish", Problem::Missing),
    ("biotracer", BIO, "8\t8\t4096\t256\t1.5\t1.6\t1.7\t1.8", "type", Problem::TooLarge),
    ("pixel", PIXEL, "sh-1,8388608,Q,8,8,1.5", "rw_flag", Problem::Unknown),
    ("pixel", PIXEL, "sh-1,8388608,R,8,8,soon", "timestamp", Problem::NotANumber),
    ("systor", "1.5,,R,3,512,512", "1.5,,R,3,512", "Size", Problem::Missing),
    ("systor", "1.5,,R,3,512,512", "1.5,,R,-3,512,512", "LUN", Problem::Negative),
    ("alibaba", "7,R,512,512,1000", "7,R,512,512,18446744073709552", "timestamp", Problem::TooLarge),
    ("tencent", "1538323200,8,8,0,1283", "1538323200,8,8,2,1283", "IOType", Problem::TooLarge),
    ("tencent", "1538323200,8,8,0,1283", "1538323200,8,8,0", "VolumeID", Problem::Missing),
    ("lirs", "7", "7 8", "row", Problem::Extra),
    ("lirs", "7", "seven", "block", Problem::NotANumber),
    ("arc", "1 4 0 0", "1 2097153 0 0", "count", Problem::TooLarge),
    ("diskmon", MON, "\u{0}\u{1}\u{7f}\u{80}", "index", Problem::NotANumber),
];

#[test]
fn bad_row_names_its_place_field_and_fault() {
    for &(name, good, bad, field, problem) in CASES {
        let text = format!("{good}\n{bad}\n{good}\n");
        let error = read(text.as_bytes(), &format(name)).expect_err(bad);
        let TraceError::Row { place, row, .. } = &error else { panic!("{bad}: {error}") };
        assert_eq!((row.field, row.problem), (field, problem), "{name} `{bad}`: {error}");
        let lines = if row.field == "header" { 3 } else { good.lines().count() as u64 + 1 };
        assert_eq!(*place, Place::Line(lines), "{bad}: {error}");
        let shown = error.to_string();
        assert!(shown.contains("test: line") && shown.contains("allowed: ") && shown.len() < 400, "{shown}");
        assert!(shown.bytes().all(|b| b.is_ascii_graphic() || b == b' '), "{shown:?}");
    }
    assert!(CASES.len() >= 40);
}

#[test]
fn bad_rows_are_skipped_up_to_the_number_allowed() {
    for &(name, good, bad, field, _) in CASES.iter().filter(|case| case.3 != "header") {
        let text = format!("{good}\n{bad}\n{bad}\n");
        let (requests, report) = read(text.as_bytes(), &Options { skip_bad: Some(2), ..format(name) }).unwrap();
        assert_eq!((requests.len(), report.bad_rows), (1, 2), "{bad}");
        assert!(report.first_bad.unwrap().contains(field), "{bad}");
        let error = read(text.as_bytes(), &Options { skip_bad: Some(1), ..format(name) }).unwrap_err();
        assert!(matches!(error, TraceError::TooManyBad { allowed: 1, .. }), "{error}");
    }
}

#[test]
fn line_without_end_is_refused_in_bounded_memory() {
    let long = "7".repeat(LINE_BYTES_MAX + 1);
    let longer = "7".repeat(20 * LINE_BYTES_MAX);
    for garbage in [&long, &longer] {
        let text = format!("{SPC}\n{garbage}\n{SPC}\n");
        let error = read(text.as_bytes(), &format("spc")).unwrap_err();
        let TraceError::Row { place: Place::Line(2), row, .. } = error else { panic!("{error}") };
        assert_eq!(row.problem, Problem::TooLong);
        let (requests, report) = read(text.as_bytes(), &Options { skip_bad: Some(1), ..format("spc") }).unwrap();
        assert_eq!((requests.len(), report.bad_rows), (2, 1));
    }
    let error = read(longer.as_bytes(), &format("spc")).unwrap_err();
    assert!(matches!(error, TraceError::Row { place: Place::Line(1), .. }), "{error}");
    // As long as allowed.
    let text = format!("0,8,512,w,1,{}", " ".repeat(LINE_BYTES_MAX - 12));
    assert_eq!(read(text.as_bytes(), &format("spc")).unwrap().0.len(), 1);
}

fn many_rows() -> String {
    let rows: Vec<_> = (0..40_000u64).map(|i| format!("0,{},512,w,{}", i * i % 9_999_991, i / 7)).collect();
    rows.join("\n")
}

#[test]
fn truncated_compressed_stream_is_an_error_after_what_was_readable() {
    let text = many_rows();
    for (name, compress) in COMPRESSORS {
        let whole = compress(text.as_bytes());
        for keep in [whole.len() - 1, whole.len() / 2, 12] {
            let error = read(&whole[..keep], &format("spc")).unwrap_err();
            let TraceError::CutOff { compression, .. } = &error else { panic!("{name} {keep}: {error:?}") };
            assert_eq!(*compression, name);
            assert!(error.to_string().contains("get it again"), "{error}");
        }
    }
}

#[test]
fn rows_before_a_cut_are_given() {
    // Less than is looked at to tell the format.
    for (name, compress) in COMPRESSORS {
        let whole = compress(b"0,8,512,w,0\n0,16,512,w,1\n");
        let cut = std::io::Cursor::new(whole[..whole.len() - 1].to_vec());
        let rows: Vec<_> = Trace::from_reader("test", cut, &format("spc")).unwrap().collect();
        assert!(matches!(rows[..], [Ok(_), Ok(_), Err(TraceError::CutOff { .. })]), "{name}: {rows:?}");
    }
}

#[test]
fn what_follows_a_gzip_stream_is_told_from_a_cut() {
    let text = many_rows();
    let gzip = COMPRESSORS.iter().find(|(name, _)| *name == "gzip").expect("gzip is read").1;
    let (half, rest) = text.split_at(text.len() / 2);
    let zeros = [0; 1000];
    let members = [gzip(half.as_bytes()), zeros.to_vec(), gzip(rest.as_bytes()), zeros.to_vec()].concat();
    assert_eq!(read(&members, &format("spc")).unwrap().0.len(), 40_000, "members, and zeros that fill");
    let error = read(&[&members[..], b"what?"].concat(), &format("spc")).unwrap_err().to_string();
    assert!(error.contains("bytes that are no gzip follow its end"), "{error}");
}

#[test]
fn option_that_would_do_nothing_is_refused() {
    let columns = |spec: &str| Options { columns: Some(ColumnSpec::parse(spec).unwrap().into()), ..Options::default() };
    let with_unit = |options: Options| Options { object_unit: Some(512), ..options };
    let objects = read(b"r,7\nr,8\n", &with_unit(columns("op=1,object=2,size=fixed:512"))).unwrap().0;
    assert_eq!(objects.iter().map(|request| request.lba).collect::<Vec<_>>(), [7, 8]);
    for options in [
        format("spc"),
        columns("op=4,offset=2:512,size=3"),
        // Its unit is said there.
        columns("op=4,object=2:512,size=3"),
    ] {
        let error = read(SPC.as_bytes(), &with_unit(options)).unwrap_err();
        assert!(matches!(error, TraceError::NoObjects { .. }) && error.to_string().contains("object_unit"), "{error}");
    }
    let made = |options: Options| Trace::open("make:zipf", &options).map(|_| ()).unwrap_err();
    assert!(matches!(made(with_unit(Options::default())), TraceError::NoObjects { .. }));
    let error = made(columns("op=4,offset=2:512,size=3"));
    assert!(matches!(error, TraceError::Option { option: "columns", .. }), "{error}");
    for (option, options) in [
        ("rebase", Options { rebase: Some(Nanos(0)), ..Options::default() }),
        ("cap_gap", Options { cap_gap: Some(Nanos(0)), ..Options::default() }),
    ] {
        let error = read(SPC.as_bytes(), &options).unwrap_err().to_string();
        assert!(error.contains(option) && error.contains("a time above zero"), "{error}");
    }
}

#[test]
fn damage_inside_a_compressed_stream_is_noticed() {
    let text = many_rows();
    for (name, compress) in COMPRESSORS {
        let mut whole = compress(text.as_bytes());
        let middle = whole.len() / 2;
        for byte in &mut whole[middle..middle + 8] {
            *byte ^= 0x5A;
        }
        assert!(read(&whole, &format("spc")).is_err(), "{name}");
        let trailed = [compress(b"0,8,512,w,0\n"), b"trailing garbage, long enough".to_vec()].concat();
        let error = read(&trailed, &format("spc"));
        assert!(error.is_err(), "{name}: garbage after the stream");
    }
}

#[test]
fn unreadable_input_is_named() {
    let text = |bytes: &[u8]| read(bytes, &Options::default()).unwrap_err().to_string();
    assert!(text(b"PK\x03\x04zipzip").contains("zip archive"));
    assert!(text(b"7z\xBC\xAF\x27\x1C\0\0").contains("7z"));
    assert!(text(b"\x04\x22\x4D\x18lz4lz4").contains("lz4"));
    assert!(text(b"\xFF\xFE0\0,\0").contains("UTF-16"));
    assert!(text(b"").contains("no data"));
    for (name, compress) in COMPRESSORS {
        assert!(text(&compress(b"")).contains("no data"), "{name}");
    }
    let mut tar = vec![0u8; 1024];
    tar[257..262].copy_from_slice(b"ustar");
    assert!(text(&tar).contains("tar archive"));
    let unknown = text(b"once upon a time\nthere was a disk\n");
    assert!(unknown.contains("once upon") && unknown.contains("spc, msr, blkreplay"), "{unknown}");
    let missing = nandlab_trace::open("/nonexistent/trace", &Options::default()).map(|_| ()).unwrap_err();
    assert!(missing.to_string().contains("/nonexistent/trace"), "{missing}");
    assert!(nandlab_trace::open(&fixture(""), &Options::default()).is_err(), "a folder");
}

#[test]
fn binary_trace_is_checked_record_by_record() {
    let mut good = vec![0u8; 32];
    good[4..8].copy_from_slice(&4096u32.to_le_bytes());
    good[12..14].copy_from_slice(&0x28u16.to_le_bytes());
    good[14..16].copy_from_slice(&0x0100u16.to_le_bytes());
    let with = |range: std::ops::Range<usize>, bytes: &[u8]| {
        let mut record = good.clone();
        record[range].copy_from_slice(bytes);
        [good.clone(), record].concat()
    };
    for (bytes, field) in [
        (with(4..8, &u32::MAX.to_le_bytes()), "length"),
        (with(16..24, &u64::MAX.to_le_bytes()), "block"),
        (with(24..32, &u64::MAX.to_le_bytes()), "time"),
        (with(14..16, &[0, 9]), "version"),
        ([good.clone(), good[..31].to_vec()].concat(), "record"),
    ] {
        let error = read(&bytes, &format("vscsi")).unwrap_err();
        let TraceError::Row { place: Place::Byte(32), row, .. } = &error else { panic!("{error}") };
        assert_eq!(row.field, field);
        let (requests, _) = read(&bytes, &Options { skip_bad: Some(1), ..format("vscsi") }).unwrap();
        assert_eq!(requests.len(), 1, "{field}");
    }
}

#[test]
fn broken_header_ends_the_trace_whatever_may_be_skipped() {
    for bytes in [&b"$$TR_IOREC-1.3\nno end"[..], b"$$TR_IOREC-1.3\n\x0cxxxxxxxx", b"hello world\n"] {
        let error = read(bytes, &Options { skip_bad: Some(5), ..format("hpsrt") }).unwrap_err();
        let TraceError::Row { place: Place::Byte(0), row, .. } = &error else { panic!("{error}") };
        assert_eq!(row.field, "header");
    }
}

#[test]
fn trace_ends_after_its_first_error() {
    let mut trace = Trace::from_reader("test", &b"0,8,512,w,0\nbad\n0,8,512,w,0\n"[..], &format("spc")).unwrap();
    assert!(trace.next().unwrap().is_ok());
    assert!(trace.next().unwrap().is_err());
    assert!(trace.next().is_none());
}
