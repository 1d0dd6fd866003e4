//! Hit counts of a buffer policy over a trace file of libCacheSim ('oracleGeneral': 24 bytes a request), for
//! `benches/libcachesim.py`.
//!
//! `cargo run --release -p nandlab --example buffer_hits -- FILE PAGES [POLICY [KEY=VALUE ...]]` prints JSON; the
//! keys are parameters of the policy. Object numbers are page numbers, every request reads one page. `seconds` is the CPU
//! time of the replay: the file is decoded before.
#![allow(clippy::print_stdout)]

#[path = "../benches/common/mod.rs"]
mod common;

use std::error::Error;

use common::cpu_seconds;
use nandlab::config::Builder;
use nandlab::types::Lpn;

/// Bytes of a request: time (4), object (8), size (4), next access (8).
const RECORD: usize = 24;
/// Pages of a batch: what a replay from a file would decode at a time.
const BATCH: usize = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, pages, rest @ ..] = &arguments[..] else {
        return Err("usage: buffer_hits FILE PAGES [POLICY [KEY=VALUE ...]]".into());
    };
    let frames: u64 = pages.parse()?;
    let policy = rest.first().map_or("lru", String::as_str);
    let trace = decode(&std::fs::read(file)?)?;
    let logical_pages = trace.iter().map(|lpn| u64::from(lpn.0) + 1).max().unwrap_or(1);

    // Blocks of 128 pages; what lies below the buffer is never built.
    let blocks = logical_pages.div_ceil(128) + 1;
    let geometry = format!(
        "device.geometry={{channels=1, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, blocks_per_plane={blocks}, \
         pages_per_block=128, page_bytes=512}}"
    );
    let device = Builder::preset("lab")?
        .set(&geometry)?
        .set(&format!("device.over_provisioning={{logical_pages={logical_pages}}}"))?
        .set(&format!("ram.dram={}", frames * 512))?
        .set(&format!("buffer.name={policy}"))?;
    let set = |builder: Builder, setting: &String| builder.set(&format!("buffer.{setting}"));
    let mut hits = rest.iter().skip(1).try_fold(device, set)?.finish()?.build_hits()?;

    let before = cpu_seconds();
    for batch in trace.chunks(BATCH) {
        hits.pages(batch, false);
    }
    let seconds = cpu_seconds() - before;
    let result = serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "policy": policy,
        "accesses": hits.ledger().host_page_reads,
        "hits": hits.ledger().buffer_read_hits,
        "seconds": seconds,
    });
    println!("{result}");
    Ok(())
}

fn decode(bytes: &[u8]) -> Result<Vec<Lpn>, Box<dyn Error>> {
    if !bytes.len().is_multiple_of(RECORD) {
        return Err(format!("{} bytes are not records of {RECORD}", bytes.len()).into());
    }
    let object = |record: &[u8]| u64::from_le_bytes(std::array::from_fn(|i| record[4 + i]));
    let page = |record| match u32::try_from(object(record)) {
        Ok(number) if number < 1 << 31 => Ok(Lpn(number)),
        _ => Err(format!("object {} is not a page number: they must be dense", object(record)).into()),
    };
    bytes.chunks_exact(RECORD).map(page).collect()
}
