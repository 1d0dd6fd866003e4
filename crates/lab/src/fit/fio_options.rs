//! The options of a job of fio, and those of them that keep it from being simulated.
//!
//! Names, defaults and meanings are those of fio's options.c. In its results fio writes options as they were typed, by their
//! first names: those of a job, and those of all jobs.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use nandlab::types::SECTOR_BYTES;
use serde_json::Value;

/// Engines that bypass the host's cache, whatever `direct` says.
const RAW: [&str; 4] = ["io_uring_cmd", "sg", "xnvme", "libzbc"];

/// Options that change which requests come, or when, and are not simulated; with the values that change nothing.
const NOT_SIMULATED: [(&str, &[&str]); 39] = [
    ("rate", &["0"]),
    ("rate_iops", &["0"]),
    ("rate_min", &["0"]),
    ("rate_iops_min", &["0"]),
    ("thinktime", &["0"]),
    ("thinkcycles", &["0"]),
    ("latency_target", &["0"]),
    ("flow", &["0"]),
    ("io_submit_mode", &["inline"]),
    ("serialize_overlap", &["0"]),
    (BATCHES[0], &["1"]),
    (BATCHES[1], &["0", "1"]),
    (BATCHES[2], &["0", "1"]),
    (BATCHES[3], &["0"]),
    ("bssplit", &[]),
    ("bsrange", &[]),
    ("bs_unaligned", &["0"]),
    ("bs_is_seq_rand", &["0"]),
    ("kb_base", &["1024"]),
    ("offset", &["0"]),
    ("offset_increment", &["0"]),
    ("file_append", &["0"]),
    ("filesize", &[]),
    ("nrfiles", &["1"]),
    ("zonemode", &["none"]),
    ("zonesize", &["0"]),
    ("zonerange", &["0"]),
    ("zoneskip", &["0"]),
    ("random_distribution", &["random"]),
    ("percentage_random", &["100"]),
    ("fsync", &["0"]),
    ("fdatasync", &["0"]),
    ("sync_file_range", &[]),
    ("sync", &["0", "none"]),
    ("write_barrier", &["0"]),
    ("writefua", &["0"]),
    ("verify", &["0", "none"]),
    ("trim_percentage", &["0"]),
    ("read_iolog", &[]),
];
/// Those of them that change nothing where requests come one by one.
const BATCHES: [&str; 4] = ["iodepth_batch", "iodepth_batch_complete_min", "iodepth_batch_complete_max", "iodepth_low"];

/// The options of a job.
pub(super) struct Options<'a> {
    /// Its own.
    pub(super) job: &'a BTreeMap<String, Value>,
    /// Those of all jobs, which hold where it has none.
    pub(super) global: &'a BTreeMap<String, Value>,
}

impl Options<'_> {
    /// The first of these options that is given, with its value: one of the job, else one of all jobs.
    pub(super) fn first<'n>(&self, names: &[&'n str]) -> Option<(&'n str, String)> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let of = |level: &BTreeMap<String, Value>| names.iter().find_map(|name| Some((*name, text(level.get(*name)?))));
        of(self.job).or_else(|| of(self.global))
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.first(&[name]).map(|(_, text)| text)
    }

    pub(super) fn number(&self, name: &str, default: u64, range: RangeInclusive<u64>) -> Result<u64, String> {
        let Some(text) = self.text(name) else {
            return Ok(default);
        };
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("`{name}={text}` is not a number from {} to {}", range.start(), range.end()))
    }

    /// Bytes, or a part of this many bytes in percent.
    pub(super) fn part_or_size(&self, name: &str, whole: u64) -> Result<Option<u64>, String> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let size = if let Some(percent) = text.strip_suffix('%') {
            let percent = percent.parse().ok().filter(|percent| (1..=100).contains(percent));
            percent.map(|percent: u64| whole / 100 * percent + whole % 100 * percent / 100)
        } else {
            bytes(&text)
        };
        size.map(Some).ok_or_else(|| format!("`{name}={text}` is neither bytes nor a part from 1% to 100%"))
    }

    /// Bytes of whole sectors; the names are those of one option.
    pub(super) fn sectors(&self, names: &[&str]) -> Result<Option<u64>, String> {
        let Some((name, text)) = self.first(names) else { return Ok(None) };
        let size = bytes(&text).filter(|size| *size > 0 && size.is_multiple_of(SECTOR_BYTES));
        let problem = || format!("`{name}={text}` is not a number of whole sectors of {SECTOR_BYTES} B");
        size.map(Some).ok_or_else(problem)
    }

    /// Why it is not simulated, if it is an option that says so; `depth` is that of one process.
    pub(super) fn refuse(&self, engine: &str, depth: u64) -> Result<(), String> {
        for (key, neutral) in NOT_SIMULATED {
            let is_idle = depth == 1 && BATCHES.contains(&key);
            if !is_idle && self.text(key).is_some_and(|value| !changes_nothing(&value, neutral)) {
                return Err(format!("`{key}` is not simulated"));
            }
        }
        if let Some(key) = ["write_bw_log", "write_iops_log"].iter().find(|key| self.text(key).is_some()) {
            return Err(format!("with `{key}` it is the rate over time that tells, which is not compared"));
        }
        let cached = match self.first(&["buffered", "direct"]) {
            _ if engine == "mmap" => "with `ioengine=mmap`",
            _ if RAW.contains(&engine) => return Ok(()),
            None => "without `direct=1`",
            Some(("direct", value)) if value == "0" => "with `direct=0`",
            Some(("buffered", value)) if value != "0" => "with `buffered=1`",
            Some(_) => return Ok(()),
        };
        Err(format!("{cached} the host's cache answers"))
    }
}

/// A size as fio reads it by default (`kb_base=1024`): KB, like k, is 1,024 bytes, and KiB is 1,000.
fn bytes(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let (number, suffix) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    if !suffix.bytes().all(|letter| letter.is_ascii_alphabetic()) {
        return None;
    }
    // What else follows the first letter fio does not look at.
    let (prefix, rest) = suffix.split_at(suffix.len().min(1));
    let base = if rest.starts_with("ib") { 1000_u64 } else { 1024 };
    let power = ["", "k", "m", "g", "t", "p"].iter().position(|known| *known == prefix.trim_matches('b'))?;
    number.parse::<u64>().ok()?.checked_mul(base.checked_pow(power as u32)?)
}

/// All of its parts (one for reads, one for writes) are such values; nought may have a unit. An option without a value is set.
fn changes_nothing(value: &str, neutral: &[&str]) -> bool {
    let is_unit = |rest: &str| rest.chars().all(|c| c.is_ascii_alphabetic() || c == '%');
    let is_nought = |part: &str| neutral.contains(&"0") && part.strip_prefix('0').is_some_and(is_unit);
    let mut parts = value.split(',').map(str::trim).filter(|part| !part.is_empty()).peekable();
    parts.peek().is_some() && parts.all(|part| neutral.contains(&part) || is_nought(part))
}

/// Options as fio writes them.
#[cfg(test)]
pub(super) fn map(options: &[(&str, &str)]) -> BTreeMap<String, Value> {
    options.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Why a job is left out.
    fn why(global: &[(&str, &str)], job: &[(&str, &str)], engine: &str, depth: u64) -> Option<String> {
        Options { job: &map(job), global: &map(global) }.refuse(engine, depth).err()
    }

    #[test]
    fn job_that_the_hosts_cache_answers_is_left_out() {
        let refused = |global: &[(&str, &str)], job: &[(&str, &str)]| why(global, job, "libaio", 1);
        let (direct, buffered) = (("direct", "1"), ("buffered", "1"));
        assert_eq!(refused(&[], &[]).unwrap(), "without `direct=1` the host's cache answers");
        assert_eq!(refused(&[], &[("direct", "0")]).unwrap(), "with `direct=0` the host's cache answers");
        assert_eq!(refused(&[direct], &[buffered]).unwrap(), "with `buffered=1` the host's cache answers");
        for (global, job) in [
            (&[direct][..], &[][..]),
            (&[], &[direct]),
            (&[buffered], &[direct]),
            (&[("direct", "0")], &[("buffered", "0")]),
        ] {
            assert_eq!(refused(global, job), None, "{global:?} {job:?}");
        }
        let of_engine = |engine: &str| why(&[direct], &[], engine, 1);
        assert_eq!(of_engine("mmap").unwrap(), "with `ioengine=mmap` the host's cache answers");
        assert_eq!(why(&[], &[], "io_uring_cmd", 1), None);
    }

    #[test]
    fn option_that_is_not_simulated_leaves_a_job_out_unless_it_changes_nothing() {
        let refused = |option: (&str, &str), depth: u64| why(&[("direct", "1")], &[option], "libaio", depth);
        for (key, value) in [
            ("rate", ",1m"),
            ("thinktime", "10us"),
            ("zonesize", "64k"),
            ("zonerange", "1m"),
            ("iodepth_batch", "8"),
            ("iodepth_batch_complete_min", "8"),
            ("latency_target", "500"),
            ("verify", "crc32c"),
            ("bs_unaligned", ""),
            ("bsrange", "4k-8k"),
            ("percentage_random", "0"),
            ("random_distribution", "zipf:1.1"),
            ("sync", "dsync"),
            ("offset", "50%"),
        ] {
            let reason = refused((key, value), 16).unwrap();
            assert_eq!(reason, format!("`{key}` is not simulated"), "{value}");
        }
        for (key, value) in [
            ("rate", "0,0"),
            ("fsync", "0"),
            ("thinktime", "0"),
            ("thinktime", "0us"),
            ("offset", "0"),
            ("offset", "0k"),
            ("zonemode", "none"),
            ("random_distribution", "random"),
            ("percentage_random", "100"),
            ("buffered", "0"),
            ("sync", "none"),
            ("verify", "0"),
            ("bs_unaligned", "0"),
            ("iodepth_batch", "1"),
            ("iodepth_batch_complete_min", "1"),
        ] {
            assert_eq!(refused((key, value), 16), None, "{key}={value}");
        }
        // One request at a time makes no batches.
        assert_eq!(refused(("iodepth_batch", "8"), 1), None);
    }
}
