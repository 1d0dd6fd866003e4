//! The state of a device before the measurement.

mod kit;

use nandlab::types::{Lpn, Ppn};

/// Where every page lies after `precondition`.
fn places(precondition: &str, seed: u64) -> Vec<Ppn> {
    let settings = [
        "device.geometry={channels=1, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, blocks_per_plane=40, \
         pages_per_block=16, page_bytes=4096}",
        "device.over_provisioning={spare_over_physical=0.25}",
        "buffer.name=lru",
        "ftl.name=page",
        &format!("precondition={precondition}"),
        &format!("seed={seed}"),
    ];
    let config = kit::lab(settings);
    let device = config.build().unwrap();
    assert_eq!(device.ledger(), nandlab::ledger::Ledger::default(), "counts begin afterwards");
    (0..device.logical_pages()).map(|lpn| device.ftl().locate(device.flash(), Lpn(lpn))).collect()
}

#[test]
fn steady_state_is_that_of_its_seed() {
    // Greedy collection has no choice of its own: only the pages that were overwritten can differ.
    assert_eq!(places("{steady=1.0}", 1), places("{steady=1.0}", 1));
    assert_ne!(places("{steady=1.0}", 1), places("{steady=1.0}", 2));
    assert_ne!(places("{steady=1.0}", 2), places("{steady=1.0}", 3));
    assert_eq!(places("full", 1), places("full", 2), "nothing is overwritten");
    assert!(places("none", 1).iter().all(|ppn| ppn.is_none()));
}
