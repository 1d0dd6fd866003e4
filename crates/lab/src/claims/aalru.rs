//! The paper of AALRU: hit ratios, erases, collection writes and response times on two FTLs.

use nandlab::report::Report;

use super::figures::{Figures, change, erases, hits, is_greatest, is_least, list, mean, response, tables, value};
use super::verdict::{Judged, Judges};
use crate::error::Error;
use crate::experiment::Cells;

pub(super) const JUDGES: Judges = Judges::of(&[
    ("padding", padding),
    ("hit-order", |cells| hit_order(cells, "Fin1")),
    ("hit-order-moving", |cells| hit_order(cells, "moving")),
    ("hit-gain", hit_gain),
    ("hit-best", hit_best),
    ("hit-levels", hit_levels),
    ("write-hit-best", write_hit_best),
    ("erase-change", |cells| falls_on_average(cells, erases)),
    ("erase-flip", erase_flip),
    ("collection", judge_collection),
    ("response-change", |cells| falls_on_average(cells, response)),
    ("response-flip", response_flip),
]);

const BUFFERS: [&str; 5] = ["AALRU", "CFLRU", "AD-LRU", "BPLRU", "FAB"];
const WORKLOADS: [&str; 4] = ["Fin1", "Fin2", "T1", "T2"];

type Figure = fn(&Report) -> f64;

/// A figure of all policies.
fn of(cells: &Cells, workload: &str, ftl: &str, figure: Figure) -> Result<Figures, Error> {
    cells.across(&format!("{workload}/scaled/{{}}/{ftl}"), &BUFFERS, figure)
}

/// The same by workload.
fn on(cells: &Cells, ftl: &str, figure: Figure) -> Result<Vec<Figures>, Error> {
    WORKLOADS.iter().map(|workload| of(cells, workload, ftl, figure)).collect()
}

/// The same on both FTLs.
fn all(cells: &Cells, figure: Figure) -> Result<Vec<Figures>, Error> {
    Ok([on(cells, "DFTL", figure)?, on(cells, "FAST", figure)?].concat())
}

/// Mean change of AALRU against each of the others over all workloads and FTLs, in percent; what is 0 for the other is left
/// out.
fn changes(cells: &Cells, figure: Figure) -> Result<Figures, Error> {
    let all = all(cells, figure)?;
    let against = |name: &'static str| {
        let known = all.iter().filter(|values| value(values, name) > 0.0);
        (name, mean(known.map(|values| change(value(values, name), value(values, "AALRU")))))
    };
    Ok(BUFFERS[1..].iter().map(|name| against(name)).collect())
}

fn write_hits(report: &Report) -> f64 {
    100.0 * report.hits.page.write.unwrap_or(0.0)
}
/// Writes caused by collection or merges.
fn collection(report: &Report) -> f64 {
    report.write_amplification.programs_from_below as f64
}

fn count(conditions: &[bool]) -> usize {
    conditions.iter().filter(|holds| **holds).count()
}

/// At most one policy has less than this one.
fn is_first_or_second(values: &Figures, name: &str) -> bool {
    values.iter().filter(|(_, other)| *other < value(values, name)).count() <= 1
}

fn padding(cells: &Cells) -> Judged {
    let report = cells.get("Fin1/scaled/BPLRU/DFTL")?;
    let padded = report.padding.padded_per_dirty.unwrap_or(0.0);
    let size = report.flushes.pages_mean.unwrap_or(0.0);
    let measured = format!("{padded:.1} padded for each dirty page; {size:.2} dirty pages a flush");
    Ok((measured, vec![padded > 5.0]))
}

/// The order of figure 7a, pair by pair.
fn hit_order(cells: &Cells, workload: &str) -> Judged {
    let ratios = of(cells, workload, "DFTL", hits)?;
    let pairs = [("AALRU", "CFLRU"), ("CFLRU", "AD-LRU"), ("AD-LRU", "BPLRU"), ("BPLRU", "FAB")];
    let holds = pairs.iter().map(|(high, low)| value(&ratios, high) >= value(&ratios, low)).collect();
    Ok((format!("{} %", list(&ratios, 2)), holds))
}

fn hit_gain(cells: &Cells) -> Judged {
    let gains = changes(cells, hits)?;
    Ok((format!("{} %", list(&gains, 1)), gains.iter().map(|(_, gain)| *gain > 0.0).collect()))
}

fn hit_best(cells: &Cells) -> Judged {
    let best: Vec<bool> = all(cells, hits)?.iter().map(|values| is_greatest(values, "AALRU")).collect();
    Ok((format!("{} of 8", count(&best)), best))
}

fn hit_levels(cells: &Cells) -> Judged {
    let pages_first = all(cells, hits)?.iter().all(|v| v[2].1.min(v[1].1) > v[3].1.max(v[4].1));
    let (dftl, fast) = (on(cells, "DFTL", hits)?, on(cells, "FAST", hits)?);
    let near = dftl.iter().zip(&fast).map(|(dftl, fast)| (dftl[0].1 - fast[0].1).abs()).fold(0.0, f64::max);
    let measured = format!(
        "page above block: {}; AALRU differs by {near:.2} points at most",
        if pages_first { "always" } else { "not always" }
    );
    Ok((measured, vec![pages_first, near < 2.0]))
}

fn write_hit_best(cells: &Cells) -> Judged {
    let best: Vec<bool> = all(cells, write_hits)?.iter().map(|values| is_greatest(values, "AALRU")).collect();
    let dftl = tables(&WORKLOADS, &on(cells, "DFTL", write_hits)?, 1);
    Ok((format!("{} of 8; DFTL: {dftl}", count(&best)), best))
}

/// AALRU has less than each of the others on average.
fn falls_on_average(cells: &Cells, figure: Figure) -> Judged {
    let changes = changes(cells, figure)?;
    Ok((format!("{} %", list(&changes, 1)), changes.iter().map(|(_, change)| *change < 0.0).collect()))
}

fn erase_flip(cells: &Cells) -> Judged {
    let (dftl, fast) = (on(cells, "DFTL", erases)?, on(cells, "FAST", erases)?);
    let measured = format!("DFTL: {}; FAST: {}", tables(&WORKLOADS, &dftl, 0), tables(&WORKLOADS, &fast, 0));
    let is_worst = dftl.iter().all(|values| is_greatest(values, "BPLRU"));
    Ok((measured, vec![is_worst, fast.iter().all(|values| is_first_or_second(values, "BPLRU"))]))
}

fn judge_collection(cells: &Cells) -> Judged {
    let all = all(cells, collection)?;
    let lowest = all.iter().filter(|values| is_least(values, "BPLRU")).count();
    let aalru = all.iter().filter(|values| is_first_or_second(values, "AALRU")).count();
    let measured = format!("BPLRU lowest {lowest} of 8, AALRU first or second {aalru} of 8");
    Ok((measured, vec![lowest >= 7, aalru == 8]))
}

fn response_flip(cells: &Cells) -> Judged {
    let (dftl, fast) = (on(cells, "DFTL", response)?, on(cells, "FAST", response)?);
    let worst = dftl.iter().filter(|values| is_greatest(values, "BPLRU")).count();
    let best = fast.iter().filter(|values| is_least(values, "BPLRU")).count();
    let measured = format!(
        "best on FAST {best} of 4, worst on DFTL {worst} of 4; DFTL: {}; FAST: {}",
        tables(&WORKLOADS, &dftl, 0),
        tables(&WORKLOADS, &fast, 0)
    );
    Ok((measured, vec![best == 4, worst == 4]))
}
