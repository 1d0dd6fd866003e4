//! What buffers do at every size.

use nandlab::buffer::Bypass;
use nandlab::config::{Builder, Config, PluginConfig};
use nandlab::ledger::ratio;
use nandlab::offline::{AccessCounts, Costs, History, LruCurve, ROUNDS, Segments, belady, lower_bound};
use nandlab::report::{Report, SCHEMA_VERSION, TraceSource};
use nandlab_plot::{Axis, AxisUnit, Figure, Layer, Panel};
use nandlab_trace::AddressPolicy;
use serde::Serialize;

use crate::alone::{self, Room, Sizes};
use crate::device::Device;
use crate::error::Error;
use crate::parallel;
use crate::run::simulate_row;
use crate::source::Source;
use crate::table::{Cell, Column, Good, Table, Unit};
use crate::watch::{Part, Watch};
use crate::workload::Workload;

/// The name of what no buffer can do better.
pub const BOUND: &str = "(bound)";

/// Curves that are asked for.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The device; its buffer, its FTL and its DRAM are replaced.
    pub device: Device,
    /// What is replayed.
    pub workload: Workload,
    /// Data buffers.
    pub buffers: Vec<PluginConfig>,
    /// The FTL below; without it buffers are simulated alone, whose pages are whole, and no address is beyond a device.
    pub ftl: Option<PluginConfig>,
    /// Sizes of the DRAM.
    pub ram: Sizes,
    /// Sizes of each range, evenly spaced by factor (2 to 1000).
    pub points: u64,
    /// Add what no buffer can do better.
    pub bound: bool,
    /// Simulations at a time, which changes no result; `None`: one for each processor.
    pub threads: Option<usize>,
}

/// A buffer at one size.
#[derive(Debug, Serialize)]
pub struct CurveRow {
    /// Buffer in short form.
    pub buffer: String,
    /// DRAM, bytes.
    pub ram_bytes: u64,
    /// Pages of that.
    pub frames: u32,
    /// What it did; nothing if it failed.
    #[serde(flatten)]
    pub counts: Option<AccessCounts>,
    /// Report of the whole device, if there is an FTL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What no buffer of one size can do better. No buffer can reach all of it at once.
#[derive(Debug, Serialize)]
pub struct Least {
    /// DRAM, bytes.
    pub ram_bytes: u64,
    /// Pages of that.
    pub frames: u32,
    /// Most hits (Belady's MIN) / page accesses.
    pub page_hit_ratio: f64,
    /// Fewest pages read from flash.
    pub pages_in: u64,
    /// Fewest pages written to flash.
    pub pages_out: u64,
}

/// The result.
#[derive(Debug, Serialize)]
pub struct Curves {
    schema: u32,
    nandlab: &'static str,
    /// What was replayed.
    pub trace: TraceSource,
    /// The FTL below, if there is one.
    pub ftl: Option<String>,
    /// It was stopped, and rows are missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Buffer by buffer, each from its smallest size to its largest.
    pub rows: Vec<CurveRow>,
    /// What no buffer can do better, from the smallest size to the largest, if that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Least>,
}

/// A point to compute.
#[derive(Clone, Copy)]
enum Task<'a> {
    Buffer(&'a PluginConfig, u32),
    Bound(u32),
}

/// A point that is computed.
#[derive(Debug)]
pub enum Point {
    /// Of a buffer.
    Row(Box<CurveRow>),
    /// Of the bound.
    Bound(Least),
}

/// Curves whose device and workload are known to be usable.
pub struct Drawing<'a> {
    asked: &'a Curve,
    watch: &'a Watch<'a>,
    workload: Workload,
    builder: Builder,
    device: Device,
    page_bytes: u32,
    room: Room,
    sizes: Vec<u32>,
    address: AddressPolicy,
    has_hints: bool,
    /// What is replayed.
    pub trace: TraceSource,
    /// LRU without a device: all sizes in one pass.
    lru: Option<LruCurve>,
    /// With the bound: the accesses, and what pages cost if only those read count, or only those written.
    future: Option<(History, [Segments; 2])>,
}

impl Curve {
    /// Reads the workload for the first time.
    ///
    /// # Errors
    /// The device cannot be built, a size is impossible, or the workload cannot be read to its end.
    pub fn begin<'a>(&'a self, watch: &'a Watch<'a>) -> Result<Drawing<'a>, Error> {
        if self.ftl.is_none() {
            alone::check(&self.device.set)?;
        }
        let builder = self.device.base()?;
        let none = PluginConfig::named("none");
        let (_, plain) = self.configure(&self.device, &builder, &none, None)?;
        let workload = if self.ftl.is_some() { self.workload.clone() } else { alone::kept(&self.workload) };
        let device = self.device.fitted(&workload, &plain, watch)?;
        let (_, plain) = self.configure(&device, &builder, &none, None)?;
        let open = || Source::open(&workload, &plain, watch);
        let mut source = open()?;
        let room = if self.ftl.is_some() { Room::of_device(&plain) } else { Room::new(open()?, &plain)? };
        let page_bytes = plain.device.geometry.page_bytes;
        let sizes = self.ram.frames(page_bytes, self.points)?;
        let (history, has_hints) = alone::history(&mut source, &room.give(plain.clone()), true)?;
        // One pass knows nothing of what bypasses the buffer.
        let is_lru = self.ftl.is_none() && plain.ram.bypass == Bypass::None && self.buffers.iter().any(is_plain_lru);
        let lru = is_lru.then(|| LruCurve::new(&history));
        let only = |read, write| Segments::new(&history, Costs { read, write });
        let segments = self.bound.then(|| [only(1, 0), only(0, 1)]);
        let future = segments.map(|segments| (history, segments));
        let (trace, address) = (source.describe(), source.address());
        Ok(Drawing {
            asked: self,
            watch,
            workload,
            builder,
            device,
            page_bytes,
            room,
            sizes,
            address,
            has_hints,
            trace,
            lru,
            future,
        })
    }

    /// The configuration of a buffer with that many bytes of DRAM, or with what the device has.
    fn configure(
        &self,
        device: &Device,
        builder: &Builder,
        buffer: &PluginConfig,
        dram_bytes: Option<u64>,
    ) -> Result<(Builder, Config), Error> {
        let mut settings = device.set.clone();
        settings.extend(dram_bytes.map(|bytes| format!("ram.dram={bytes}")));
        let page = PluginConfig::named("page");
        Ok(device.with(builder.clone(), Some(buffer), Some(self.ftl.as_ref().unwrap_or(&page)), &settings)?)
    }
}

fn is_plain_lru(buffer: &PluginConfig) -> bool {
    buffer.name == "lru" && buffer.params.is_empty()
}

impl Drawing<'_> {
    /// Points that there will be.
    pub fn points(&self) -> usize {
        self.sizes.len() * (self.asked.buffers.len() + usize::from(self.asked.bound))
    }

    /// The columns of the table.
    pub fn columns(&self) -> Vec<Column> {
        columns(self.asked.ftl.is_some())
    }

    /// Computes all points; `point` is given each in order, as soon as those before it are done. A buffer that cannot be
    /// built is a row that says so.
    ///
    /// # Errors
    /// The workload cannot be read to its end or does not fit, or `point` fails.
    pub fn run<E: From<Error>>(self, mut point: impl FnMut(&Point) -> Result<(), E>) -> Result<Curves, E> {
        let Curve { buffers, bound, threads, ftl, .. } = self.asked;
        let tasks =
            buffers.iter().flat_map(|buffer| self.sizes.iter().map(move |frames| Task::Buffer(buffer, *frames)));
        let bounds = self.sizes.iter().filter(|_| *bound).map(|frames| Task::Bound(*frames));
        let tasks: Vec<Task<'_>> = tasks.chain(bounds).collect();
        let work = self.watch.work(tasks.len());
        let (mut rows, mut bounds) = (Vec::new(), Vec::new());
        let complete = parallel::each(
            *threads,
            &self.watch.stop,
            &tasks,
            |task| self.point(*task, &work.part()),
            |done| {
                point(&done)?;
                match done {
                    Point::Row(row) => rows.push(*row),
                    Point::Bound(least) => bounds.push(least),
                }
                Ok::<_, E>(())
            },
        )?;
        let mut trace = self.trace;
        if ftl.is_none() {
            let (asked, builder) = (self.asked, &self.builder);
            let configs = buffers.iter().map(|buffer| Ok(asked.configure(&asked.device, builder, buffer, None)?.1));
            trace.warnings = alone::warn(self.address, self.has_hints, configs, self.watch);
        }
        let (schema, nandlab) = (SCHEMA_VERSION, env!("CARGO_PKG_VERSION"));
        let ftl = ftl.as_ref().map(PluginConfig::label);
        Ok(Curves { schema, nandlab, trace, ftl, interrupted: !complete, rows, bounds })
    }

    fn point(&self, task: Task<'_>, progress: &Part<'_>) -> Result<Point, Error> {
        match task {
            Task::Buffer(buffer, frames) => self.row(buffer, frames, progress).map(|row| Point::Row(Box::new(row))),
            Task::Bound(frames) => Ok(Point::Bound(self.least(frames))),
        }
    }

    fn bytes(&self, frames: u32) -> u64 {
        u64::from(frames) * u64::from(self.page_bytes)
    }

    fn row(&self, buffer: &PluginConfig, frames: u32, progress: &Part<'_>) -> Result<CurveRow, Error> {
        let ((counts, report), error) = match self.simulate(buffer, frames, progress) {
            Ok((counts, report)) => ((Some(counts), report), None),
            Err(Error::Config(error)) => ((None, None), Some(error.to_string())),
            Err(error) => return Err(error),
        };
        Ok(CurveRow { buffer: buffer.label(), ram_bytes: self.bytes(frames), frames, counts, report, error })
    }

    /// One run: the whole device if there is an FTL, else the buffer alone.
    fn simulate(
        &self,
        buffer: &PluginConfig,
        frames: u32,
        progress: &Part<'_>,
    ) -> Result<(AccessCounts, Option<Report>), Error> {
        if let Some(lru) = self.lru.as_ref().filter(|_| is_plain_lru(buffer)) {
            return Ok((lru.at(frames), None));
        }
        let (builder, config) = self.asked.configure(&self.device, &self.builder, buffer, Some(self.bytes(frames)))?;
        if self.asked.ftl.is_none() {
            let source = Source::open(&self.workload, &config, self.watch)?;
            return Ok((alone::counts(source, &self.room.give(config))?, None));
        }
        let report = simulate_row(&self.device, &builder, &config, &self.workload, progress)?;
        Ok((AccessCounts::of(&report.ledger, report.buffer.dirty_at_end), Some(report)))
    }

    /// What no buffer with that many frames can do better.
    fn least(&self, frames: u32) -> Least {
        let (history, [reads, writes]) = self.future.as_ref().expect("points of the bound come with their history");
        let bound = |segments| lower_bound(segments, frames, ROUNDS).cost;
        Least {
            ram_bytes: self.bytes(frames),
            frames,
            page_hit_ratio: belady(history, frames).hit_ratio(),
            pages_in: bound(reads),
            pages_out: bound(writes),
        }
    }
}

/// Where a value comes from.
#[derive(Clone, Copy)]
enum Value {
    /// What the buffer did.
    Counts(fn(&AccessCounts) -> f64),
    /// The report of the whole device.
    Report(fn(&Report) -> Option<f64>),
}

const fn of_buffer(name: &'static str, unit: Unit, good: Good, value: fn(&AccessCounts) -> f64) -> (Column, Value) {
    (Column::new(name, unit, good), Value::Counts(value))
}
const fn of_device(name: &'static str, unit: Unit, value: fn(&Report) -> Option<f64>) -> (Column, Value) {
    (Column::new(name, unit, Good::Low), Value::Report(value))
}

const METRICS: [(Column, Value); 9] = [
    of_buffer("page_hit_ratio", Unit::Ratio, Good::High, AccessCounts::hit_ratio),
    of_buffer("page_hit_ratio_read", Unit::Ratio, Good::High, |c| ratio(c.read_hits, c.reads)),
    of_buffer("page_hit_ratio_write", Unit::Ratio, Good::High, |c| ratio(c.write_hits, c.writes)),
    of_buffer("pages_in", Unit::Count, Good::Low, |c| c.pages_in as f64),
    of_buffer("pages_out", Unit::Count, Good::Low, |c| c.pages_out as f64),
    of_device("waf_host", Unit::Factor, |r| r.write_amplification.host),
    of_device("waf_buffer", Unit::Factor, |r| r.write_amplification.buffer),
    of_device("response_mean_ns", Unit::Time, |r| r.response.all.mean_ns),
    of_device("response_p99_ns", Unit::Time, |r| r.response.all.p99_ns.map(|ns| ns as f64)),
];

/// Columns of a whole device only if there is one.
fn columns(has_device: bool) -> Vec<Column> {
    let names = [("buffer", Unit::Text), ("ram_bytes", Unit::Bytes), ("frames", Unit::Count)];
    let plain = |(name, unit)| Column::plain(name, unit);
    let metrics = METRICS.iter().filter(|(_, value)| has_device || matches!(value, Value::Counts(_)));
    let metrics = metrics.map(|(column, _)| *column);
    names.into_iter().map(plain).chain(metrics).chain([plain(("error", Unit::Text))]).collect()
}

impl CurveRow {
    fn value(&self, name: &str) -> Option<f64> {
        match METRICS.iter().find(|(column, _)| column.name == name)?.1 {
            Value::Counts(value) => self.counts.as_ref().map(value),
            Value::Report(value) => self.report.as_ref().and_then(value),
        }
    }
    fn cells(&self, columns: &[Column]) -> Vec<Cell> {
        let cell = |column: &Column| match column.name {
            "buffer" => Cell::from(self.buffer.as_str()),
            "ram_bytes" => Cell::from(self.ram_bytes),
            "frames" => Cell::from(self.frames),
            "error" => Cell::from(self.error.as_deref()),
            name => Cell::from(self.value(name)),
        };
        columns.iter().map(cell).collect()
    }
}

impl Least {
    fn value(&self, name: &str) -> Option<f64> {
        match name {
            "page_hit_ratio" => Some(self.page_hit_ratio),
            "pages_in" => Some(self.pages_in as f64),
            "pages_out" => Some(self.pages_out as f64),
            _ => None,
        }
    }
    fn cells(&self, columns: &[Column]) -> Vec<Cell> {
        let cell = |column: &Column| match column.name {
            "buffer" => Cell::from(BOUND),
            "ram_bytes" => Cell::from(self.ram_bytes),
            "frames" => Cell::from(self.frames),
            name => Cell::from(self.value(name)),
        };
        columns.iter().map(cell).collect()
    }
}

impl Point {
    /// Its cells under [`Drawing::columns`].
    pub fn cells(&self, columns: &[Column]) -> Vec<Cell> {
        match self {
            Self::Row(row) => row.cells(columns),
            Self::Bound(least) => least.cells(columns),
        }
    }
}

impl Curves {
    /// The points as a table.
    pub fn table(&self) -> Table {
        let columns = columns(self.ftl.is_some());
        let rows = self.rows.iter().map(|row| row.cells(&columns));
        let bounds = self.bounds.iter().map(|least| least.cells(&columns));
        Table { rows: rows.chain(bounds).collect(), columns }
    }

    /// A panel for each of hits, pages written and, over an FTL, write amplification and response time. `title` is what
    /// stands above them.
    pub fn figure(&self, title: &str) -> Figure {
        let name = self.trace.name.rsplit(['/', '\\']).next().unwrap_or(&self.trace.name);
        let mut subtitle = title.replace(&self.trace.name, name);
        if !self.bounds.is_empty() {
            subtitle += "; dashed: no buffer with this DRAM does better";
        }
        let mut figure = Figure::new("Buffers by size", &subtitle);
        let panels = [
            ("Page hits", "page_hit_ratio", "page hits", AxisUnit::Percent, 100.0),
            ("Pages written to flash", "pages_out", "pages", AxisUnit::Count, 1.0),
            ("Write amplification", "waf_host", "programs / host page", AxisUnit::Count, 1.0),
            ("Response", "response_mean_ns", "mean response", AxisUnit::Time, 1.0),
        ];
        let columns = columns(self.ftl.is_some());
        for (title, name, label, unit, scale) in panels {
            if columns.iter().any(|column| column.name == name) {
                figure = figure.row(vec![self.panel(name, [title, label], unit, scale)]);
            }
        }
        figure
    }

    fn panel(&self, column: &str, [title, label]: [&str; 2], unit: AxisUnit, scale: f64) -> Panel {
        let points = |rows: &[CurveRow]| -> Vec<[f64; 2]> {
            rows.iter().filter_map(|row| Some([row.ram_bytes as f64, scale * row.value(column)?])).collect()
        };
        let curves: Vec<(&str, Vec<[f64; 2]>)> = self
            .rows
            .chunk_by(|a, b| a.buffer == b.buffer)
            .map(|rows| (rows[0].buffer.as_str(), points(rows)))
            .collect();
        let least = |least: &Least| Some([least.ram_bytes as f64, scale * least.value(column)?]);
        let is_bounded = ["page_hit_ratio", "pages_in", "pages_out"].contains(&column);
        let bound = is_bounded.then(|| self.bounds.iter().filter_map(least).collect::<Vec<_>>());
        let lines = || curves.iter().map(|(_, points)| points).chain(&bound);
        let sizes = || lines().flatten().map(|point| point[0]);
        let (low, high) = sizes().fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
        let values: Vec<Vec<f64>> = lines().map(|points| points.iter().map(|point| point[1]).collect()).collect();
        let x = Axis::log("DRAM of the buffer", AxisUnit::Bytes, if low > high { [1.0, 2.0] } else { [low, high] });
        let mut panel = Panel::new(title, x).y(Axis::fit(label, unit, &values));
        for (name, points) in curves {
            panel = panel.layer(Layer::line(name, points).marked());
        }
        if let Some(points) = bound {
            panel = panel.layer(Layer::line(BOUND, points).dashed().neutral());
        }
        if low > high { panel.note("no buffer could be simulated") } else { panel }
    }
}
