//! The whole device against a second one. See `oracle/mod.rs`; a long run is
//! `cargo run --release -p nandlab --example oracle_campaign`.

mod kit;
#[path = "oracle/mod.rs"]
mod oracle;

use oracle::cases::{BUFFER_NAMES, FTL_NAMES};
use oracle::run::pair;

/// Seeds and requests of a run: some twenty seconds of CPU in all.
const SEEDS: std::ops::Range<u64> = 0..300;
const EACH: u64 = 250;

fn all_buffers_over(ftl: &str) {
    assert!(FTL_NAMES.contains(&ftl));
    let problems: Vec<String> = BUFFER_NAMES
        .iter()
        .filter_map(|buffer| {
            pair(buffer, ftl, SEEDS, EACH).err().map(|problem| format!("{buffer} over {ftl}: {problem}"))
        })
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

#[test]
fn page_ftl_agrees_with_the_oracle() {
    all_buffers_over("page");
}

#[test]
fn block_ftl_agrees_with_the_oracle() {
    all_buffers_over("block");
}

#[test]
fn bast_agrees_with_the_oracle() {
    all_buffers_over("bast");
}

#[test]
fn fast_agrees_with_the_oracle() {
    all_buffers_over("fast");
}

#[test]
fn dftl_agrees_with_the_oracle() {
    all_buffers_over("dftl");
}
