//! The least that an LRU of page numbers can do: a table, links and nothing else, over a trace file of libCacheSim. What a
//! machine reaches here is what `buffer_hits` can be held against.
//!
//! `cargo run --release -p nandlab --example bare_lru -- FILE PAGES` prints the hits and the accesses per second.
#![allow(clippy::print_stdout)]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures wall time")]

use std::error::Error;
use std::time::Instant;

/// Bytes of a request: time (4), object (8), size (4), next access (8).
const RECORD: usize = 24;
/// The page is in no frame.
const NOWHERE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Frame {
    newer: u32,
    older: u32,
    page: u32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, pages] = &arguments[..] else { return Err("usage: bare_lru FILE PAGES".into()) };
    let capacity: usize = pages.parse()?;
    let number = |record: &[u8]| u32::from_le_bytes(std::array::from_fn(|i| record[4 + i]));
    let trace: Vec<u32> = std::fs::read(file)?.chunks_exact(RECORD).map(number).collect();
    let last = trace.iter().max().ok_or("the trace is empty")?;

    let before = Instant::now();
    let mut frame_of = vec![NOWHERE; *last as usize + 1];
    // The frame behind the last one is the head of the ring.
    let head = capacity as u32;
    let mut frames = vec![Frame { newer: head, older: head, page: 0 }; capacity + 1];
    let mut hits = 0_u64;
    let mut used = 0;
    for page in &trace {
        let mut at = frame_of[*page as usize];
        if at != NOWHERE || used == head {
            hits += u64::from(at != NOWHERE);
            if at == NOWHERE {
                at = frames[head as usize].newer;
                frame_of[frames[at as usize].page as usize] = NOWHERE;
                frame_of[*page as usize] = at;
            }
            let Frame { newer, older, .. } = frames[at as usize];
            frames[newer as usize].older = older;
            frames[older as usize].newer = newer;
        } else {
            at = used;
            frame_of[*page as usize] = at;
            used += 1;
        }
        let newest = frames[head as usize].older;
        frames[at as usize] = Frame { newer: head, older: newest, page: *page };
        frames[newest as usize].newer = at;
        frames[head as usize].older = at;
    }
    let seconds = before.elapsed().as_secs_f64();
    println!("{hits} hits, {:.1} M accesses/s", trace.len() as f64 / seconds / 1e6);
    Ok(())
}
