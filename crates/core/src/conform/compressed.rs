//! Golden files of URM's compressed mapping table (schema `ftl-golden/1`): one translation page alone.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ConformError, Conformance, GoldenKind, parse};
use crate::ftl::cache::compressed::{CompressedPage, ENTRY_BYTES, Format, MAX_ENTRIES, MAX_RUN};
use crate::types::Ppn;

/// What the `ftl` of such a file says.
pub(super) const NAME: &str = "urm compressed mapping table";

#[derive(Deserialize)]
struct File {
    format: Option<Layout>,
    cases: Vec<Case>,
}

/// Bits of an entry.
#[derive(Deserialize, Serialize)]
struct Layout {
    rlpn_bits: u32,
    ppn_bits: u32,
    length_bits: u32,
    dirty_bits: u32,
    total_bits: u32,
    raw_bytes_per_mapping: u32,
    max_ratio: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    params: Params,
    #[serde(default)]
    steps: Vec<Step>,
    #[serde(default)]
    updates: Vec<(u32, u32)>,
    #[serde(default)]
    sizes: Vec<(usize, usize, u32)>,
    final_entries: Option<Vec<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    entries_per_tp: u32,
    max_length: u32,
    bytes_per_entry: u32,
}

/// RLPN, PPN, length, dirty.
type Entry = (u32, u32, u32, bool);

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Step {
    op: (String, u32, u32),
    entries: Option<Vec<Entry>>,
    bytes: Option<u32>,
}

/// Replays all cases. The table of these files is always compressed.
pub(super) fn run(file: Value) -> Result<Conformance, ConformError> {
    let File { format, cases } = parse("", file)?;
    let mut report = Conformance::new(GoldenKind::CompressedTable);
    if let Some(told) = format {
        let ratio = f64::from(told.raw_bytes_per_mapping * MAX_RUN) / f64::from(ENTRY_BYTES);
        let mut row = report.row("format", 1, &told);
        row.exact("rlpn_bits", told.rlpn_bits, MAX_ENTRIES.ilog2());
        row.exact("length_bits", told.length_bits, MAX_RUN.ilog2());
        row.exact("total_bits", told.total_bits, 8 * ENTRY_BYTES);
        row.exact("sum of bits", told.total_bits, told.rlpn_bits + told.ppn_bits + told.length_bits + told.dirty_bits);
        row.close("max_ratio", told.max_ratio, ratio, 1e-9);
    }
    for (number, case) in cases.iter().enumerate() {
        report.cases += 1;
        run_case(&format!("cases[{number}]"), case, &mut report)?;
    }
    Ok(report)
}

fn run_case(place: &str, case: &Case, report: &mut Conformance) -> Result<(), ConformError> {
    let refuse =
        |field: String, problem: String| Err(ConformError::Shape { place: format!("{place}.{field}"), problem });
    let &Params { entries_per_tp, max_length: max_run, bytes_per_entry } = &case.params;
    for (field, value, most) in [("entries_per_tp", entries_per_tp, MAX_ENTRIES), ("max_length", max_run, MAX_RUN)] {
        if !(1..=most).contains(&value) {
            return refuse(format!("params.{field}"), format!("{value} is outside 1 to {most}"));
        }
    }
    report.row(&case.name, 0, bytes_per_entry).exact("bytes_per_entry", bytes_per_entry, ENTRY_BYTES);
    report.steps -= 1;
    let mut page = CompressedPage::new(Format { entries_per_tp, max_run, raw_fallback: false });
    let steps = case.steps.iter().map(|step| (step.op.1, step.op.2, Some(step)));
    let updates = case.updates.iter().map(|(rlpn, ppn)| (*rlpn, *ppn, None));
    for (number, (rlpn, ppn, step)) in steps.chain(updates).enumerate() {
        let field = || match step {
            Some(_) => format!("steps[{number}].op"),
            None => format!("updates[{}]", number - case.steps.len()),
        };
        if let Some(Step { op: (op, ..), .. }) = step.filter(|step| step.op.0 != "u") {
            return refuse(field(), format!("`{op}` is not the operation `u` of a mapping table"));
        }
        if rlpn >= entries_per_tp || ppn >= u32::MAX - MAX_ENTRIES {
            return refuse(field(), format!("page {rlpn} at {ppn}: the page has {entries_per_tp} mappings"));
        }
        page.update(rlpn, Ppn(ppn));
        page.check();
        let mut row = report.row(&case.name, number + 1, entries(&page));
        if let Some(told) = step.and_then(|step| step.entries.as_ref()) {
            row.exact("entries", told, entries(&page));
        }
        if let Some(told) = step.and_then(|step| step.bytes) {
            row.exact("bytes", told, page.bytes());
        }
        for told in case.sizes.iter().filter(|(after, ..)| step.is_none() && *after == number + 1 - case.steps.len()) {
            row.exact("sizes", told, (told.0, page.entries().len(), page.bytes()));
        }
    }
    if let Some((after, ..)) = case.sizes.iter().find(|(after, ..)| !(1..=case.updates.len()).contains(after)) {
        return refuse("sizes".to_owned(), format!("there are {} updates, not {after}", case.updates.len()));
    }
    if let Some(told) = &case.final_entries {
        let mut row = report.row(&case.name, case.steps.len() + case.updates.len(), "at the end");
        row.exact("final_entries", told, entries(&page));
        row.report.steps -= 1;
    }
    Ok(())
}

fn entries(page: &CompressedPage) -> Vec<Entry> {
    page.entries().iter().map(|run| (u32::from(run.start), run.ppn.0, u32::from(run.len), run.dirty)).collect()
}
