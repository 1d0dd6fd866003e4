//! The block map on flash (`map_program` of BAST).

use nandlab::ledger::{BlockKind, Cause, Op};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use serde_json::json;

use crate::{counting, write_uniformly};

#[test]
fn merge_programs_a_page_of_the_block_map() {
    const PAGES: u64 = 4;
    let params = json!({"log_blocks": 4, "map_program": true});
    let (mut ftl, mut flash) = counting("bast", &params, PAGES as u32, 40, 100);
    write_uniformly(&mut ftl, &mut flash, &mut Pcg64Mcg::seed_from_u64(5), 100, 2_000);
    let ledger = &flash.ledger;
    let merges = ledger.merges_full + ledger.merges_partial + ledger.merges_switch;
    assert!(merges > 500, "{merges} merges");
    assert_eq!(ledger.count(Op::Program, Cause::MapUpdate), merges);
    // A full map block goes when the next one is begun; only its newest page counts, so nothing is copied.
    assert_eq!(ledger.erases_by_kind[BlockKind::Map as usize], (merges - 1) / PAGES);
    let others = [Cause::MapMiss, Cause::MapEvict, Cause::MapGc];
    assert!(
        others.iter().all(|cause| [Op::Read, Op::Program, Op::Erase].iter().all(|op| ledger.count(*op, *cause) == 0))
    );
}
