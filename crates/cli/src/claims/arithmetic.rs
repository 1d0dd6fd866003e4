//! Claims that need no simulation.

use super::experiment::Results;
use super::{Claims, Row, list};
use crate::args::Part;

pub const CLAIMS: Claims = Claims {
    part: Part::Arithmetic,
    title: "Arithmetic",
    about: "What a paper computes from its own figures, computed again.",
    experiments: Vec::new,
    rows,
};

/// RFTL's model: time of a mapping access in microseconds with the share `M` of misses and `P` of replicas per channel.
fn rftl(misses: f64, replicas_per_channel: f64) -> f64 {
    const CACHE: f64 = 0.1;
    const COLLECTION: f64 = 900.0;
    const READ: f64 = 25.0;
    const WRITE: f64 = 200.0;
    (CACHE + (1.0 - replicas_per_channel) * COLLECTION + 2.0 * READ + WRITE) * misses + CACHE * (1.0 - misses)
}

fn rows(_: &Results) -> Vec<Row> {
    let close = |value: f64, expected: f64| (value - expected).abs() < 0.05;
    let names = ["P = 0", "P = 0.25", "P = 0.5", "P = 0.75"];
    let shares = [0.0, 0.25, 0.5, 0.75];
    let times: Vec<_> = names.iter().zip(shares).map(|(name, share)| (*name, rftl(0.6, share))).collect();
    let gains: Vec<_> = names[1..]
        .iter()
        .zip(&shares[1..])
        .map(|(name, p)| (*name, 100.0 * (1.0 - rftl(1.0, *p) / rftl(1.0, 0.0))))
        .collect();
    let expected = [690.1, 555.1, 420.1, 285.1].iter().zip(&times).map(|(e, (_, t))| close(*t, *e));
    let gained = [19.6, 39.1, 58.7].iter().zip(&gains).map(|(e, (_, g))| close(*g, *e));
    // A block costs 37 bits, a page of it 13: the only whole numbers that give both of AALRU's totals.
    let (worst, best) = (4096 * (37 + 13), 64 * 37 + 4096 * 13);
    let pairs: u64 = 100 * (1 << 30) / 4096;
    vec![
        Row::tested(
            [
                "RFTL fig 6, M = 0.6",
                "time of a mapping access by the model",
                "C 0.1, GC 900, R 25, W 200 us",
                "690.1, 555.1, 420.1, 285.1 us",
            ],
            list(&times, 1),
            &expected.collect::<Vec<_>>(),
            "",
        ),
        Row::tested(
            ["RFTL fig 6, M = 1", "gain by the model (the text says about 20 %)", "the same", "19.6, 39.1, 58.7 %"],
            list(&gains, 1),
            &gained.collect::<Vec<_>>(),
            "the 20 % of the text is P = 0.25",
        ),
        Row::tested(
            ["RFTL table 1", "extra writes grow by 0.4 with every replica", "r = 1, 3, 7, 15", "0.4, 1.2, 2.8, 6.0"],
            [1.0, 3.0, 7.0, 15.0].map(|r| format!("{:.1}", 0.4 * r)).join(", "),
            &[(1.0, 0.4), (3.0, 1.2), (7.0, 2.8), (15.0, 6.0)].map(|(r, e)| close(0.4 * r, e)),
            "",
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
