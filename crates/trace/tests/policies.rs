//! Do the policies for devices and addresses do what they say, and count it?
mod common;

use common::{drain, fixture, plain, read, read_fixture};
use nandlab_trace::{AddressPolicy, Options, TraceError, Volumes};

/// Compaction by pages of 4 KiB.
const BY_PAGE: AddressPolicy = AddressPolicy::Compact { unit_sectors: 8 };

fn volumes(volumes: Volumes) -> Options {
    Options { volumes, ..Options::default() }
}

fn addresses(address: AddressPolicy, capacity_sectors: u64) -> Options {
    Options { address, capacity_sectors: Some(capacity_sectors), ..Options::default() }
}

#[test]
fn second_device_asks_what_to_do() {
    let error = read_fixture("spc_volumes.spc", &Options::default()).unwrap_err();
    assert!(matches!(error, TraceError::SecondDevice { first: 2, second: 0, .. }), "{error}");
    let text = error.to_string();
    assert!(["line 2", "stack", "pick 2", "merge"].iter().all(|word| text.contains(word)), "{text}");
}

#[test]
fn devices_are_stacked_in_order_of_their_numbers_in_whole_pages() {
    let (requests, report) = read_fixture("spc_volumes.spc", &volumes(Volumes::Stack)).unwrap();
    // Device 0 ends at 66 -> 72; device 2 at 116 -> 72 + 120; device 7 follows.
    let lbas: Vec<_> = requests.iter().map(|r| r.lba).collect();
    assert_eq!(lbas, [172, 50, 180, 195, 58]);
    let devices: Vec<_> =
        report.devices.iter().map(|d| (d.device, d.requests, d.end_sectors, d.base_sectors)).collect();
    assert_eq!(devices, [(0, 2, 66, 0), (2, 2, 116, 72), (7, 1, 4, 192)]);
}

#[test]
fn stacking_a_pipe_is_refused_unless_pages_are_compacted() {
    let bytes = std::fs::read(fixture("spc_volumes.spc")).unwrap();
    let error = read(&bytes, &volumes(Volumes::Stack)).unwrap_err();
    assert!(matches!(error, TraceError::StackNeedsFile { .. }) && error.to_string().contains("pick N"), "{error}");
    let options = Options { address: BY_PAGE, ..volumes(Volumes::Stack) };
    let (requests, report) = read(&bytes, &options).unwrap();
    // Pages in order of appearance: (2,12) (2,13) (0,6) (0,7) (2,14) (7,0) (0,8).
    let expected = [4, 18, 12, 32, 43, 26, 48];
    assert_eq!(requests.iter().map(|r| r.lba).collect::<Vec<_>>(), expected);
    assert_eq!((report.compacted_units, report.split, report.records, report.requests), (7, 2, 5, 5));
}

#[test]
fn one_device_is_picked_and_the_others_counted() {
    let (requests, report) = read_fixture("spc_volumes.spc", &volumes(Volumes::Pick(0))).unwrap();
    assert_eq!(plain(&requests), [(100_000_000, 'W', 50, 8), (400_000_000, 'R', 58, 8)]);
    assert_eq!(report.other_devices, 3);
    let error = read_fixture("spc_volumes.spc", &volumes(Volumes::Pick(5))).unwrap_err().to_string();
    assert!(error.contains("device 5 does not appear") && error.contains("0, 2, 7"), "{error}");
}

#[test]
fn merging_leaves_addresses_as_they_are() {
    let (requests, _) = read_fixture("spc_volumes.spc", &volumes(Volumes::Merge)).unwrap();
    assert_eq!(requests.iter().map(|r| r.lba).collect::<Vec<_>>(), [100, 50, 108, 3, 58]);
}

#[test]
fn address_beyond_the_capacity_is_an_error_that_names_every_option() {
    let rows = b"0,0,512,w,0\n0,96,4096,w,1\n";
    assert!(read(rows, &addresses(AddressPolicy::Reject, 104)).is_ok());
    let error = read(rows, &addresses(AddressPolicy::Reject, 103)).unwrap_err().to_string();
    let words = ["line 2", "96 to 104", "103 sectors", "modulo", "compact"];
    assert!(words.iter().all(|word| error.contains(word)), "{error}");
}

#[test]
fn modulo_folds_and_splits_at_the_end() {
    let rows = b"0,10,512,w,0\n0,196,4096,w,1\n0,1000,512,r,2\n";
    let (requests, report) = read(rows, &addresses(AddressPolicy::Modulo, 100)).unwrap();
    let expected =
        [(0, 'W', 10, 1), (1_000_000_000, 'W', 96, 4), (1_000_000_000, 'W', 0, 4), (2_000_000_000, 'R', 0, 1)];
    assert_eq!(plain(&requests), expected);
    assert_eq!((report.folded, report.split, report.records, report.requests), (2, 1, 3, 3));
}

#[test]
fn compacting_keeps_offsets_order_and_repeats() {
    let rows = b"0,8000,4096,w,0\n0,803,512,r,1\n0,7999,1024,r,2\n0,8000,8192,w,3\n";
    let (requests, report) = read(rows, &addresses(BY_PAGE, 32)).unwrap();
    // Pages: 1000 -> 0, 100 -> 1, 999 -> 2, 1001 -> 3. Sectors 7999 and 8000 part; pages 1000 and 1001 part.
    let expected = [(0, 8), (8 + 3, 1), (16 + 7, 1), (0, 1), (0, 8), (24, 8)];
    assert_eq!(requests.iter().map(|r| (r.lba, r.sectors)).collect::<Vec<_>>(), expected);
    assert_eq!((report.compacted_units, report.split), (4, 2));
    let error = read(rows, &addresses(BY_PAGE, 31)).unwrap_err();
    assert!(matches!(error, TraceError::CompactFull { capacity: 31, .. }), "{error}");
}

#[test]
fn what_does_not_fit_is_told_with_its_request_and_sizes() {
    let options = Options { limit: Some(2_000), ..addresses(AddressPolicy::Compact { unit_sectors: 512 }, 2_048) };
    let mut trace = nandlab_trace::open("make:uniform:span=256MiB", &options).unwrap();
    let fitting =
        trace.by_ref().take_while(Result::is_ok).filter(|piece| piece.as_ref().is_ok_and(|r| !r.more)).count();
    let error = drain(nandlab_trace::open("make:uniform:span=256MiB", &options).unwrap()).unwrap_err().to_string();
    assert!(fitting > 0 && error.contains(&format!(": row {}: even compacted", fitting + 1)), "{fitting}: {error}");
    assert!(error.ends_with("in units of 256KiB, the trace touches more than the 1MiB that the device has"), "{error}");
}

#[test]
fn compaction_by_blocks_keeps_pages_of_a_block_together() {
    let rows = b"0,805,4096,w,0\n0,127,1024,w,1\n0,800,512,r,2\n0,64,32768,w,3\n";
    let by_block = AddressPolicy::Compact { unit_sectors: 64 };
    // Blocks: 12 -> 0, 1 -> 1, 2 -> 2.
    let (requests, report) = read(rows, &addresses(by_block, 192)).unwrap();
    let expected = [(37, 8, false), (64 + 63, 2, false), (32, 1, false), (64, 64, false)];
    assert_eq!(requests.iter().map(|r| (r.lba, r.sectors, r.more)).collect::<Vec<_>>(), expected);
    assert_eq!((report.compacted_units, report.split, report.requests), (3, 0, 4));
    // A request across blocks that are not neighbours any more: pieces of one request.
    let rows = b"0,128,512,w,0\n0,0,98304,w,1\n";
    let (requests, report) = read(rows, &addresses(by_block, 192)).unwrap();
    let pieces: Vec<_> = requests.iter().map(|r| (r.lba, r.sectors, r.more)).collect();
    assert_eq!(pieces, [(0, 1, false), (64, 128, true), (0, 64, false)]);
    assert_eq!((report.requests, report.split), (2, 1));
    // A unit need not be filled to be at the end of the device.
    assert!(read(rows, &addresses(by_block, 191)).is_err());
    assert!(read(b"0,130,512,w,0\n0,70,512,w,1\n", &addresses(by_block, 64 + 8)).is_ok());
}

#[test]
fn compacting_loses_no_sector_at_any_page_size() {
    let row = |i: u64| format!("0,{},{},w,{i}", i * i * 37 % 9973, 512 * (1 + i * 7 % 90));
    let rows = (0..500).map(row).collect::<Vec<_>>().join("\n");
    let total = |options: &Options| -> u64 {
        read(rows.as_bytes(), options).unwrap().0.iter().map(|r| u64::from(r.sectors)).sum()
    };
    let recorded = total(&Options::default());
    for (page_sectors, pages) in [(1, 1), (1, 3), (8, 1), (8, 64), (32, 1), (32, 5), (65_536, 1)] {
        let address = AddressPolicy::Compact { unit_sectors: u64::from(page_sectors) * pages };
        assert_eq!(total(&Options { page_sectors, ..addresses(address, 1 << 30) }), recorded);
    }
    assert_eq!(total(&addresses(AddressPolicy::Modulo, 100)), recorded);
}

#[test]
fn limit_counts_rows_and_then_ends_the_trace() {
    let rows = b"0,196,4096,w,1\n0,0,0,r,1\n0,1,512,r,2\n0,2,512,r,2\n";
    let options = Options { limit: Some(2), ..addresses(AddressPolicy::Modulo, 100) };
    let (requests, report) = read(rows, &options).unwrap();
    assert_eq!((requests.len(), report.requests, report.zero_length), (3, 2, 1));
    assert_eq!(read(rows, &Options { limit: Some(0), ..options }).unwrap().0.len(), 0);
}

#[test]
fn impossible_options_are_refused() {
    for options in [
        Options { page_sectors: 0, ..Options::default() },
        Options { page_sectors: 65_537, ..Options::default() },
        Options { capacity_sectors: Some(7), ..Options::default() },
        Options { address: AddressPolicy::Modulo, ..Options::default() },
        Options { address: AddressPolicy::Compact { unit_sectors: 12 }, ..Options::default() },
        Options { address: AddressPolicy::Compact { unit_sectors: 0 }, ..Options::default() },
        Options { format: Some("nonsense".to_owned()), ..Options::default() },
    ] {
        let error = read(b"0,0,512,w,0\n", &options).unwrap_err();
        assert!(matches!(error, TraceError::Option { .. }), "{error}");
    }
}

#[test]
fn times_never_fall() {
    let rows = b"0,0,512,w,5\n0,0,512,w,4\n0,0,512,w,6\n0,0,512,w,5.5\n0,0,512,w,6\n";
    let (requests, report) = read(rows, &Options::default()).unwrap();
    let seconds: Vec<_> = requests.iter().map(|r| r.at.0 / 1_000_000_000).collect();
    assert_eq!((seconds, report.clamped, report.out_of_order), (vec![0, 0, 1, 1, 1], 2, 2));
}
