//! What of the runs of a sweep was not measured, in a sentence.

use std::collections::BTreeMap;

use crate::sweep::SweepRow;
use crate::text::{count, plural};

/// The least and the most requests that were cut by a rule, and how many cells had half of theirs cut.
#[derive(Clone, Copy)]
struct Cuts {
    least: u64,
    most: u64,
    cells: usize,
    at_bound: usize,
}

/// A sentence or two; empty if everything was measured.
pub(super) fn sentence(rows: &[SweepRow]) -> String {
    // Cells of different workloads are not compared.
    let mut by_rule: BTreeMap<(&str, &str), Cuts> = BTreeMap::new();
    for row in rows {
        let Some(trace) = row.report.as_ref().and_then(|report| report.get("trace")) else { continue };
        let cut =
            trace.get("warm_up").and_then(|cut| Some((cut.get("rule")?.as_str()?, cut.get("requests")?.as_u64()?)));
        let Some((rule, requests)) = cut else { continue };
        let warned = trace.get("warnings").and_then(serde_json::Value::as_array).into_iter().flatten();
        let is_at_bound = warned.filter_map(serde_json::Value::as_str).any(|text| text.starts_with("MSER-5"));
        let workload = row.values.get("workload").map_or("", String::as_str);
        let cuts =
            by_rule.entry((workload, rule)).or_insert(Cuts { least: requests, most: requests, cells: 0, at_bound: 0 });
        cuts.least = cuts.least.min(requests);
        cuts.most = cuts.most.max(requests);
        cuts.cells += 1;
        cuts.at_bound += usize::from(is_at_bound);
    }
    let told = by_rule.into_iter().map(|((workload, rule), Cuts { least, most, cells, at_bound })| {
        let by = if rule == "given" { String::new() } else { format!(", cut by {}", rule.to_uppercase()) };
        let cells = plural(cells as u64, "cell");
        let cells = if workload.is_empty() { cells } else { format!("{cells} of {workload}") };
        let mut text = if least == most {
            format!("The first {} requests of {cells} are not measured{by}.", count(most))
        } else {
            format!("The first {} to {} requests of {cells} are not measured{by}.", count(least), count(most))
        };
        if least < most && rule != "given" {
            text += &format!(
                " So compared cells do not measure the same requests: with `warm_up = {most}` for the workload they would."
            );
        }
        if at_bound > 0 {
            text += &format!(
                " In {} of them that is half of the requests, the most that the rule may cut: they are too short, or never come \
                 to rest.",
                count(at_bound as u64)
            );
        }
        text
    });
    told.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sentence_tells_rule_range_and_doubt() {
        let row = |trace| SweepRow::done("", BTreeMap::new(), json!({ "trace": trace }));
        let cut = |requests: u64, warnings: &[&str]| {
            row(json!({ "warm_up": { "requests": requests, "rule": "mser-5" }, "warnings": warnings }))
        };
        assert_eq!(sentence(&[row(json!({}))]), "");
        let text = sentence(&[cut(1_200, &[]), row(json!({})), cut(50_000, &["MSER-5 cuts half"])]);
        assert!(
            text.starts_with("The first 1,200 to 50,000 requests of 2 cells are not measured, cut by MSER-5."),
            "{text}"
        );
        assert!(text.contains("`warm_up = 50000`") && text.contains("In 1 of them that is half"), "{text}");
        let of = |workload: &str, row: SweepRow| SweepRow {
            values: BTreeMap::from([("workload".to_owned(), workload.to_owned())]),
            ..row
        };
        let text = sentence(&[of("long", cut(9_000, &[])), of("short", cut(10, &[])), of("short", cut(20, &[]))]);
        assert!(
            text.contains("9,000 requests of 1 cell of long") && text.contains("10 to 20 requests of 2 cells of short"),
            "{text}"
        );
        assert!(text.contains("`warm_up = 20`") && !text.contains("`warm_up = 9000`"), "{text}");
        let given = row(json!({ "warm_up": { "requests": 10, "rule": "given" } }));
        assert_eq!(sentence(&[given]), "The first 10 requests of 1 cell are not measured.");
    }
}
