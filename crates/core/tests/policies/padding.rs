//! The rules of padding, which all block policies share.

use serde_json::json;

use super::blocks::Fab;
use super::grouped::{Amplification, Grouped, Padding};
use super::harness::{Run, compare, device};
use crate::kit::Dice;

#[test]
fn aalru_threshold_follows_the_write_amplification_below_fab() {
    let mut random = Dice(51);
    let (mut accesses, mut between) = (0, 0);
    for number in 0..10 {
        let block_pages = [3, 8, 16][random.below(3) as usize];
        let frames = block_pages + random.below(40);
        let logical_pages = frames + 10 * block_pages + random.below(60);
        let run = Run { logical_pages, block_pages, frames, nvram: 0, filled: random.one_in(2), roomy: true };
        let wf = Amplification {
            threshold: f64::from(block_pages),
            accesses: 0,
            request: 0,
            below: 0,
            above: 0,
            start: [0; 3],
            between: 0,
        };
        let mut reference = Grouped::new(&run, Padding::Aalru(wf), Fab::default());
        let mut device = device("fab", json!({"padding": "aalru"}), &run);
        let label = format!("run {number}");
        accesses += compare(&label, &mut *device, &mut reference, &run, &mut random, 12_000);
        if let Padding::Aalru(wf) = reference.padding {
            between += wf.between;
        }
    }
    assert!(accesses > 100_000 && between > 20, "{accesses} accesses, {between} thresholds");
}
