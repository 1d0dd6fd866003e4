//! `nandlab curve`: what buffers do at every size.

use clap::Args;
use nandlab::catalog::BUFFERS;
use nandlab::ftl::FTLS;
use nandlab_lab::{Curve, Sizes, Word, plugin_list};

use crate::args::{DeviceArgs, OutputArgs, TraceArgs};
use crate::curve_table as table;
use crate::fail::Failure;
use crate::files::Files;
use crate::picture::Target;
use crate::progress::Progress;
use crate::rows::{Form, Printer};
use crate::style::Style;
use crate::{number, output, run};

/// Arguments of `curve`.
#[derive(Args, Debug)]
pub struct CurveArgs {
    #[command(flatten)]
    pub trace: TraceArgs,
    /// Buffers, separated by commas: names or name:key=value:key=value.
    #[arg(long, short, value_name = "LIST", default_value = "lru", help_heading = "Device")]
    buffers: String,
    /// An FTL below: whole devices are simulated, with write amplification and response times. Without it buffers alone,
    /// whose pages are whole (a write of a part of a page counts as a write of the page); no address is beyond a device then.
    #[arg(long, short, value_name = "NAME", help_heading = "Device")]
    pub ftl: Option<String>,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// DRAM (ram.dram): ranges and sizes, separated by commas, as in 1MiB..64MiB,256MiB.
    #[arg(
        long,
        value_name = "SIZES",
        value_parser = Sizes::read,
        allow_hyphen_values = true,
        default_value = "1MiB..256MiB",
        help_heading = "Device"
    )]
    ram: Sizes,
    /// Sizes of each range, evenly spaced by factor (2 to 1000).
    #[arg(long, value_name = "N", value_parser = points, allow_hyphen_values = true, default_value = "9",
        help_heading = "Device")]
    points: u64,
    /// Add what no buffer can do better, at each size: the most hits, and the fewest pages read and written (each for itself;
    /// `nandlab bound` weighs them against each other).
    #[arg(long)]
    bound: bool,
    /// Draw the curves: a file that ends in .svg, .pdf or .png, or `-` for the terminal instead of the table.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    plot: Option<Target>,
    #[command(flatten)]
    output: OutputArgs,
}

impl CurveArgs {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        Files::reading(&self.trace.read.trace)
            .and([&self.device.device])
            .writing("--json", self.output.json.as_ref())
            .writing("--plot", self.plot.as_ref().and_then(Target::file))
    }
}

fn points(text: &str) -> Result<u64, String> {
    number::ranged(text, 2, 1000)
}

/// Runs the command.
pub fn curve(args: &CurveArgs, style: Style) -> Result<(), Failure> {
    let plot_is_stdout = args.plot.as_ref().is_some_and(Target::is_stdout);
    // A picture on the terminal takes the place of the table.
    let form = Form::of(&args.output, plot_is_stdout.then_some("--plot -"))?;
    let buffers = plugin_list(&args.buffers, "buffer", BUFFERS)?;
    let mut ftls = args.ftl.as_deref().map_or(Ok(Vec::new()), |names| plugin_list(names, "ftl", FTLS))?;
    if ftls.len() > 1 {
        let problem = format!("--ftl names {} FTLs, and a curve has one", ftls.len());
        return Err(Failure::bad(problem, "run it once for each FTL"));
    }
    check(args, buffers.len())?;
    let curve = Curve {
        device: args.device.device(None),
        workload: args.trace.workload()?,
        buffers,
        ftl: ftls.pop(),
        ram: args.ram.clone(),
        points: args.points,
        bound: args.bound,
        threads: args.output.threads,
    };
    let (json, plot) = Target::open_both(args.output.json.as_deref(), args.plot.as_ref())?;
    let progress = Progress::new("drawing curves", args.output.quiet);
    let watch = progress.watch();
    let drawing = curve.begin(&watch)?;
    let (columns, points) = (drawing.columns(), drawing.points());
    let title = table::title(&drawing.trace, curve.ftl.as_ref());
    let printer = Printer::begin(&table::heading(&title, &columns, &curve.buffers), form, style, &progress)?;
    let curves = drawing.run(|point| printer.row(&table::cells(&columns, point)))?;
    printer.end(|form| table::foot(&curves, form, style))?;
    progress.end();
    run::warn(curves.rows.iter().filter_map(|row| row.report.as_ref()));
    json.write(|| output::json(&curves))?;
    if let Some(target) = &args.plot {
        target.draw(plot, &curves.figure(&title), style)?;
    }
    let done = curves.rows.len() + curves.bounds.len();
    if curves.interrupted {
        return Err(Failure::Interrupted(format!("{done} of {points} points are done")));
    }
    Failure::if_some_failed(curves.rows.iter().any(|row| row.error.is_some()))
}

/// Refuses options that would mean nothing.
fn check(args: &CurveArgs, buffers: usize) -> Result<(), Failure> {
    let DeviceArgs { mode, queue_depth, precondition, settle, capacity, .. } = &args.device;
    let given = [
        ("--mode", mode.is_some()),
        ("--queue-depth", queue_depth.is_some()),
        ("--precondition", precondition.is_some()),
        ("--settle", settle.is_some()),
        ("--capacity", capacity.is_some()),
    ];
    if let (None, Some((option, _))) = (&args.ftl, given.iter().find(|(_, given)| *given)) {
        let problem = format!("{option} says how a device works, but without --ftl buffers are simulated alone");
        return Err(Failure::bad(problem, "add --ftl page, for example"));
    }
    if args.plot.is_some() && buffers > nandlab_plot::PALETTE.len() {
        let (problem, most) = (format!("--plot with {buffers} buffers"), nandlab_plot::PALETTE.len());
        return Err(Failure::bad(problem, format!("a picture tells at most {most} apart: name fewer in --buffers")));
    }
    Ok(())
}
