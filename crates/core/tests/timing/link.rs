//! The link between host and device: a slow one, and what follows from theory and by hand.

use nandlab::buffer::Frames;
use nandlab::config::{Config, HostLink};
use nandlab::engine::{LinkSpeed, Payload, Ssd};
use nandlab::flash::clock::TIMINGS;
use nandlab::types::{HostOp, HostRequest, Nanos};

use super::device::{config, observe};
use super::theory::assert_close;
use crate::kit::Dice;

/// Data that wants to cross.
pub struct Transfer {
    /// Of its request.
    pub number: usize,
    pub ready: u64,
    pub bytes: u64,
    pub to_host: bool,
}

/// Sorts the transfers by when they are ready, of equals the older request first, and serves one after the other: when each
/// has crossed, with its number, and how long the link was busy each way.
pub fn serve(speed: LinkSpeed, mut transfers: Vec<Transfer>) -> (Vec<(usize, u64)>, [u64; 2]) {
    transfers.sort_by_key(|transfer| (transfer.ready, transfer.number));
    let (mut free, mut busy, mut crossed) = ([0, 0], [0, 0], vec![]);
    for Transfer { number, ready, bytes, to_host } in transfers {
        let exact = bytes as f64 * 1e9 / speed.bytes_per_second as f64;
        let takes = exact.round() as u64;
        let way = usize::from(to_host);
        let queue = if speed.half_duplex { 0 } else { way };
        free[queue] = u64::max(free[queue], ready) + takes;
        busy[way] += takes;
        crossed.push((number, free[queue]));
    }
    (crossed, busy)
}

/// Requests of a whole device: `begins` says since when the device has their commands, `finished` when all else of them is over,
/// and both say in the end when their data has crossed. How long the link was busy.
pub fn cross(speed: LinkSpeed, requests: &[HostRequest], begins: &mut [u64], finished: &mut [u64]) -> [u64; 2] {
    let has_data = |(_, request): &(usize, &HostRequest)| matches!(request.op, HostOp::Read | HostOp::Write);
    let transfer = |(number, request): (usize, &HostRequest)| {
        let to_host = request.op == HostOp::Read;
        let ready = if to_host { finished[number] } else { begins[number] };
        Transfer { number, ready, bytes: u64::from(request.sectors) * 512, to_host }
    };
    let (crossed, busy) = serve(speed, requests.iter().enumerate().filter(has_data).map(transfer).collect());
    for (number, at) in crossed {
        if requests[number].op == HostOp::Read { finished[number] = at } else { begins[number] = at }
    }
    busy
}

/// By turns: none, half duplex, full duplex with overheads that differ, overheads alone; with a controller and without.
pub fn host(n: u64) -> [String; 5] {
    let (link, read, write, controller) = [
        ("none", 0, 0, ""),
        ("200GiB/s half-duplex", 3, 7, "cores=2, read_time=\"90ns\", write_time=\"30ns\", page_time=\"9ns\""),
        ("100GiB/s", 40, 0, "write_time=\"50ns\""),
        ("none", 5, 60, "cores=5, read_time=\"200ns\", page_time=\"50ns\""),
        ("30GiB/s half-duplex", 0, 0, ""),
    ][n as usize % 5];
    [
        format!("device.host.link=\"{link}\""),
        format!("device.host.read_overhead={read}ns"),
        format!("device.host.write_overhead={write}ns"),
        format!("device.controller={{{controller}}}"),
        format!("device.sleep={{{}}}", if n % 5 > 1 { "after=\"9us\", wake_time=\"3us\"" } else { "" }),
    ]
}

#[test]
fn slow_link_serves_ties_in_the_order_of_requests() {
    let speed = |half_duplex| LinkSpeed { bytes_per_second: 1_000_000_000, half_duplex };
    let transfers = || {
        [(0, 50, 10, true), (1, 20, 5, false), (2, 50, 7, false), (3, 20, 40, true)]
            .map(|(number, ready, bytes, to_host)| Transfer { number, ready, bytes, to_host })
            .into()
    };
    assert_eq!(serve(speed(true), transfers()), (vec![(1, 25), (3, 65), (0, 75), (2, 82)], [12, 50]));
    assert_eq!(serve(speed(false), transfers()), (vec![(1, 25), (3, 60), (0, 70), (2, 57)], [12, 50]));
}

/// The lab's array with a given host interface and RAM that takes no time.
fn lab(link: &str, overhead_us: [u64; 2], settings: &[&str]) -> Config {
    let [read, write] = overhead_us;
    let host = [
        format!("device.host={{link=\"{link}\", read_overhead=\"{read}us\", write_overhead=\"{write}us\"}}"),
        "ram.dram_read=0ns".to_owned(),
        "ram.dram_write=0ns".to_owned(),
        "device.geometry.blocks_per_plane=32".to_owned(),
    ];
    crate::kit::lab(host.iter().map(String::as_str).chain(settings.iter().copied()))
}

/// Runs requests and returns the device.
fn run(config: &Config, requests: &[HostRequest]) -> Box<dyn Ssd> {
    let mut device = config.build().unwrap();
    device.drain();
    device.start_measuring();
    let start = device.flash().now();
    let requests: Vec<HostRequest> = requests.iter().map(|r| HostRequest { at: start + r.at, ..*r }).collect();
    device.run(&requests).unwrap();
    device.drain();
    device
}

/// 75 us to read the cells, 12 us over the channel, and 4 KiB at 500 MiB/s, which is 7,812.5 ns.
#[test]
fn lone_read_takes_overhead_flash_and_transfer() {
    let reads: Vec<_> = (0..1_000).map(|n| HostRequest::new(Nanos(0), HostOp::Read, n * 8, 8)).collect();
    let cases = TIMINGS.iter().flat_map(|model| ["500MiB/s", "500MiB/s half-duplex"].map(|link| (model.name(), link)));
    for (model, link) in cases {
        let model = format!("device.timing.model={model}");
        let config = lab(link, [8, 3], &["buffer.name=none", "replay.mode=fast", "replay.queue_depth=1", &model]);
        let times = run(&config, &reads).times().clone();
        assert_eq!(times.read_response.max(), Nanos(8_000 + 75_000 + 12_000 + 7_813), "{model}, {link}");
        assert_eq!(times.read_response.mean_ns(), 102_813.0, "{model}, {link}");
        assert_eq!(times.link.bytes, [0, 4_096_000]);
        assert_eq!(times.link.busy, [Nanos(0), Nanos(7_813_000)]);
    }
}

/// A write that the RAM takes is acknowledged when its data has crossed and its overhead is over; one past the buffer is
/// programmed after that (12 us over the channel, 750 us in the cells). Nothing of a trim or a flush crosses.
#[test]
fn lone_write_takes_transfer_overhead_and_what_holds_it() {
    let of = |op, n: u64, sectors| HostRequest::new(Nanos(0), op, n * 16, sectors);
    let writes: Vec<_> = (0..100).map(|n| of(HostOp::Write, n, 16)).collect();
    let depth = ["replay.mode=fast", "replay.queue_depth=1"];
    for (buffer, holds) in [("buffer.name=lru", 0), ("buffer.name=none", 762_000)] {
        let config = lab("500MiB/s", [8, 3], &[depth[0], depth[1], buffer]);
        let times = run(&config, &writes).times().clone();
        assert_eq!(times.write_response.max(), Nanos(15_625 + 3_000 + holds), "{buffer}");
        assert_eq!(times.write_response.mean_ns(), 18_625.0 + holds as f64, "{buffer}");
        assert_eq!(times.link.bytes, [819_200, 0]);
    }
    let config = lab("500MiB/s", [8, 3], &depth);
    let others: Vec<_> = (0..50).flat_map(|n| [of(HostOp::Trim, n, 16), of(HostOp::Flush, 0, 0)]).collect();
    let times = run(&config, &others).times().clone();
    assert_eq!((times.other_response.max(), times.other_response.mean_ns()), (Nanos(3_000), 3_000.0));
    assert_eq!(times.link.bytes, [0, 0]);
}

/// While the data of a write crosses, a read of it waits, and a read of something else does not.
#[test]
fn read_of_data_that_is_crossing_waits_for_it() {
    let mib = |op, at, lba| HostRequest::new(Nanos(at), op, lba, 2_048);
    let at =
        |lba| [mib(HostOp::Write, 0, 4_096), mib(HostOp::Write, 100_000_000, 0), mib(HostOp::Read, 100_000_001, lba)];
    // A MiB takes 10 ms each way.
    let config = lab("100MiB/s", [0, 0], &["replay.mode=open"]);
    let response = |lba| run(&config, &at(lba)).times().read_response.max();
    assert_eq!(response(4_096), Nanos(10_000_000));
    assert_eq!(response(0), Nanos(20_000_000 - 1));
}

/// A page is read until 87 us, written meanwhile, and read again: that waits for flash all the same.
#[test]
fn frame_that_is_filled_and_written_is_ready_after_both() {
    let of = |op, at, sectors| HostRequest::new(Nanos(at), op, 8_000, sectors);
    let requests = [of(HostOp::Read, 0, 8), of(HostOp::Write, 1_000, 1), of(HostOp::Read, 30_000, 8)];
    let times = run(&lab("none", [0, 8], &["replay.mode=open"]), &requests).times().clone();
    assert_eq!(times.read_response.mean_ns() * 2.0, f64::from(87_000 + 57_000));
}

/// RAM takes 500 ns after the overhead; what the buffer sends down is timed from there, and from the end of all requests if
/// it is for none.
#[test]
fn ram_and_write_backs_begin_when_the_request_does() {
    let settings = ["replay.mode=fast", "replay.queue_depth=1", "ram.dram_write=500ns"];
    let write = |n: u64| HostRequest::new(Nanos(0), HostOp::Write, n * 8, 8);
    let device = run(&lab("none", [0, 20], &settings), &[write(0)]);
    assert_eq!(device.times().write_response.max(), Nanos(20_500));
    let one_frame = [&settings[..], &["ram.dram=4KiB", "ram.nvram=0"]].concat();
    let mut device = run(&lab("500MiB/s", [0, 20], &one_frame), &(0..11).map(write).collect::<Vec<_>>());
    assert_eq!((device.ledger().write_back_pages, device.ledger().buffer_write_ns), (10, 7_620_000));
    device.run(&[HostRequest { op: HostOp::Read, ..write(10) }]).unwrap();
    device.finish();
    assert_eq!((device.ledger().write_back_pages, device.ledger().buffer_write_ns), (11, 8_382_000));
}

/// A read that waits for flash leaves the link to a later one that is in RAM.
#[test]
fn buffer_hit_overtakes_a_read_that_waits_for_flash() {
    let read = |at, lba| HostRequest::new(Nanos(at), HostOp::Read, lba, 8);
    let config = lab("1MiB/s", [0, 0], &["replay.mode=open", "buffer.name=lru"]);
    // 4 KiB take 3,906,250 ns. The first fills the buffer; the second misses and is ready after 87 us, the third at once.
    let requests = [read(0, 0), read(10_000_000, 8_000), read(10_050_000, 0)];
    let times = run(&config, &requests).times().clone();
    let [first, third] = [87_000 + 3_906_250, 3_906_250];
    let second = 50_000 + 2 * 3_906_250;
    assert_eq!(times.read_response.max(), Nanos(second));
    assert!((times.read_response.mean_ns() * 3.0 - (first + second + third) as f64).abs() < 1e-3);
}

/// The pieces of a request cross as one: 4 KiB and 12 KiB at 500 MiB/s, 31,250 ns.
#[test]
fn pieces_of_a_request_cross_together() {
    let piece = |op, lba, sectors, more| HostRequest { more, ..HostRequest::new(Nanos(0), op, lba, sectors) };
    for op in [HostOp::Write, HostOp::Read] {
        let config = lab("500MiB/s", [0, 0], &["replay.mode=fast", "replay.queue_depth=1"]);
        let pieces = |op| [piece(op, 800, 8, true), piece(op, 8_000, 24, false)];
        let times = run(&config, &[pieces(HostOp::Write), pieces(op)].concat()).times().clone();
        assert_eq!((times.response().count(), times.response().max()), (2, Nanos(31_250)), "{op:?}");
    }
}

/// A frame is written back for its own sake and not for the request that is still to begin.
#[test]
fn shrinking_buffer_waits_for_no_request() {
    let config = lab("none", [1_000_000, 0], &["replay.mode=fast", "replay.queue_depth=4", "buffer.name=lru"]);
    let mut device = config.build().unwrap();
    let of = |op| HostRequest::new(Nanos(0), op, 0, 8);
    device.submit(&of(HostOp::Write), Payload::None).unwrap();
    device.drain();
    let start = device.flash().now();
    device.submit(&of(HostOp::Read), Payload::None).unwrap();
    device.set_frames(Frames::default());
    device.drain();
    assert_eq!(device.ledger().write_back_pages, 1);
    assert_eq!(device.flash().now() - start, Nanos(1_000_000_000));
}

/// Bytes a second of so many requests of 128 KiB.
fn throughput(config: &Config, reads: impl Fn(u64) -> bool) -> f64 {
    let op = |n| if reads(n) { HostOp::Read } else { HostOp::Write };
    let request = |n: u64| HostRequest::new(Nanos(0), op(n), n % 64 * 256, 256);
    let mut device = config.build().unwrap();
    device.run(&(0..64).map(|n| HostRequest { op: HostOp::Write, ..request(n) }).collect::<Vec<_>>()).unwrap();
    device.start_measuring();
    let start = device.flash().now();
    device.run(&(0..20_000).map(request).collect::<Vec<_>>()).unwrap();
    device.drain();
    20_000.0 * 131_072.0 / (device.times().last_completion - start).as_secs()
}

#[test]
fn link_bound_run_has_the_rate_of_the_link() {
    let fast = ["replay.mode=fast", "replay.queue_depth=32"];
    let rate = |link: &str| HostLink::parse(link).unwrap().speed().unwrap().bytes_per_second as f64;
    for link in ["pcie1x1", "sata3", "pcie3x4"] {
        // Flash that is faster than the link, and no buffer: every page comes from a die.
        let settings = ["buffer.name=none", "device.timing.page_read=1us", "device.timing.page_transfer=1us"];
        let config = lab(link, [8, 8], &[&fast[..], &settings].concat());
        assert_close(throughput(&config, |_| true), rate(link), 1e-3, link);
    }
    for (link, both) in [("200MiB/s", 2.0), ("200MiB/s half-duplex", 1.0), ("sata2", 1.0), ("pcie2x1", 2.0)] {
        let want = both * rate(link);
        let got = throughput(&lab(link, [8, 8], &fast), |n| n % 2 == 0);
        // The two ways take turns at being the one that all places of the queue wait for.
        assert_close(got, want, 2e-3, link);
        let got = throughput(&lab(link, [0, 0], &fast), |n| n % 2 == 0);
        assert_close(got, want, 2e-3, link);
    }
}

/// W = rho S / (2 (1 - rho)): M/D/1. Reads that the RAM answers, and writes that it takes.
#[test]
fn hits_wait_for_the_link_as_queueing_theory_says() {
    let service = 4_096e9 / (100.0 * 1_048_576.0);
    for (op, link, rho) in
        [(HostOp::Read, "100MiB/s", 0.5), (HostOp::Read, "100MiB/s half-duplex", 0.8), (HostOp::Write, "100MiB/s", 0.8)]
    {
        let config = lab(link, [5, 5], &["replay.mode=open", "replay.queue_depth=4096", "ram.dram=32MiB"]);
        let mut device = config.build().unwrap();
        let touch = |n: u64, at, op| HostRequest::new(at, op, n * 8, 8);
        device.run(&(0..64).map(|n| touch(n, Nanos(0), HostOp::Write)).collect::<Vec<_>>()).unwrap();
        device.start_measuring();
        let (mut r, mut at) = (Dice(11), device.flash().now().0 as f64);
        let count = 1_000_000;
        for n in 0..count {
            at += r.exponential() * service / rho;
            device.submit(&touch(n % 64, Nanos(at as u64), op), Payload::None).unwrap();
        }
        device.drain();
        let waited = device.times().response().mean_ns() - 5_000.0 - service.round();
        let want = rho * service / (2.0 * (1.0 - rho));
        assert_close(waited, want, 0.02, &format!("mean waiting time of {op:?}, {link}, load {rho}"));
    }
}

/// Many requests at a time on devices with everything: `check` serves their data by the slow link.
#[test]
fn crowded_link_takes_the_time_of_the_slow_one() {
    for n in 0..30 {
        let mut settings = vec![format!("seed={n}"), "replay.queue_depth=64".to_owned()];
        settings.push(format!("replay.mode={}", ["open", "fast"][n as usize % 2]));
        settings.push(format!("buffer.name={}", ["lru", "none", "wpa"][n as usize % 3]));
        settings.push(format!("device.timing.model={}", ["parallel", "serial"][n as usize / 2 % 2]));
        settings.extend(host([1, 2, 4][n as usize / 3 % 3]));
        observe(&config(&settings), super::device::requests(n, 500)).check(&format!("{settings:?}"));
    }
}
