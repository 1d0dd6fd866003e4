//! Do the policies hit real reference strings as their papers print it? The traces are other people's data and lie outside
//! the repository; without them these tests only say so.

mod common;

use std::path::Path;

use common::collection;
use nandlab::types::HostRequest;
use nandlab_trace::{Options, open};

fn requests(folder: &Path, file: &str) -> Vec<HostRequest> {
    let trace = open(folder.join(file).to_str().unwrap(), &Options::default()).unwrap();
    trace.map(|request| request.unwrap()).collect()
}

/// Hits in percent of page accesses.
fn hit_percent(requests: &[HostRequest], page_bytes: u64, policy: &str, frames: u64) -> f64 {
    let page_sectors = page_bytes / 512;
    let pages = requests.iter().map(|r| (r.lba + u64::from(r.sectors)).div_ceil(page_sectors)).max().unwrap();
    let blocks = pages.div_ceil(128) + 1;
    let geometry = format!(
        "device.geometry={{channels=1, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, blocks_per_plane={blocks}, \
         pages_per_block=128, page_bytes={page_bytes}}}"
    );
    let settings = [
        geometry,
        format!("device.over_provisioning={{logical_pages={pages}}}"),
        format!("ram.dram={}", frames * page_bytes),
        format!("buffer.name={policy}"),
    ];
    let mut hits = common::lab(settings).build_hits().unwrap();
    hits.run(requests).unwrap();
    let ledger = hits.ledger();
    100.0 * ledger.buffer_read_hits as f64 / ledger.host_page_reads as f64
}

/// Megiddo and Modha, "ARC: a self-tuning, low overhead replacement cache", FAST 2003, the table of hit ratios on OLTP: to
/// the last digit except for ARC with 1,000 pages, where it prints 38.93. libCacheSim 0.3.5 finds 38.95 there as we do,
/// so the reason may be a detail that figure 4 does not show.
#[test]
fn arc_hits_oltp_as_its_paper_prints() {
    let Some(folder) = collection() else { return };
    let requests = requests(&folder, "refs-arc/OLTP.lis.zst");
    for (frames, lru, arc) in [
        (1_000, 32.83, 38.95),
        (2_000, 42.47, 46.08),
        (5_000, 53.65, 55.25),
        (10_000, 60.70, 61.87),
        (15_000, 64.63, 65.40),
    ] {
        let got = ["lru", "arc"].map(|policy| hit_percent(&requests, 512, policy, frames));
        assert!((got[0] - lru).abs() < 0.00501 && (got[1] - arc).abs() < 0.00501, "{frames} pages: {got:?}");
    }
}

/// A loop that does not fit is where LRU finds nothing and LIRS keeps what fits; two pools of different heat are where it
/// keeps the hot one while that nearly fills the buffer. (Jiang and Zhang, SIGMETRICS 2002, section 5, draw this; they
/// print no numbers.)
#[test]
fn lirs_keeps_what_fits_where_lru_keeps_nothing() {
    let Some(folder) = collection() else { return };
    let looping = requests(&folder, "refs-lirs/loop.trace.gz");
    let pools = requests(&folder, "refs-lirs/2_pools.trace.gz");
    let hits = |requests: &[HostRequest], frames| ["lru", "lirs"].map(|p| hit_percent(requests, 4096, p, frames));
    for frames in [100, 400, 1_000] {
        let [lru, lirs] = hits(&looping, frames);
        let best = 100.0 * frames as f64 / 1_011.0;
        assert!(
            lru == 0.0 && lirs > 0.95 * best - 1.0 && lirs <= best,
            "loop, {frames} pages: {lru}, {lirs} of {best}"
        );
    }
    for frames in [100, 400] {
        let [lru, lirs] = hits(&pools, frames);
        assert!(lirs > lru + 1.0, "2_pools, {frames} pages: {lru}, {lirs}");
    }
}
