//! Places in the JSON report as its schema has them, so that what is misspelt is found before anything is run.

use nandlab::report::Report;
use serde_json::{Map, Value};

use super::formula::Step;
use super::unknown;
use crate::error::Error;

/// Refuses what stands between points (`hits.page.read`), if no report has it.
pub(super) fn check_path(path: &str) -> Result<(), Error> {
    let steps: Vec<Step> = path.split('.').map(|field| Step::Field(field.to_owned())).collect();
    check(&steps)
}

/// Refuses a place that no report has, or that has several numbers.
pub(super) fn check(steps: &[Step]) -> Result<(), Error> {
    let schema = Report::schema();
    let (mut at, mut place) = (parts(&schema, &schema), String::from("report"));
    for step in steps {
        let mut entries: Vec<&Value> =
            at.iter().filter_map(|part| part.get("items")).flat_map(|items| parts(&schema, items)).collect();
        let (of, field) = match step {
            Step::Field(number) if !entries.is_empty() && number.parse::<usize>().is_ok() => {
                at = entries;
                continue;
            }
            Step::Field(field) => (&at, field),
            Step::UpTo(field, _) => (&entries, field),
        };
        // The ledger, the configuration of a plug-in, or counts by names of their own: the schema does not say what is there.
        if of.iter().any(|part| is_open(part)) {
            return Ok(());
        }
        let fields = || of.iter().filter_map(|part| part["properties"].as_object());
        let mut found = fields().filter_map(|fields| fields.get(field)).peekable();
        if found.peek().is_none() {
            return Err(missing(&place, field, fields().flat_map(Map::keys).collect()));
        }
        if matches!(step, Step::Field(_)) {
            entries = found.flat_map(|found| parts(&schema, found)).collect();
        }
        at = entries;
        place += &format!(".{field}");
    }
    if at.iter().all(|part| part.get("properties").is_some()) {
        return Err(Error::input(format!("{place} is no number"), "`nandlab describe metrics` has all numbers"));
    }
    Ok(())
}

fn missing(place: &str, field: &str, known: Vec<&String>) -> Error {
    if known.is_empty() {
        let help = "`nandlab describe metrics` has all names";
        return Error::input(format!("{place}: there is no `{field}` in it"), help);
    }
    unknown(place, field, known)
}

/// What a part of a schema stands for: what it refers to, or what may be there.
fn parts<'s>(schema: &'s Value, part: &'s Value) -> Vec<&'s Value> {
    let reference = part["$ref"].as_str().and_then(|reference| schema.pointer(reference.trim_start_matches('#')));
    let choices = ["anyOf", "oneOf"].into_iter().filter_map(|kind| part[kind].as_array()).flatten();
    let mut all: Vec<&Value> = reference.into_iter().chain(choices).flat_map(|part| parts(schema, part)).collect();
    if all.is_empty() {
        all.push(part);
    }
    all.retain(|part| part["type"] != "null");
    all
}

/// True if anything may be in it.
fn is_open(part: &Value) -> bool {
    let others = part.get("additionalProperties");
    if let Some(others) = others {
        return *others != false;
    }
    ["properties", "items", "type", "enum", "const"].iter().all(|key| part.get(key).is_none())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::formula::Formula;
    use crate::{Address, Device, Run, Watch, Workload};

    /// The places of numbers below one.
    fn numbers(value: &Value, place: &str, found: &mut Vec<String>) {
        let below = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
        match value {
            Value::Number(_) => found.push(place.to_owned()),
            Value::Object(fields) => fields.iter().for_each(|(name, value)| numbers(value, &below(name), found)),
            Value::Array(entries) => {
                entries.iter().enumerate().for_each(|(at, value)| numbers(value, &below(&at.to_string()), found));
            }
            _ => {}
        }
    }

    #[test]
    fn every_number_of_a_report_has_its_place() {
        let mut places = Vec::new();
        for device in ["lab", "rftl"] {
            let set = ["device.geometry.blocks_per_plane=96", "precondition=none"].map(str::to_owned).to_vec();
            let workload = Workload { limit: Some(300), address: Address::Modulo, ..Workload::default() };
            let report = Run { device: Device { set, ..Device::of(device) }, workload }.report(&Watch::default());
            numbers(&serde_json::to_value(report.unwrap()).unwrap(), "", &mut places);
        }
        assert!(places.len() > 600, "{}", places.len());
        for place in places {
            super::check_path(&place).unwrap_or_else(|error| panic!("{place}: {error}"));
        }
    }

    #[test]
    fn place_that_no_report_has_is_refused_with_the_nearest_one() {
        let problem = |path: &str| {
            Formula::parse(path).and_then(|formula| formula.check_places()).map_err(|error| error.to_string())
        };
        for path in [
            "hits.page.read",
            "1 - flushes.sizes[pages<=39].share_at_most",
            "settling.cost.programs / requests.total",
            "config.buffer.window",
            "config.device.geometry.channels",
            "times.response.reads[at_most_ns<=9].share",
            "trace.changed.volumes",
            "operations.map_read.latency.mean_ns",
            "wall.run_seconds",
            "ledger.host_page_reads / requests.total",
            "config.device.over_provisioning.spare_over_logical",
            "flushes.sizes.0.share_at_most",
        ] {
            assert_eq!(problem(path), Ok(()));
        }
        for (path, part, help) in [
            ("flash.erase.total", "report.flash: there is no `erase`", "`erases`"),
            ("hits.page.total / hits.pages.read", "there is no `pages`", "`page`"),
            ("hits.page.total.read", "report.hits.page.total: there is no `read` in it", "describe metrics"),
            ("flushes.sizes[page<=39].share", "there is no `page`", "`pages`"),
            ("hits.page", "report.hits.page is no number", "describe metrics"),
            ("flushes.sizes.share", "there is no `share` in it", "describe metrics"),
            ("hits[pages<=3].read", "there is no `pages`", ""),
        ] {
            let problem = problem(path).unwrap_err();
            assert!(problem.contains(part) && problem.contains(help), "{problem}");
        }
    }
}
