//! Whether what was read can be what was recorded: units, order, devices, repeats, and what a replay needs.

use std::collections::{BTreeMap, VecDeque};

use nandlab::types::HostOp;
use serde::Serialize;

use super::IDLE_NS;
use super::words::{amount, bytes, percent, span, times};
use crate::error::TraceError;
use crate::options::Options;
use crate::order::FileOrder;
use crate::policy::DEVICES_MAX;
use crate::records::Records;
use crate::row::TraceRecord;
use crate::times::Timed;
use crate::unit::TimeUnit;

/// More requests a second than this are flagged where the unit of times is a guess: few recorded traces reach it.
const GUESSED_RATE_MAX: f64 = 20_000.0;
/// Fewer than this, too.
const GUESSED_RATE_MIN: f64 = 0.1;
/// More bytes a second than this are flagged there.
const GUESSED_BYTES_MAX: f64 = 4e9;
/// More requests a second than this are flagged everywhere: no drive of 2025 serves that many.
const RATE_MAX: f64 = 10e6;
/// Rows of the same time that are compared with each other.
const SAME_TIME: usize = 64;
/// Times that are remembered to tell how far rows are out of place.
const MAXIMA: usize = 65_536;

/// Something about a trace that a user should know before trusting a replay of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// `times`, `order`, `blanks`, `bad rows`, `files`, `end`, `repeats`, `devices`, `sizes` or `capacity`.
    pub topic: &'static str,
    /// A replay as it is may mean nothing.
    pub warning: bool,
    /// What was found, with its figures.
    pub text: String,
    /// Arguments of `nandlab run` that fix it; empty if nothing needs to be fixed.
    pub options: Vec<String>,
}

/// A device of a trace: how many requests it has and the end of its highest in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DeviceNeed {
    /// Its number.
    pub device: u32,
    /// Requests.
    pub requests: u64,
    /// Highest end in bytes.
    pub end_bytes: u64,
}

/// What a look at a trace found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// Name of the format.
    pub format: &'static str,
    /// Why this format.
    pub reason: String,
    /// Rows that were looked at.
    pub rows: u64,
    /// Bad rows that were skipped.
    pub bad_rows: u64,
    /// The trace ended within these rows.
    pub is_complete: bool,
    /// The devices by their numbers.
    pub devices: Vec<DeviceNeed>,
    /// What is to be known.
    pub findings: Vec<Finding>,
}

/// Looks at the first `rows` requests of a trace, with their times corrected as the options say. Memory: at most 3 MiB.
///
/// # Errors
/// As reading the trace.
pub fn check_up(paths: &[String], options: &Options, rows: u64) -> Result<Checked, TraceError> {
    let mut timed = Timed::new(Records::open_all(paths, options)?, options);
    let mut checkup = Checkup::default();
    let mut is_complete = false;
    while checkup.rows < rows {
        let Some(record) = timed.next() else {
            is_complete = true;
            break;
        };
        checkup.add(&record?);
    }
    let records = timed.records();
    Ok(Checked {
        format: records.format(),
        reason: records.reason().to_owned(),
        rows: checkup.rows,
        bad_rows: records.seen().bad_rows,
        is_complete,
        devices: checkup.devices(),
        findings: checkup.findings(records),
    })
}

/// Looks at requests one by one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checkup {
    rows: u64,
    first_ns: u64,
    before_ns: u64,
    latest_ns: u64,
    span: Option<(u64, u64)>,
    out_of_order: u64,
    /// Steps back of more than a minute.
    clocks_set_back: u64,
    /// Most rows that one is behind its place.
    displaced: u64,
    /// Times that were the latest so far, and their rows.
    maxima: VecDeque<(u64, u64)>,
    same_time: Vec<TraceRecord>,
    repeats: u64,
    gaps: u64,
    /// Gaps below a microsecond.
    tiny_gaps: u64,
    /// Sum of the gaps of at most a minute.
    active_ns: u64,
    bytes: u64,
    sized: u64,
    largest: u32,
    inside_sectors: u64,
    devices: BTreeMap<u32, DeviceNeed>,
}

impl Checkup {
    pub(crate) fn add(&mut self, record: &TraceRecord) {
        let now = record.at.0;
        if self.rows == 0 {
            (self.first_ns, self.before_ns, self.latest_ns) = (now, now, now);
        }
        self.order(now);
        self.repeat(record, now);
        self.rows += 1;
        let (low, high) = self.span.unwrap_or((now, now));
        self.span = Some((low.min(now), high.max(now)));
        self.before_ns = now;
        if record.op == HostOp::Flush {
            return;
        }
        self.sized += 1;
        self.bytes += u64::from(record.length);
        self.largest = self.largest.max(record.length);
        self.inside_sectors += u64::from(record.is_rounded());
        if self.devices.len() < DEVICES_MAX || self.devices.contains_key(&record.device) {
            let device = self.devices.entry(record.device).or_default();
            device.device = record.device;
            device.requests += 1;
            device.end_bytes = device.end_bytes.max(record.offset + u64::from(record.length));
        }
    }

    fn order(&mut self, now: u64) {
        if let Some(gap) = now.checked_sub(self.before_ns) {
            self.gaps += u64::from(gap > 0);
            self.tiny_gaps += u64::from(gap > 0 && gap < 1_000);
            self.active_ns += if gap > IDLE_NS { 0 } else { gap };
        } else {
            self.out_of_order += 1;
            self.clocks_set_back += u64::from(self.before_ns - now > IDLE_NS);
        }
        if now > self.latest_ns || self.rows == 0 {
            self.latest_ns = now;
            if self.maxima.len() == MAXIMA {
                self.maxima.pop_front();
            }
            self.maxima.push_back((now, self.rows));
        } else if now < self.latest_ns {
            let place = self.maxima.partition_point(|(time, _)| *time <= now);
            let row = self.maxima.get(place).map_or(self.rows, |(_, row)| *row);
            self.displaced = self.displaced.max(self.rows - row);
        }
    }

    fn repeat(&mut self, record: &TraceRecord, now: u64) {
        if now != self.before_ns {
            self.same_time.clear();
        }
        if self.same_time.contains(record) {
            self.repeats += 1;
        } else if self.same_time.len() < SAME_TIME {
            self.same_time.push(*record);
        }
    }

    fn devices(&self) -> Vec<DeviceNeed> {
        self.devices.values().copied().collect()
    }

    pub(crate) fn findings(&self, records: &Records) -> Vec<Finding> {
        let seen = records.seen();
        let found = [
            self.times(records.guessed_unit()),
            self.order_of_rows(),
            blanks(seen.blank_rows, self.rows),
            bad(seen.bad_rows, self.rows),
            files_without_data(records),
            seen.open_end().map(|text| Finding { topic: "end", warning: true, text, options: Vec::new() }),
            self.repeated(),
            records.assumed().map(assumed),
            self.sizes(),
            self.several_devices(),
            self.capacity(),
        ];
        found.into_iter().flatten().collect()
    }

    /// Length of the trace in seconds, without gaps above a minute and steps back.
    fn seconds(&self) -> f64 {
        let (low, high) = self.span.unwrap_or_default();
        let active = if self.active_ns == 0 { high - low } else { self.active_ns };
        active as f64 / 1e9
    }

    fn times(&self, guessed: Option<TimeUnit>) -> Option<Finding> {
        let topic = "times";
        let (low, high) = self.span?;
        if self.rows < 2 {
            return None;
        }
        if low == high {
            let text = format!("there are none: all {} requests are at the same time", amount(self.rows));
            let options = words(["--mode", "closed"]);
            return Some(Finding { topic, warning: true, text, options });
        }
        let seconds = self.seconds().max(1e-9);
        let (rate, bandwidth) = (self.rows as f64 / seconds, self.bytes as f64 / seconds);
        let (requests, long, rate_text) = (amount(self.rows), span(seconds), amount(rate.round() as u64));
        let figures = format!("{requests} requests in {long}, {rate_text} a second, {}/s", bytes(bandwidth as u64));
        let Some(unit) = guessed else {
            let warning = rate > RATE_MAX && self.rows >= 1_000;
            let text =
                if warning { figures + ": more than any drive serves; is the unit of times right?" } else { figures };
            return Some(Finding { topic, warning, text, options: Vec::new() });
        };
        let many = rate > GUESSED_RATE_MAX || bandwidth > GUESSED_BYTES_MAX || self.tiny_gaps * 2 > self.gaps;
        let better = self.better_unit(unit, rate, many);
        let guess = format!("read as {}, which is a guess: {figures}", unit.title());
        let (text, options) = match better {
            Some(better) => {
                let factor = better.nanoseconds() as f64 / unit.nanoseconds() as f64;
                let (rate, long) = (amount((rate / factor).round() as u64), span(seconds * factor));
                let text = format!("{guess}; as {} they would be {rate} a second in {long}", better.title());
                (text, words(["--time-unit", better.name()]))
            }
            None => (guess, words(["--time-unit", unit.name()])),
        };
        Some(Finding { topic, warning: better.is_some(), text, options })
    }

    /// A unit in which the times make more sense.
    fn better_unit(&self, unit: TimeUnit, rate: f64, many: bool) -> Option<TimeUnit> {
        const UNITS: [TimeUnit; 4] =
            [TimeUnit::Nanoseconds, TimeUnit::Microseconds, TimeUnit::Milliseconds, TimeUnit::Seconds];
        let rate_in = |other: TimeUnit| rate * unit.nanoseconds() as f64 / other.nanoseconds() as f64;
        if many && self.rows >= 8 {
            return UNITS.into_iter().find(|other| *other > unit && rate_in(*other) <= GUESSED_RATE_MAX);
        }
        if rate < GUESSED_RATE_MIN && self.rows >= 8 {
            let shorter = UNITS.into_iter().rev().filter(|other| *other < unit);
            return shorter.into_iter().find(|other| rate_in(*other) >= GUESSED_RATE_MIN);
        }
        None
    }

    fn order_of_rows(&self) -> Option<Finding> {
        let topic = "order";
        let share = percent(self.out_of_order, self.rows);
        if self.clocks_set_back > 0 {
            let text = format!(
                "the clock steps back by more than a minute {}: a restart, a clock that was set, or logs put together",
                times(self.clocks_set_back)
            );
            return Some(Finding { topic, warning: true, text, options: words(["--rebase"]) });
        }
        if self.out_of_order > 0 {
            let (rows, behind) = (amount(self.out_of_order), amount(self.displaced));
            let text = format!(
                "{rows} rows ({share}) are earlier than the row before, at most {behind} rows behind their place"
            );
            let warning = self.out_of_order * 100 > self.rows;
            let window = (self.displaced + 1).min(crate::options::SORT_WINDOW_MAX).to_string();
            return Some(Finding { topic, warning, text, options: words(["--sort-window", &window]) });
        }
        // Without a length there are no gaps.
        let (low, high) = self.span.filter(|(low, high)| low < high)?;
        let idle = 1.0 - self.active_ns as f64 / (high - low) as f64;
        (idle > 0.5).then(|| {
            let text = format!("{:.0} % of the time lies in gaps above 60 s", 100.0 * idle);
            Finding { topic, warning: false, text, options: words(["--cap-gap", "60s"]) }
        })
    }

    fn repeated(&self) -> Option<Finding> {
        let no_times = self.span.is_none_or(|(low, high)| low == high);
        (self.repeats >= 2 && self.repeats * 100 > self.rows && !no_times).then(|| {
            let share = percent(self.repeats, self.rows);
            let text = format!("{} rows ({share}) are the same as another of the same time", amount(self.repeats));
            Finding { topic: "repeats", warning: self.repeats * 5 > self.rows * 2, text, options: Vec::new() }
        })
    }

    fn sizes(&self) -> Option<Finding> {
        let topic = "sizes";
        if self.sized > 0 && self.largest < 512 {
            let text = format!("no request has more than {} bytes: are sizes in sectors or pages?", self.largest);
            return Some(Finding { topic, warning: true, text, options: Vec::new() });
        }
        (self.inside_sectors > 0).then(|| {
            let share = percent(self.inside_sectors, self.sized);
            let text = format!("{share} of the requests begin or end inside a sector of 512 bytes and are widened");
            Finding { topic, warning: false, text, options: Vec::new() }
        })
    }

    fn several_devices(&self) -> Option<Finding> {
        let busiest = self.devices.values().max_by_key(|need| (need.requests, std::cmp::Reverse(need.device)))?;
        (self.devices.len() > 1).then(|| {
            let (number, share) = (busiest.device, percent(busiest.requests, self.sized));
            let devices = amount(self.devices.len() as u64);
            let text = format!(
                "{devices} devices, each with addresses of its own; {number} has most requests ({share}); stack puts them \
                 one after the other"
            );
            Finding { topic: "devices", warning: true, text, options: words(["--volumes", &format!("pick:{number}")]) }
        })
    }

    fn capacity(&self) -> Option<Finding> {
        let end = self.devices.values().map(|need| need.end_bytes).max()?;
        let text = format!("the highest request ends at {}", bytes(end));
        Some(Finding { topic: "capacity", warning: false, text, options: Vec::new() })
    }
}

/// A unit of sizes that is taken for granted.
fn assumed(text: &str) -> Finding {
    Finding { topic: "sizes", warning: true, text: text.to_owned(), options: Vec::new() }
}

fn blanks(blank: u64, rows: u64) -> Option<Finding> {
    (blank > 0).then(|| {
        let share = percent(blank, rows + blank);
        let text = format!("{} rows ({share}) do not say what was asked for and are passed over", amount(blank));
        Finding { topic: "blanks", warning: true, text, options: Vec::new() }
    })
}

fn bad(bad: u64, rows: u64) -> Option<Finding> {
    (bad > 0).then(|| {
        let text = format!("{} rows ({}) cannot be read", amount(bad), percent(bad, rows + bad));
        Finding { topic: "bad rows", warning: true, text, options: words(["--skip-bad", &bad.to_string()]) }
    })
}

/// A log of a CPU that did nothing is empty; part of a trace is not.
fn files_without_data(records: &Records) -> Option<Finding> {
    let names = records.names_without_data();
    (!names.is_empty() && FileOrder::of(records.format()) != FileOrder::Merge).then(|| {
        let text = format!("nothing is in {}", names.join(", "));
        Finding { topic: "files", warning: true, text, options: Vec::new() }
    })
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}
