//! Do the readers see in real traces what the table of their collection says? The traces are other people's data and
//! lie outside the repository; without them these tests only say so.

mod common;

use std::path::Path;

use common::collection;
use nandlab_trace::{Options, Stats, stats};

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
    let shown: f64 = printed.parse().unwrap_or_else(|_| panic!("`{printed}` in the table is no number"));
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

fn measure(folder: &Path, file: &str, format: Option<&str>, skip_bad: Option<u64>) -> Stats {
    let options = Options { format: format.map(str::to_owned), skip_bad, ..Options::default() };
    stats(folder.join(file).to_str().unwrap(), &options).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn do_the_readers_agree_with_the_measured_properties_of_real_traces() {
    let Some(folder) = collection() else { return };
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    // `None`: the format must be detected.
    let files = [
        ("spc/Financial_mini.spc.zst", None),
        ("ssdsim/example.ascii.zst", None),
        ("flashsim/fin1.trace.zst", Some("flashsim")),
        ("flashsim/web1.trace.zst", Some("flashsim")),
        ("flashsim/desktop.trace.zst", Some("flashsim")),
        ("mqsim/wsrch-small.trace.zst", None),
        ("mqsim/tpcc-small.trace.zst", Some("mqsim")),
        ("mqsim/trace_opt_7b_mqsim_512tok_cache_drop.txt.zst", None),
        ("msr/src_10K.csv.zst", None),
        ("msr/hm_0.csv_899.zst", None),
        ("heimdall/msr.cut.per_10k.rw_20_80.105.trace.zst", None),
        ("heimdall/msr.cut.per_10k.rw_40_60.1370.trace.zst", None),
        ("heimdall/msr.cut.per_10k.most_thpt_rand_iops.1006.trace.zst", None),
        ("disksim/ascii.trace.zst", None),
        ("disksim/ssd-iozone-aligned2-100K.trace.zst", Some("disksim")),
        ("disksim/ssd-postmark-aligned2.trace.zst", Some("disksim")),
        ("vscsi/cloudPhysicsIO.vscsi.zst", None),
        ("blkreplay/linux-mysql.load.gz", None),
        ("blkreplay/windows-mssql.load.gz", None),
        ("blkreplay/windows-shared-server.load.gz", None),
        ("diskmon/mayun.txt.zst", None),
        ("diskmon/mayun2.txt.zst", None),
        ("diskmon/mayun4.txt.zst", None),
        ("diskmon/sys1.txt.zst", None),
        ("biotracer/Booting_log176.txt.zst", None),
        ("biotracer/Installing_log181.txt.zst", None),
        ("biotracer/Movie_log121.txt.zst", None),
        ("biotracer/calout_log147.txt.zst", None),
        ("fiu/cheetah.cs.fiu.edu-110108-113008.2_first10000.blkparse.zst", None),
        ("pixel6a/pubg_precond.csv.gz", None),
        ("pixel6a/genshin_impact_precond.csv.gz", None),
        ("pixel6a/cod_precond.csv.gz", None),
        ("pixel6a/slideshow_precond.csv.gz", None),
        ("pixel6a/you_cut_precond.csv.gz", None),
        ("pixel6a/you_cut_exec.csv.gz", None), // the only one in use without discards, which the table counts as reads
    ];
    let mut wrong = Vec::new();
    for (file, format) in files {
        wrong.extend(compare(file, &measure(&folder, file, format, None), &printed(&readme, file)));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn are_exactly_the_garbage_rows_of_a_dirty_log_skipped() {
    let Some(folder) = collection() else { return };
    let file = "diskmon/p2pdownload.trace.zst";
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut stats = measure(&folder, file, None, Some(2));
    assert_eq!(stats.bad_rows, 2);
    // The table counts the two garbage rows (writes of 2,742,488 sectors) as requests, but not their pages.
    stats.requests += 2;
    stats.writes += 2;
    stats.written_bytes += 2 * 2_742_488 * 512;
    stats.sequential = (stats.requests as f64 * 0.03) as u64;
    stats.unaligned = (stats.requests as f64 * 0.634) as u64;
    stats.duration_ns = 1_145_000_000_000;
    let wrong = compare(file, &stats, &printed(&readme, file));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn do_reference_strings_have_the_length_and_the_blocks_of_the_table() {
    let Some(folder) = collection() else { return };
    for (file, references, unique) in [
        ("refs-lirs/cs.trace.gz", 6_781, 1_409),
        ("refs-lirs/sprite.trace.gz", 133_996, 7_075),
        ("refs-lirs/2_pools.trace.gz", 100_000, 9_939),
        ("refs-lirs/loop.trace.gz", 505_500, 1_011),
    ] {
        let stats = measure(&folder, file, None, None);
        assert_eq!((stats.requests, stats.pages_read), (references, unique), "{file}");
    }
    // The table counts blocks of 512 bytes.
    for (file, rows, blocks) in [("OLTP", 914_145, 914_145), ("P3", 238_578, 3_912_296), ("P6", 519_711, 12_672_123)] {
        let stats = measure(&folder, &format!("refs-arc/{file}.lis.zst"), None, None);
        assert_eq!((stats.requests, stats.read_bytes), (rows, blocks * 512), "{file}");
    }
}
