//! `ftl.gc_lag`: from the record of a whole device and the times of the slow simulator, page by page.

use nandlab::flash::clock::{Call, OpClass};

use super::device::{config, observe, requests};
use super::scheduled_devices::again;

/// How the pages of the host stood to collection.
#[derive(Default, Debug, PartialEq)]
struct Pages {
    /// Those before which something was collected,
    sliced: u64,
    /// and those that began before all was over that was collected before the previous run.
    ahead: u64,
}

/// Runs a device that collects all the time, and looks at the pages of the host, which lie in runs of `lag`.
fn pages(settings: &[&str], lag: u32, count: u64) -> Pages {
    let settings: Vec<String> = [
        "replay.mode=fast",
        "replay.queue_depth=32",
        "buffer.name=none",
        "precondition=none",
        "device.geometry.blocks_per_plane=16",
    ]
    .into_iter()
    .chain(["device.timing.model=scheduled", "ftl.gc_frontier=separate"])
    .chain(settings.iter().copied())
    .map(str::to_owned)
    .collect();
    let config = config(&settings);
    let observed = observe(&config, requests(7, count));
    let record = observed.device.flash().clock.recorded();
    let slow = again(record, config.device.clock_shape());
    let operations = record.iter().filter_map(|r| match r.call {
        Call::Operation(o) => Some(o),
        _ => None,
    });
    let dies = config.device.geometry.dies() as usize;
    // By die: when all is over that was collected before the previous run, before this run, and up to now.
    let mut over = vec![[0; 3]; dies];
    let (mut sliced, mut collected) = (vec![false; dies], vec![0; dies]);
    // By die: block of the host's last page, and the run in it.
    let mut runs = vec![None; dies];
    let mut seen = Pages::default();
    for (id, o) in operations.enumerate() {
        let (die, (begin, end)) = (o.die as usize, slow.executed(id));
        match OpClass::of(o.op, o.target.cause) {
            OpClass::Collection => {
                // What comes before the first page of a run belongs to that run.
                collected[die] = end.max(collected[die]);
                sliced[die] = true;
            }
            OpClass::HostWrite => {
                let pages_per_block = config.device.geometry.pages_per_block;
                let (block, offset) = (o.target.page.0 / pages_per_block, o.target.page.0 % pages_per_block);
                if runs[die].replace((block, offset / lag)) != Some((block, offset / lag)) {
                    over[die] = [over[die][1], over[die][2], over[die][2]];
                }
                over[die][2] = collected[die].max(over[die][2]);
                seen.sliced += u64::from(std::mem::take(&mut sliced[die]));
                seen.ahead += u64::from(begin < over[die][0]);
            }
            _ => {}
        }
    }
    seen
}

#[test]
fn lag_bounds_how_far_the_host_is_ahead_of_collection() {
    for scheduler in ["read_first", "fair_share"] {
        let policy = format!("device.scheduler.policy={scheduler}");
        for (pace, lag, count) in [("paced", 1, 1500), ("early", 2, 1500), ("3", 4, 1500)] {
            let (slice, bound) = (format!("ftl.gc_slice={pace}"), format!("ftl.gc_lag={lag}"));
            let bounded = pages(&[&policy, &slice, &bound], lag, count);
            let free = pages(&[&policy, &slice], lag, count);
            assert!(bounded.sliced > 150 && bounded.ahead == 0, "{scheduler} {pace} {lag}: {bounded:?}");
            assert!(free.ahead > free.sliced / 2, "without a bound the host should run ahead: {free:?}");
        }
    }
}

/// Units that are left before they are full take the pages that stay without data with them.
#[test]
fn lag_counts_the_pages_that_stay_without_data() {
    let units = ["device.commands.unit_pages=4", "ftl.placement=least_busy", "ftl.whole_units=true"];
    for (lag, depth) in [(2, 8), (3, 8), (3, 12)] {
        let (bound, queue) = (format!("ftl.gc_lag={lag}"), format!("replay.queue_depth={depth}"));
        let settings = [&units[..], &[&*queue, "ftl.gc_slice=paced", "device.scheduler.policy=read_first"]].concat();
        let bounded = pages(&[&settings[..], &[&bound]].concat(), lag, 1500);
        let free = pages(&settings, lag, 1500);
        assert!(bounded.sliced > 300 && bounded.ahead == 0, "{lag} {depth}: {bounded:?}");
        assert!(free.ahead > 500, "without a bound the host should run ahead: {free:?}");
    }
}
