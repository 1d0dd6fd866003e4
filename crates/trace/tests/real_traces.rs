//! Do the readers see in real traces what the table of their collection says? The traces are other people's data and
//! lie outside the repository; without them these tests only say so.

mod common;

use std::io::Read;
use std::path::Path;

use common::collection;
use nandlab::types::{HostOp, HostRequest, Lpn};
use nandlab_trace::{AddressPolicy, BlockEvent, Measure, Options, Records, Stats, TraceRecord, expand};

/// A row of the table: the numbers as printed.
struct Printed {
    cells: Vec<String>,
}

fn printed(readme: &str, file: &str) -> Printed {
    let row = readme.lines().find(|line| line.starts_with(&format!("| `{file}` |")));
    let row = row.unwrap_or_else(|| panic!("{file} is not in the table"));
    Printed { cells: row.split('|').skip(2).map(|cell| cell.trim().replace(',', "")).collect() }
}

/// A number, rounded to as many decimals as its column has (the table does not print trailing zeros).
fn like(printed: &str, value: f64, decimals: Option<i32>) -> bool {
    let decimals =
        decimals.unwrap_or_else(|| printed.split('.').nth(1).map_or(0, |digits| digits.chars().map(|_| 1).sum()));
    let shown: f64 = printed.parse().unwrap_or_else(|_| panic!("`{printed}` in the table is not a number"));
    (shown - value).abs() <= 0.5 / 10f64.powi(decimals) * 1.000_001
}

fn pair(cell: &str) -> (String, String) {
    let inner = cell.split('(').nth(1).map_or(cell, |rest| rest.trim_end_matches(')'));
    let (first, second) = inner.split_once('/').unwrap();
    (first.trim().to_owned(), second.trim().to_owned())
}

fn compare(file: &str, stats: &Stats, table: &Printed) -> Vec<String> {
    let c = &table.cells;
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let ((read_kb, write_kb), (read, written), (pages_read, pages_written)) = (pair(&c[2]), pair(&c[3]), pair(&c[4]));
    let duration = c[5].split(' ').next().unwrap();
    let checks = [
        ("requests", Some(0), c[0].clone(), stats.requests as f64),
        ("write %", Some(2), c[1].clone(), stats.write_percent()),
        ("mean KB read", Some(2), read_kb, stats.mean_read_kib()),
        ("mean KB written", Some(2), write_kb, stats.mean_write_kib()),
        ("MiB read", Some(1), read, mib(stats.read_bytes)),
        ("MiB written", Some(1), written, mib(stats.written_bytes)),
        ("unique MiB read", Some(1), pages_read, mib(stats.pages_read * 4096)),
        ("unique MiB written", Some(1), pages_written, mib(stats.pages_written * 4096)),
        ("duration", None, duration.to_owned(), stats.duration_ns as f64 / 1e9),
        ("top GiB", Some(3), c[6].clone(), mib(stats.top_bytes) / 1024.0),
        ("sequential %", Some(1), c[7].clone(), stats.sequential_percent()),
        ("unaligned %", Some(1), c[8].clone(), stats.unaligned_percent()),
        ("out of order", Some(0), c[9].clone(), stats.out_of_order as f64),
    ];
    let wrong = checks.iter().filter(|(_, decimals, printed, value)| !like(printed, *value, *decimals));
    wrong
        .map(|(what, _, printed, value)| format!("{file}: {what}: {value} is not the {printed} of the table"))
        .collect()
}

/// How the table looks at a trace.
#[derive(Clone, Copy)]
enum View {
    /// As it is.
    All,
    /// Reads and writes only: flushes and discards are not in the table.
    Transfers,
    /// The log calls discards `R`, and the table takes that at its word.
    DiscardsAreReads,
}

fn records(folder: &Path, file: &str, options: &Options) -> Vec<TraceRecord> {
    let paths = expand(&[folder.join(file).to_str().unwrap().to_owned()]).unwrap();
    let records = Records::open_all(&paths, options).unwrap_or_else(|error| panic!("{error}"));
    records.map(|record| record.unwrap_or_else(|error| panic!("{error}"))).collect()
}

fn measure(folder: &Path, file: &str, options: &Options, view: View) -> Stats {
    let mut measure = Measure::default();
    for mut record in records(folder, file, options) {
        match (view, record.op) {
            (View::Transfers, HostOp::Flush | HostOp::Trim) => continue,
            (View::DiscardsAreReads, HostOp::Trim) => record.op = HostOp::Read,
            _ => {}
        }
        measure.add(&record);
    }
    measure.finish()
}

fn named(format: Option<&str>) -> Options {
    Options { format: format.map(str::to_owned), ..Options::default() }
}

#[test]
fn readers_agree_with_the_measured_properties_of_real_traces() {
    let Some(folder) = collection() else { return };
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    // The named format, if it cannot be detected, the event, and the view of the table.
    let plain = |file| (file, None, None, View::All);
    let transfers = |file, event| (file, None, event, View::Transfers);
    let named_as = |file, format| (file, Some(format), None, View::All);
    let phone = |file| (file, None, None, View::DiscardsAreReads);
    let files = [
        plain("spc/Financial_mini.spc.zst"),
        plain("ssdsim/example.ascii.zst"),
        named_as("flashsim/fin1.trace.zst", "flashsim"),
        named_as("flashsim/web1.trace.zst", "flashsim"),
        named_as("flashsim/desktop.trace.zst", "flashsim"),
        plain("mqsim/wsrch-small.trace.zst"),
        named_as("mqsim/tpcc-small.trace.zst", "mqsim"),
        plain("mqsim/trace_opt_7b_mqsim_512tok_cache_drop.txt.zst"),
        plain("msr/src_10K.csv.zst"),
        plain("msr/hm_0.csv_899.zst"),
        plain("heimdall/msr.cut.per_10k.rw_20_80.105.trace.zst"),
        plain("heimdall/msr.cut.per_10k.rw_40_60.1370.trace.zst"),
        plain("heimdall/msr.cut.per_10k.most_thpt_rand_iops.1006.trace.zst"),
        plain("disksim/ascii.trace.zst"),
        named_as("disksim/ssd-iozone-aligned2-100K.trace.zst", "disksim"),
        named_as("disksim/ssd-postmark-aligned2.trace.zst", "disksim"),
        plain("disksim/ajw.1week.srt.zst"),
        plain("vscsi/cloudPhysicsIO.vscsi.zst"),
        plain("blkreplay/linux-mysql.load.gz"),
        plain("blkreplay/windows-mssql.load.gz"),
        plain("blkreplay/windows-shared-server.load.gz"),
        phone("pixel6a/pubg_exec.csv.gz"),
        plain("pixel6a/pubg_precond.csv.gz"),
        phone("pixel6a/genshin_impact_exec.csv.gz"),
        plain("pixel6a/genshin_impact_precond.csv.gz"),
        phone("pixel6a/cod_exec.csv.gz"),
        plain("pixel6a/cod_precond.csv.gz"),
        phone("pixel6a/diablo_exec.csv.gz"),
        phone("pixel6a/slideshow_exec.csv.gz"),
        plain("pixel6a/slideshow_precond.csv.gz"),
        plain("pixel6a/you_cut_exec.csv.gz"), // no discards in it
        plain("pixel6a/you_cut_precond.csv.gz"),
        plain("diskmon/mayun.txt.zst"),
        plain("diskmon/mayun2.txt.zst"),
        plain("diskmon/mayun4.txt.zst"),
        plain("diskmon/sys1.txt.zst"),
        transfers("blkparse/blkparseout_ext4.txt.zst", None),
        transfers("blkparse/blkparseout_f2fs.txt.zst", None),
        transfers("blkparse/blkparseout_btrfs.txt.zst", None),
        transfers("blkparse/ycsb-rocksdb-ssdtrace-sample.txt.zst", None),
        transfers("blkparse/hadoop-datanode-blktrace.txt.zst", Some(BlockEvent::Queue)),
        transfers("blktrace-bin/sample.blktrace.0.zst", None),
        transfers("blktrace-bin/keks.blktrace.*", None),
        plain("biotracer/Booting_log176.txt.zst"),
        plain("biotracer/Installing_log181.txt.zst"),
        plain("biotracer/Movie_log121.txt.zst"),
        plain("biotracer/calout_log147.txt.zst"),
        plain("fiu/cheetah.cs.fiu.edu-110108-113008.2_first10000.blkparse.zst"),
        transfers("windows-wpa/Disk_Usage_Counts_by_IO_Type_Priority.csv.bz2", None),
        transfers("fio/fio-random.iolog.zst", None),
        transfers("fio/fio-mix-fsync.iolog.zst", None),
    ];
    let mut wrong = Vec::new();
    for (file, format, event, view) in files {
        let stats = measure(&folder, file, &Options { event, ..named(format) }, view);
        wrong.extend(compare(file, &stats, &printed(&readme, file)));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    // One file of the table is dirty and has a test of its own.
    let rows = readme.lines().filter(|line| line.starts_with("| `") && line.split('|').count() == 13).count();
    assert_eq!(rows, files.len() + 1, "a row of the table is not checked");
}

#[test]
fn garbage_rows_of_a_dirty_log_are_skipped_and_no_others() {
    let Some(folder) = collection() else { return };
    let file = "diskmon/p2pdownload.trace.zst";
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut stats = measure(&folder, file, &Options { skip_bad: Some(2), ..Options::default() }, View::All);
    let one_too_few = Options { skip_bad: Some(1), ..Options::default() };
    assert!(Records::open(folder.join(file).to_str().unwrap(), &one_too_few).unwrap().any(|record| record.is_err()));
    // The table counts the two garbage rows as requests, but neither their pages nor their addresses.
    let mut text = String::new();
    let stored = std::fs::File::open(folder.join(file)).unwrap();
    zstd::Decoder::new(stored).unwrap().read_to_string(&mut text).unwrap();
    let mut before = None;
    for row in text.lines().take(2).map(|line| line.split_ascii_whitespace().collect::<Vec<_>>()) {
        let (lba, sectors): (u64, u64) = (row[5].parse().unwrap(), row[6].parse().unwrap());
        assert!(row[4] == "Write" && lba > 1 << 60, "{row:?}");
        stats.requests += 1;
        stats.writes += 1;
        stats.written_bytes += sectors * 512;
        stats.sequential += u64::from(before == Some(lba));
        stats.unaligned += u64::from(!lba.is_multiple_of(8) || !sectors.is_multiple_of(8));
        before = lba.checked_add(sectors);
    }
    let wrong = compare(file, &stats, &printed(&readme, file));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn reference_strings_have_the_length_and_the_blocks_of_the_table() {
    let Some(folder) = collection() else { return };
    for (file, references, unique) in [
        ("cs", 6_781, 1_409),
        ("gli", 6_015, 2_529),
        ("cpp", 9_047, 1_223),
        ("ps", 10_448, 3_083),
        ("sprite", 133_996, 7_075),
        ("2_pools", 100_000, 9_939),
        ("multi1", 15_858, 2_606),
        ("multi2", 26_311, 5_684),
        ("multi3", 30_241, 7_454),
        ("loop", 505_500, 1_011),
    ] {
        let stats = measure(&folder, &format!("refs-lirs/{file}.trace.gz"), &Options::default(), View::All);
        assert_eq!((stats.requests, stats.pages_read), (references, unique), "{file}");
    }
    // Here the table counts blocks of 512 bytes.
    for (file, rows, references, unique) in
        [("OLTP", 914_145, 914_145, 186_880), ("P3", 238_578, 3_912_296, 762_543), ("P6", 519_711, 12_672_123, 773_770)]
    {
        let records = records(&folder, &format!("refs-arc/{file}.lis.zst"), &Options::default());
        let blocks: Vec<u64> = records.iter().flat_map(|r| r.lba()..r.end_lba()).collect();
        let mut seen = vec![false; *blocks.iter().max().unwrap() as usize + 1];
        for block in &blocks {
            seen[*block as usize] = true;
        }
        let distinct = seen.iter().filter(|seen| **seen).count();
        assert_eq!((records.len(), blocks.len(), distinct), (rows, references, unique), "{file}");
    }
}

/// Hits of the core's own LRU in a cache of that many blocks of 512 bytes.
fn lru_hits(blocks: &[Lpn], cache_blocks: u64) -> u64 {
    let ram = format!("ram.dram={}KiB", cache_blocks / 2);
    let settings = ["device.geometry.page_bytes=512", "device.geometry.blocks_per_plane=2048", "buffer.name=lru", &ram];
    let config = common::lab(settings);
    assert_eq!(u64::from(config.frames().dram), cache_blocks);
    let mut cache = config.build_hits().unwrap();
    cache.pages(blocks, false);
    assert_eq!(cache.ledger().host_page_reads, blocks.len() as u64);
    cache.ledger().buffer_read_hits
}

#[test]
fn lru_hit_ratios_on_the_strings_of_the_arc_paper_are_those_of_the_table() {
    let Some(folder) = collection() else { return };
    let oltp = [(1_000, 32.83), (2_000, 42.47), (5_000, 53.65), (10_000, 60.70), (15_000, 64.63)];
    let p3 = [(1_024, 1.05), (2_048, 1.15), (32_768, 3.57)];
    for (file, ratios) in [("OLTP", &oltp[..]), ("P3", &p3[..])] {
        // Blocks are renumbered densely, which is all the same to LRU.
        let options =
            Options { address: AddressPolicy::Compact { unit_sectors: 1 }, page_sectors: 1, ..Options::default() };
        let path = folder.join(format!("refs-arc/{file}.lis.zst"));
        let trace = nandlab_trace::open(path.to_str().unwrap(), &options).unwrap();
        let range = |request: HostRequest| request.lba..request.lba + u64::from(request.sectors);
        let blocks: Vec<Lpn> = trace.flat_map(|request| range(request.unwrap())).map(|lba| Lpn(lba as u32)).collect();
        for (cache_blocks, percent) in ratios {
            let hits = lru_hits(&blocks, *cache_blocks);
            let measured = 100.0 * hits as f64 / blocks.len() as f64;
            assert_eq!(format!("{measured:.2}"), format!("{percent:.2}"), "{file} with {cache_blocks} blocks");
        }
    }
}
