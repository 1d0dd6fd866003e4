//! The program locations of a trace with hints: what the requests of each are like.

use std::collections::BTreeMap;

use nandlab::types::{HostOp, Pattern};
use nandlab_plot::{Axis, AxisUnit, Figure, Layer, Panel};
use nandlab_trace::{Recording, StackFrame, TraceRecord};
use serde::Serialize;

use crate::table::{Cell, Column, Table, Unit};
use crate::text::count;

/// Requests that a picture shows at most.
const DRAWN: usize = 1 << 14;
/// All patterns, in the order in which they are told.
const ALL: [Pattern; 4] = [Pattern::Sequential, Pattern::Looping, Pattern::ClusteredHot, Pattern::Random];

/// A pattern in words.
fn word(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::Sequential => "sequential",
        Pattern::Looping => "looping",
        Pattern::ClusteredHot => "clustered hot",
        Pattern::Random => "random",
    }
}

#[derive(Clone, Debug, Default)]
struct Location {
    requests: u64,
    reads: u64,
    by_pattern: [u64; 4],
    /// Sums over requests of the predicted run in pages and of the period.
    run_pages: u64,
    period: u64,
    stacks: BTreeMap<u32, u64>,
}

/// Gathers the requests of a trace with hints, one by one. Memory: by locations, and a fixed number of dots.
#[derive(Clone, Debug)]
pub struct PatternCounts {
    locations: BTreeMap<u32, Location>,
    requests: u64,
    /// Every such request is drawn: time in ns, address in bytes, pattern.
    every: u64,
    dots: Vec<(u64, u64, Pattern)>,
}

impl Default for PatternCounts {
    fn default() -> Self {
        Self { locations: BTreeMap::new(), requests: 0, every: 1, dots: Vec::new() }
    }
}

/// A program location of a trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LocatedRequests {
    /// The program-counter indicator; 0 = unknown.
    pub pc: u32,
    /// The pattern of most of its requests.
    pub pattern: &'static str,
    /// Its requests.
    pub requests: u64,
    /// Their share of all, in percent.
    pub share_percent: f64,
    /// Reads among them, in percent.
    pub read_percent: f64,
    /// Its requests by pattern.
    pub by_pattern: BTreeMap<&'static str, u64>,
    /// Mean of the predicted runs, in pages.
    pub mean_run_pages: f64,
    /// Mean of the periods, in requests of the host.
    pub mean_period: f64,
    /// Its call stacks.
    pub stacks: u64,
    /// The frames of the most frequent one, the innermost first: module and offset.
    pub frames: Vec<String>,
}

/// The program locations of a trace, the one with the most requests first.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PatternReport {
    /// Requests of the trace, flushes and trims included.
    pub requests: u64,
    /// Requests by pattern, those of unknown locations left out.
    pub by_pattern: BTreeMap<&'static str, u64>,
    /// Its program locations.
    pub locations: Vec<LocatedRequests>,
}

/// `cscope+0x906b`.
fn shown(frame: StackFrame, recording: &Recording) -> String {
    let path = recording.module(frame.0).map_or("?", |module| &module.path);
    format!("{}+{:#x}", path.rsplit('/').next().unwrap_or(path), frame.1)
}

impl PatternCounts {
    /// Adds a request.
    pub fn add(&mut self, record: &TraceRecord) {
        let hint = record.hint;
        let location = self.locations.entry(hint.pc).or_default();
        location.requests += 1;
        location.reads += u64::from(record.op == HostOp::Read);
        location.by_pattern[ALL.iter().position(|pattern| *pattern == hint.pattern).unwrap_or(3)] += 1;
        location.run_pages += u64::from(hint.run_pages);
        location.period += u64::from(hint.period);
        *location.stacks.entry(record.origin.stack).or_default() += 1;
        if self.requests.is_multiple_of(self.every) && record.length > 0 && hint.pc != 0 {
            self.dots.push((record.at.0, record.offset, hint.pattern));
            if self.dots.len() == DRAWN {
                // Every other one stays, and from now on twice as many are passed over.
                let mut keep = false;
                self.dots.retain(|_| {
                    keep = !keep;
                    keep
                });
                self.every *= 2;
            }
        }
        self.requests += 1;
    }

    /// What was gathered; `recording` has the frames.
    pub fn report(&self, recording: &Recording) -> PatternReport {
        let named =
            |by_pattern: &[u64; 4]| ALL.map(word).into_iter().zip(*by_pattern).filter(|(_, n)| *n > 0).collect();
        let mut locations: Vec<LocatedRequests> = Vec::new();
        let mut all = [0; 4];
        for (pc, location) in &self.locations {
            let requests = location.requests as f64;
            let most = (0..4).rev().max_by_key(|at| location.by_pattern[*at]).unwrap_or(3);
            let stack = location.stacks.iter().max_by_key(|(_, n)| **n).and_then(|(id, _)| recording.stack(*id));
            if *pc != 0 {
                all.iter_mut().zip(location.by_pattern).for_each(|(sum, n)| *sum += n);
            }
            locations.push(LocatedRequests {
                pc: *pc,
                pattern: if *pc == 0 { "unknown" } else { word(ALL[most]) },
                requests: location.requests,
                share_percent: 100.0 * requests / self.requests as f64,
                read_percent: 100.0 * location.reads as f64 / requests,
                by_pattern: named(&location.by_pattern),
                mean_run_pages: location.run_pages as f64 / requests,
                mean_period: location.period as f64 / requests,
                stacks: location.stacks.keys().filter(|id| **id != 0).count() as u64,
                frames: stack.unwrap_or_default().iter().map(|frame| shown(*frame, recording)).collect(),
            });
        }
        locations.sort_by_key(|location| (std::cmp::Reverse(location.requests), location.pc));
        PatternReport { requests: self.requests, by_pattern: named(&all), locations }
    }

    /// Address over time, coloured by pattern.
    pub fn figure(&self, name: &str) -> Figure {
        let range = |value: fn(&(u64, u64, Pattern)) -> u64| {
            let values = || self.dots.iter().map(value);
            let (low, high) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
            [low as f64, high.max(low + 1) as f64]
        };
        let begin = self.dots.iter().map(|dot| dot.0).min().unwrap_or(0);
        let [_, end] = range(|dot| dot.0);
        let x = Axis::linear("time", AxisUnit::Time, [0.0, (end - begin as f64).max(1.0)]);
        let mut panel = Panel::new("Requests by time and address", x);
        panel = panel.y(Axis::linear("address", AxisUnit::Bytes, range(|dot| dot.1)).broken());
        for pattern in ALL {
            let dots = self.dots.iter().filter(|dot| dot.2 == pattern);
            let mut points: Vec<[f64; 2]> = dots.map(|dot| [(dot.0 - begin) as f64, dot.1 as f64]).collect();
            points.sort_by(|a, b| a[0].total_cmp(&b[0]));
            panel = panel.layer(Layer::points(word(pattern), points));
        }
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let drawn = if self.every == 1 { "all drawn".to_owned() } else { format!("one of {} drawn", self.every) };
        let subtitle =
            format!("{} requests, {drawn}; colours by pattern of the program location", count(self.requests));
        Figure::new(&format!("Patterns of {name}"), &subtitle).row(vec![panel])
    }
}

impl PatternReport {
    /// Every number of the locations.
    pub fn table(&self) -> Table {
        let columns = vec![
            Column::plain("pc", Unit::Text),
            Column::plain("pattern", Unit::Text),
            Column::plain("requests", Unit::Count),
            Column::plain("share_percent", Unit::Ratio),
            Column::plain("read_percent", Unit::Ratio),
            Column::plain("mean_run_pages", Unit::Count),
            Column::plain("mean_period", Unit::Count),
            Column::plain("stacks", Unit::Count),
            Column::plain("frames", Unit::Text),
        ];
        let row = |row: &LocatedRequests| -> Vec<Cell> {
            vec![
                Cell::Text(format!("{:08x}", row.pc)),
                row.pattern.into(),
                row.requests.into(),
                row.share_percent.into(),
                row.read_percent.into(),
                row.mean_run_pages.into(),
                row.mean_period.into(),
                row.stacks.into(),
                Cell::Text(row.frames.join(" ")),
            ]
        };
        Table { columns, rows: self.locations.iter().map(row).collect() }
    }
}
