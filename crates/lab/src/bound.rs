//! What a buffer could reach at best on a workload, and how far from it policies are.

use nandlab::config::{Builder, Config, PluginConfig};
use nandlab::offline::{AccessCounts, Costs, History, ROUNDS, Segments, belady, lower_bound, schedule};
use nandlab::report::{SCHEMA_VERSION, TraceSource};
use nandlab::types::Bytes;
use nandlab_trace::AddressPolicy;
use serde::Serialize;

use crate::alone::{self, Room, Sizes};
use crate::device::Device;
use crate::error::Error;
use crate::parallel;
use crate::source::Source;
use crate::table::{Cell, Column, Good, Table, Unit};
use crate::watch::Watch;
use crate::workload::Workload;

/// Sizes of a range when it is not said how many.
const POINTS: u64 = 16;

/// Bounds that are asked for.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The device, whose page size matters; no address is beyond it.
    pub device: Device,
    /// What is replayed.
    pub workload: Workload,
    /// Data buffers to set against the bound.
    pub buffers: Vec<PluginConfig>,
    /// Sizes of the buffer; `None`: the DRAM of the device.
    pub ram: Option<Sizes>,
    /// What pages cost.
    pub costs: Costs,
    /// Pieces of work at a time, which changes no result; `None`: one for each processor.
    pub threads: Option<usize>,
}

/// Counts and their cost.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Priced {
    /// What was done.
    #[serde(flatten)]
    pub counts: AccessCounts,
    /// What that costs.
    pub cost: u64,
    /// Cost / bound - 1; nothing if nothing need cost anything.
    pub above_bound: Option<f64>,
}

impl Priced {
    fn new(counts: AccessCounts, costs: Costs, bound: u64) -> Self {
        let cost = counts.cost(costs);
        Self { counts, cost, above_bound: above(cost, bound) }
    }
}

/// `cost / bound - 1`; nothing if the bound is 0.
pub(crate) fn above(cost: u64, bound: u64) -> Option<f64> {
    (bound > 0).then(|| cost as f64 / bound as f64 - 1.0)
}

/// An online policy.
#[derive(Debug, Serialize)]
pub struct Policy {
    /// Its buffer in short form.
    pub buffer: String,
    /// What it did; nothing if it failed.
    #[serde(flatten)]
    pub priced: Option<Priced>,
    /// Why it failed: it cannot be built with this size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// One size.
#[derive(Debug, Serialize)]
pub struct BoundRow {
    /// DRAM, bytes.
    pub ram_bytes: u64,
    /// Pages of that.
    pub frames: u32,
    /// No buffer of this size costs less.
    pub bound: u64,
    /// Belady's MIN: the most hits, at whatever cost.
    pub min: Priced,
    /// Decisions that are possible with knowledge of the future.
    pub schedule: Priced,
    /// What policies do.
    pub policies: Vec<Policy>,
}

/// The result.
#[derive(Debug, Serialize)]
pub struct Bounds {
    schema: u32,
    nandlab: &'static str,
    /// What was replayed.
    pub trace: TraceSource,
    /// What pages cost.
    pub costs: Costs,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Page accesses that read.
    pub page_reads: u64,
    /// Page accesses that write.
    pub page_writes: u64,
    /// Different pages.
    pub pages: u64,
    /// It was stopped, and rows are missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// From the smallest size to the largest.
    pub rows: Vec<BoundRow>,
}

/// What is computed for a size: with knowledge of the future, or by a policy.
enum Piece {
    Offline(u64, AccessCounts, AccessCounts),
    Policy(Result<AccessCounts, String>),
}

/// Bounds whose device and workload are known to be usable.
pub struct Bounding<'a> {
    asked: &'a Bound,
    watch: &'a Watch<'a>,
    workload: Workload,
    builder: Builder,
    room: Room,
    address: AddressPolicy,
    has_hints: bool,
    history: History,
    frames: Vec<u32>,
    /// The result without rows.
    pub empty: Bounds,
}

impl Bound {
    /// Reads the workload for the first time.
    ///
    /// # Errors
    /// The device cannot be built, a size is impossible, or the workload cannot be read to its end.
    pub fn begin<'a>(&'a self, watch: &'a Watch<'a>) -> Result<Bounding<'a>, Error> {
        let asks_for_nvram = |setting: &String| {
            setting.strip_prefix("ram.nvram=").is_some_and(|size| !["0", "0B"].contains(&size.trim()))
        };
        if self.device.set.iter().any(asks_for_nvram) {
            let problem = "ram.nvram: a bound is that of a buffer of DRAM";
            return Err(Error::input(
                problem,
                "nandlab compare --bound has buffers with NVRAM and the bounds of their sizes",
            ));
        }
        alone::check(&self.device.set)?;
        let builder = self.device.base()?;
        let plain = self.configure(&builder, &PluginConfig::named("none"), &self.device.set)?;
        let page_bytes = plain.device.geometry.page_bytes;
        let frames = match &self.ram {
            Some(sizes) => sizes.frames(page_bytes, POINTS)?,
            None => vec![plain.frames().dram],
        };
        // What no size makes possible is known before the first row.
        let largest = frames.iter().max().expect("there is a size");
        for buffer in &self.buffers {
            let built = self.configure(&builder, buffer, &self.sized(u64::from(*largest) * u64::from(page_bytes)));
            built.map_err(|error| Error::input(format!("{}: {error}", buffer.label()), ""))?;
        }
        let workload = alone::kept(&self.workload);
        let open = || Source::open(&workload, &plain, watch);
        let mut source = open()?;
        let room = Room::new(open()?, &plain)?;
        let (history, has_hints) = alone::history(&mut source, &room.give(plain.clone()), true)?;
        let address = source.address();
        let empty = Bounds {
            schema: SCHEMA_VERSION,
            nandlab: env!("CARGO_PKG_VERSION"),
            trace: source.describe(),
            costs: self.costs,
            page_bytes,
            page_reads: history.reads(),
            page_writes: history.writes(),
            pages: history.pages() as u64,
            interrupted: false,
            rows: Vec::new(),
        };
        Ok(Bounding { asked: self, watch, workload, builder, room, address, has_hints, history, frames, empty })
    }

    /// The settings of the device with that many bytes of DRAM.
    fn sized(&self, dram_bytes: u64) -> Vec<String> {
        [&self.device.set[..], &[format!("ram.dram={dram_bytes}"), "ram.nvram=0".to_owned()]].concat()
    }

    fn configure(&self, builder: &Builder, buffer: &PluginConfig, settings: &[String]) -> Result<Config, Error> {
        let page = PluginConfig::named("page");
        Ok(self.device.with(builder.clone(), Some(buffer), Some(&page), settings)?.1)
    }
}

impl Bounding<'_> {
    /// Sizes that there will be.
    pub fn sizes(&self) -> usize {
        self.frames.len()
    }

    /// Computes all sizes; `row` is given each in order, as soon as those before it are done. A buffer that cannot be built
    /// with a size says so there.
    ///
    /// # Errors
    /// The workload cannot be read to its end, or `row` fails.
    pub fn run<E: From<Error>>(self, mut row: impl FnMut(&BoundRow) -> Result<(), E>) -> Result<Bounds, E> {
        let Bound { buffers, costs, threads, device, .. } = self.asked;
        let page_bytes = self.empty.page_bytes;
        // The pieces of a size lie together: first what is known offline, then a policy each.
        let policies = || std::iter::once(None).chain(buffers.iter().map(Some));
        let pieces: Vec<_> =
            self.frames.iter().flat_map(|frames| policies().map(move |policy| (*frames, policy))).collect();
        let segments = Segments::new(&self.history, *costs);
        let work = self.watch.work(pieces.len());
        let (mut known, mut rows) = (Vec::new(), Vec::new());
        let complete = parallel::each(
            *threads,
            &self.watch.stop,
            &pieces,
            |(frames, policy)| {
                let _part = work.part();
                match policy {
                    None => Ok((*frames, offline(&self.history, &segments, *frames))),
                    Some(buffer) => Ok((*frames, Piece::Policy(self.policy(buffer, *frames)?))),
                }
            },
            |(frames, piece)| {
                // After an interruption pieces may be missing: then the size is.
                if matches!(piece, Piece::Offline(..)) {
                    known.clear();
                }
                known.push((frames, piece));
                if let Some(done) = joined(&known, buffers, *costs, page_bytes) {
                    row(&done)?;
                    rows.push(done);
                }
                Ok::<_, E>(())
            },
        )?;
        let configs = buffers.iter().map(|buffer| self.asked.configure(&self.builder, buffer, &device.set));
        let warnings = alone::warn(self.address, self.has_hints, configs, self.watch);
        let trace = TraceSource { warnings, ..self.empty.trace };
        Ok(Bounds { trace, interrupted: !complete, rows, ..self.empty })
    }

    /// What a buffer does; an error in words if it cannot be built.
    fn policy(&self, buffer: &PluginConfig, frames: u32) -> Result<Result<AccessCounts, String>, Error> {
        let settings = self.asked.sized(u64::from(frames) * u64::from(self.empty.page_bytes));
        let simulate =
            |config: Config| alone::counts(Source::open(&self.workload, &config, self.watch)?, &self.room.give(config));
        match self.asked.configure(&self.builder, buffer, &settings).and_then(simulate) {
            Err(Error::Config(error)) => Ok(Err(error.to_string())),
            done => done.map(Ok),
        }
    }
}

/// The row of a size, if all of its pieces are there.
fn joined(known: &[(u32, Piece)], buffers: &[PluginConfig], costs: Costs, page_bytes: u32) -> Option<BoundRow> {
    let [(frames, Piece::Offline(bound, min, schedule)), online @ ..] = known else { return None };
    if online.len() < buffers.len() || online.iter().any(|(other, _)| other != frames) {
        return None;
    }
    let priced = |counts: AccessCounts| Priced::new(counts, costs, *bound);
    let policy = |(buffer, (_, piece)): (&PluginConfig, &(u32, Piece))| match piece {
        Piece::Policy(done) => {
            let priced = done.as_ref().ok().map(|counts| priced(*counts));
            Some(Policy { buffer: buffer.label(), priced, error: done.as_ref().err().cloned() })
        }
        Piece::Offline(..) => None,
    };
    Some(BoundRow {
        ram_bytes: u64::from(*frames) * u64::from(page_bytes),
        frames: *frames,
        bound: *bound,
        min: priced(*min),
        schedule: priced(*schedule),
        policies: buffers.iter().zip(online).map(policy).collect::<Option<Vec<_>>>()?,
    })
}

/// The bound, MIN and the schedule.
fn offline(history: &History, segments: &Segments, frames: u32) -> Piece {
    let bound = lower_bound(segments, frames, ROUNDS);
    Piece::Offline(bound.cost, belady(history, frames), schedule(history, segments, &bound, frames))
}

/// The columns of the table.
const COLUMNS: [Column; 11] = [
    Column::plain("ram_bytes", Unit::Bytes),
    Column::plain("frames", Unit::Count),
    Column::plain("bound", Unit::Count),
    Column::plain("buffer", Unit::Text),
    Column::new("read_hits", Unit::Count, Good::High),
    Column::new("write_hits", Unit::Count, Good::High),
    Column::new("pages_in", Unit::Count, Good::Low),
    Column::new("pages_out", Unit::Count, Good::Low),
    Column::new("cost", Unit::Count, Good::Low),
    Column::new("above_bound", Unit::Ratio, Good::Low),
    Column::plain("error", Unit::Text),
];

impl BoundRow {
    /// Its cells under [`Bounds::columns`]: a line each for MIN, the schedule and the policies.
    pub fn cells(&self) -> Vec<Vec<Cell>> {
        let offline = [("min", Some(&self.min), None), ("schedule", Some(&self.schedule), None)];
        let policies = self.policies.iter();
        let online = policies.map(|policy| (policy.buffer.as_str(), policy.priced.as_ref(), policy.error.as_deref()));
        let line = |(name, priced, error): (&str, Option<&Priced>, Option<&str>)| {
            let numbers = priced.map(|Priced { counts, cost, .. }| {
                let AccessCounts { read_hits, write_hits, pages_in, pages_out, .. } = *counts;
                [read_hits, write_hits, pages_in, pages_out, *cost]
            });
            let numbers = (0..5).map(|number| Cell::from(numbers.map(|numbers| numbers[number])));
            let above = priced.and_then(|priced| priced.above_bound);
            let size = [self.ram_bytes.into(), self.frames.into(), self.bound.into(), name.into()];
            size.into_iter().chain(numbers).chain([above.into(), error.into()]).collect()
        };
        offline.into_iter().chain(online).map(line).collect()
    }
}

impl Bounds {
    /// The columns of the table.
    pub fn columns() -> Vec<Column> {
        COLUMNS.to_vec()
    }
    /// Policies that failed: size, buffer, and why.
    pub fn failed(&self) -> impl Iterator<Item = (Bytes, &str, &str)> {
        let policies =
            self.rows.iter().flat_map(|row| row.policies.iter().map(|policy| (Bytes(row.ram_bytes), policy)));
        policies.filter_map(|(size, policy)| Some((size, policy.buffer.as_str(), policy.error.as_deref()?)))
    }
    /// The rows as a table: for each size a line for MIN, the schedule and each policy.
    pub fn table(&self) -> Table {
        Table { columns: Self::columns(), rows: self.rows.iter().flat_map(BoundRow::cells).collect() }
    }
}
