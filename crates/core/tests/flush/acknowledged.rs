//! What is acknowledged survives where that is promised, and a flush writes what would not.

use nandlab::catalog::BUFFERS;
use nandlab::engine::Payload;
use nandlab::ftl::FTLS;
use nandlab::registry::Plugin;
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
