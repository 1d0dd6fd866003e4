//! Numbers of reports, and what is computed from several.

use nandlab::flash::clock::OpClass;
use serde_json::Value;

use crate::course::Course;
use crate::error::Error;
use crate::experiment::{place, unknown};

/// A number of a report, or several with `+`, `-`, `*` and `/` between them, carried out from left to right.
///
/// A term is a number or a place in the JSON report (`nandlab describe metrics`), as in `hits.page.read`. In a list
/// `[FIELD<=N]` is the last entry whose field is no greater: `flushes.intervals[at_most<=2000].share`. All of `1 -
/// flushes.sizes[pages<=39].share_at_most` is the share of groups of 40 pages or more.
///
/// `times.KIND[at_most_ns<=N].share` is the share of the times of a kind (`response.reads`, `operations.map_read`, as in the
/// report; `response.all`) that are no longer than N, as exact as a histogram whose buckets are up to 3.1 % wide: a bucket that
/// ends later is not counted.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Formula {
    first: Term,
    steps: Vec<(char, Term)>,
}

#[derive(Clone, PartialEq, Debug)]
enum Term {
    Number(f64),
    Path(Vec<Step>),
    /// A share of the times of a kind.
    Times {
        of: String,
        at_most: u64,
    },
    /// Bytes of the memories in which the buffer keeps pages.
    Memories,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Step {
    Field(String),
    /// The last entry of a list with a field that is no greater.
    UpTo(String, f64),
}

impl Formula {
    /// # Errors
    /// It is none; the text says where.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let unknown = |word: &str| {
            let help = "write places of the JSON report with + - * / and blanks between, as in `flash.programs.gc / requests.total`";
            Error::input(format!("`{text}`: `{word}` is out of place"), help)
        };
        let mut words = text.split_whitespace();
        let term = |word: Option<&str>| word.and_then(Term::parse).ok_or_else(|| unknown(word.unwrap_or("")));
        let first = term(words.next())?;
        let mut steps = Vec::new();
        while let Some(word) = words.next() {
            let operation = match word {
                "+" | "-" | "*" | "/" => word.as_bytes()[0] as char,
                _ => return Err(unknown(word)),
            };
            steps.push((operation, term(words.next())?));
        }
        let formula = Self { first, steps };
        for term in formula.terms() {
            if let Term::Times { of, .. } = term {
                check_times("times", of)?;
            }
        }
        Ok(formula)
    }

    /// What data and map take of the RAM, bytes. A device has its memories whatever the buffer, and only some buffers use NVRAM,
    /// and one none at all: a memory that no request touched is not counted, nor would a device for that buffer have it.
    pub(crate) fn ram() -> Self {
        let map = ["ram", "map_bytes"].map(|name| Step::Field(name.to_owned()));
        Self { first: Term::Memories, steps: vec![('+', Term::Path(map.to_vec()))] }
    }

    /// Its value in a report, and in how the run went; `None` if a part is not there, is a ratio of nothing, or the result is
    /// not a number.
    pub(crate) fn value(&self, report: &Value, course: Option<&Course>) -> Option<f64> {
        let mut value = self.first.value(report, course)?;
        for (operation, term) in &self.steps {
            let other = term.value(report, course)?;
            match operation {
                '+' => value += other,
                '-' => value -= other,
                '*' => value *= other,
                _ => value /= other,
            }
        }
        value.is_finite().then_some(value)
    }

    /// Refuses places that no report has.
    ///
    /// # Errors
    /// There is one; the help has the nearest name.
    pub(super) fn check_places(&self) -> Result<(), Error> {
        let paths = self.terms().filter_map(|term| if let Term::Path(steps) = term { Some(steps) } else { None });
        paths.into_iter().try_for_each(|steps| place::check(steps))
    }

    fn terms(&self) -> impl Iterator<Item = &Term> {
        std::iter::once(&self.first).chain(self.steps.iter().map(|(_, term)| term))
    }

    /// It has a percentile in it, which comes from a histogram.
    pub(crate) fn is_of_percentile(&self) -> bool {
        let is_percentile = |name: &str| {
            let number = name.strip_prefix('p').and_then(|rest| rest.strip_suffix("_ns"));
            number.is_some_and(|number| number.bytes().all(|c| c.is_ascii_digit()))
        };
        let last = |term: &Term| matches!(term, Term::Path(steps) if matches!(steps.last(), Some(Step::Field(name)) if is_percentile(name)));
        self.terms().any(last)
    }
}

/// Refuses what no run has times of; `key` is where it stands.
pub(crate) fn check_times(key: &str, of: &str) -> Result<(), Error> {
    let responses = ["all", "reads", "writes", "others"].map(|kind| format!("response.{kind}"));
    let operations = OpClass::ALL.map(|class| format!("operations.{}", class.name().replace(' ', "_")));
    let known: Vec<String> = responses.into_iter().chain(operations).collect();
    if known.iter().any(|kind| kind == of) { Ok(()) } else { Err(unknown(key, of, known)) }
}

impl Term {
    fn parse(word: &str) -> Option<Self> {
        if let Ok(number) = word.parse::<f64>() {
            return number.is_finite().then_some(Self::Number(number));
        }
        let mut steps = Vec::new();
        for part in word.split('.') {
            let (field, rest) = part.split_once('[').map_or((part, None), |(field, rest)| (field, Some(rest)));
            if field.is_empty() || !field.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_') {
                return None;
            }
            steps.push(Step::Field(field.to_owned()));
            if let Some(rest) = rest {
                let (field, limit) = rest.strip_suffix(']')?.split_once("<=")?;
                steps.push(Step::UpTo(field.to_owned(), limit.parse().ok()?));
            }
        }
        match steps.split_first() {
            Some((Step::Field(first), rest)) if first == "times" => Self::times(rest),
            _ => Some(Self::Path(steps)),
        }
    }

    /// `KIND[at_most_ns<=N].share`.
    fn times(steps: &[Step]) -> Option<Self> {
        let [kind @ .., Step::UpTo(field, limit), Step::Field(share)] = steps else { return None };
        let name = |step: &Step| if let Step::Field(name) = step { Some(name.clone()) } else { None };
        let of = kind.iter().map(name).collect::<Option<Vec<_>>>()?.join(".");
        let is_share = field == "at_most_ns" && share == "share" && *limit >= 0.0;
        is_share.then_some(Self::Times { of, at_most: *limit as u64 })
    }

    fn find<'r>(steps: &[Step], report: &'r Value) -> Option<&'r Value> {
        steps.iter().try_fold(report, |value, step| match step {
            Step::Field(name) => value.get(name),
            Step::UpTo(field, limit) => {
                let is_within =
                    |entry: &&Value| entry.get(field).and_then(Value::as_f64).is_some_and(|at| at <= *limit);
                value.as_array()?.iter().rfind(is_within)
            }
        })
    }

    /// A share of nothing: of those up to a limit, where all are above it.
    fn nothing(steps: &[Step], report: &Value) -> Option<f64> {
        let [before @ .., Step::UpTo(field, _), Step::Field(share)] = steps else { return None };
        let entries = Self::find(before, report)?.as_array()?;
        let is_share = share.starts_with("share") && entries.first()?.get(share)?.is_number();
        (is_share && entries.iter().all(|entry| entry.get(field).is_some_and(Value::is_number))).then_some(0.0)
    }

    fn value(&self, report: &Value, course: Option<&Course>) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Path(steps) => {
                Self::find(steps, report).and_then(Value::as_f64).or_else(|| Self::nothing(steps, report))
            }
            Self::Times { of, at_most } => course?.share_within(of, *at_most),
            Self::Memories => memories(report),
        }
    }
}

/// Bytes of the frames of the memories that were read or written.
fn memories(report: &Value) -> Option<f64> {
    let (ram, buffer) = (report.get("ram")?, report.get("buffer")?);
    let number = |table: &Value, name: String| table.get(name).and_then(Value::as_f64);
    let (mut frames, mut used) = (0.0, 0.0);
    for memory in ["dram", "nvram"] {
        let own = number(ram, format!("{memory}_frames"))?;
        let touched = number(buffer, format!("{memory}_reads"))? + number(buffer, format!("{memory}_writes"))?;
        frames += own;
        used += if touched > 0.0 { own } else { 0.0 };
    }
    let bytes = number(ram, "data_bytes".to_owned())?;
    Some(if frames > 0.0 { bytes * used / frames } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Formula;

    #[test]
    fn formulas_are_carried_out_from_left_to_right() {
        let report = json!({"a": {"b": 6, "none": null}, "c": 2,
            "list": [{"at": 1, "share": 0.25}, {"at": 5, "share": 0.5}, {"at": 9, "share": 1.0}]});
        for (text, value) in [
            ("a.b", Some(6.0)),
            ("a.b - c / 2", Some(2.0)),
            ("1 + a.b * c", Some(14.0)),
            ("list[at<=5].share", Some(0.5)),
            ("1 - list[at<=8].share", Some(0.5)),
            ("list[at<=0].share", Some(0.0)),
            ("list[at<=0].at", None),
            ("list[to<=0].share", None),
            ("a.none", None),
            ("a.b / a.none", None),
            ("a.b / 0", None),
        ] {
            let formula = Formula::parse(text).unwrap();
            assert_eq!(formula.value(&report, None), value, "{text}");
        }
    }

    #[test]
    fn ram_is_that_of_memories_that_were_used() {
        let of = |dram: [u64; 2], nvram: [u64; 2]| {
            let report = json!({
                "ram": {"dram_frames": 6, "nvram_frames": 2, "data_bytes": 8 * 4096, "map_bytes": 100},
                "buffer": {"dram_reads": dram[0], "dram_writes": dram[1], "nvram_reads": nvram[0], "nvram_writes": nvram[1]},
            });
            Formula::ram().value(&report, None).unwrap()
        };
        assert_eq!(of([3, 1], [0, 7]), 32_868.0);
        assert_eq!(of([0, 1], [0, 0]), 24_676.0, "LRU on a device with NVRAM");
        assert_eq!(of([0, 0], [1, 0]), 8_292.0);
        assert_eq!(of([0, 0], [0, 0]), 100.0, "no buffer");
    }

    #[test]
    fn shares_of_times_are_those_of_the_course() {
        let times = json!({"times": {"response.reads": [[10, 1], [20, 2], [40, 1]], "response.writes": [[30, 4]]}, "marks": []});
        let course = serde_json::from_value(times).unwrap();
        let value = |text: &str| Formula::parse(text).unwrap().value(&json!({}), Some(&course));
        assert_eq!(value("times.response.reads[at_most_ns<=20].share"), Some(0.75));
        assert_eq!(value("times.response.all[at_most_ns<=39].share * 8"), Some(7.0));
        assert_eq!(value("times.response.reads[at_most_ns<=9].share"), Some(0.0));
        assert_eq!(value("times.operations.map_read[at_most_ns<=9].share"), None);
    }

    #[test]
    fn what_is_no_formula_is_refused() {
        for text in [
            "",
            "a.b c",
            "a +",
            "a..b",
            "a[b",
            "a[b<=x].c",
            "a % b",
            "inf",
            "times.response.all",
            "times.a[b<=1].share",
        ] {
            let error = Formula::parse(text).unwrap_err().to_string();
            assert!(error.contains("is out of place") && error.contains("flash.programs.gc"), "{error}");
        }
    }
}
