//! windowed-greedy - Fewest valid pages of the w oldest blocks
//!
//! # Source
//! Xiao-Yu Hu, Evangelos Eleftheriou, Robert Haas, Ilias Iliadis, Roman Pletka: Write amplification analysis in flash-based
//! solid state drives. SYSTOR 2009.
//!
//! # What it does
//! Of the `w` blocks closed earliest the one with the fewest valid pages; ties go to the one closed earliest. `w` = 1 is
//! `fifo`, a `w` of all blocks is `greedy`.

use super::{Candidates, VictimRule};

pub(super) const RULE: VictimRule =
    VictimRule { number: Some("blocks closed earliest to choose among"), by_age: true, lowest_first: false, pick };

fn pick(closed: &mut Candidates<'_>, window: u32) -> u32 {
    let window = closed.in_order().take(window as usize);
    // The first of equals is kept: the one closed earliest.
    window.min_by_key(|position| closed.valid(*position)).expect("a block is closed")
}
