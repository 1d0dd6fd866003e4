//! A large device takes memory for what is written, whatever its capacity.
//!
//! Alone in its program: the memory of the whole process is measured.
#![cfg(target_os = "linux")]

use nandlab::catalog::BUFFERS;
use nandlab::config::{Builder, PluginConfig};
use nandlab::ftl::FTLS;
use nandlab::registry::Plugin;
use nandlab::types::{Bytes, HostOp, HostRequest, Nanos};

const TIB: u64 = 1 << 40;
/// A table of 4 bytes for every page of such a device would be 1 GiB; its erase blocks take about 0.1 GiB.
const MOST: u64 = 320 << 20;

/// Resident memory now, bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux tells it");
    let pages: u64 = text.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}

/// Writes and reads far apart on an empty device of 1 TiB; returns the memory that came with it.
fn growth(buffer: &str, ftl: &str) -> u64 {
    let before = resident();
    let mut builder = Builder::preset("lab").unwrap();
    builder.set_value("precondition", "none".into()).unwrap();
    builder.grow(Bytes(TIB));
    let builder = builder.plugin("buffer", &PluginConfig::named(buffer)).plugin("ftl", &PluginConfig::named(ftl));
    let builder = builder.set("ram.nvram=4MiB").unwrap().set("ram.dram=4MiB").unwrap();
    let config = builder.finish().unwrap_or_else(|error| panic!("{buffer} over {ftl}: {error}"));
    let mut device = config.build().unwrap_or_else(|error| panic!("{buffer} over {ftl}: {error}"));
    let sectors = TIB / 512;
    let requests: Vec<HostRequest> = (0..2_000)
        .map(|n: u64| {
            let op = if n % 4 == 3 { HostOp::Read } else { HostOp::Write };
            let lba = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (sectors / 8) * 8;
            HostRequest::new(Nanos(n * 1_000_000), op, lba, 8)
        })
        .collect();
    device.run(&requests).unwrap();
    resident().saturating_sub(before)
}

#[test]
fn memory_grows_with_what_is_written_not_with_the_capacity() {
    for ftl in FTLS.iter().map(Plugin::name) {
        let grown = growth("lru", &ftl);
        assert!(grown < MOST, "lru over {ftl}: {} MiB", grown >> 20);
    }
    for buffer in BUFFERS.iter().map(Plugin::name) {
        let grown = growth(&buffer, "page");
        assert!(grown < MOST, "{buffer} over page: {} MiB", grown >> 20);
    }
}
