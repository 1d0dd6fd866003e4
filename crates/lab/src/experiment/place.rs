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
    let (mut at, mut place) = (&schema, String::from("report"));
    for step in steps {
        let here = target(&schema, at);
        // The configuration of a plug-in, or counts by names of their own: the schema does not say what is there.
        let others = here.get("additionalProperties");
        if others.is_some_and(|others| *others != false) {
            return Ok(());
        }
        let entry = here.get("items").map(|items| target(&schema, items));
        let (of, field) = match step {
            Step::Field(field) => (Some(here), field),
            Step::UpTo(field, _) => (entry, field),
        };
        let fields = of.and_then(|of| of["properties"].as_object());
        let found = fields.and_then(|fields| fields.get(field));
        let known = || fields.into_iter().flat_map(Map::keys);
        let found = found.ok_or_else(|| unknown(&place, field, known()))?;
        place += &format!(".{field}");
        at = if matches!(step, Step::UpTo(..)) { entry.unwrap_or(here) } else { found };
    }
    if target(&schema, at).get("properties").is_some() {
        return Err(Error::input(format!("{place} is no number"), "`nandlab describe metrics` has all numbers"));
    }
    Ok(())
}

/// What a part of a schema stands for: what it refers to, or what may be there in place of nothing.
fn target<'s>(schema: &'s Value, part: &'s Value) -> &'s Value {
    let choices = part["anyOf"].as_array().into_iter().flatten();
    let part = choices.into_iter().find(|choice| choice["type"] != "null").unwrap_or(part);
    let reference = part["$ref"].as_str().and_then(|reference| schema.pointer(reference.trim_start_matches('#')));
    reference.unwrap_or(part)
}

#[cfg(test)]
mod tests {
    use super::super::formula::Formula;

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
        ] {
            assert_eq!(problem(path), Ok(()));
        }
        for (path, part, help) in [
            ("flash.erase.total", "report.flash: there is no `erase`", "`erases`"),
            ("hits.page.total / hits.pages.read", "there is no `pages`", "`page`"),
            ("hits.page.total.read", "there is no `read`", ""),
            ("flushes.sizes[page<=39].share", "there is no `page`", "`pages`"),
            ("hits.page", "report.hits.page is no number", "describe metrics"),
            ("flushes.sizes.share", "there is no `share`", ""),
            ("hits[pages<=3].read", "there is no `pages`", ""),
        ] {
            let problem = problem(path).unwrap_err();
            assert!(problem.contains(part) && problem.contains(help), "{problem}");
        }
    }
}
