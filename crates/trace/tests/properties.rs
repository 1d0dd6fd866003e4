//! Does anything at all that is fed to a reader end in requests or in an error?
mod common;

use std::fmt::Write;

use common::{COMPRESSORS, format, read};
use nandlab_trace::{AddressPolicy, ColumnSpec, Options, Records, TraceError, Volumes, formats};
use proptest::prelude::*;

fn all_formats(bytes: &[u8]) {
    // Large units: as a binary format, arbitrary bytes ask for gigabytes a request, and each unit is remembered.
    let policies = [
        (Volumes::Merge, AddressPolicy::Modulo),
        (Volumes::Stack, AddressPolicy::Compact { unit_sectors: 1 << 20 }),
        (Volumes::Reject, AddressPolicy::Reject),
    ];
    for info in formats() {
        for (volumes, address) in policies {
            let options = Options {
                volumes,
                address,
                capacity_sectors: Some(1 << 40),
                skip_bad: Some(1_000),
                limit: Some(1_000),
                ..format(info.name)
            };
            if let Ok((requests, report)) = read(bytes, &options) {
                assert_eq!(requests.iter().filter(|r| !r.more).count() as u64, report.requests);
                assert!(requests.iter().all(|r| r.lba + u64::from(r.sectors) <= 1 << 40));
                assert!(requests.windows(2).all(|pair| pair[0].at <= pair[1].at));
            }
        }
    }
    for spec in
        ["time=1:us,op=4,offset=2:512,size=3", "time=2:date,op=1:w=1,object=3,size=2,device=4,latency=1:s,sep=;"]
    {
        let spec = ColumnSpec::parse(spec).unwrap();
        let options =
            Options { columns: Some(spec.into()), skip_bad: Some(1_000), limit: Some(1_000), ..Options::default() };
        let _ended = read(bytes, &Options { volumes: Volumes::Merge, ..options });
    }
    if let Ok((_, report)) = read(bytes, &Options { volumes: Volumes::Merge, ..Options::default() }) {
        assert_eq!(report.bad_rows, 0);
    }
}

/// The corpus of the fuzzer and the inputs it has found something with: as they are, cut off, and with a byte changed.
#[test]
fn every_fixture_reads_in_every_format_without_a_panic() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 25, "the fixtures are gone");
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        all_formats(&bytes);
        for part in 1..4 {
            let at = bytes.len() * part / 4;
            all_formats(&bytes[..at]);
            let mut changed = bytes.clone();
            changed[at] ^= 0x11 << part;
            all_formats(&changed);
        }
    }
}

/// The lowest bit of every byte changed (in the index it is the sign of numbers), and the file cut off.
#[test]
fn parquet_file_with_a_changed_bit_ends_in_requests_or_an_error() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("damaged");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("t.parquet").into_os_string().into_string().unwrap();
    let options = Options { skip_bad: Some(1_000), ..format("parquet") };
    let rows = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let records = Records::open(&path, &options);
        records.map_or(0, |records| records.map_while(Result::ok).take(100_000).count())
    };
    assert_eq!(rows(&std::fs::read(common::fixture("hints.parquet")).unwrap()), 40);
    let bytes = std::fs::read(common::fixture("requests.parquet")).unwrap();
    assert_eq!(rows(&bytes), 40);
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(rows(&changed) <= 100, "byte {at}");
        if at % 7 == 0 {
            assert_eq!(rows(&bytes[..at]), 0, "cut at {at}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        all_formats(&bytes);
    }

    /// Bytes that traces are made of reach further into the parsers.
    #[test]
    fn near_traces_never_panic(text in "([0-9.,;RWrw \t\n+e-]{0,60}(Read|Write|start ;|,|\n|[0-9]{17,22})){0,12}") {
        all_formats(text.as_bytes());
    }

    #[test]
    fn damaged_compressed_streams_never_panic(at in any::<prop::sample::Index>(), flip in 1u8..) {
        for (_, compress) in COMPRESSORS {
            let mut stream = compress(&b"0,8,512,w,0\n".repeat(50));
            let at = at.index(stream.len());
            stream[at] ^= flip;
            let _ended = read(&stream, &Options { limit: Some(1_000), ..format("spc") });
        }
    }

    #[test]
    fn rows_written_in_each_format_read_back(
        rows in proptest::collection::vec((0u64..4_000_000, 0u64..1 << 40, 1u64..2048, any::<bool>()), 1..40),
        device in 0u32..60_000,
    ) {
        let mut time = 0;
        let mut expected = Vec::new();
        let mut texts = vec![String::new(); 8];
        texts[2].push_str("licence\nstart ; sector\n");
        for (gap, lba, sectors, read) in rows {
            time += gap * 1_000; // whole microseconds, which all formats but MSR (100 ns) print exactly
            expected.push((time, if read { 'R' } else { 'W' }, lba, sectors as u32));
            let (s, ms) = (1_000_000_000, 1_000_000);
            let (rw, word, bit) = if read { ('R', "Read", 1) } else { ('w', "Write", 0) };
            let (bytes, size) = (lba * 512, sectors * 512);
            let seconds = format!("{}.{:06}", time / s, time % s / 1_000);
            let millis = format!("{}.{:03}", time / ms, time % ms / 1_000);
            writeln!(texts[0], "{device},{lba},{size},{rw},{seconds}").unwrap();
            writeln!(texts[1], "{},lab,{device},{word},{bytes},{size},0", 128_200_000_000_000_000 + time / 100).unwrap();
            writeln!(texts[2], "  {seconds} ;  {lba} ; {sectors} ; {rw} ; 0.0 ; 0.0").unwrap();
            writeln!(texts[3], "{millis} {device} {lba} {sectors} {bit}").unwrap();
            writeln!(texts[4], "{time} {device} {lba} {sectors} {bit}").unwrap();
            writeln!(texts[5], "7\t{seconds}\t0.1\t{device}\t{word}\t{lba}\t{sectors}\t\r").unwrap();
            writeln!(texts[6], "{millis} {device} {bytes} {size} {bit}").unwrap();
            writeln!(texts[7], "{millis}\t0\t{lba}\t{}\t{bit}", sectors.div_ceil(8)).unwrap();
        }
        let first = expected[0].0;
        for row in &mut expected {
            row.0 -= first;
        }
        let names = ["spc", "msr", "blkreplay", "disksim", "mqsim", "diskmon", "heimdall", "flashsim"];
        for (name, text) in names.into_iter().zip(&texts) {
            let got = read(text.as_bytes(), &format(name));
            let got = got.map_err(|e: TraceError| TestCaseError::fail(format!("{name}: {e}")))?;
            let mut rows = expected.clone();
            if name == "flashsim" {
                for row in &mut rows {
                    row.3 = row.3.div_ceil(8) * 8;
                }
            }
            prop_assert_eq!(common::plain(&got.0), rows, "{}", name);
        }
    }
}
