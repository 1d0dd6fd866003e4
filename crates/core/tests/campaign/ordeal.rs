//! The two ordeals of one variant on one device.

use nandlab::flash::CutMode;
use nandlab::types::Pbn;
use serde_json::Value;

use super::rig::{Device, Size, Start, smallest};
use super::{Counts, MODES};

/// Random operations; all invariants hold after each, and every read returns the last write.
pub fn operations(ftl: &str, params: &Value, size: Size, start: Start, seed: u64, operations: u32) -> Counts {
    let shape = smallest(ftl, params, size, start);
    let mut device = Device::new(ftl, params, shape, start, seed);
    let before = erased(&device);
    for _ in 0..operations {
        device.operate();
        device.acknowledge();
        device.check();
    }
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
/// recovery is cut up to three times; the run goes on and is cut and recovered three times more.
pub fn cuts(ftl: &str, params: &Value, size: Size, start: Start, seed: u64, operations: u32) -> Counts {
    let shape = smallest(ftl, params, size, start);
    let mut counts = Counts::default();
    for nth in 1.. {
        for (turn, mode) in MODES.into_iter().enumerate() {
            let mut device = Device::new(ftl, params, shape, start, seed);
            device.story = format!("seed {seed}, cut {nth} {mode:?}");
            device.flash.arm_cut(nth, mode);
            if !run_until_cut(&mut device, operations, &mut counts) {
                return counts;
            }
            counts.cut_points += 1;
            recover(&mut device, mode, (nth + turn as u64) % 4, &mut counts);
            for more in 0..3 {
                device.flash.arm_cut(1 + (nth * 7 + more * 5) % 23, mode);
                counts.further_cuts += u64::from(run_until_cut(&mut device, operations, &mut counts));
                recover(&mut device, mode, (nth + more) % 3, &mut counts);
            }
        }
    }
    unreachable!("a run has an end")
}

fn recover(device: &mut Device, mode: CutMode, again: u64, counts: &mut Counts) {
    let (cuts, lost) = device.recover(mode, again);
    counts.recovery_cuts += cuts;
    counts.lost_pages += lost;
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
