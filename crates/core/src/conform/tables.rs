//! The printed tables of HitStat (schema `paper-table/1`): the formulas of this project must give the printed columns,
//! and the rows the relations that hold among them, by which the counting conventions of the FTLs were found.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ConformError, Conformance, GoldenKind, parse};
use crate::buffer::tools::padding::{MergeCost, break_even_pages};

#[derive(Deserialize)]
struct File {
    constants: Constants,
    bast: Vec<Line>,
    fast: Vec<Line>,
}

#[derive(Deserialize)]
struct Constants {
    pages_per_block: u32,
    erase_ms: f64,
    program_ms: f64,
}

#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// Share of a block, or `"model"`.
    threshold: Value,
    erases: u64,
    page_writes: u64,
    elapsed_s: f64,
    #[serde(rename = "R_LB")]
    r_lb: Option<f64>,
    #[serde(rename = "U_LB_percent")]
    u_lb_percent: Option<f64>,
    #[serde(rename = "R_DB")]
    r_db: Option<f64>,
    #[serde(rename = "Bw_over_N_printed")]
    printed: Option<f64>,
    #[serde(rename = "Bw_over_N_recomputed")]
    recomputed: Option<f64>,
}

impl Line {
    /// What a merge costs, if the row tells.
    fn merge(&self) -> Option<MergeCost> {
        match (self.r_lb, self.u_lb_percent, self.r_db) {
            (Some(log_blocks), Some(percent), None) => {
                Some(MergeCost { data_blocks: 1.0, log_blocks, log_use: percent / 100.0 })
            }
            (None, None, Some(data_blocks)) => Some(MergeCost { data_blocks, log_blocks: 1.0, log_use: 1.0 }),
            _ => None,
        }
    }
}

/// Compares all rows.
pub(super) fn run(file: Value) -> Result<Conformance, ConformError> {
    let File { constants, bast, fast } = parse("", file)?;
    let Constants { pages_per_block, erase_ms, program_ms } = constants;
    if pages_per_block == 0 {
        let place = "constants.pages_per_block".to_owned();
        return Err(ConformError::Shape { place, problem: "0: a block has pages".to_owned() });
    }
    let pages = u64::from(pages_per_block);
    // Log blocks that are full at the end; one that was filled just then is not reclaimed yet.
    let full = |line: &Line| {
        let reclaimed = line.erases + u64::from(line.page_writes.is_multiple_of(pages));
        (line.page_writes / pages).saturating_sub(reclaimed)
    };
    let log_full = fast.iter().find(|line| line.r_db.is_some()).map(full);
    let mut report = Conformance::new(GoldenKind::PaperTables);
    for (name, lines) in [("bast", &bast), ("fast", &fast)] {
        report.cases += 1;
        for (at, line) in lines.iter().enumerate() {
            let mut row = report.row(name, at + 1, line);
            let elapsed = (line.erases as f64 * erase_ms + line.page_writes as f64 * program_ms) / 1000.0;
            row.close("elapsed_s", line.elapsed_s, elapsed, 0.0006);
            if line.threshold.as_f64() == Some(0.0) {
                row.exact("page_writes of whole blocks", line.page_writes, pages * line.erases);
            }
            if let Some(merge) = line.merge() {
                let share = break_even_pages(merge, pages_per_block, erase_ms, program_ms) / pages as f64;
                line.recomputed.iter().for_each(|told| row.close("Bw_over_N_recomputed", *told, share, 6e-5));
                // Some are rounded and some cut.
                line.printed.iter().for_each(|told| row.close("Bw_over_N_printed", *told, share, 0.0101));
            }
            if let (Some(expected), "fast", Some(_)) = (log_full, name, line.r_db) {
                row.exact("full log blocks", expected, full(line));
            }
            let other = bast.iter().find(|other| line.threshold.is_number() && other.threshold == line.threshold);
            if let Some(other) = other {
                row.exact("page_writes mod N of both tables", other.page_writes % pages, line.page_writes % pages);
            }
        }
    }
    Ok(report)
}
