//! The controller: a slow one, and what follows from theory and by hand.

use nandlab::config::{Config, ControllerConfig};
use nandlab::engine::{Payload, Ssd};
use nandlab::types::{HostOp, HostRequest, Nanos};

use super::device::observe;
use super::theory::assert_close;
use crate::kit::Dice;

/// Commands in the order in which they are there, with the pages that go with each: when each has been carried out, and how long
/// the cores were busy. A command waits until fewer of those before it than there are cores are not finished.
pub fn serve(times: &ControllerConfig, page_sectors: u64, commands: &[(HostRequest, u64)]) -> (Vec<u64>, u64) {
    let (mut ends, mut busy): (Vec<u64>, u64) = (vec![], 0);
    for (request, ready) in commands {
        let mut latest = ends.clone();
        latest.sort_unstable_by(|a, b| b.cmp(a));
        let begins = latest.get(times.cores as usize - 1).map_or(*ready, |end| *end.max(ready));
        let touched: std::collections::BTreeSet<u64> =
            (request.lba..request.lba + u64::from(request.sectors)).map(|sector| sector / page_sectors).collect();
        let takes = match request.op {
            HostOp::Read => times.read_time.0 + times.page_time.0 * touched.len() as u64,
            HostOp::Write => times.write_time.0 + times.page_time.0 * touched.len() as u64,
            HostOp::Trim | HostOp::Flush => times.write_time.0,
        };
        ends.push(begins + takes);
        busy += takes;
    }
    (ends, busy)
}

#[test]
fn slow_controller_serves_two_at_a_time() {
    let times = |cores| ControllerConfig { cores, read_time: Nanos(10), write_time: Nanos(30), page_time: Nanos(1) };
    let command = |op, lba, sectors, ready| (HostRequest::new(Nanos(0), op, lba, sectors), ready);
    let commands = [
        command(HostOp::Write, 7, 2, 0),
        command(HostOp::Read, 0, 16, 5),
        command(HostOp::Trim, 0, 160, 6),
        command(HostOp::Read, 8, 8, 40),
    ];
    assert_eq!(serve(&times(1), 8, &commands), (vec![32, 44, 74, 85], 32 + 12 + 30 + 11));
    assert_eq!(serve(&times(2), 8, &commands), (vec![32, 17, 47, 51], 32 + 12 + 30 + 11));
}

/// The lab's array with a given controller, and RAM that takes no time and holds all that a test touches.
fn lab(controller: &str, settings: &[&str]) -> Config {
    let controller = format!("device.controller={{{controller}}}");
    let all = [&controller[..], "ram.dram_read=0ns", "ram.dram_write=0ns", "ram.dram=32MiB"];
    crate::kit::lab(all.into_iter().chain(["device.geometry.blocks_per_plane=32"]).chain(settings.iter().copied()))
}

/// A device with the first pages in RAM, and nothing measured yet.
fn warm(config: &Config) -> Box<dyn Ssd> {
    let mut device = config.build().unwrap();
    let fill: Vec<_> = (0..64).map(|n| HostRequest::new(Nanos(0), HostOp::Write, n * 8, 8)).collect();
    device.run(&fill).unwrap();
    device.drain();
    device.start_measuring();
    device
}

/// 75 us to read the cells, 12 us over the channel; the controller 9 us for the command and 1 us for the page.
#[test]
fn lone_read_takes_controller_overhead_and_flash() {
    for link in ["none", "500MiB/s"] {
        let settings =
            ["buffer.name=none", "replay.mode=fast", "replay.queue_depth=1", "device.host.read_overhead=8us"];
        let link = format!("device.host.link={link}");
        let config = lab("read_time=\"9us\", page_time=\"1us\", cores=3", &[&settings[..], &[&link]].concat());
        let reads: Vec<_> = (0..100).map(|n| HostRequest::new(Nanos(0), HostOp::Read, n * 8, 8)).collect();
        let mut device = config.build().unwrap();
        device.start_measuring();
        device.run(&reads).unwrap();
        device.drain();
        let crossing = if link.ends_with("none") { 0 } else { 7_813 };
        assert_eq!(device.times().read_response.max(), Nanos(10_000 + 8_000 + 87_000 + crossing));
        assert_eq!(device.times().controller_busy, Nanos(1_000_000));
    }
}

/// The data of a write (15,625 ns) crosses while its command is carried out; what takes longer counts.
#[test]
fn lone_write_takes_controller_or_transfer_then_its_overhead() {
    for (time, longer) in [("4us", 15_625), ("40us", 40_000)] {
        let settings = ["device.host={link=\"500MiB/s\", write_overhead=\"3us\"}", "replay.mode=fast"];
        let config = lab(&format!("write_time=\"{time}\""), &[&settings[..], &["replay.queue_depth=1"]].concat());
        let mut device = warm(&config);
        let of = |op, n: u64| HostRequest::new(Nanos(0), op, n * 8, 16);
        device.run(&(0..50).map(|n| of(HostOp::Write, n)).collect::<Vec<_>>()).unwrap();
        assert_eq!(device.times().write_response.max(), Nanos(longer + 3_000), "{time}");
        // A trim has no data, and its pages take no time.
        device.run(&[of(HostOp::Trim, 0)]).unwrap();
        let command = Nanos::parse(time).unwrap();
        assert_eq!(device.times().other_response.max(), command + Nanos(3_000), "{time}");
    }
}

/// The pieces of a request are one command.
#[test]
fn pieces_of_a_request_are_one_command() {
    let config = lab("write_time=\"5us\", page_time=\"1us\"", &["replay.mode=fast", "replay.queue_depth=1"]);
    let mut device = warm(&config);
    let piece = |lba, sectors, more| HostRequest { more, ..HostRequest::new(Nanos(0), HostOp::Write, lba, sectors) };
    device.run(&[piece(8, 8, true), piece(79, 2, false)]).unwrap();
    assert_eq!((device.times().response().count(), device.times().response().max()), (1, Nanos(8_000)));
}

/// Requests a second of so many that the RAM answers.
fn rate(config: &Config, op: HostOp, sectors: u32) -> f64 {
    let mut device = warm(config);
    let start = device.flash().now();
    let requests: Vec<_> = (0..20_000).map(|n| HostRequest::new(Nanos(0), op, n % 32 * 8, sectors)).collect();
    device.run(&requests).unwrap();
    device.drain();
    20_000.0 / (device.times().last_completion - start).as_secs()
}

#[test]
fn deep_queue_has_the_rate_of_the_cores() {
    let deep = ["replay.mode=fast", "replay.queue_depth=64", "device.host.read_overhead=20us"];
    for cores in [1, 2, 7, 64] {
        let config = lab(&format!("cores={cores}, read_time=\"10us\", write_time=\"20us\", page_time=\"2us\""), &deep);
        let bound = |us: f64| f64::min(f64::from(cores) * 1e6 / us, 64e6 / (us + 20.0));
        assert_close(rate(&config, HostOp::Read, 8), bound(12.0), 5e-3, &format!("reads on {cores} cores"));
        assert_close(rate(&config, HostOp::Read, 24), bound(16.0), 5e-3, &format!("long reads on {cores} cores"));
        let writes = f64::from(cores) * 1e6 / 22.0;
        assert_close(rate(&config, HostOp::Write, 8), writes, 5e-3, &format!("writes on {cores} cores"));
    }
}

/// Mean waiting time of M/D/c over the time of service: Crommelin, Delay probability formulae when the holding times are
/// constant, Post Office Electrical Engineers Journal 25 (1932).
fn crommelin(cores: u32, rho: f64) -> f64 {
    let c = f64::from(cores);
    (1..2_000)
        .map(|i| {
            let (i, load) = (f64::from(i), f64::from(i) * c * rho);
            // P(n) of Poisson by logarithms, from n = i c on.
            let mut n = i * c;
            let mut p = (1..=n as u64).fold(-load, |ln, k| ln + load.ln() - (k as f64).ln()).exp();
            let (mut from, mut beyond) = (p, 0.0);
            while p > 1e-18 || n < load {
                n += 1.0;
                p *= load / n;
                from += p;
                beyond += p;
            }
            from - beyond / rho
        })
        .sum()
}

/// Poisson arrivals of requests that the RAM answers.
#[test]
fn hits_wait_for_cores_as_queueing_theory_says() {
    // With one core: W = rho S / (2 (1 - rho)).
    assert_close(crommelin(1, 0.8), 2.0, 1e-6, "M/D/1");
    for (cores, rho) in [(1, 0.5), (1, 0.8), (4, 0.8)] {
        let controller = format!("cores={cores}, read_time=\"10us\", write_time=\"10us\"");
        let settings = ["replay.mode=open", "replay.queue_depth=4096", "device.host.write_overhead=3us"];
        let config = lab(&controller, &settings);
        let mut device = warm(&config);
        let (mut r, mut at) = (Dice(12), device.flash().now().0 as f64);
        let count = 500_000;
        for n in 0..count {
            at += r.exponential() * 10_000.0 / f64::from(cores) / rho;
            let request = HostRequest::new(Nanos(at as u64), HostOp::Write, n % 64 * 8, 8);
            device.submit(&request, Payload::None).unwrap();
        }
        device.drain();
        let waited = device.times().response().mean_ns() - 13_000.0;
        assert_close(waited, crommelin(cores, rho) * 10_000.0, 0.025, &format!("mean wait, {cores} cores, load {rho}"));
        let busy = device.times().controller_busy.0 as f64;
        assert_close(busy, f64::from(count as u32) * 10_000.0, 1e-9, "busy time");
    }
}

/// Requests of all kinds in RAM: every single one completes when the slow controller says.
#[test]
fn requests_in_ram_complete_when_the_slow_controller_says() {
    for seed in 0..40 {
        let cores = [1, 2, 3, 5][seed as usize % 4];
        let times = format!("cores={cores}, read_time=\"300ns\", write_time=\"500ns\", page_time=\"70ns\"");
        let mode = format!("replay.mode={}", ["open", "fast"][seed as usize / 4 % 2]);
        let depth = format!("replay.queue_depth={}", [1, 8, 64][seed as usize / 8 % 3]);
        let config = lab(&times, &[&mode, &depth, "device.host.read_overhead=40ns", "precondition=none"]);
        let mut device = warm(&config);
        let (mut r, mut at, start) = (Dice(seed), 0, device.flash().now());
        let (mut commands, mut finished) = (vec![], vec![]);
        for _ in 0..400 {
            at += r.below64(700);
            let op = [HostOp::Read, HostOp::Write, HostOp::Trim][r.below64(3) as usize];
            // What is trimmed is read no more: it would come from flash.
            let area = if op == HostOp::Trim { 100_000 } else { 0 };
            let (lba, sectors) = (area + r.below64(480), 1 + r.below64(31) as u32);
            let request = HostRequest::new(start + Nanos(at), op, lba, sectors);
            let done = device.submit(&request, Payload::None).unwrap();
            commands.push((request, done.admitted.0));
            finished.push(done.finished.expect("nothing of it is on flash").0);
        }
        let (ends, busy) = serve(&config.device.controller, 8, &commands);
        // A page that a write brings is there when that has begun; who needs it waits.
        let mut filled = std::collections::BTreeMap::new();
        for (n, ((request, _), end)) in commands.iter().zip(ends).enumerate() {
            let begins = end + if request.op == HostOp::Read { 40 } else { 0 };
            let mut want = begins;
            for page in request.lba / 8..(request.lba + u64::from(request.sectors)).div_ceil(8) {
                let there = filled.entry(page).or_insert(0);
                want = want.max(*there);
                if request.op == HostOp::Write {
                    *there = begins.max(*there);
                }
            }
            assert_eq!(finished[n], want, "seed {seed}: request {n}, {request:?}");
        }
        assert_eq!(device.times().controller_busy, Nanos(busy));
    }
}

/// Many requests at a time on devices with everything: `check` has their commands carried out by the slow controller.
#[test]
fn crowded_controller_takes_the_time_of_the_slow_one() {
    for n in 0..24 {
        let mut settings = vec![format!("seed={n}"), "replay.queue_depth=64".to_owned()];
        settings.push(format!("replay.mode={}", ["open", "fast"][n as usize % 2]));
        settings.push(format!("buffer.name={}", ["lru", "none", "wpa"][n as usize % 3]));
        settings.extend(super::link::host([1, 2, 3][n as usize / 3 % 3]));
        observe(&super::device::config(&settings), super::device::requests(n, 500)).check(&format!("{settings:?}"));
    }
}

#[test]
fn impossible_controller_is_refused() {
    let refuses = |settings: &[&str], key: &str| {
        let error = crate::kit::try_lab(settings).err().unwrap_or_else(|| panic!("{settings:?} is accepted"));
        assert_eq!(error.key, key, "{settings:?}: {error}");
    };
    refuses(&["device.controller.cores=0"], "device.controller.cores");
    refuses(&["device.controller={cores=65, read_time=\"1us\"}"], "device.controller.cores");
    refuses(&["device.controller.cores=2"], "device.controller.cores");
    refuses(&["device.controller.read_time=2s"], "device.controller.read_time");
}
