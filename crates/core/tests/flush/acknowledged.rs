//! What is acknowledged survives where that is promised, and a flush writes what would not.

use nandlab::catalog::BUFFERS;
use nandlab::engine::Payload;
use nandlab::ftl::FTLS;
use nandlab::registry::Plugin;
use nandlab::replay::Replay;
use nandlab::types::{HostOp, HostRequest, Nanos};

use crate::kit::Dice;
use crate::{any_host, config, device, submit};

#[test]
fn acknowledged_writes_survive_a_power_cut_where_that_is_promised() {
    for (n, buffer) in BUFFERS.iter().map(Plugin::name).enumerate() {
        for ftl in ["page", FTLS[n % FTLS.len()].name().as_str()] {
            for (ack, kept) in [("flash", true), ("protected_ram", true), ("ram", false)] {
                let mut device =
                    device(&buffer, ftl, &["ram.partial_write=mask", &format!("device.host.write_ack={ack}")]);
                for at in 0..40_u64 {
                    submit(&mut *device, HostOp::Write, at, at as u32 * 3);
                }
                device.drain();
                device.test_port().cut_power();
                let mut found = 0;
                for lpn in (0..40_u32).map(|n| n * 3) {
                    let mut bytes = vec![0xEE; 512];
                    let read = HostRequest::new(Nanos(1 << 40), HostOp::Read, u64::from(lpn), 1);
                    device.submit(&read, Payload::Read(&mut bytes)).unwrap();
                    found += usize::from(lpn > 0 && bytes == vec![lpn as u8; 512]);
                }
                assert!(!kept || found == 39, "{buffer} over {ftl}: {found} of 39 writes");
                assert!(kept || found < 39 || matches!(&*buffer, "none" | "cbm-r" | "clock-dnv" | "wpa"), "{buffer}");
            }
        }
    }
}

#[test]
fn writes_through_end_with_a_program_whichever_way_the_policy_takes() {
    // `hitstat` writes a block as soon as it is whole, after the access that made it so.
    let eager = ["buffer.full_flush=eager", "device.host.write_ack=flash", "ram.nvram=0"];
    for (buffer, keys) in [("hitstat", &eager[..]), ("bplru", &eager[1..]), ("fab", &eager[1..]), ("lru", &eager[1..])]
    {
        let mut device = device(buffer, "page", keys);
        for n in 0..20_u64 {
            let at = Nanos(device.flash().now().0 + 100_000_000);
            device.submit(&HostRequest::new(at, HostOp::Write, n * 8, 8), Payload::None).unwrap();
            device.drain();
            let (programs, took) = (device.ledger().programs(), device.times().write_response.max());
            assert!(programs >= 8 * (n + 1) && took >= Nanos::from_us(400), "{buffer}: {programs} programs, {took}");
        }
        let mean = device.times().write_response.mean_ns();
        assert!(mean >= 400_000.0, "{buffer}: a write took {mean} ns on average, a program takes 400 us");
    }
}

/// When each of many writes of a page, which all arrive at one instant, is acknowledged.
fn burst(buffer: &str, ftl: &str, keys: &[&str], pages: u32) -> (Vec<u64>, u32) {
    let keys = [&["replay.queue_depth=256", "device.media=none"], keys].concat();
    let mut device = device(buffer, ftl, &keys);
    let writes: Vec<HostRequest> =
        (0..pages).map(|lpn| HostRequest::new(Nanos::ZERO, HostOp::Write, u64::from(lpn), 1)).collect();
    let config = config(buffer, ftl, &keys).unwrap();
    let mut replay = Replay::new(&config, &*device);
    replay.follow(&mut *device);
    replay.feed(&mut *device, &writes).unwrap();
    let frames = device.slots().frames().total();
    device.drain();
    let mut ends = Vec::new();
    replay.take_times(&mut *device, |request| ends.push(request.response().0));
    ends.sort_unstable();
    (ends, frames)
}

#[test]
fn pages_that_are_acknowledged_are_in_ram_or_programmed() {
    // Four dies program at most four pages each 400 us: what was acknowledged before is in a frame.
    let program = 400_000;
    let pairs = BUFFERS.iter().flat_map(|buffer| FTLS.iter().map(|ftl| (buffer.name(), ftl.name())));
    for (buffer, ftl) in pairs.filter(|(buffer, _)| buffer != "none") {
        // Only the memory that the policy uses.
        let one = ["ram.nvram=0"];
        let keys = if config(&buffer, &ftl, &one).and_then(|config| config.build()).is_ok() { &one[..] } else { &[] };
        let (ends, frames) = burst(&buffer, &ftl, keys, 200);
        assert_eq!(ends.len(), 200);
        for (n, end) in ends.iter().enumerate() {
            let programmed = 4 * (end / program);
            assert!((n as u64) < u64::from(frames) + programmed, "{buffer} over {ftl}: {} pages at {end} ns", n + 1);
        }
    }
}

#[test]
fn write_through_of_no_buffer_is_what_no_buffer_does() {
    let run = |ack: &str| {
        let mut device = device("none", "page", &["device.media=none", &format!("device.host.write_ack={ack}")]);
        let requests = any_host(&mut Dice::of_case(&[3]), 2000, device.flash().now().0);
        device.run(&requests).unwrap();
        device.finish();
        (device.ledger(), format!("{:?}", device.times()))
    };
    assert!(run("flash") == run("ram"));
}

#[test]
fn pages_written_through_stay_clean() {
    let mut device = device("lru", "page", &["device.host.write_ack=flash"]);
    let start = device.flash().now().0 / 1000;
    submit(&mut *device, HostOp::Write, start, 7);
    device.drain();
    assert_eq!(device.times().write_response.max(), Nanos::from_us(400));
    assert_eq!((device.slots().used().dram, device.slots().dirty_pages()), (1, 0));
    let at = start + 1000;
    assert_eq!(submit(&mut *device, HostOp::Read, at, 7), Some(Nanos::from_us(at)), "it is in RAM");
    submit(&mut *device, HostOp::Flush, at, 0);
    assert_eq!(device.ledger().programs(), 1, "a flush finds nothing to write");
}

/// Capacitors keep what a flush would write.
#[test]
fn flush_has_nothing_to_do_where_ram_survives() {
    for (ack, programs, at_once) in [("ram", 1, false), ("protected_ram", 0, true)] {
        let mut device = device("lru", "page", &[&format!("device.host.write_ack={ack}")]);
        let start = device.flash().now().0 / 1000;
        submit(&mut *device, HostOp::Write, start, 7);
        let done = submit(&mut *device, HostOp::Flush, start + 10, 0);
        assert_eq!(done == Some(Nanos::from_us(start + 10)), at_once, "{ack}: {done:?}");
        device.drain();
        assert_eq!((device.ledger().programs(), device.ledger().host_flush_requests), (programs, 1), "{ack}");
    }
    let hits = config("lru", "page", &["device.host.write_ack=protected_ram"]).unwrap().build_hits();
    assert_eq!(hits.err().expect("its flushes write").key, "device.host.write_ack");
}
