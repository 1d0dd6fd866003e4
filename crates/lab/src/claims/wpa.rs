//! The paper of WPA: hybrid memory of DRAM and NVRAM.

use nandlab::report::Report;

use super::figures::{Figures, change, erases, hits, is_greatest, is_least, list, mean, response, tables, value};
use super::verdict::{Judged, Judges, Matrix, MatrixCell, MatrixRow, Verdict};
use crate::error::Error;
use crate::experiment::Cells;

pub(super) const JUDGES: Judges = Judges {
    claims: &[
        ("hits", judge_hits),
        ("response", |cells| leads(cells, response, 0)),
        ("erases", |cells| leads(cells, erases, 0)),
        ("accesses", |cells| leads(cells, accesses, 0)),
        ("nvram-cbm", |cells| judge_nvram(cells, "CBM")),
        ("nvram-clock-dnv", |cells| judge_nvram(cells, "CLOCK-DNV")),
    ],
    matrix: Some(matrix),
};

const BUFFERS: [&str; 5] = ["WPA", "CBM", "CLOCK-DNV", "BPLRU", "VBBMS"];
const WORKLOADS: [&str; 4] = ["gaming", "TV", "hub", "CAMWEBDEV"];

/// What the paper leaves open.
#[derive(Clone, Copy)]
struct Reading {
    /// WPA and CLOCK-DNV count the NVRAM in pages, else in block frames.
    pages: bool,
    /// BPLRU and VBBMS have the DRAM alone, else as much DRAM as the others have of both memories.
    alone: bool,
}
const READINGS: [(&str, Reading); 4] = [
    ("block frames; both memories", Reading { pages: false, alone: false }),
    ("block frames; DRAM alone", Reading { pages: false, alone: true }),
    ("pages; both memories", Reading { pages: true, alone: false }),
    ("pages; DRAM alone", Reading { pages: true, alone: true }),
];
/// The reading of the rows.
const DEFAULT: Reading = READINGS[0].1;

/// The cell of a workload and a buffer.
fn cell(workload: &str, buffer: &str, reading: Reading) -> String {
    let device = match (["BPLRU", "VBBMS"].contains(&buffer), reading.alone) {
        (false, _) => "hybrid",
        (true, false) => "both-as-dram",
        (true, true) => "dram-alone",
    };
    let counts_pages = reading.pages && ["WPA", "CLOCK-DNV"].contains(&buffer);
    format!("{workload}/{device}/{buffer}{}", if counts_pages { "-pages" } else { "" })
}

type Figure = fn(&Report) -> f64;

/// A figure of every policy, by workload.
fn all(cells: &Cells, reading: Reading, figure: Figure) -> Result<Vec<Figures>, Error> {
    let of = |workload: &str| {
        BUFFERS.iter().map(|buffer| Ok((*buffer, figure(cells.get(&cell(workload, buffer, reading))?)))).collect()
    };
    WORKLOADS.into_iter().map(of).collect()
}

/// Mean change of WPA against each of the others that has any, in percent.
fn mean_change(values: &[Figures]) -> f64 {
    let pairs = values.iter().flat_map(|v| v[1..].iter().map(|(_, other)| (*other, v[0].1)));
    mean(pairs.filter(|(other, _)| *other > 0.0).map(|(other, own)| change(other, own)))
}

fn accesses(report: &Report) -> f64 {
    report.flash.accesses as f64
}
fn nvram_writes(report: &Report) -> f64 {
    report.buffer.nvram_writes as f64
}

/// Where WPA has the least.
fn least(values: &[Figures]) -> Vec<bool> {
    values.iter().map(|v| is_least(v, "WPA")).collect()
}
/// Where WPA has the most, and where reads dominate whether BPLRU has the least.
fn best_hits(values: &[Figures]) -> Vec<bool> {
    let best = values.iter().map(|v| is_greatest(v, "WPA"));
    best.chain(values[..2].iter().map(|v| is_least(v, "BPLRU"))).collect()
}

fn judge_hits(cells: &Cells) -> Judged {
    let hits = all(cells, DEFAULT, hits)?;
    let held = |workload: &str| {
        let used = cells.get(&cell(workload, "WPA", DEFAULT))?.ram.frames_used;
        Ok(format!("{workload} {used}"))
    };
    let held = WORKLOADS.into_iter().map(held).collect::<Result<Vec<_>, Error>>()?.join(", ");
    let (mean, hits_by) = (mean_change(&hits), tables(&WORKLOADS, &hits, 1));
    let measured = format!("mean {mean:+.1} %; {hits_by} %; of 5,120 pages WPA holds at the end: {held}");
    Ok((measured, best_hits(&hits)))
}

/// WPA has the least everywhere.
fn leads(cells: &Cells, figure: Figure, decimals: usize) -> Judged {
    let values = all(cells, DEFAULT, figure)?;
    Ok((format!("mean {:+.1} %; {}", mean_change(&values), tables(&WORKLOADS, &values, decimals)), least(&values)))
}

/// The writes that wear the NVRAM.
fn judge_nvram(cells: &Cells, other: &str) -> Judged {
    let changes = nvram_change(cells, DEFAULT, other)?;
    let measured = format!("against {other}: {}; mean {:+.1} %", list(&changes, 1), mean_of(&changes));
    Ok((measured, writes_less(&changes).into()))
}

/// Change of WPA's writes to the NVRAM against another policy, by workload.
fn nvram_change(cells: &Cells, reading: Reading, other: &str) -> Result<Figures, Error> {
    let writes = all(cells, reading, nvram_writes)?;
    let change_of = |writes: &Vec<_>| change(value(writes, other), value(writes, "WPA"));
    Ok(WORKLOADS.into_iter().zip(writes.iter().map(change_of)).collect())
}
fn mean_of(changes: &[(&str, f64)]) -> f64 {
    mean(changes.iter().map(|(_, change)| *change))
}
/// Less on average and on write-heavy input, and there by more than where reads dominate.
fn writes_less(changes: &[(&str, f64)]) -> [bool; 4] {
    let [gaming, tv, hub, camwebdev] = [0, 1, 2, 3].map(|trace| changes[trace].1);
    [mean_of(changes) < 0.0, hub < 0.0, camwebdev < 0.0, hub.max(camwebdev) < gaming.min(tv)]
}

/// The claims under every reading.
pub(super) fn matrix(cells: &Cells) -> Result<Matrix, Error> {
    let row = |claim, cell: &dyn Fn(Reading) -> Result<MatrixCell, Error>| {
        let cells = READINGS.iter().map(|(_, reading)| cell(*reading)).collect::<Result<_, _>>()?;
        Ok::<_, Error>(MatrixRow { claim, cells })
    };
    let flash = |claim, figure: Figure, conditions: fn(&[Figures]) -> Vec<bool>| {
        let cell = |reading| {
            let values = all(cells, reading, figure)?;
            let leads = conditions(&values).into_iter().zip(WORKLOADS).filter(|(leads, _)| *leads);
            let leads: Vec<_> = leads.map(|(_, name)| name).collect();
            let names = if leads.is_empty() { "none".to_owned() } else { leads.join(", ") };
            let details = format!("{names}; mean {:+.1} %", mean_change(&values));
            Ok(MatrixCell { verdict: Verdict::of(&conditions(&values)), details })
        };
        row(claim, &cell)
    };
    let nvram = |claim, other| {
        let cell = |reading| {
            let changes = nvram_change(cells, reading, other)?;
            let verdict = Verdict::of(&writes_less(&changes));
            Ok(MatrixCell { verdict, details: format!("mean {:+.1} %", mean_of(&changes)) })
        };
        row(claim, &cell)
    };
    Ok(Matrix {
        about: "*What the paper leaves open decides.* Columns: how WPA and CLOCK-DNV count the NVRAM; what BPLRU and VBBMS have.\n\
                Cells: the verdict, the workloads on which nothing is ahead of WPA, and the mean change of WPA against the others,\n\
                for which the paper prints +87.6 (hits), -36.7 (response), -38.2 (erases), -32.9 (accesses) and -35.2 %\n\
                (NVRAM). The rows above are those of the first column; the verdict of hits also asks where BPLRU is.",
        columns: READINGS.iter().map(|(name, _)| *name).collect(),
        rows: vec![
            flash("fig 5: most hits", hits, best_hits)?,
            flash("fig 6: shortest response", response, least)?,
            flash("fig 7: fewest erases", erases, least)?,
            flash("text: fewest accesses to flash", accesses, least)?,
            nvram("text: fewer NVRAM writes than CBM", "CBM")?,
            nvram("text: fewer NVRAM writes than CLOCK-DNV", "CLOCK-DNV")?,
        ],
    })
}
