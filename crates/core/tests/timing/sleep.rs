//! A device that sleeps: a slow one, and what follows by hand.

use nandlab::config::SleepConfig;
use nandlab::types::{HostOp, HostRequest, Nanos};

use super::device::{config, observe, requests};

/// Since when the device looks at each request, given when all are admitted and finished: it sleeps if all that came before
/// finished long enough ago, and looks at nothing before it has woken.
pub fn awake(sleep: &SleepConfig, start: u64, admitted: &[u64], finished: &[u64]) -> Vec<u64> {
    let mut looks = vec![];
    for (i, at) in admitted.iter().enumerate() {
        let last = finished[..i].iter().copied().fold(start, u64::max);
        let sleeps = sleep.after.is_some_and(|after| last + after.0 <= *at);
        let woken = if sleeps { at + sleep.wake_time.0 } else { looks.last().copied().unwrap_or(0) };
        looks.push(woken.max(*at));
    }
    looks
}

#[test]
fn slow_device_wakes_once_for_those_that_come_together() {
    let sleep = SleepConfig { after: Some(Nanos(100)), wake_time: Nanos(30) };
    let admitted = [0, 130, 140, 170, 300, 420];
    let finished = [20, 200, 170, 180, 310, 430];
    assert_eq!(awake(&sleep, 0, &admitted, &finished), [0, 160, 160, 170, 330, 450]);
}

/// 87 us of flash. The second read comes 1 ms after the first is over, which is not long enough; the third 2 ms after the second,
/// and wakes the device; the fourth comes while it wakes.
#[test]
fn read_after_a_rest_takes_the_time_to_wake() {
    let settings = ["buffer.name=none", "replay.mode=open", "device.sleep={after=\"2ms\", wake_time=\"800us\"}"];
    let config = crate::kit::lab(settings.iter().chain(&["device.geometry.blocks_per_plane=32"]));
    let mut device = config.build().unwrap();
    device.start_measuring();
    let start = device.flash().now().0;
    let times = [0, 1_087_000, 3_174_000, 3_474_000];
    let read = |n: usize| HostRequest::new(Nanos(start + times[n]), HostOp::Read, n as u64 * 800, 8);
    device.run(&[0, 1, 2, 3].map(read)).unwrap();
    device.drain();
    assert_eq!(device.times().read_response.max(), Nanos(887_000));
    assert_eq!(device.times().read_response.mean_ns() * 4.0, f64::from(87_000 + 87_000 + 887_000 + 587_000));
}

/// Two writes, and between them reads of what was never written, which need no flash: all of them want the link when
/// the device is awake, and cross it in their order.
#[test]
fn requests_that_wake_a_device_cross_the_link_in_their_order() {
    let link = "device.host.link=\"1GiB/s half-duplex\"";
    let sleep = "device.sleep={after=\"9us\", wake_time=\"3us\"}";
    let settings = ["buffer.name=none", "replay.mode=open", "precondition=none", link, sleep].map(str::to_owned);
    let kinds = [HostOp::Write, HostOp::Read, HostOp::Write, HostOp::Read, HostOp::Read, HostOp::Write];
    let requests = (0..).zip(kinds).map(|(n, op)| HostRequest::new(Nanos(100_000 + n), op, n * 4, 4));
    let seen = observe(&config(&settings), requests.collect());
    seen.check("six in turn");
    // 2 KiB take 1,907 ns: the last of six ends 11,442 ns after the device is awake, and is then programmed.
    assert_eq!(seen.device.times().last_completion, Nanos(100_000 + 3_000 + 6 * 1_907 + 10 + 100));
}

/// Short rests and RAM that is read in no time: much is ready when the device is awake, and has to cross in its order.
#[test]
fn drawn_requests_that_wake_a_device_cross_the_link_in_their_order() {
    for n in 0..50 {
        let mut settings = vec![format!("seed={n}"), "replay.queue_depth=64".to_owned(), "replay.mode=open".to_owned()];
        settings.push(format!("buffer.name={}", ["urm", "lru", "wpa", "none", "fab"][n as usize % 5]));
        settings.extend(super::link::host(4));
        settings.push("device.sleep={after=\"200ns\", wake_time=\"200ns\"}".to_owned());
        settings.extend(["ram.dram_read=0ns", "ram.nvram_read=0ns"].map(str::to_owned));
        observe(&config(&settings), requests(n, 300)).check(&format!("{settings:?}"));
    }
}

/// Requests in bursts and pauses on whole devices: `check` has them wait for the slow device.
#[test]
fn resting_device_takes_the_time_of_the_slow_one() {
    let mut woken = 0;
    for n in 0..30 {
        let mut settings = vec![format!("seed={n}"), "replay.queue_depth=64".to_owned(), "replay.mode=open".to_owned()];
        settings.push(format!("buffer.name={}", ["lru", "none", "wpa"][n as usize % 3]));
        settings.extend(super::link::host(2 + n / 3 % 3));
        let seen = observe(&config(&settings), requests(n, 500));
        seen.check(&format!("{settings:?}"));
        woken += usize::from(seen.device.times().read_response.max() > Nanos(3_000));
    }
    assert!(woken > 20, "{woken} of 30 devices slept");
}

#[test]
fn sleep_without_its_other_half_is_refused() {
    for (setting, key) in [
        ("device.sleep.wake_time=1ms", "device.sleep.wake_time"),
        ("device.sleep.after=1ms", "device.sleep.after"),
        ("device.sleep={after=\"0ns\", wake_time=\"1ms\"}", "device.sleep.after"),
        ("device.sleep={after=\"1ms\", wake_time=\"101s\"}", "device.sleep.wake_time"),
    ] {
        let error = crate::kit::try_lab([setting]).expect_err(setting);
        assert_eq!(error.key, key, "{setting}: {error}");
    }
}
