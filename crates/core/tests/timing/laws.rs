//! What must hold between the flash operations of any device.

use nandlab::flash::clock::Operation;
use nandlab::ftl::FTLS;
use nandlab::ledger::{Cause, Op};

use super::device::{Timed, config, observe, requests};

const PAGES_PER_BLOCK: u32 = 8;

fn times_of(ftl: &str, more: &[&str], seed: u64) -> Timed {
    let mut settings = vec![format!("ftl.name={ftl}"), "replay.mode=fast".to_owned(), format!("seed={seed}")];
    settings.push(format!("buffer.name={}", ["lru", "none", "bplru"][seed as usize % 3]));
    settings.extend(more.iter().map(|&setting| setting.to_owned()));
    observe(&config(&settings), requests(seed, 500)).time()
}

/// Reads whose data the next operation programs elsewhere.
fn is_copied(read: &Operation, program: &Operation) -> bool {
    let moves = matches!(read.target.cause, Cause::Gc | Cause::Merge | Cause::Wear | Cause::Refresh | Cause::MapGc);
    moves && read.op == Op::Read && program.op == Op::Program && program.target.cause == read.target.cause
}

/// FTLs whose log blocks may be emptied by several merges, of which none knows the others' copies when it finds the block
/// empty and erases it. Their merges and erases are those of the other hybrid FTLs.
const SHARED_LOGS: [&str; 2] = ["fast", "last"];

#[test]
fn copy_is_programmed_after_its_read_and_the_block_erased_after_all_copies() {
    let mut copies = 0;
    for (n, ftl) in FTLS.iter().flat_map(|ftl| [ftl; 3]).enumerate() {
        let timed = times_of(&ftl.name(), &[], n as u64);
        // By block: copies taken from it since its last erase, as their issue and end. What counts are those of the
        // collection that erases it, which issues all at one instant.
        let mut taken: Vec<Vec<(u64, u64)>> = vec![Vec::new(); 80];
        for (i, (operation, [begin, end, _])) in timed.operations.iter().enumerate() {
            let block = (operation.target.page.0 / PAGES_PER_BLOCK) as usize;
            if let Some((next, [copy_begin, copy_end, _])) = timed.operations.get(i + 1)
                && is_copied(operation, next)
            {
                assert!(end <= copy_begin, "{}: {next:?} begins before {operation:?} ends", ftl.name());
                taken[block].push((timed.issued[i], *copy_end));
                copies += 1;
            }
            if operation.op == Op::Erase && !SHARED_LOGS.contains(&ftl.name().as_str()) {
                for (_, copied) in taken[block].drain(..).filter(|(issued, _)| *issued == timed.issued[i]) {
                    assert!(copied <= *begin, "{}: {operation:?} at {begin}, a copy ends at {copied}", ftl.name());
                }
            }
        }
    }
    assert!(copies > 10_000, "{copies} copies");
}

#[test]
fn copies_of_a_translation_page_are_written_in_parallel() {
    // Two copies of each page, one on each channel: they wait for the same, and not for each other.
    let more = ["ftl.cmt_entries=16", "ftl.entries_per_tp=32", "ftl.replicas=1"];
    let (mut pairs, mut overlapping) = (0, 0);
    for seed in 0..6 {
        let timed = times_of("rftl", &more, seed);
        let is_rewrite =
            |o: &Operation| o.op == Op::Program && matches!(o.target.cause, Cause::MapEvict | Cause::MapUpdate);
        let writes: Vec<_> = timed.operations.iter().filter(|(o, _)| is_rewrite(o)).collect();
        for pair in writes.chunks_exact(2) {
            let [(a, [a_begin, a_end, _]), (b, [b_begin, b_end, _])] = pair else { unreachable!() };
            assert_ne!(a.die % 2, b.die % 2, "{a:?} {b:?}");
            assert_eq!(a.after, b.after, "{a:?} {b:?}");
            pairs += 1;
            overlapping += u32::from(a_begin < b_end && b_begin < a_end);
        }
    }
    assert!(pairs > 100 && overlapping > 100, "{overlapping} of {pairs} pairs overlap");
}
