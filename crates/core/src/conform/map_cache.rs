//! Golden files about a mapping cache alone (schema `ftl-golden/1`, cases without a device).
//!
//! Such a case runs on the whole FTL, over a device of its own that is written in order before the first step and so
//! large that nothing is ever collected. LPN and PPN are then equal at first, and pages written one after the other
//! lie side by side, as these files suppose. Only what the cache does is compared.

use serde_json::{Map, Value, json};

use super::ConformError;

/// What the `ftl` of such a file says behind the name.
pub(super) const SUFFIX: &str = " (mapping cache only)";

const PAGES_PER_BLOCK: u64 = 64;

/// Parameters of these files in the names of this project.
const NAMES: &[(&str, &str)] = &[
    ("entries", "cmt_entries"),
    ("E", "entries_per_tp"),
    ("select_on", "selective_prefetch"),
    ("thr", "selective_threshold"),
    ("capacity_bytes", "cache_bytes"),
];

/// Completes a case: gives it a device, parameters in the names of this project, and operations without places.
///
/// # Errors
/// When its operations are not those of an FTL.
pub(super) fn complete(ftl: &str, case: &mut Value) -> Result<(), ConformError> {
    let refuse = |why: &str| ConformError::Unsupported(format!("`{ftl}`: case {}: {why}", case["name"]));
    let params = case["params"].as_object().ok_or_else(|| refuse("no `params`"))?;
    let mut params: Map<String, Value> = params.clone().into_iter().map(renamed).collect();
    params.insert("frontiers".to_owned(), json!("single"));
    let entries = params.get("entries_per_tp").and_then(Value::as_u64).filter(|entries| *entries > 0);
    let entries = entries.ok_or_else(|| refuse("no entries per translation page"))?;
    let steps = case["steps"].as_array().ok_or_else(|| refuse("no `steps`"))?;
    let (mut end, mut pages) = (1, 0);
    for step in steps {
        let (first, len) = extent(&step["op"]).ok_or_else(|| refuse("an operation that FTLs do not have"))?;
        end = end.max(first + len);
        pages += len;
    }
    let logical = end.next_multiple_of(entries);
    // Every page accessed costs at most a data page and two translation pages.
    let physical = logical + logical / entries + 3 * pages;
    for step in case["steps"].as_array_mut().into_iter().flatten() {
        // `["w", lpn, ppn]`: the FTL chooses the place.
        if let Some([op, _, _]) = step["op"].as_array().map(Vec::as_slice)
            && op == "w"
        {
            step["op"].as_array_mut().expect("seen above").pop();
        }
    }
    // Says in words what was made true above.
    case.as_object_mut().and_then(|case| case.remove("initial_l2p"));
    case["params"] = Value::Object(params);
    case["map_only"] = json!(true);
    case["device"] = json!({"program_order": "ascending", "precondition": "full", "pages_per_block": PAGES_PER_BLOCK,
        "physical_blocks": physical.div_ceil(PAGES_PER_BLOCK) + 8, "logical_pages": logical});
    Ok(())
}

/// First page and number of pages of an operation.
fn extent(op: &Value) -> Option<(u64, u64)> {
    let page = |value: &Value| value.as_u64().filter(|page| *page < 1 << 20);
    match op.as_array()?.as_slice() {
        [op, lpn] if op == "r" || op == "w" => Some((page(lpn)?, 1)),
        [op, lpn, _] if op == "w" => Some((page(lpn)?, 1)),
        [op, _, start, len] if op == "rq" => Some((page(start)?, page(len)?)),
        _ => None,
    }
}

fn renamed((name, value): (String, Value)) -> (String, Value) {
    let Some((_, ours)) = NAMES.iter().find(|(theirs, _)| *theirs == name) else { return (name, value) };
    let value = match value {
        Value::Bool(on) => json!(if on { "start_on" } else { "start_off" }),
        other => other,
    };
    ((*ours).to_owned(), value)
}

/// True for a counter that says nothing about the cache.
pub(super) fn ignores(counter: &str) -> bool {
    counter.starts_with("host_") || counter == "data_reads"
}
