//! Compaction by erase blocks changes nothing for what knows blocks: hits, programs and erases are those of the true
//! addresses. `scripts/addresses.sh` asks the same of whole traces.
mod common;

use std::fmt::Write as _;

use nandlab::catalog::BUFFERS;
use nandlab::config::Config;
use nandlab::ledger::Ledger;
use nandlab::types::HostRequest;
use nandlab_trace::{AddressPolicy, Options};

/// FTLs that know erase blocks, and the one that does not.
const FTLS: [&str; 6] = ["page", "block", "bast", "fast", "superblock", "last"];
/// Policies that look at the numbers themselves: a sketch hashes them, equal priorities go by them, and virtual blocks of
/// three pages begin at multiples of three.
const BY_NUMBER: [&str; 3] = ["w-tinylfu", "cfdc", "vbbms"];
/// Pages of a block, and blocks of the device.
const PAGES: u64 = 16;
const BLOCKS: u64 = 512;

/// Requests that wander over a large space: runs across several blocks, rewrites nearby, lone sectors; 30 blocks in all.
fn trace() -> String {
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut rows = String::new();
    for n in 0..1_200 {
        let block = [3, 4, 5, 90, 91, 92, 93, 200, 17, 400][next(10) as usize] + next(3);
        let (page, sector) = (block * PAGES + next(PAGES), next(8));
        let sectors = if next(4) == 0 { 1 + next(300) } else { 8 * (1 + next(3)) };
        let op = if next(5) == 0 { 'r' } else { 'w' };
        writeln!(rows, "0,{},{},{op},{n}", page * 8 + sector, sectors * 512).unwrap();
    }
    rows
}

fn requests(rows: &str, address: AddressPolicy) -> Vec<HostRequest> {
    let options = Options { address, capacity_sectors: Some(BLOCKS * PAGES * 8), ..Options::default() };
    common::read(rows.as_bytes(), &options).unwrap().0
}

fn config(buffer: &str, ftl: &str) -> Config {
    common::lab([
        format!("buffer.name={buffer}"),
        format!("ftl.name={ftl}"),
        format!(
            "device.geometry={}",
            "{channels=1,chips_per_channel=1,dies_per_chip=1,planes_per_die=1,blocks_per_plane=576,pages_per_block=16,page_bytes=4096}"
        ),
        format!("device.over_provisioning={{logical_pages={}}}", BLOCKS * PAGES),
        "device.timing.model=serial".to_owned(),
        "ram.dram=128KiB".to_owned(),
        "ram.nvram=128KiB".to_owned(),
        "replay.mode=fast".to_owned(),
        "precondition=none".to_owned(),
    ])
}

fn ledger(config: &Config, requests: &[HostRequest]) -> Ledger {
    let mut device = config.build().unwrap();
    device.run(requests).unwrap();
    // What is dirty stays: a last flush writes in the order of addresses, which are others.
    device.drain();
    device.ledger()
}

#[test]
fn compaction_by_blocks_gives_what_true_addresses_give() {
    let rows = trace();
    let exact = requests(&rows, AddressPolicy::Reject);
    let by_block = requests(&rows, AddressPolicy::Compact { unit_sectors: PAGES * 8 });
    // A superblock has eight logical blocks.
    let by_superblock = requests(&rows, AddressPolicy::Compact { unit_sectors: 8 * PAGES * 8 });
    let by_page = requests(&rows, AddressPolicy::Compact { unit_sectors: 8 });
    assert!(by_block.len() > exact.len(), "some requests are in pieces");
    assert_eq!(HostRequest::count(&by_block), exact.len() as u64);
    let (mut differ, mut fooled) = (Vec::new(), 0);
    for ftl in FTLS {
        for plugin in BUFFERS {
            let config = config(&plugin.name(), ftl);
            let unit = if ftl == "superblock" { &by_superblock } else { &by_block };
            let all = [&exact, unit, &by_page].map(|requests| ledger(&config, requests));
            let [exact, by_block, by_page] = all.map(|l| {
                let hits = [l.buffer_read_hits, l.buffer_write_hits, l.group_hits, l.group_misses];
                (hits, l.write_back_pages, l.programs(), l.erases())
            });
            if exact != by_block && !BY_NUMBER.contains(&&*plugin.name()) {
                differ.push(format!("{} over {ftl}: {exact:?} {by_block:?}", plugin.name()));
            }
            fooled += usize::from(exact != by_page);
        }
    }
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
    assert!(fooled > FTLS.len() * BUFFERS.len() / 2, "pages one by one are another trace: {fooled}");
}
