//! AALRU: what it is for, its other padding rules, and a changing share of RAM. It decides as `oracle/buffer_aalru.rs` does.

use nandlab::types::HostOp;
use serde_json::{Value, json};

use super::merging::Merging;
use crate::kit::{Dice, Event, submit};

#[test]
fn aalru_pads_under_write_amplification() {
    let padded = |physical_blocks| {
        let rig = Merging { logical_pages: 1024, frames: 64, physical_blocks, ..Merging::default() };
        let (mut device, _) = rig.device("aalru", json!({"period": 256, "beta": 3.0}));
        let mut random = Dice(13);
        for _ in 0..8000 {
            let first = random.below64(255) * 4;
            submit(&mut *device, HostOp::Write, first, 4);
        }
        (device.ledger().waf_buffer(), device.ledger().padded_pages)
    };
    let (roomy_waf, roomy_pads) = padded(8000);
    let (tight_waf, tight_pads) = padded(132);
    assert_eq!((roomy_waf, roomy_pads), (1.0, 0));
    assert!(tight_waf > 1.5 && tight_pads > 1000, "{tight_waf} {tight_pads}");
}

#[test]
fn aalru_accepts_the_other_padding_rules() {
    let padded = |rule: Value| {
        let rig = Merging { logical_pages: 125, frames: 24, ..Merging::default() };
        let (mut device, recorder) = rig.device("aalru", json!({"padding": rule, "period": 64}));
        let mut random = Dice(15);
        for _ in 0..3000 {
            let op = if random.percent(60) { HostOp::Write } else { HostOp::Read };
            submit(&mut *device, op, random.skewed(125), 1);
        }
        let shares = |event: &Event| match event {
            Event::Write { lpns, padded } => Some((lpns.len() - padded.len(), padded.len())),
            _ => None,
        };
        recorder.take().iter().filter_map(shares).collect::<Vec<_>>()
    };
    assert!(padded(json!("never")).iter().all(|(_, pads)| *pads == 0));
    // The last block of the device has 5 pages.
    assert!(padded(json!("always")).iter().all(|(dirty, pads)| [5, 8].contains(&(dirty + pads))));
    for (dirty, pads) in padded(json!(0.5)) {
        assert!(if pads == 0 { dirty < 4 || dirty == 8 || dirty == 5 } else { dirty >= 3 }, "{dirty} {pads}");
    }
    // Nothing below it amplifies, so nothing is padded.
    assert!(padded(json!("aalru")).iter().all(|(_, pads)| *pads == 0));
}

#[test]
fn aalru_keeps_the_shares_of_its_regions_when_the_number_of_frames_changes() {
    let (mut device, _) = Merging::default().device("aalru", json!({"tau_start": 0.25}));
    let mut tau = |dram: u32| {
        device.set_frames(nandlab::buffer::Frames { dram, nvram: 0 });
        device.test_port().golden_state()["tau"].as_u64().unwrap()
    };
    // A quarter of 24 frames is 6, of 48 it is 12; an eighth more or less is rounded; each region keeps a tenth.
    assert_eq!([tau(24), tau(48), tau(12), tau(24), tau(40)], [6, 12, 3, 6, 10]);
}
