//! What a device does in its steady state, over mixes, depths and spare space, beside what its dies and channels could do: a
//! table, and a picture.
//!
//! ```sh
//! cargo run --release -p nandlab-lab --example surface -- surface.svg
//! cargo run --release -p nandlab-lab --example surface -- today.svg device.timing.model=parallel ftl.gc_slice=whole
//! ```
//!
//! The bound of a run is the least of three rates: all dies busy with the flash operations that it took, all channels busy with
//! their transfers, and `depth` requests that never wait. Reads go to random dies, so that at a depth of `n` only a part of `m`
//! dies has one: the product form of a closed network, `n / (m + n - 1)` of the dies, is printed next to the depth; where every
//! request is a read the bound is that part of it. Response times are of a second run, open, at half of the rate of the first.

#![allow(clippy::print_stdout, reason = "the table is what it is for")]

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

/// The device: that on which simulators are compared, with fewer pages a block so that it is steady soon, and a controller with
/// a scheduler.
fn device(spare: f64, more: &[String]) -> Device {
    let mut set: Vec<String> = [
        "device.geometry.pages_per_block=64",
        "device.timing.model=scheduled",
        "device.timing.command=300ns",
        "ftl.placement=least_busy",
        "ftl.gc_slice=paced",
        "precondition={steady=2}",
        "replay.mode=fast",
    ]
    .map(str::to_owned)
    .into();
    if !more.iter().any(|setting| setting.starts_with("device.timing.model")) {
        let scheduler = "{policy=\"read_first\", suspend=\"erase_and_program\", suspend_time=\"20us\"}";
        set.push(format!("device.scheduler={scheduler}"));
    }
    set.push(format!("device.over_provisioning={{spare_over_physical={spare}}}"));
    set.extend(more.iter().cloned());
    Device { set, ..Device::of("g1") }
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
    let lone = share * alone.service(Op::Read).as_secs() + (1.0 - share) * alone.service(Op::Program).as_secs();
    let random = if reads == 100 { f64::from(depth) / f64::from(geometry.dies() + depth - 1) } else { 1.0 };
    (dies * random).min(channels).min(f64::from(depth) / lone)
}

/// One line of a panel: a point by depth.
type Points = Vec<[f64; 2]>;

fn surface(more: &[String]) -> Result<Figure, Error> {
    let mut figure = Figure::new(
        "Steady state: share of the bound, and reads at half of that rate",
        "uniform 4 KiB requests after two overwrites; lines by share of reads; see the text of the example",
    );
    println!(
        "spare,reads_percent,depth,requests_per_second,bound,share_of_bound,waf,half_load_read_p999_ns,per_lone_read"
    );
    let (mut shares, mut tails) = (Vec::new(), Vec::new());
    for spare in SPARE {
        let depth_axis = || Axis::log("queue depth", AxisUnit::Count, [1.0, 256.0]);
        let mut share_panel = Panel::new(&format!("{} % spare", spare * 100.0), depth_axis()).y(Axis::linear(
            "of the bound",
            AxisUnit::Percent,
            [0.0, 1.0],
        ));
        let mut tail_panel = Panel::new("reads, 99.9 %, at half load", depth_axis()).y(Axis::linear(
            "lone reads",
            AxisUnit::Count,
            [0.0, 40.0],
        ));
        for reads in READS {
            let (mut share_line, mut tail_line): (Points, Points) = (Vec::new(), Vec::new());
            for depth in DEPTHS {
                let with_depth = [more, &[format!("replay.queue_depth={depth}")]].concat();
                let report = run(device(spare, &with_depth), reads, "closed")?;
                let rate = report.throughput.requests_per_second.unwrap_or(0.0);
                let bound = bound(&report, reads, depth);
                let gap = (2e9 / rate) as u64;
                let open = [more, &["replay.mode=open".into(), "replay.queue_depth=65536".into()]].concat();
                let half = run(device(spare, &open), reads, &format!("exponential@{gap}ns"))?;
                let timing = &report.config.device.timing;
                let lone = (timing.command + timing.page_read + timing.page_transfer).0 as f64;
                let tail = half.response.reads.p999_ns as f64;
                let waf = report.write_amplification.host.unwrap_or(0.0);
                println!(
                    "{spare},{reads},{depth},{rate:.0},{bound:.0},{:.3},{waf:.3},{tail:.0},{:.1}",
                    rate / bound,
                    tail / lone
                );
                share_line.push([f64::from(depth), rate / bound]);
                if reads > 0 {
                    tail_line.push([f64::from(depth), (tail / lone).min(40.0)]);
                }
            }
            let name = format!("{reads} % reads");
            share_panel = share_panel.layer(Layer::line(&name, share_line).marked());
            if reads > 0 {
                tail_panel = tail_panel.layer(Layer::line(&name, tail_line).marked());
            }
        }
        shares.push(share_panel);
        tails.push(tail_panel);
    }
    figure = figure.row(shares).row(tails);
    Ok(figure)
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next().filter(|file| !file.contains('=')) else {
        eprintln!("usage: surface PICTURE.svg [KEY=VALUE]...");
        return ExitCode::from(2);
    };
    let more: Vec<String> = arguments.collect();
    match surface(&more) {
        Ok(figure) => match std::fs::write(&file, figure.scene().svg()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{file}: {error}");
                ExitCode::FAILURE
            }
        },
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
