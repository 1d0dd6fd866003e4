//! What a device does in its steady state, over mixes, depths and spare space, beside what its dies and channels could do: a
//! table, and a picture for light and for dark pages.
//!
//! ```sh
//! cargo run --release -p nandlab-lab --example surface -- surface.svg
//! cargo run --release -p nandlab-lab --example surface -- whole.svg device.timing.model=parallel ftl.gc_slice=whole
//! cargo run --release -p nandlab-lab --example surface -- surface.svg table=printed.csv beside=mqsim.csv
//! ```
//!
//! The bound of a run is the least of three rates: all dies busy with the flash operations that it took, all channels busy with
//! their transfers, and what the depth allows. For the last, reads go to random dies and wait there for reads, and writes to dies
//! where nobody waits: the product form of a closed network with a station for each die and a delay for writes, by mean value
//! analysis (M. Reiser and S. Lavenberg, "Mean-Value Analysis of Closed Multichain Queuing Networks", JACM 1980); of reads alone
//! `n / (m + n - 1)` of `m` dies at a depth of `n`. Response times are of a second run, open, at half of the rate of the first.
//! `table` draws what an earlier run printed, `beside` the rates of another simulator (`scripts/mqsim.py CHECKOUT --surface`) as
//! shares of the same bounds.

#![allow(clippy::print_stdout, reason = "the table is what it is for")]

use std::path::Path;
use std::process::ExitCode;

use nandlab::flash::Clock;
use nandlab::ledger::Op;
use nandlab::report::Report;
use nandlab_lab::{Device, Error, Run, Watch, Workload};
use nandlab_plot::{Axis, AxisUnit, Figure, Layer, Panel};

const READS: [u32; 6] = [0, 30, 50, 70, 90, 100];
const DEPTHS: [u32; 6] = [1, 4, 16, 32, 64, 256];
const SPARE: [f64; 3] = [0.07, 0.125, 0.28];
const REQUESTS: u64 = 100_000;
const HEAD: &str =
    "spare,reads_percent,depth,requests_per_second,bound,share_of_bound,waf,half_load_read_p999_ns,per_lone_read";

/// The device of a run that names none, without a buffer and with fewer and smaller blocks, so that it is steady soon.
fn device(spare: f64, more: &[String]) -> Device {
    let spare = format!("device.over_provisioning={{spare_over_physical={spare}}}");
    let fixed = [
        "device.geometry.blocks_per_plane=128",
        "device.geometry.pages_per_block=64",
        "precondition={steady=2}",
        "buffer.name=none",
        "replay.mode=fast",
        &spare,
    ];
    let set = fixed.into_iter().map(str::to_owned).chain(more.iter().cloned()).collect();
    Device { set, ..Device::default() }
}

fn run(device: Device, reads: u32, arrival: &str) -> Result<Report, Error> {
    let (_, config) = device.configure()?;
    let span = u64::from(config.logical_pages()) * u64::from(config.device.geometry.page_bytes);
    let writes = f64::from(100 - reads) / 100.0;
    let trace = format!("make:uniform:span={span}B:writes={writes}:arrival={arrival}");
    let workload = Workload { limit: Some(REQUESTS), ..Workload::of(trace) };
    Run { device, workload }.report(&Watch::default())
}

/// Requests a second that the device could serve with the operations that it took for them.
fn bound(report: &Report, reads: u32, depth: u32) -> f64 {
    let device = &report.config.device;
    let (timing, geometry) = (&device.timing, &device.geometry);
    let times = timing.times();
    let alone = Clock::new(timing.model, times, geometry.channels, geometry.dies());
    let requests = REQUESTS as f64;
    let dies = f64::from(geometry.dies()) * requests / (report.elapsed.flash_service_ns as f64 / 1e9);
    let flash = &report.flash;
    let bus = |count: u64, transfers: u64| {
        (count as f64 * timing.command.as_secs()) + transfers as f64 * timing.page_transfer.as_secs()
    };
    let moved = flash.reads.total + flash.programs.total;
    let channels = f64::from(geometry.channels) * requests / bus(moved + flash.erases.total, moved);
    let share = f64::from(reads) / 100.0;
    let read = share * alone.service(Op::Read).as_secs();
    let write = (1.0 - share) * alone.service(Op::Program).as_secs();
    dies.min(channels).min(of_depth(read, write, geometry.dies(), depth))
}

/// Requests a second of so many hosts, each of which spends `read` s at dies at random and `write` s where it waits for nobody.
fn of_depth(read: f64, write: f64, dies: u32, depth: u32) -> f64 {
    let (mut rate, mut queue) = (0.0, 0.0);
    for hosts in 1..=depth {
        let response = read * (1.0 + queue);
        rate = f64::from(hosts) / (write + response);
        queue = rate * response / f64::from(dies);
    }
    rate
}

/// What was found at one point.
struct Point {
    rate: f64,
    bound: f64,
    /// 99.9 % of the reads at half of that rate, in lone reads.
    tail: f64,
}

fn point(spare: f64, reads: u32, depth: u32, more: &[String]) -> Result<Point, Error> {
    let with_depth = [more, &[format!("replay.queue_depth={depth}")]].concat();
    let report = run(device(spare, &with_depth), reads, "closed")?;
    let rate = report.throughput.requests_per_second.unwrap_or(0.0);
    let bound = bound(&report, reads, depth);
    let gap = (2e9 / rate) as u64;
    let open = [more, &["replay.mode=open".into(), "replay.queue_depth=65536".into()]].concat();
    let half = run(device(spare, &open), reads, &format!("exponential@{gap}ns"))?;
    let timing = &report.config.device.timing;
    let lone = (timing.command + timing.page_read + timing.page_transfer).0 as f64;
    // Without reads there is none.
    let tail = half.response.reads.p999_ns.unwrap_or(0) as f64;
    let waf = report.write_amplification.host.unwrap_or(0.0);
    let (share, per_lone) = (rate / bound, tail / lone);
    println!("{spare},{reads},{depth},{rate:.0},{bound:.0},{share:.3},{waf:.3},{tail:.0},{per_lone:.1}");
    Ok(Point { rate, bound, tail: per_lone })
}

/// A table of comma-separated numbers below a line of names; the first three are spare space, share of reads and depth.
struct Table {
    file: String,
    rows: Vec<Vec<f64>>,
}

impl Table {
    fn read(file: &str) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        let row = |(number, line): (usize, &str)| {
            // What a simulator does not tell is empty.
            let field = |field: &str| if field.is_empty() { Some(f64::NAN) } else { field.parse().ok() };
            let fields: Option<Vec<f64>> = line.split(',').map(field).collect();
            let problem = || format!("{file}: line {}: four or more numbers are wanted in `{line}`", number + 1);
            fields.filter(|fields| fields.len() > 3).ok_or_else(problem)
        };
        let rows = text.lines().enumerate().skip(1).map(row).collect::<Result<_, _>>()?;
        Ok(Self { file: file.to_owned(), rows })
    }

    fn row(&self, spare: f64, reads: u32, depth: u32) -> Option<&[f64]> {
        let wanted = [spare, f64::from(reads), f64::from(depth)];
        self.rows.iter().find(|row| row[..3] == wanted).map(Vec::as_slice)
    }

    /// What was printed of a point.
    fn point(&self, spare: f64, reads: u32, depth: u32) -> Result<Point, String> {
        match self.row(spare, reads, depth) {
            Some([_, _, _, rate, bound, _, _, _, tail]) => Ok(Point { rate: *rate, bound: *bound, tail: *tail }),
            _ => Err(format!("{}: no row of nine numbers begins with {spare},{reads},{depth}", self.file)),
        }
    }
}

fn surface(point: impl Fn(f64, u32, u32) -> Result<Point, String>, beside: Option<&Table>) -> Result<Figure, String> {
    let (mut shares, mut tails) = (Vec::new(), Vec::new());
    for spare in SPARE {
        let depths = || Axis::log("queue depth", AxisUnit::Count, [1.0, 256.0]);
        let percent = Axis::linear("% of the bound", AxisUnit::Count, [0.0, 120.0]);
        let mut share_panel = Panel::new(&format!("{} % spare", (spare * 1000.0).round() / 10.0), depths()).y(percent);
        let lone_reads = Axis::linear("lone reads", AxisUnit::Count, [0.0, 20.0]);
        let mut tail_panel = Panel::new("reads, 99.9 %, at half load", depths()).y(lone_reads);
        let mut others = Vec::new();
        for reads in READS {
            let (mut share_line, mut tail_line) = (Vec::new(), Vec::new());
            for depth in DEPTHS {
                let Point { rate, bound, tail } = point(spare, reads, depth)?;
                share_line.push([f64::from(depth), 100.0 * rate / bound]);
                if reads > 0 {
                    tail_line.push([f64::from(depth), tail.min(20.0)]);
                }
                let other = beside.and_then(|table| table.row(spare, reads, depth));
                others.extend(other.map(|row| [f64::from(depth), 100.0 * row[3] / bound]));
            }
            let name = format!("{reads} % reads");
            share_panel = share_panel.layer(Layer::line(&name, share_line).marked());
            tail_panel = tail_panel.layer(Layer::line(&name, tail_line).marked());
        }
        // Panels with the same names share a legend.
        if beside.is_some() {
            share_panel = share_panel.layer(Layer::points("beside", others).neutral());
            tail_panel = tail_panel.layer(Layer::points("beside", Vec::new()).neutral());
        }
        shares.push(share_panel);
        tails.push(tail_panel);
    }
    let title = "Steady state: share of the bound, and reads at half of that rate";
    let about = "uniform 4 KiB requests after two overwrites; lines by share of reads; see the text of the example";
    Ok(Figure::new(title, about).row(shares).row(tails))
}

fn draw(file: &str, words: &[String]) -> Result<(), String> {
    let named = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)).map(Table::read).transpose();
    let (table, beside) = (named("table=")?, named("beside=")?);
    let is_setting = |word: &&String| !["table=", "beside="].iter().any(|name| word.starts_with(name));
    let more: Vec<String> = words.iter().filter(is_setting).cloned().collect();
    let figure = match &table {
        Some(_) if !more.is_empty() => Err(format!("a printed table has its settings: leave out {}", more.join(" "))),
        Some(table) => surface(|spare, reads, depth| table.point(spare, reads, depth), beside.as_ref()),
        None => {
            println!("{HEAD}");
            let simulated = |spare, reads, depth| point(spare, reads, depth, &more).map_err(|error| error.to_string());
            surface(simulated, beside.as_ref())
        }
    }?;
    let scene = figure.scene();
    let dark = Path::new(file).with_extension("dark.svg");
    let write = |file: &Path, text| std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()));
    write(Path::new(file), scene.svg()).and_then(|()| write(&dark, scene.svg_dark()))
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next().filter(|file| !file.contains('=')) else {
        eprintln!("usage: surface PICTURE.svg [table=PRINTED.csv] [beside=RATES.csv] [KEY=VALUE]...");
        return ExitCode::from(2);
    };
    let words: Vec<String> = arguments.collect();
    match draw(&file, &words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}
