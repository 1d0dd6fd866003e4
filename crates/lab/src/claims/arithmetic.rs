//! Claims that need no simulation.

use nandlab::ftl::rftl::{PAPER_MODEL, replica_share};

use super::figures::list;
use super::verdict::Judges;

/// What comes out, and which conditions hold.
type Computed = (String, Vec<bool>);

pub(super) const JUDGES: Judges = Judges::of(&[
    ("rftl-gain", |_| Ok(rftl_gain())),
    ("rftl-share", |_| Ok(rftl_share())),
    ("rftl-extra-writes", |_| Ok(rftl_extra_writes())),
    ("rftl-table", |_| Ok(rftl_table())),
    ("aalru-overhead", |_| Ok(aalru_overhead())),
    ("urm-shrinks", |_| Ok(urm_shrinks())),
]);

/// Time of a mapping access by RFTL's model on its figure 6, microseconds: with a share `misses` of misses and `replicas` on
/// 8 channels; without replicas every miss waits for a collection.
fn rftl(misses: f64, replicas: u32) -> f64 {
    PAPER_MODEL.replicated_us(misses, replica_share(replicas, 8))
}

/// Replicas of its table 4, and what its table 1 prints as extra writes for others.
const REPLICAS: [(&str, u32); 3] = [("P = 0.25", 2), ("P = 0.5", 4), ("P = 0.75", 6)];
const EXTRA: [(f64, f64); 4] = [(1.0, 0.4), (3.0, 1.2), (7.0, 2.8), (15.0, 6.0)];

fn is_close(value: f64, expected: f64, within: f64) -> bool {
    (value - expected).abs() < within
}

fn rftl_gain() -> Computed {
    let gains = REPLICAS.map(|(name, n)| (name, 100.0 * (1.0 - rftl(1.0, n) / rftl(1.0, 0))));
    (format!("{} %", list(&gains, 1)), gains.map(|(_, gain)| is_close(gain, 20.0, 2.0)).into())
}

fn rftl_share() -> Computed {
    let full = |n| 100.0 * rftl(0.6, n) / rftl(1.0, 0);
    let shares = [("DFTL", full(0)), ("P = 0.25", full(2)), ("P = 0.5", full(4)), ("P = 0.75", full(6))];
    let holds = vec![is_close(shares[0].1, 70.0, 2.0), is_close(shares[1].1, 50.0, 2.0)];
    (format!("{} %", list(&shares, 1)), holds)
}

fn rftl_extra_writes() -> Computed {
    let quotients = EXTRA.map(|(replicas, extra)| format!("{:.1}", extra / replicas)).join(", ");
    let one_quotient = EXTRA.iter().all(|(replicas, extra)| is_close(extra / replicas, 0.4, 0.001));
    (format!("{quotients} a replica"), vec![one_quotient, EXTRA.iter().all(|(_, extra)| *extra <= 1.0)])
}

fn rftl_table() -> Computed {
    let pairs: u64 = 100 * (1 << 30) / 4096;
    (format!("{} MiB", (pairs * 8) >> 20), vec![pairs * 8 == 200 << 20])
}

/// A block costs 37 bits, a page of it 13: the only whole numbers that give both of AALRU's totals.
fn aalru_overhead() -> Computed {
    let (worst, best) = (4096 * (37 + 13), 64 * 37 + 4096 * 13);
    let measured = format!("{worst} bits = {} B, {best} bits = {} B", worst / 8, best / 8);
    (measured, vec![worst == 204_800, best == 55_616])
}

fn urm_shrinks() -> Computed {
    let (by_eight, by_four) = (256.0_f64 / 6.0, 128.0_f64 / 6.0);
    let measured = format!("{by_eight:.1} against 8 B a pair, {by_four:.1} against 4 B");
    (measured, vec![by_eight.round() == 43.0, by_four.round() == 43.0])
}
