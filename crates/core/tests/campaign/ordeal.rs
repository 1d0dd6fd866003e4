//! The two ordeals of one variant on one device.

use nandlab::types::Pbn;
use serde_json::Value;

use super::outage::Outage;
use super::rig::{Device, Size, Start, smallest};
use super::streams::{Dice, Seen};
use super::{Counts, MODES};

/// Random operations; all invariants hold after each, and every read returns the last write.
pub fn operations(
    ftl: &str,
    params: &Value,
    (size, start): (Size, Start),
    seed: u64,
    operations: u32,
    seen: &mut Seen,
) -> Counts {
    let shape = smallest(ftl, params, size, start);
    let stream = format!("operations of {ftl} {params}, {size:?} {start:?}, seed {seed}");
    let mut device = Device::new(ftl, params, shape, start, &stream);
    let before = erased(&device);
    for _ in 0..operations {
        device.operate();
        device.acknowledge();
        device.check();
    }
    seen.stream(&device.dice);
    (0..size.logical_pages).for_each(|lpn| device.read(lpn));
    let erased = erased(&device) - before;
    assert_eq!(erased, device.flash.ledger.erases(), "sum of erase counts");
    // Pages come and go in every run that is long enough, or the run shows nothing.
    assert!(erased >= u64::from(operations / 100), "{ftl} {params}: {erased} erases in {operations} operations");
    Counts { operations: u64::from(operations), ..Counts::default() }
}

fn erased(device: &Device) -> u64 {
    let blocks = device.shape.geometry.blocks();
    (0..blocks).map(|pbn| u64::from(device.flash.erase_count(Pbn(pbn)))).sum()
}

/// The power fails at the first program or erase of a run, then at the second, and so on to its end, in every mode; the
/// recovery is cut up to three times; the run goes on with a stream of its own and is cut and recovered three times more.
pub fn cuts(
    ftl: &str,
    params: &Value,
    (size, start): (Size, Start),
    seed: u64,
    operations: u32,
    seen: &mut Seen,
) -> Counts {
    let shape = smallest(ftl, params, size, start);
    let stream = format!("cuts of {ftl} {params}, {size:?} {start:?}, seed {seed}");
    let mut counts = Counts::default();
    for nth in 1.. {
        for (turn, mode) in MODES.into_iter().enumerate() {
            let mut device = Device::new(ftl, params, shape, start, &stream);
            device.story = format!("{stream}, cut {nth} {mode:?}");
            device.flash.arm_cut(nth, mode);
            if !run_until_cut(&mut device, operations, &mut counts) {
                seen.stream(&device.dice);
                return counts;
            }
            let is_compacted = device.compactions > 0;
            let outage = device.recover(mode, (nth + turn as u64) % 4, seen);
            counts.cut_points += outage.cuts;
            counts.compacted_cuts += if is_compacted { outage.cuts } else { 0 };
            add(&mut counts, outage);
            device.dice = Dice::new(&device.story);
            for more in 0..3 {
                device.flash.arm_cut(1 + (nth * 7 + more * 5) % 23, mode);
                run_until_cut(&mut device, operations, &mut counts);
                let outage = device.recover(mode, (nth + more) % 3, seen);
                counts.further_cuts += outage.cuts;
                add(&mut counts, outage);
            }
        }
    }
    unreachable!("a run has an end")
}

/// What counts alike for first and further cuts.
fn add(counts: &mut Counts, outage: Outage) {
    counts.recovery_cuts += outage.recovery_cuts;
    counts.lower_pages += outage.lower_pages;
    counts.lost_pages += outage.lost_pages;
}

/// Operates until the armed cut happens; the operation on which it falls stays in flight.
fn run_until_cut(device: &mut Device, operations: u32, counts: &mut Counts) -> bool {
    for _ in 0..operations {
        device.operate();
        if device.flash.is_cut() {
            return true;
        }
        device.acknowledge();
        device.check();
        counts.operations += 1;
    }
    false
}
