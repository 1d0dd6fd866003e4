//! What a value of a further axis changes in the device of a cell.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::word;

/// A change that a value of an axis makes: a setting for every cell, or plug-ins and settings for some. As TOML:
///
/// ```toml
/// [axes.ram]
/// 33MB = [
///     "replay.mode=open",
///     { where = { buffer = ["URM"] }, ftl = "urm-map", set = ["ram.dram=33MiB", "ram.budget=unified"] },
///     { where = { buffer = ["CFLRU", "BPLRU"] }, ftl = "page", set = ["ram.dram=1MiB"] },
/// ]
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected KEY=VALUE, or a table of `where`, `buffer`, `ftl`, `trace` and `set`")]
pub enum Setting {
    /// A key of the configuration with its value, as in `ram.dram=1MiB`.
    Always(String),
    /// What holds for some cells.
    Some(SettingOfSome),
}

/// Plug-ins, traces and settings of the cells that have one of the listed values on each of the listed axes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingOfSome {
    /// Values by axes; all cells when empty.
    #[serde(default, rename = "where", skip_serializing_if = "BTreeMap::is_empty")]
    pub cells: BTreeMap<String, Vec<String>>,
    /// The data buffer in short form, in place of that of the cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<String>,
    /// The FTL in short form, in place of that of the cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ftl: Option<String>,
    /// What is replayed, in place of the trace of the workload of the cell.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "word::one_or_several")]
    pub trace: Vec<String>,
    /// Keys of the configuration with their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
}

impl Setting {
    /// The keys that it sets in every cell, with their values.
    pub(super) fn always(&self) -> impl Iterator<Item = (&str, &str)> {
        let settings = match self {
            Self::Always(text) => std::slice::from_ref(text),
            Self::Some(some) if some.cells.is_empty() => &some.set,
            Self::Some(_) => &[],
        };
        settings.iter().filter_map(|text| text.split_once('=')).map(|(key, value)| (key.trim(), value.trim()))
    }

    /// As it is shown: without the cells it holds for.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Always(text) => text.clone(),
            Self::Some(SettingOfSome { cells, buffer, ftl, trace, set }) => {
                let plugins = [("buffer", buffer), ("ftl", ftl)];
                let plugins = plugins.iter().filter_map(|(key, name)| Some(format!("{key}={}", name.as_ref()?)));
                let words: Vec<String> = plugins.chain(trace.iter().chain(set).cloned()).collect();
                let of = cells.values().flatten().map(String::as_str).collect::<Vec<_>>().join(", ");
                if of.is_empty() { words.join(" ") } else { format!("({of}: {})", words.join(" ")) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Experiment;

    const TEXT: &str = "name = 'a'\n[buffers]\nlru = 'lru'\nfifo = 'fifo'\n[axes.ram]\n\
        small = ['ram.dram=1MiB', { where = { buffer = ['fifo'] }, set = ['ram.dram=2MiB'], ftl = 'dftl' }]\n\
        large = ['ram.dram=4MiB']\n";

    #[test]
    fn settings_of_some_cells_change_those_only() {
        let runs = Experiment::parse("a.toml", TEXT).unwrap().runs().unwrap();
        let device = |cell: &str| &runs[cell].device;
        assert_eq!(
            (device("lru/small").ftl.as_deref(), &device("lru/small").set[..]),
            (None, &["ram.dram=1MiB".into()][..])
        );
        assert_eq!(device("fifo/small").ftl.as_deref(), Some("dftl"));
        assert_eq!(device("fifo/small").set, ["ram.dram=1MiB", "ram.dram=2MiB"]);
        assert_eq!(device("fifo/large").ftl, None);
    }

    #[test]
    fn trace_is_one_word_or_a_list_of_them() {
        let read = |trace: &str| {
            let text = format!(
                "name = 'a'\n[workloads.w]\ntrace = {trace}\n[axes.x]\ny = [{{ trace = {trace} }}, 'ram.dram=1MiB']\n"
            );
            Experiment::parse("a.toml", &text)
        };
        let (one, list) = (read("'make:zipf'").unwrap(), read("['make:zipf']").unwrap());
        assert_eq!((&one.axes, &one.workloads["w"].trace), (&list.axes, &list.workloads["w"].trace));
        assert_eq!(one.runs().unwrap()["a"].workload.trace, ["make:zipf"]);
        let error = Experiment::parse("a.toml", "name = 'a'\n[workloads.w]\ntrace = 3\n").unwrap_err().to_string();
        assert!(error.contains("a.toml line 3, `") && error.contains("a string or a list of strings"), "{error}");
    }

    #[test]
    fn settings_of_unknown_cells_are_errors() {
        for (from, to, words) in [
            ("buffer = ['fifo']", "bufer = ['fifo']", ["axes.ram.small: where: there is no `bufer`", "`buffer`"]),
            ("buffer = ['fifo']", "buffer = ['fif']", ["axes.ram.small: where.buffer: there is no `fif`", "`fifo`"]),
            ("ftl = 'dftl'", "ftll = 'dftl'", ["a.toml line", ""]),
        ] {
            let error = Experiment::parse("a.toml", &TEXT.replace(from, to)).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }
}
