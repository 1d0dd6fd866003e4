//! The paper of RFTL: replicas of translation pages.

use nandlab::report::Report;

use super::figures::{Figures, change, list};
use super::verdict::{Judged, Judges};
use crate::error::Error;
use crate::experiment::Cells;

pub(super) const JUDGES: Judges = Judges::of(&[
    ("tail", tail),
    ("read-gain", read_gain),
    ("read-gain-control", read_gain_control),
    ("write-gain", write_gain),
    ("map-writes", map_writes),
    ("misses", |cells| misses(cells, "overwritten")),
    ("misses-control", |cells| misses(cells, "filled")),
]);

const FTLS: [&str; 4] = ["DFTL", "RFTL(1)", "RFTL(2)", "RFTL(3)"];
const CACHES: [&str; 5] = ["8KiB", "16KiB", "32KiB", "64KiB", "128KiB"];

/// A figure of each FTL where all pages are in use.
fn wide(cells: &Cells, workload: &str, figure: fn(&Report) -> f64) -> Result<Figures, Error> {
    cells.across(&format!("{workload}/overwritten/{{}}/64KiB"), &FTLS, figure)
}

/// Change of the requests a second with every number of copies, in percent.
fn against_dftl(cells: &Cells, workload: &str) -> Result<Figures, Error> {
    let rates = wide(cells, workload, rate)?;
    Ok(rates[1..].iter().map(|(name, rate)| (*name, change(rates[0].1, *rate))).collect())
}

fn rate(report: &Report) -> f64 {
    report.throughput.requests_per_second.unwrap_or(0.0)
}
fn p95_us(report: &Report) -> f64 {
    report.response.all.p95_ns as f64 / 1e3
}

/// Sizes as they are written in text.
fn spaced(values: &[(&str, f64)]) -> Vec<(String, f64)> {
    values.iter().map(|(size, value)| (size.replace("KiB", " KiB"), *value)).collect()
}

fn tail(cells: &Cells) -> Judged {
    let (read, write) = (wide(cells, "read-dominant", p95_us)?, wide(cells, "write-dominant", p95_us)?);
    let measured = format!("{} (write-dominant: {})", list(&read, 0), list(&write, 0));
    Ok((measured, vec![read[1].1 < read[0].1]))
}

fn read_gain(cells: &Cells) -> Judged {
    let gain = against_dftl(cells, "read-dominant")?;
    let [dftl, rftl] =
        ["DFTL", "RFTL(1)"].map(|ftl| cells.across(&format!("narrow/overwritten/{ftl}/{{}}"), &CACHES, rate));
    let by_cache: Vec<_> =
        dftl?.iter().zip(rftl?).map(|((cache, dftl), (_, rftl))| (*cache, change(*dftl, rftl))).collect();
    let measured = format!("{} %; RFTL(1) by cache: {} %", list(&gain, 2), list(&spaced(&by_cache), 2));
    let alike = (gain[2].1 - gain[0].1).abs() < 1.0;
    Ok((measured, vec![gain[0].1 > 0.0, by_cache[0].1 > by_cache[4].1, alike]))
}

fn read_gain_control(cells: &Cells) -> Judged {
    let gain = against_dftl(cells, "reads-only")?;
    Ok((format!("{} %", list(&gain, 2)), vec![gain[0].1 > 0.0, gain[1].1 > gain[0].1, gain[2].1 > gain[1].1]))
}

fn write_gain(cells: &Cells) -> Judged {
    let gain = against_dftl(cells, "write-dominant")?;
    Ok((format!("{} %", list(&gain, 2)), vec![gain[0].1 > 0.0, gain[1].1 < 0.0, gain[2].1 < 0.0]))
}

fn map_writes(cells: &Cells) -> Judged {
    let a_page = |report: &Report| report.mapping.map_writes as f64 / report.requests.pages_written as f64;
    let programs = wide(cells, "write-dominant", a_page)?;
    let linear = (1..4).map(|n| programs[n].1 / (programs[0].1 * (n + 1) as f64)).map(|r| (r - 1.0).abs() < 0.1);
    Ok((list(&programs, 3), linear.collect()))
}

/// The miss ratio of every map cache falls from nine tenths of the accesses to next to none.
fn misses(cells: &Cells, device: &str) -> Judged {
    let miss = |report: &Report| 1.0 - report.mapping.hit_ratio.unwrap_or(0.0);
    let misses = cells.across(&format!("narrow/{device}/RFTL(1)/{{}}"), &CACHES, miss)?;
    let falls = misses.windows(2).all(|pair| pair[0].1 > pair[1].1);
    let holds = vec![falls, misses[0].1 > 0.8, misses[CACHES.len() - 1].1 < 0.1];
    Ok((list(&spaced(&misses), 3), holds))
}
