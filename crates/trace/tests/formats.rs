//! Does each format read as its manual says?
mod common;

use common::{COMPRESSORS, drain, fixture, format, plain, read, read_fixture};
use nandlab_trace::{BlockEvent, ColumnSpec, Options, Records, TimeUnit, Trace, Volumes, formats};

#[test]
fn spc_reads_as_specified() {
    let (requests, report) = read_fixture("spc.spc", &Options::default()).unwrap();
    let expected = [
        (0, 'W', 128, 8),
        (1_500_000, 'W', 136, 16),
        (2_000_000, 'R', 4000, 1),
        (2_250_000, 'R', 152, 6), // 3,000 bytes touch six sectors
        (500_000_000, 'R', 8, 2),
    ];
    assert_eq!(plain(&requests), expected);
    assert_eq!((report.records, report.zero_length, report.rounded), (6, 1, 1));
}

#[test]
fn msr_reads_file_times_bytes_and_disorder() {
    let (requests, report) = read_fixture("msr.csv", &Options::default()).unwrap();
    let expected = [(0, 'W', 2048, 8), (700, 'R', 2056, 16), (700, 'R', 1, 3), (1_000_000_000, 'W', 0, 1)];
    assert_eq!(plain(&requests), expected);
    assert_eq!((report.clamped, report.out_of_order, report.rounded, report.other_rows), (1, 1, 1, 1));
    let options = Options { volumes: Volumes::Stack, ..Options::default() };
    let (requests, report) = read_fixture("msr_indexed.csv", &options).unwrap();
    assert_eq!(plain(&requests), [(0, 'W', 8, 8), (100, 'R', 16, 8), (200, 'R', 24 + 16, 8)]);
    assert_eq!(report.devices.iter().map(|d| d.device).collect::<Vec<_>>(), [0, 65_536]);
}

#[test]
fn blkreplay_skips_its_licences_and_nothing_else() {
    let (requests, report) = read_fixture("blkreplay.load", &Options::default()).unwrap();
    assert_eq!(plain(&requests), [(0, 'W', 2048, 8), (10_000, 'R', 2056, 16), (1_000_010_000, 'R', 2056, 16)]);
    assert_eq!((report.bad_rows, report.other_rows), (0, 6));
}

#[test]
fn five_columns_read_in_the_units_of_each_dialect() {
    let merged = Options { volumes: Volumes::Merge, ..Options::default() };
    let (requests, _) = read_fixture("disksim.trace", &merged).unwrap();
    let expected = [(0, 'R', 64, 8), (250_000, 'W', 72, 16), (500_001, 'R', 0, 24), (7_625_000, 'R', 88, 3)];
    assert_eq!(plain(&requests), expected);
    let (requests, _) = read_fixture("ssdsim.ascii", &Options::default()).unwrap();
    assert_eq!(plain(&requests), [(0, 'R', 64, 8), (250_000, 'W', 72, 8), (1_000_000, 'R', 0, 24)]);
    assert_eq!(plain(&read_fixture("ssdsim.ascii", &format("mqsim")).unwrap().0), plain(&requests));
    let flash = read_fixture("disksim_or_flashsim.trace", &format("flashsim")).unwrap().0;
    assert_eq!(plain(&flash), [(0, 'R', 64, 8), (250_000, 'W', 800, 16), (1_000_000, 'R', 72, 8)]);
    let disk = read_fixture("disksim_or_flashsim.trace", &format("disksim")).unwrap().0;
    assert_eq!(plain(&disk), [(0, 'R', 64, 1), (250_000, 'W', 800, 2), (1_000_000, 'R', 72, 1)]);
    let heimdall = read_fixture("heimdall.trace", &Options::default()).unwrap().0;
    assert_eq!(plain(&heimdall)[..2], [(0, 'W', 0, 1), (1_007_000, 'R', 8, 2)]);
}

#[test]
fn diskmon_reads_dirty_logs() {
    let options = Options { skip_bad: Some(2), ..Options::default() };
    let (requests, report) = read_fixture("diskmon.log", &options).unwrap();
    assert_eq!(plain(&requests), [(0, 'W', 64, 8), (0, 'R', 72, 16), (31_250_000, 'R', 9, 1)]);
    assert_eq!(report.bad_rows, 2);
    assert!(report.first_bad.unwrap().starts_with("line 1: sector"));
}

#[test]
fn other_formats_read_as_their_manuals_say() {
    let one = |file: &str| plain(&read_fixture(file, &Options::default()).unwrap().0);
    assert_eq!(one("fiu.blkparse")[..3], [(0, 'W', 800, 8), (500, 'R', 808, 8), (501, 'R', 96, 8)]);
    assert_eq!(one("biotracer.txt"), [(0, 'W', 800, 8), (0, 'R', 96, 9), (1_000_000_000, 'R', 104, 8)]);
    let s = 1_000_000_000;
    assert_eq!(one("pixel.csv"), [(0, 'W', 800, 8), (500, 'R', 96, 16), (s, 'T', 800, 8), (2 * s, 'T', 4096, 2048)]);
    assert_eq!(one("systor.csv"), [(0, 'W', 8, 8), (s / 4, 'R', 1, 2)]);
    assert_eq!(one("alibaba.csv"), [(0, 'W', 8, 8), (50_000, 'R', 1, 2)]);
    assert_eq!(one("tencent.csv"), [(0, 'W', 800, 8), (s, 'R', 96, 16)]);
    assert_eq!(one("lirs.trc"), [(0, 'R', 40, 8), (0, 'R', 56, 8), (0, 'R', 40, 8)]);
    assert_eq!(one("arc.lis"), [(0, 'R', 100, 4), (0, 'R', 8, 1)]);
    let (_, report) = read_fixture("fiu.blkparse", &Options::default()).unwrap();
    assert_eq!((report.other_rows, report.devices[0].device), (2, 8 << 20 | 1));
}

/// A record of vscsi, version 1 or 2.
fn vscsi(version: u16, command: u16, length: u32, block: u64, us: u64) -> Vec<u8> {
    let mut r = Vec::new();
    if version == 1 {
        for n in [1u32, length, 1] {
            r.extend(n.to_le_bytes());
        }
        r.extend(command.to_le_bytes());
        r.extend((version << 8).to_le_bytes());
    } else {
        r.extend(command.to_le_bytes());
        r.extend((version << 8).to_le_bytes());
        for n in [1u32, length, 1] {
            r.extend(n.to_le_bytes());
        }
    }
    for n in [block, us] {
        r.extend(n.to_le_bytes());
    }
    if version == 2 {
        r.extend(7u64.to_le_bytes());
    }
    r
}

#[test]
fn vscsi_reads_both_versions() {
    for version in [1, 2] {
        let mut bytes = vscsi(version, 0x2A, 4096, 64, 1_000);
        bytes.extend(vscsi(version, 0x12, 36, 0, 1_001)); // INQUIRY
        bytes.extend(vscsi(version, 0x88, 512, 70, 1_500));
        bytes.extend(vscsi(version, 0x35, 0, 0, 1_501));
        let (requests, report) = read(&bytes, &Options::default()).unwrap();
        assert_eq!(plain(&requests), [(0, 'W', 64, 8), (500_000, 'R', 70, 1), (501_000, 'F', 0, 0)], "{version}");
        assert_eq!(report.other_rows, 1);
    }
}

#[test]
fn blkparse_reads_one_event_of_each_request() {
    let requests = |event| {
        let options = Options { event, ..Options::default() };
        let (requests, report) = read_fixture("blkparse.txt", &options).unwrap();
        (plain(&requests), report)
    };
    let (issued, report) = requests(None);
    // The second output starts over at 0 seconds.
    let expected = [(0, 'W', 2048, 8), (0, 'R', 64, 16), (0, 'F', 0, 0), (100, 'T', 4096, 2048), (300, 'W', 128, 8)];
    assert_eq!(issued, expected);
    assert_eq!((report.other_rows, report.out_of_order, report.clamped), (15, 1, 2));
    assert_eq!(report.devices[0].device, 8 << 20 | 16);
    for event in [BlockEvent::Queue, BlockEvent::Get, BlockEvent::Insert, BlockEvent::Complete] {
        assert_eq!(requests(Some(event)).0, [(0, 'W', 2048, 8)], "{event:?}");
    }
    let trace = nandlab_trace::open(&fixture("blkparse.txt"), &Options::default()).unwrap();
    assert!(
        trace.records().reason().ends_with("its events D (issued to the driver) are read"),
        "{}",
        trace.records().reason()
    );
}

#[test]
fn event_that_is_missing_or_has_no_meaning_is_an_error() {
    let issued_only = b"  8,0 1 1 0.5 7 D R 8 + 8 [a]\n  8,0 1 2 0.6 7 C R 8 + 8 [0]\n";
    let queued = Options { event: Some(BlockEvent::Queue), ..Options::default() };
    let error = read(issued_only, &queued).unwrap_err().to_string();
    assert!(error.contains("no event Q") && error.contains("D (1), C (1)"), "{error}");
    let error = read_fixture("spc.spc", &queued).unwrap_err().to_string();
    assert!(error.contains("spc.spc") && error.contains("only blkparse and blktrace"), "{error}");
    assert!(BlockEvent::parse("X").unwrap_err().to_string().contains("Q (queued)"));
    assert_eq!(BlockEvent::ALL.map(|event| BlockEvent::parse(&event.letter().to_string()).unwrap()), BlockEvent::ALL);
}

/// A record of blktrace with some data after it.
fn blktrace(big: bool, ns: u64, sector: u64, bytes: u32, action: u32) -> Vec<u8> {
    let (mut r, data) = (Vec::new(), 5u16);
    let wide = |n: u64| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let word = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    r.extend([0x6561_7407, 1].map(word).as_flattened());
    r.extend([ns, sector].map(wide).as_flattened());
    r.extend([bytes, action, 7, 8 << 20 | 3, 0].map(word).as_flattened());
    let half = |n: u16| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    r.extend([0, data].map(half).as_flattened());
    r.extend(b"names");
    r
}

#[test]
fn blktrace_reads_both_byte_orders_and_resynchronises() {
    for big in [false, true] {
        let mut bytes = blktrace(big, 5, 0, 0, 0x400 << 16 | 1); // a note with the clock
        bytes.extend(blktrace(big, 10, 8, 4096, 0x102 << 16 | 1));
        bytes.extend(blktrace(big, 30, 8, 4096, 0x142 << 16 | 7));
        bytes.extend(b"garbage of an odd length, longer than one record, to be passed over");
        bytes.extend(blktrace(big, 40, 0, 0, 0x145 << 16 | 7));
        bytes.extend(blktrace(big, 50, 64, 65_536, 0x214a << 16 | 7));
        bytes.extend(blktrace(big, 60, 16, 512, 0x341 << 16 | 7)); // a packet command
        bytes.extend(blktrace(big, 70, 16, 512, 0x141 << 16 | 0x107));
        let error = read(&bytes, &Options::default()).unwrap_err().to_string();
        assert!(error.contains("byte 159: magic"), "{error}");
        let (requests, report) = read(&bytes, &Options { skip_bad: Some(1), ..Options::default() }).unwrap();
        let expected = [(0, 'W', 8, 8), (10, 'F', 0, 0), (20, 'T', 64, 128), (40, 'R', 16, 1)];
        assert_eq!(plain(&requests), expected, "big-endian: {big}");
        assert_eq!((report.bad_rows, report.other_rows), (1, 3));
        let cut = read(&bytes[..bytes.len() - 2], &Options { skip_bad: Some(1), ..Options::default() });
        assert!(cut.unwrap_err().to_string().contains("data of the record is cut off"));
    }
}

/// A record of an SRT trace.
fn srt(version: u32, kind: u32, micros: u32, length: u32, sector: u32, flags: u32) -> Vec<u8> {
    let mut words = vec![version << 16 | kind, 2, micros, 5, 9, length, sector, 0x0107, 4, 0, flags, 0];
    words.extend((version == 4).then_some(3));
    words.extend((kind == 4).then_some(1));
    words.insert(0, 4 * (words.len() as u32 + 1));
    words.into_iter().flat_map(u32::to_be_bytes).collect()
}

#[test]
fn hpsrt_reads_its_header_and_all_versions() {
    let header = b"$$TR_IOREC-1.3\n disks = {\n  sectorsize\t= 256,\n  sectorsize = 256;\n}\n\x0c";
    let records = [srt(4, 1, 0, 4096, 8, 1), srt(4, 4, 1, 512, 8, 1), srt(1, 1, 7, 1024, 3, 0x100)].concat();
    let (requests, report) = read(&[&header[..], &records].concat(), &Options::default()).unwrap();
    assert_eq!(plain(&requests), [(0, 'R', 4, 8), (7_000, 'W', 1, 3)]);
    assert_eq!((report.other_rows, report.rounded, report.devices[0].device), (1, 1, 1));
    let fails = |bytes: &[u8]| read(bytes, &Options::default()).unwrap_err().to_string();
    assert!(fails(&[&header[..], &records[..60]].concat()).contains("record is cut off"));
    assert!(fails(&[&header[..], &[0, 0, 0, 99, 0, 1, 0, 1]].concat()).contains("record size `99`"));
    assert!(fails(b"$$TR_IOREC-1.3\n\x0cxxxxxxxx").contains("header is missing (allowed: `sectorsize"));
    assert!(fails(b"$$TR_IOREC-1.3\nsectorsize = 256\nsectorsize = 512\n\x0c").contains("header `512`"));
    assert!(fails(b"$$TR_IOREC-1.3\nno end").contains("form feed"));
}

#[test]
fn windows_and_fio_logs_read_as_their_manuals_say() {
    let one = |file: &str| plain(&read_fixture(file, &Options::default()).unwrap().0);
    assert_eq!(one("wpa.csv"), [(0, 'W', 2048, 8), (100, 'F', 0, 0), (999_999_999_900, 'R', 1, 2048)]);
    assert_eq!(
        one("fio_v2.iolog"),
        [(0, 'W', 8, 16), (250_000, 'R', 1, 1), (1_250_000, 'T', 16, 8), (1_250_000, 'F', 0, 0)]
    );
    assert_eq!(one("fio_v3.iolog"), [(0, 'W', 8, 8), (1_000_000, 'F', 0, 0), (1_500_000, 'R', 0, 1)]);
    assert_eq!(one("xperf.csv"), [(0, 'R', 8, 16), (50_000, 'W', 1, 1), (150_000, 'F', 0, 0)]);
    let latencies = |file: &str| {
        let records = Records::open(&fixture(file), &Options::default()).unwrap();
        records.map(|record| record.unwrap().latency_ns).collect::<Vec<_>>()
    };
    assert_eq!(latencies("wpa.csv"), [99_999_900, 218_787_500, 100_000_000]);
    assert_eq!(latencies("xperf.csv"), [250_000, 50_000, 90_000]);
    let fails = |text: &str| read(text.as_bytes(), &Options::default()).unwrap_err().to_string();
    let wpa = "IO Type;Init Time (s);Size (B);Min Offset\n";
    assert!(fails(&format!("{wpa}Read;1,5;x;0x0\n")).contains("line 2: Size (B) `x` is not a number"));
    assert!(fails(&format!("{wpa}Read;1,5\n")).contains("Size (B) is missing"));
    assert!(fails(&format!("{wpa}Sync;1,5;512;0x0\n")).contains("IO Type `Sync`"));
    let blank = "IO Type;Init Time (s);Complete Time (s);Size (B);Min Offset\nRead;1,5;;512;0x0\n";
    assert_eq!(read(blank.as_bytes(), &Options::default()).unwrap().0.len(), 1, "a latency that was not recorded");
    assert!(fails("time_us,op,offset,size,latency_us\n0,R,0,512,9\n1,R,0,512,-\n").contains("line 3: latency `-`"));
    assert!(fails("fio version 3 iolog\n1 a wait 5\n").contains("action `wait` is not known"));
    assert!(fails("fio version 2 iolog\na jump 1 2\n").contains("action `jump`"));
    assert!(fails("BeginHeader\nDiskRead, TimeStamp\nEndHeader\n").contains("DiskNum `DiskRead, TimeStamp`"));
    assert!(fails("BeginHeader\nEndHeader\nDiskRead, 5, 6\n").contains("event `DiskRead` is not known"));
    assert!(fails("BeginHeader\nDiskRead\n").contains("line 2: TimeStamp"));
}

#[test]
fn compression_is_found_by_content_even_in_several_parts() {
    let plain_text = std::fs::read(fixture("spc.spc")).unwrap();
    let expected = read(&plain_text, &Options::default()).unwrap();
    let (first, second) = plain_text.split_at(50);
    for (name, compress) in COMPRESSORS {
        assert_eq!(read(&compress(&plain_text), &Options::default()).unwrap(), expected, "{name}");
        let parts = [compress(first), compress(second)].concat();
        assert_eq!(read(&parts, &Options::default()).unwrap(), expected, "{name} in two parts");
    }
}

#[test]
fn every_format_has_a_manual_with_units_and_source() {
    let mut names: Vec<_> = formats().iter().map(|f| f.name).collect();
    for f in formats() {
        assert!(f.manual.contains("Source: "), "{}", f.name);
        assert!(f.manual.lines().count() >= 5 && !f.title.is_empty() && !f.extensions.is_empty(), "{}", f.name);
        assert!(["seconds", "units of 100 ns"].iter().any(|u| f.manual.contains(u)), "{}: no unit of time", f.name);
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), formats().len());
}

#[test]
fn progress_reaches_the_size_of_the_file() {
    let mut trace = nandlab_trace::open(&fixture("msr.csv"), &Options::default()).unwrap();
    assert_eq!(trace.by_ref().map(Result::unwrap).count(), 4);
    assert_eq!(Some(trace.records().bytes_read()), trace.records().bytes_total());
    let path = fixture("msr.csv");
    let piped = nandlab_trace::Trace::from_reader("pipe", std::fs::File::open(path).unwrap(), &Options::default());
    assert_eq!(piped.unwrap().records().bytes_total(), None);
}

#[test]
fn line_ends_and_a_missing_last_newline_change_nothing() {
    let unix = "\u{FEFF}0,8,512,w,0\n\n0,9,512,r,1\n";
    for text in [unix.to_owned(), unix.replace('\n', "\r\n"), unix.trim_end().to_owned()] {
        let (requests, report) = read(text.as_bytes(), &Options::default()).unwrap();
        assert_eq!(plain(&requests), [(0, 'W', 8, 1), (1_000_000_000, 'R', 9, 1)], "{text:?}");
        assert_eq!(report.other_rows, 1);
    }
}

#[test]
fn tiny_reads_give_the_same_as_large_ones() {
    struct Drip(std::io::Cursor<Vec<u8>>);
    impl std::io::Read for Drip {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let n = out.len().min(3);
            std::io::Read::read(&mut self.0, &mut out[..n])
        }
    }
    let text = "0,8,512,w,0\n0,99,1024,r,1.25\n".repeat(9_000);
    let expected = read(text.as_bytes(), &Options::default()).unwrap();
    for (name, compress) in COMPRESSORS {
        let drip = Drip(std::io::Cursor::new(compress(text.as_bytes())));
        let trace = nandlab_trace::Trace::from_reader(name, drip, &Options::default()).unwrap();
        assert_eq!(drain(trace).unwrap(), expected, "{name}");
    }
}

#[test]
fn rows_that_leave_the_operation_blank_are_counted() {
    let (requests, report) = read_fixture("systor_blank.csv", &Options::default()).unwrap();
    assert_eq!(plain(&requests), [(0, 'R', 256, 256), (1_000_000, 'W', 8, 16)]);
    assert_eq!((report.blank_rows, report.other_rows), (2, 1));
    // Only blanks at the beginning, and no header.
    let text = b"1.5,,,3,512,512\n1.6,,,3,512,512\n1.7,0.1,R,3,512,512\n";
    let records: Vec<_> = nandlab_trace::Records::from_reader("test", &text[..], &Options::default())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!((records.len(), records[0].latency_ns), (1, 100_000_000));
}

#[test]
fn comments_of_mqsim_are_no_rows() {
    let text = b"// a header\n1000 0 8 8 1\n  // nothing\n4000 0 16 8 0 // a write\n9000 0 16 8 0//\n";
    let (requests, report) = read(text, &Options::default()).unwrap();
    assert_eq!(plain(&requests), [(0, 'R', 8, 8), (3_000, 'W', 16, 8), (8_000, 'W', 16, 8)]);
    assert_eq!(report.other_rows, 2);
    assert!(read(b"1000 0 8 8 1 / 2\n", &format("mqsim")).is_err());
}

#[test]
fn one_device_is_not_several() {
    let text = b"1.5 3 8 8 1\n2.5 3 16 8 0\n";
    let trace = Trace::from_reader("test", &text[..], &Options::default()).unwrap();
    assert_eq!(trace.records().format(), "disksim");
    assert!(
        trace.records().reason().contains("its device is not 0") && !trace.records().reason().contains("several"),
        "{}",
        trace.records().reason()
    );
    let several = Trace::from_reader("test", &b"1.5 3 8 8 1\n2.5 4 16 8 0\n"[..], &Options::default()).unwrap();
    assert!(several.records().reason().contains("several devices"));
}

#[test]
fn times_are_read_in_the_unit_that_is_named() {
    let unit = |format: &str, text: &str, unit| {
        let options = Options { time_unit: Some(unit), ..common::format(format) };
        read(text.as_bytes(), &options).map(|(requests, _)| requests[1].at.0)
    };
    for format in ["disksim", "flashsim", "heimdall", "ssdsim", "mqsim"] {
        for named in TimeUnit::ALL {
            assert_eq!(unit(format, "0 0 8 8 1\n3 0 512 512 0\n", named).unwrap(), 3 * named.nanoseconds(), "{format}");
        }
    }
    assert_eq!(unit("disksim", "0 0 8 8 1\n1.123456789 0 8 8 0\n", TimeUnit::Seconds).unwrap(), 1_123_456_789);
    let beyond = unit("mqsim", "0 0 8 8 1\n18446744074 0 8 8 0\n", TimeUnit::Seconds).unwrap_err().to_string();
    assert!(beyond.contains("too large") && beyond.contains("seconds, 0 to 18446744073"), "{beyond}");
    let fixed = unit("spc", "0,8,512,w,0\n0,8,512,w,1\n", TimeUnit::Seconds).unwrap_err().to_string();
    assert!(fixed.contains("the times of spc is fixed"), "{fixed}");
}

#[test]
fn objects_become_ranges_of_pages_or_addresses() {
    let (requests, _) = read_fixture("five.oracleGeneral", &Options::default()).unwrap();
    let s = 1_000_000_000;
    let ranges = [(0, 'R', 0, 8), (0, 'R', 8, 20), (s, 'R', 32, 1), (2 * s, 'R', 0, 8), (4 * s, 'R', 8, 1)];
    assert_eq!(plain(&requests), ranges);
    let options = Options { object_unit: Some(512), ..Options::default() };
    let (requests, _) = read_fixture("five.oracleGeneral", &options).unwrap();
    assert_eq!(plain(&requests)[..2], [(0, 'R', 9, 8), (0, 'R', 4, 20)]);
    let bytes = std::fs::read(fixture("five.oracleGeneral")).unwrap();
    let zstd = COMPRESSORS[1].1(&bytes);
    assert_eq!(plain(&read(&zstd, &Options::default()).unwrap().0), ranges);
}

#[test]
fn named_columns_are_read_as_they_are_named() {
    let columns = |spec: &str, text: &str| {
        let spec = ColumnSpec::parse(spec).unwrap();
        read(text.as_bytes(), &Options { columns: Some(spec.into()), ..Options::default() })
    };
    let text = "x 5 q W 2 1\nx 7 q read 0x10 2\nx 9 q D 5 1\nx 9 q flush - -\n";
    let (requests, _) = columns("time=2:us,op=4,offset=5:512,size=6:4KiB", &text[..text.len() - 16]).unwrap();
    assert_eq!(plain(&requests), [(0, 'W', 2, 8), (2_000, 'R', 16, 16), (4_000, 'T', 5, 8)]);
    let bits = columns("op=1:w=1,offset=2,size=fixed:512", "1,512\n0,1024\n").unwrap().0;
    assert_eq!(plain(&bits), [(0, 'W', 1, 1), (0, 'R', 2, 1)]);
    let words = columns("op=1:r=load:w=store,offset=2,size=3,sep=|", "load|0|512\nSTORE|512|512\n").unwrap().0;
    assert_eq!(plain(&words), [(0, 'R', 0, 1), (0, 'W', 1, 1)]);
    for (spec, text, part) in [
        ("op=1,offset=2,size=3", "R,0,512\n1,0,512\n", "op=N:w=1"),
        ("op=1,offset=2,size=3", "R,0,512\nR,0\n", "3 columns; here are 2"),
        ("op=1,offset=2,size=3", "R,0,512\nR,x,512\n", "offset `x` is not a number"),
        ("op=1,offset=2:1GiB,size=3", "R,0,512\nR,9999999999999,512\n", "too large"),
        ("op=1,offset=2,size=3", "R,0,512\nR,0,1073741825\n", "too large"),
        ("time=1:date,op=2,offset=3,size=4", "2024-05-01 10:00:00,R,0,512\nnoon,R,0,512\n", "a date such as"),
    ] {
        let error = columns(spec, text).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains(part), "{text}: {error}");
    }
}
