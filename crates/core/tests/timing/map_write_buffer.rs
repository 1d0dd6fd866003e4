//! `ftl.map_write_buffer`: from the record of a whole device and the times of the slow simulator, eviction by eviction.

use nandlab::flash::clock::Call;
use nandlab::ledger::{Cause, Op};

use super::device::{config, observe, requests};
use super::scheduled_devices::again;

/// What look-ups that evict a dirty mapping did.
#[derive(Default, Debug, PartialEq)]
struct LookUps {
    /// Those that read a translation page after that,
    reads: u64,
    /// of these those that did so before what they evicted was programmed,
    early: u64,
    /// and those that did it before the page was programmed that had the place in RAM before.
    too_early: u64,
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
    let operations = record.iter().filter_map(|r| match r.call {
        Call::Operation(o) => Some(o),
        _ => None,
    });
    // When what was evicted was programmed, in the order of the evictions; and whether the next read is of that look-up.
    let (mut programmed, mut evicted): (Vec<u64>, bool) = (Vec::new(), false);
    let mut seen = LookUps::default();
    for (id, o) in operations.enumerate() {
        let (begin, end) = slow.executed(id);
        match (o.op, o.target.cause) {
            (Op::Program, Cause::MapEvict) => {
                programmed.push(end);
                evicted = true;
            }
            (Op::Read, Cause::MapMiss) if std::mem::take(&mut evicted) => {
                let last = programmed.len() - 1;
                seen.reads += 1;
                seen.early += u64::from(begin < programmed[last]);
                seen.too_early += u64::from(last >= pages && begin < programmed[last - pages]);
            }
            // The look-up found nothing to read.
            (_, Cause::Host) => evicted = false,
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
            let page_bytes = with.saturating_sub(bytes) / pages as u64;
            assert!(page_bytes.is_power_of_two() && page_bytes >= 512, "{pages} pages take {} bytes", with - bytes);
        }
    }
}
