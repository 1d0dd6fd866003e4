//! Claims that need no simulation.

use nandlab::ftl::rftl::{PAPER_MODEL, replica_share};

use super::experiment::Results;
use super::{Claims, Row, list};

pub const CLAIMS: Claims = Claims {
    name: "arithmetic",
    title: "Arithmetic",
    about: "What a paper computes from its own figures, computed again.",
    experiments: Vec::new,
    rows,
    matrix: None,
};

/// Time of a mapping access by RFTL's model on its figure 6, microseconds: with a share `misses` of misses and `replicas` on
/// 8 channels; without replicas every miss waits for a collection.
fn rftl(misses: f64, replicas: u32) -> f64 {
    PAPER_MODEL.replicated_us(misses, replica_share(replicas, 8))
}

/// Replicas of its table 4, and what its table 1 prints as extra writes for others.
const REPLICAS: [(&str, u32); 3] = [("P = 0.25", 2), ("P = 0.5", 4), ("P = 0.75", 6)];
const EXTRA: [(f64, f64); 4] = [(1.0, 0.4), (3.0, 1.2), (7.0, 2.8), (15.0, 6.0)];

fn rows(_: &Results) -> Vec<Row> {
    let close = |value: f64, expected: f64, within: f64| (value - expected).abs() < within;
    let gains = REPLICAS.map(|(name, n)| (name, 100.0 * (1.0 - rftl(1.0, n) / rftl(1.0, 0))));
    let full = |n| 100.0 * rftl(0.6, n) / rftl(1.0, 0);
    let shares = [("DFTL", full(0)), ("P = 0.25", full(2)), ("P = 0.5", full(4)), ("P = 0.75", full(6))];
    // A block costs 37 bits, a page of it 13: the only whole numbers that give both of AALRU's totals.
    let (worst, best) = (4096 * (37 + 13), 64 * 37 + 4096 * 13);
    let pairs: u64 = 100 * (1 << 30) / 4096;
    vec![
        Row::tested(
            [
                "RFTL fig 6",
                "by the model RFTL is \"around 20 %\" faster than DFTL that always meets a collection",
                "C 0.1, GC 900, R 25, W 200 us; M = 1; 2, 4, 6 replicas on 8 channels",
                "20 %",
            ],
            format!("{} %", list(&gains, 1)),
            &gains.map(|(_, gain)| close(gain, 20.0, 2.0)),
            "the 20 % are those of P = N / F = 0.25; the equations are printed for P of 0 and 1, between them the wait for a collection is taken in proportion",
        ),
        Row::tested(
            [
                "RFTL fig 6",
                "at a miss ratio of 0.6 the time is 70 % with DFTL and about 50 % with RFTL",
                "the same; in percent of DFTL's time at M = 1",
                "70, 50 %",
            ],
            format!("{} %", list(&shares, 1)),
            &[close(shares[0].1, 70.0, 2.0), close(shares[1].1, 50.0, 2.0)],
            "of what the percentages are is not said; 70 % is none of the ratios of the printed equations",
        ),
        Row::tested(
            [
                "RFTL table 1",
                "extra writes by misses / all writes, by replicas, grow in proportion",
                "r = 1, 3, 7, 15: 0.4, 1.2, 2.8, 6",
                "one quotient; a share is at most 1",
            ],
            format!("{} a replica", EXTRA.map(|(replicas, extra)| format!("{:.1}", extra / replicas)).join(", ")),
            &[EXTRA.iter().all(|(r, e)| close(e / r, 0.4, 0.001)), EXTRA.iter().all(|(_, e)| *e <= 1.0)],
            "as a share of all writes it cannot exceed 1: it must be extra writes over the writes of the host; measured under RFTL, fig 15",
        ),
        Row::tested(
            ["RFTL table 1", "a page table of 100 GB takes 200 MB", "pages of 4 KiB, 8 B a pair", "200 MiB"],
            format!("{} MiB", (pairs * 8) >> 20),
            &[pairs * 8 == 200 << 20],
            "",
        ),
        Row::tested(
            [
                "AALRU, overhead",
                "25 KB at worst and 7 KB at best for 8 MB",
                "4,096 pages of 2 KiB, blocks of 64",
                "204,800 and 55,616 bits",
            ],
            format!("{worst} bits = {} B, {best} bits = {} B", worst / 8, best / 8),
            &[worst == 204_800, best == 55_616],
            "37 bits a block and 13 a page; 5 of the 37 hold a count up to 64, which needs 7",
        ),
        Row::tested(
            ["URM, section 4", "a translation page shrinks 43 times", "32 pairs in an entry of 6 B", "43"],
            format!("{:.1} against 8 B a pair, {:.1} against 4 B", 256.0 / 6.0, 128.0 / 6.0),
            &[(256.0_f64 / 6.0).round() == 43.0, (128.0_f64 / 6.0).round() == 43.0],
            "the paper's own table has 4 B a pair, so that the ratio is half",
        ),
    ]
}
