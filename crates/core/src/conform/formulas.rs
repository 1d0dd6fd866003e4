//! Golden values of the papers' formulas (schema 1): sections with rows.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ConformError, Conformance, GoldenKind, parse};
use crate::buffer::aalru::Hits;
use crate::buffer::tools::padding::ThLine;
use crate::buffer::tools::padding::{MergeCost, break_even_pages};
use crate::ftl::urm_map::{length_class, length_of_class};

/// Sections that a file may have.
pub(super) const SECTIONS: &[&str] = &["hitstat_padding_model", "aalru_threshold", "aalru_tau", "urm"];

/// Mappings of a translation page in URM.
const URM_ENTRIES: u32 = 1024;
/// Least share of AALRU's read buffer and of its write buffer.
const TAU_MIN: f64 = 0.1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "schema")]
    _schema: u32,
    hitstat_padding_model: Option<PaddingModel>,
    aalru_threshold: Option<Threshold>,
    aalru_tau: Option<Rows<TauRow>>,
    urm: Option<Rows<LengthRow>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows<T> {
    rows: Vec<T>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PaddingModel {
    #[serde(rename = "N")]
    pages: u32,
    #[serde(rename = "Ce_us")]
    erase: f64,
    #[serde(rename = "Cw_us")]
    program: f64,
    rows: Vec<PaddingRow>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct PaddingRow {
    case: String,
    #[serde(rename = "R_DB")]
    data_blocks: f64,
    #[serde(rename = "R_LB")]
    log_blocks: f64,
    #[serde(rename = "U_LB")]
    log_use: f64,
    #[serde(rename = "Bw_pages")]
    threshold: f64,
    #[serde(rename = "Bw_over_N")]
    share: f64,
    paper_prints: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Threshold {
    block_pages: u32,
    beta: f64,
    rows: Vec<ThresholdRow>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ThresholdRow {
    #[serde(rename = "Wf")]
    wf: f64,
    #[serde(rename = "Th_eq6")]
    printed: f64,
    #[serde(rename = "Th_continuous")]
    continuous: f64,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct TauRow {
    #[serde(rename = "BS")]
    frames: u32,
    tau_prev: u32,
    #[serde(rename = "RRH")]
    rrh: u64,
    #[serde(rename = "RWH")]
    rwh: u64,
    #[serde(rename = "WRH")]
    wrh: u64,
    #[serde(rename = "WWH")]
    wwh: u64,
    #[serde(rename = "D_r")]
    read: f64,
    #[serde(rename = "D_w")]
    write: f64,
    #[serde(rename = "WR")]
    of_writes: f64,
    #[serde(rename = "RR")]
    of_reads: f64,
    tau_raw: Option<f64>,
    tau_next: u32,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct LengthRow {
    run_length_entries: u32,
    class_label: u32,
    predicted_length_of_that_class: u32,
}

/// Compares all rows of all sections.
pub(super) fn run(file: Value) -> Result<Conformance, ConformError> {
    let file: File = parse("", file)?;
    let mut report = Conformance::new(GoldenKind::Formulas);
    let File { hitstat_padding_model, aalru_threshold, aalru_tau, urm, .. } = file;
    if let Some(table) = hitstat_padding_model {
        report.cases += 1;
        for (at, told) in table.rows.iter().enumerate() {
            let &PaddingRow { data_blocks, log_blocks, log_use, .. } = told;
            let cost = MergeCost { data_blocks, log_blocks, log_use };
            let pages = break_even_pages(cost, table.pages, table.erase, table.program);
            let share = pages / f64::from(table.pages);
            let mut row = report.row("hitstat_padding_model", at + 1, told);
            row.close("Bw_pages", told.threshold, pages, 1e-6);
            row.close("Bw_over_N", told.share, share, 1e-6);
            // Some are rounded and some cut.
            row.close("paper_prints", told.paper_prints, share, 0.0101);
        }
    }
    if let Some(table) = aalru_threshold {
        report.cases += 1;
        for (at, told) in table.rows.iter().enumerate() {
            let mut row = report.row("aalru_threshold", at + 1, told);
            let th = |line: ThLine| line.th(told.wf, table.beta, table.block_pages);
            row.close("Th_eq6", told.printed, th(ThLine::Eq6), 1e-6);
            row.close("Th_continuous", told.continuous, th(ThLine::Continuous), 1e-6);
        }
    }
    for (at, told) in aalru_tau.iter().flat_map(|table| table.rows.iter().enumerate()) {
        report.cases += usize::from(at == 0);
        let &TauRow { frames, tau_prev, rrh, rwh, wrh, wwh, read, write, .. } = told;
        let hits = Hits { rrh, rwh, wrh, wwh };
        let (of_reads, of_writes) = hits.benefits(tau_prev, frames, read, write);
        let mut row = report.row("aalru_tau", at + 1, told);
        row.close("RR", told.of_reads, of_reads, 1e-6);
        row.close("WR", told.of_writes, of_writes, 1e-6);
        let raw = of_reads / (of_reads + of_writes) * f64::from(frames);
        match told.tau_raw {
            Some(told) => row.close("tau_raw", told, raw, 1e-5),
            None => row.exact("tau_raw", Value::Null, raw),
        }
        row.exact("tau_next", told.tau_next, hits.next_tau(tau_prev, frames, TAU_MIN, read, write));
    }
    for (at, told) in urm.iter().flat_map(|table| table.rows.iter().enumerate()) {
        report.cases += usize::from(at == 0);
        let class = length_class(told.run_length_entries, URM_ENTRIES);
        let mut row = report.row("urm", at + 1, told);
        row.exact("class_label", told.class_label, class);
        let length = length_of_class(class, URM_ENTRIES);
        row.exact("predicted_length_of_that_class", told.predicted_length_of_that_class, length);
    }
    Ok(report)
}
