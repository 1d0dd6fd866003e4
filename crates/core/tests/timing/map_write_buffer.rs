//! `ftl.map_write_buffer`: from the record of a whole device and the times of the slow simulator, eviction by eviction.

use nandlab::flash::clock::{Call, RecordedCall, Ticket};
use nandlab::ledger::{Cause, Op};
use nandlab::types::Nanos;

use super::device::{config, observe, requests};
use super::scheduled_devices::again;

/// What look-ups that evict a dirty mapping did.
#[derive(Default, Debug, PartialEq)]
struct LookUps {
    /// Those that read a translation page after that,
    reads: u64,
    /// of these those that did so before what they evicted was programmed,
    early: u64,
    /// those that did it before the RAM was free that the page takes,
    too_early: u64,
    /// and those that did it while a page was not programmed that was evicted long before.
    passing: u64,
}

/// Runs `dftl`, whose look-up evicts one mapping at most, with RAM for so many translation pages.
fn look_ups(pages: usize, settings: &[&str]) -> (LookUps, u64) {
    let buffer = format!("ftl.map_write_buffer={pages}");
    let dftl = ["ftl.name=dftl", "ftl.cmt_entries=8", "ftl.entries_per_tp=32", &buffer];
    let device = ["replay.mode=fast", "replay.queue_depth=32", "buffer.name=none", "precondition=none"];
    let settings = [&dftl[..], &device, settings].concat();
    let settings: Vec<String> = settings.into_iter().map(str::to_owned).collect();
    let config = config(&settings);
    let observed = observe(&config, requests(11, 700));
    let record = observed.device.flash().clock.recorded();
    let slow = again(record, config.device.clock_shape());
    // Ticket and end of what each page of RAM holds; and when the RAM is free of the look-up that goes on, with the end of what
    // it evicted and of what was evicted as many evictions before as there are pages of RAM.
    let (mut held, mut evicted): (Vec<(Ticket, u64)>, _) = (vec![(Ticket::at(Nanos::ZERO), 0); pages], None);
    let (mut seen, mut programmed, mut id) = (LookUps::default(), Vec::new(), 0);
    for (n, RecordedCall { at, call }) in record.iter().enumerate() {
        let Call::Operation(o) = *call else { continue };
        let (begin, end) = slow.executed(id);
        id += 1;
        match (o.op, o.target.cause) {
            (Op::Program, Cause::MapEvict) => {
                programmed.push(end);
                let before = programmed.len().checked_sub(pages + 1).map_or(0, |first| programmed[first]);
                let free = held.iter_mut().reduce(|a, b| {
                    let key = |(ticket, end): &(Ticket, u64)| if *end <= at.0 { None } else { Some(*ticket) };
                    if key(b) < key(a) { b } else { a }
                });
                let free = free.map_or((o.ticket, end), |page| std::mem::replace(page, (o.ticket, end)));
                if let Some(RecordedCall { call: Call::Join { b, .. }, .. }) = record.get(n + 1).filter(|_| pages > 0) {
                    assert_eq!(*b, free.0, "the look-up waits for its page of RAM");
                }
                evicted = Some((free.1, end, before));
            }
            (Op::Read, Cause::MapMiss) if evicted.is_some() => {
                let (free, end, before) = evicted.take().unwrap();
                seen.reads += 1;
                seen.early += u64::from(begin < end);
                seen.too_early += u64::from(begin < free);
                seen.passing += u64::from(begin < before);
            }
            // The look-up found nothing to read.
            (_, Cause::Host) => evicted = None,
            _ => {}
        }
    }
    (seen, observed.device.ftl().map_bytes())
}

#[test]
fn look_up_waits_for_a_page_of_the_map_write_buffer() {
    let scheduled = ["device.timing.model=scheduled", "device.scheduler.policy=read_first"];
    let slices =
        [&scheduled[..], &["ftl.gc_frontier=separate", "ftl.gc_slice=paced", "device.geometry.blocks_per_plane=30"]]
            .concat();
    for settings in [&scheduled[..], &slices] {
        let (none, bytes) = look_ups(0, settings);
        assert!(none.reads > 150 && none.early == 0, "{settings:?}: {none:?}");
        for pages in [1, 2, 5] {
            let (seen, with) = look_ups(pages, settings);
            assert!(seen.early > seen.reads / 4 && seen.too_early == 0, "{settings:?}, {pages}: {seen:?}");
            assert!(pages == 1 || seen.passing > 0, "{settings:?}, {pages}: {seen:?}");
            let page_bytes = with.saturating_sub(bytes) / pages as u64;
            assert!(page_bytes.is_power_of_two() && page_bytes >= 512, "{pages} pages take {} bytes", with - bytes);
        }
    }
}
