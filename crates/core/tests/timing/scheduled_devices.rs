//! Whole devices over the scheduled clock: what each FTL asks for goes through the slow simulator, and all waits must come out.

use std::collections::BTreeMap;

use nandlab::flash::clock::{Call, ClockShape, OpClass, RecordedCall, Ticket};
use nandlab::ftl::FTLS;

use super::device::{config, observe, requests};
use super::scheduled::{Seen, check_waits};
use super::slow_scheduled::{After, Slow};

/// The calls of a clock, made to the slow simulator at the same times.
pub fn again(record: &[RecordedCall], shape: ClockShape) -> Slow {
    let mut slow = Slow::new(shape);
    let mut known: BTreeMap<Ticket, After> = BTreeMap::new();
    let after = |known: &BTreeMap<Ticket, After>, ticket: Ticket| match ticket.as_time() {
        Some(at) => After::at(at.0),
        None => known[&ticket].clone(),
    };
    for RecordedCall { at, call } in record {
        if at.0 > slow.now {
            slow.advance(at.0);
        }
        match *call {
            Call::Operation(o) => {
                let waits_for = after(&known, o.after);
                let ticket = slow.issue(o.target, o.die as usize, o.op, &waits_for, o.release);
                known.insert(o.ticket, ticket);
            }
            Call::Join { a, b, both } => {
                let joined = slow.join(after(&known, a), after(&known, b));
                if both.as_time().is_none() {
                    known.insert(both, joined);
                }
            }
            Call::Programmed { ticket } => {
                known.insert(ticket, std::mem::take(&mut slow.programmed));
            }
            Call::Watch { ticket, .. } => slow.watch(&after(&known, ticket)),
            Call::Settle => slow.advance(at.0),
        }
    }
    slow.drain();
    slow
}

/// Every FTL under these settings.
fn check(scheduler: &[&str]) -> Seen {
    let mut seen = Seen::default();
    for (n, ftl) in FTLS.iter().enumerate() {
        let mut settings = vec![
            format!("ftl.name={}", ftl.name()),
            format!("buffer.name={}", ["lru", "none", "bplru"][n % 3]),
            "device.timing.model=scheduled".to_owned(),
            "replay.mode=fast".to_owned(),
            // The shares of classes begin where the record does.
            "precondition=none".to_owned(),
            format!("seed={n}"),
        ];
        settings.extend(scheduler.iter().map(|&setting| setting.to_owned()));
        let config = config(&settings);
        let observed = observe(&config, requests(n as u64, 400));
        let flash = observed.device.flash();
        let slow = again(flash.clock.recorded(), config.device.clock_shape());
        let context = format!("{} with {scheduler:?}", ftl.name());
        assert_eq!(flash.clock.in_flight(), 0, "{context}");
        slow.check_order();
        check_waits(&flash.clock, &slow, &context, &mut seen);
        seen.operations +=
            OpClass::ALL.map(|class| flash.clock.waits().unwrap().of(class).latency.count()).iter().sum::<u64>();
    }
    seen
}

const COPY_BACK: &str = "device.commands.copy_back=true";
const CACHED: &str = "device.commands={cache_read=true, cache_program=true}";

#[test]
fn every_ftl_waits_as_the_slow_simulator_says() {
    for scheduler in [
        &["device.scheduler.policy=fifo"] as &[&str],
        &["device.scheduler.policy=fair_share"],
        &["device.scheduler.policy=read_first", "device.commands.unit_pages=2"],
        &["device.scheduler.policy=read_first", "device.scheduler.most_wait=2us"],
        &[
            "device.scheduler={policy=\"read_first\", suspend=\"erase_and_program\", suspend_time=\"20ns\", resume_time=\"5ns\"}",
        ],
        &["device.scheduler.policy=fifo", CACHED],
        &["device.scheduler.policy=fair_share", CACHED],
        &["device.scheduler.policy=read_first", CACHED, "device.commands.unit_pages=2"],
        &[
            "device.scheduler={policy=\"read_first\", suspend=\"erase_and_program\", suspend_time=\"20ns\", resume_time=\"5ns\"}",
            CACHED,
            COPY_BACK,
        ],
        &["device.scheduler.policy=fifo", COPY_BACK],
        &["device.scheduler.policy=fair_share", COPY_BACK],
        &["device.scheduler.policy=read_first", "device.scheduler.most_wait=2us", COPY_BACK],
    ] {
        let seen = check(scheduler);
        assert_eq!(seen.inside > 300, scheduler.contains(&COPY_BACK), "{scheduler:?}: {seen:?}");
        let is_cached = scheduler.contains(&CACHED);
        assert!(seen.follows.iter().all(|n| (*n > 300) == is_cached), "{scheduler:?}: {seen:?}");
        assert!(seen.operations > 10_000 && seen.waits > 50, "{scheduler:?}: {seen:?}");
    }
}
