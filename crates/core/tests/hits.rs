//! Does the hit-ratio-only mode count what a whole device counts?

use nandlab::buffer::BUFFERS;
use nandlab::config::{Builder, Config};
use nandlab::ledger::Ledger;
use nandlab::types::{Hint, HostOp, HostRequest, Nanos, Pattern};

const SECTORS: u64 = 1_200 * 8;
const REQUESTS: usize = 30_000;

/// Policies that steer by the measured costs of the flash, of which there is none in the hit-ratio-only mode.
const STEERED_BY_FLASH: [&str; 1] = ["aalru"];

fn config(buffer: &str) -> Config {
    config_with(buffer, &[])
}

fn config_with(buffer: &str, params: &[&str]) -> Config {
    let geometry = "device.geometry={channels=2, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, \
                    blocks_per_plane=60, pages_per_block=16, page_bytes=4096}";
    let keys = [
        geometry,
        "ram.dram=384KiB",
        "ram.nvram=256KiB",
        "precondition=none",
        "replay.mode=fast",
        &format!("buffer.name={buffer}"),
    ]
    .map(str::to_owned);
    let params = params.iter().map(|param| format!("buffer.{param}"));
    let keys: Vec<String> = keys.into_iter().chain(params).collect();
    let builder = keys.iter().try_fold(Builder::preset("lab").unwrap(), |builder, key| builder.set(key));
    builder.and_then(|b| b.finish()).unwrap_or_else(|e| panic!("{buffer}: {e}"))
}

/// Hot and cold pages, runs of pages, parts of pages, now and then a trim or a flush.
fn requests() -> Vec<HostRequest> {
    let mut x = 88_172_645_463_325_252_u64;
    let mut draw = |below: u64| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 11) % below
    };
    let mut requests = Vec::new();
    for _ in 0..REQUESTS {
        let hot = draw(3) > 0;
        let lba = draw(if hot { SECTORS / 12 } else { SECTORS });
        let most = if draw(4) == 0 { 40 } else { 8 };
        let sectors = (1 + draw(most)).min(SECTORS - lba) as u32;
        let op = match draw(200) {
            0..100 => HostOp::Write,
            100..198 => HostOp::Read,
            198 => HostOp::Trim,
            _ => HostOp::Flush,
        };
        let pattern = [Pattern::Sequential, Pattern::Looping, Pattern::ClusteredHot, Pattern::Random];
        let (pc, run_pages, period) = (draw(5) as u32, draw(6) as u32, draw(1_000) as u32);
        let hint = Hint { pattern: pattern[draw(4) as usize], pc, run_pages, period };
        requests.push(HostRequest { hint, ..HostRequest::new(Nanos::ZERO, op, lba, sectors) });
    }
    requests
}

fn counts(ledger: &Ledger) -> [(&'static str, u64); 9] {
    [
        ("page reads", ledger.host_page_reads),
        ("page writes", ledger.host_page_writes),
        ("read hits", ledger.buffer_read_hits),
        ("write hits", ledger.buffer_write_hits),
        ("write-back commands", ledger.write_back_commands),
        ("pages written back", ledger.write_back_pages),
        ("drops", ledger.buffer_drops),
        ("prefetches", ledger.prefetched_pages),
        ("pages sent down", ledger.buffer_write_pages - ledger.padded_pages),
    ]
}

#[test]
fn does_a_policy_without_a_device_hit_as_in_a_device() {
    let requests = requests();
    for plugin in BUFFERS {
        let config = config(&plugin.name());
        let (mut device, mut alone) = (config.build().unwrap(), config.build_hits().unwrap());
        device.run(&requests).unwrap();
        alone.run(&requests).unwrap();
        let (device, alone) = (device.ledger(), alone.ledger());
        let compared = if STEERED_BY_FLASH.contains(&plugin.module) { 2 } else { 9 };
        assert_eq!(counts(&device)[..compared], counts(&alone)[..compared], "{}", plugin.module);
        if plugin.module != "none" {
            assert!(alone.buffer_write_hits > 1_000 && alone.write_back_pages > 1_000, "{}", plugin.module);
        }
    }
}

#[test]
fn does_a_variant_of_a_policy_too() {
    let requests = requests();
    // With the costs given, nothing steers aalru but its hits.
    let aalru = ["d_read=1.0", "d_write=4.0", "period=100", "keep_written=0.5"];
    for (policy, params) in [
        ("aalru", &aalru[..]),
        ("bplru", &["compat=lab"]),
        ("fab", &["compat=lab"]),
        ("cfdc", &["writeback=cluster"]),
        ("clock-dnv", &["placement=write_first_D"]),
    ] {
        let (varied, plain) = (config_with(policy, params), config(policy));
        let (mut device, mut alone) = (varied.build().unwrap(), varied.build_hits().unwrap());
        device.run(&requests).unwrap();
        alone.run(&requests).unwrap();
        assert_eq!(counts(&device.ledger()), counts(&alone.ledger()), "{policy} {params:?}");
        let mut usual = plain.build_hits().unwrap();
        usual.run(&requests).unwrap();
        assert_ne!(counts(&usual.ledger()), counts(&alone.ledger()), "{policy} {params:?} changes nothing");
    }
}

#[test]
fn are_single_pages_requests_of_one_page() {
    let requests = requests();
    let config = config("lru");
    let (mut by_request, mut by_page) = (config.build_hits().unwrap(), config.build_hits().unwrap());
    for request in requests.iter().filter(|r| matches!(r.op, HostOp::Read | HostOp::Write)) {
        let lpn = request.lba / 8;
        by_request.run(&[HostRequest { lba: lpn * 8, sectors: 8, ..*request }]).unwrap();
        by_page.pages(&[nandlab::types::Lpn(lpn as u32)], request.op == HostOp::Write);
    }
    assert_eq!(counts(&by_request.ledger()), counts(&by_page.ledger()));
}

#[test]
fn is_a_request_beyond_the_device_refused() {
    let mut alone = config("lru").build_hits().unwrap();
    let beyond = HostRequest::new(Nanos::ZERO, HostOp::Read, u64::from(config("lru").logical_pages()) * 8, 1);
    assert!(alone.run(&[beyond]).is_err());
}
