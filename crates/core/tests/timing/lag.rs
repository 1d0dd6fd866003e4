//! `ftl.gc_lag`: from the record of a whole device and the times of the slow simulator, page by page.

use nandlab::flash::clock::{Call, OpClass};

use super::device::{config, observe, requests};
use super::scheduled_devices::again;

/// How the pages of the host stood to collection.
#[derive(Default, Debug, PartialEq)]
struct Pages {
    /// Those before which a slice was issued,
    sliced: u64,
    /// and of these those that began before a slice was over that came `lag` slices earlier.
    ahead: u64,
    /// The longest time from the issue of a page to its begin, ns.
    longest: u64,
}

/// Runs a device that collects all the time; what the host's pages did, with slices told apart by the pages between them.
fn pages(settings: &[&str], lag: usize, count: u64) -> Pages {
    let settings: Vec<String> = [
        "replay.mode=fast",
        "replay.queue_depth=32",
        "buffer.name=none",
        "precondition=none",
        "device.geometry.blocks_per_plane=14",
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
        Call::Operation(o) => Some((o, r.at.0)),
        _ => None,
    });
    let dies = config.device.geometry.dies() as usize;
    // By die: the slices so far, each as the end of its last operation, and whether the last one is still being issued.
    let (mut slices, mut open) = (vec![Vec::<u64>::new(); dies], vec![false; dies]);
    let mut seen = Pages::default();
    for (id, (o, issued)) in operations.enumerate() {
        let (die, (begin, end)) = (o.die as usize, slow.executed(id));
        match OpClass::of(o.op, o.target.cause) {
            OpClass::Collection if open[die] => {
                *slices[die].last_mut().unwrap() = end.max(slices[die][slices[die].len() - 1]);
            }
            OpClass::Collection => {
                slices[die].push(end);
                open[die] = true;
            }
            OpClass::HostWrite if open[die] => {
                open[die] = false;
                seen.sliced += 1;
                seen.longest = seen.longest.max(begin - issued);
                let over = slices[die].len().saturating_sub(lag);
                seen.ahead += u64::from(slices[die][..over].iter().any(|end| *end > begin));
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
        for (pace, lag, count) in [("paced", 1, 1500), ("early", 2, 1500), ("3", 4, 3000)] {
            let (slice, bound) = (format!("ftl.gc_slice={pace}"), format!("ftl.gc_lag={lag}"));
            let bounded = pages(&[&policy, &slice, &bound], lag, count);
            let free = pages(&[&policy, &slice], lag, count);
            assert!(bounded.sliced > 150 && bounded.ahead == 0, "{scheduler} {pace} {lag}: {bounded:?}");
            // A fair share of the die is enough for most slices.
            let runs_ahead = free.ahead > free.sliced / 300 || scheduler == "fair_share";
            assert!(runs_ahead, "without a bound the host should run ahead: {free:?}");
        }
    }
}
