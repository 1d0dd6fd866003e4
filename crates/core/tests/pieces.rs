//! A request in pieces is one request: where an address policy splits it changes nothing but the addresses.

use nandlab::catalog::BUFFERS;
use nandlab::replay::Replay;
use nandlab::report::{Report, TraceSource};
use nandlab::types::{HostOp, HostRequest, Nanos};

mod kit;

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Requests of up to 40 pages, some of them of no more than a part of a page.
fn requests(count: u64) -> Vec<HostRequest> {
    let mut state = 88_172_645_463_325_252;
    let mut request = |n: u64| {
        let ops = [HostOp::Read, HostOp::Write, HostOp::Write, HostOp::Write, HostOp::Trim];
        let op = if n % 97 == 96 { HostOp::Flush } else { ops[(next(&mut state) % 5) as usize] };
        let sectors = if op == HostOp::Flush { 0 } else { 1 + next(&mut state) % 320 };
        HostRequest::new(Nanos(n * 700_000), op, next(&mut state) % 5_000, sectors as u32)
    };
    (0..count).map(&mut request).collect()
}

/// The same, cut at ends of pages.
fn in_pieces(requests: &[HostRequest]) -> Vec<HostRequest> {
    let mut state = 123_456_789;
    let mut pieces = Vec::new();
    for request in requests {
        let (mut lba, end) = (request.lba, request.lba + u64::from(request.sectors));
        loop {
            let cut = (lba / 8 + 1 + next(&mut state) % 12) * 8;
            let more = cut < end && request.op != HostOp::Flush;
            let to = if more { cut } else { end };
            pieces.push(HostRequest { lba, sectors: (to - lba) as u32, more, ..*request });
            if !more {
                break;
            }
            lba = to;
        }
    }
    pieces
}

fn report(buffer: &str, ftl: &str, timing: &str, requests: &[HostRequest]) -> Report {
    let settings = [
        format!("buffer.name={buffer}"),
        format!("ftl.name={ftl}"),
        format!("device.timing.model={timing}"),
        "device.geometry.blocks_per_plane=64".to_owned(),
        "device.geometry.pages_per_block=16".to_owned(),
        "ram.dram=256KiB".to_owned(),
        "ram.nvram=256KiB".to_owned(),
        "replay.read_groups=true".to_owned(),
        "precondition=none".to_owned(),
    ];
    let config = kit::lab(settings);
    let mut device = config.build().unwrap();
    let mut replay = Replay::new(&config, &*device);
    // Batches that end between requests, as those of a trace do.
    let mut stream = requests;
    while let Some((request, later)) = HostRequest::split_first(stream) {
        replay.feed(&mut *device, request).unwrap();
        stream = later;
    }
    let outcome = replay.finish(&mut *device);
    Report::new(&config, &*device, TraceSource::default(), &outcome)
}

#[test]
fn request_in_pieces_is_one_request() {
    let whole = requests(1_500);
    let pieces = in_pieces(&whole);
    assert!(pieces.len() > 2 * whole.len() && HostRequest::count(&pieces) == 1_500);
    for plugin in BUFFERS {
        for (ftl, timing) in [("page", "parallel"), ("fast", "serial")] {
            let text = |requests| serde_json::to_string(&report(&plugin.name(), ftl, timing, requests)).unwrap();
            let (whole, pieces) = (text(&whole), text(&pieces));
            assert!(whole == pieces, "{} over {ftl}\n{whole}\n{pieces}", plugin.name());
        }
    }
}

#[test]
fn replay_of_pieces_in_one_batch_counts_requests() {
    let whole = requests(6_000);
    let pieces = in_pieces(&whole);
    let config = kit::lab::<&str>([]);
    let outcome = |requests: &[HostRequest]| {
        let mut device = config.build().unwrap();
        let mut replay = Replay::new(&config, &*device);
        replay.feed(&mut *device, requests).unwrap();
        (replay.finish(&mut *device), device.times().response().count(), device.ledger())
    };
    assert_eq!(outcome(&whole), outcome(&pieces));
    let mut beyond = pieces.clone();
    let last = beyond.last_mut().unwrap();
    last.lba = 1 << 40;
    let mut device = config.build().unwrap();
    let error = Replay::new(&config, &*device).feed(&mut *device, &beyond).unwrap_err().to_string();
    assert!(error.contains("request 6000"), "{error}");
}

#[test]
fn hits_alone_take_pieces_for_one_request() {
    let (whole, pieces) = (requests(2_000), in_pieces(&requests(2_000)));
    for plugin in BUFFERS {
        let config = kit::lab([&format!("buffer.name={}", plugin.name()), "ram.dram=1MiB", "ram.nvram=1MiB"]);
        let ledger = |requests: &[HostRequest]| {
            let mut hits = config.build_hits().unwrap();
            hits.run(requests).unwrap();
            hits.ledger()
        };
        assert!(ledger(&whole) == ledger(&pieces), "{}", plugin.name());
    }
}
