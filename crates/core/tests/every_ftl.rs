//! Does every FTL keep what it is given, through random operations and power cuts?

#![allow(clippy::print_stdout, reason = "the counts are part of what these tests tell")]

mod campaign;
mod common;

use campaign::rig::{Device, Size, Start, smallest};
use campaign::{Counts, variants};
use nandlab::ftl::FTLS;
use nandlab::ledger::{Cause, Op};

/// Random operations for each FTL, at least.
const OPERATIONS: u32 = 1_000_000;
/// Cut points in all, at least.
const CUT_POINTS: u64 = 100_000;

#[test]
fn does_every_ftl_return_what_was_written_last() {
    for plugin in FTLS {
        let name = plugin.name();
        let runs = variants::variants(&name).len() * variants::SIZES.len() * campaign::rig::STARTS.len();
        let counts = campaign::operate(&name, 0..1, OPERATIONS.div_ceil(runs as u32));
        println!("{name}: {} operations", counts.operations);
        assert!(counts.operations >= u64::from(OPERATIONS));
    }
}

#[test]
fn does_every_ftl_survive_a_power_cut_at_every_flash_operation() {
    let mut all = Counts::default();
    for plugin in FTLS {
        let name = plugin.name();
        let counts = campaign::cut(&name, 0..1, 40);
        println!("{name}: {counts}");
        assert!(counts.cut_points > 1_000 && counts.recovery_cuts > 500 && counts.lost_pages > 20, "{name}: {counts}");
        all += counts;
    }
    println!("all: {all}; {} cuts", all.cuts());
    assert!(all.cut_points >= CUT_POINTS, "{all}");
}

#[test]
fn does_page_keep_its_data_with_every_combination_of_options() {
    let mut moved = [0; 3];
    for params in variants::page_combinations() {
        for (logical_pages, dies, start) in [(29, 1, Start::Full), (30, 4, Start::Empty), (30, 4, Start::Roomy)] {
            let size = Size { pages_per_block: 4, logical_pages, dies };
            let shape = smallest("page", &params, size, start);
            let mut device = Device::new("page", &params, shape, start, 1);
            for _ in 0..400 {
                device.operate();
                device.acknowledge();
                device.check();
            }
            (0..device.shape.logical_pages).for_each(|lpn| device.read(lpn));
            let ledger = &device.flash.ledger;
            let count = |op| [Cause::Host, Cause::Gc, Cause::Wear].map(|cause| ledger.count(op, cause));
            assert_eq!(
                ledger.programs(),
                count(Op::Program).iter().sum::<u64>() + ledger.count(Op::Program, Cause::Pad)
            );
            assert_eq!(count(Op::Program)[1..], count(Op::Read)[1..], "a copy is one read and one program");
            assert_eq!(count(Op::Erase)[1] + count(Op::Erase)[2], ledger.erases());
            moved = std::array::from_fn(|i| moved[i] + count(Op::Erase)[i]);
            if params.get("wear_threshold").is_none() {
                assert_eq!(count(Op::Erase)[2], 0, "{params}: levelling that nobody asked for");
            }
        }
    }
    assert!(moved[1] > 20_000 && moved[2] > 1_000, "erases by cause {moved:?}");
}
