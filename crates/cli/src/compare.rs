//! `nandlab compare`: buffers x FTLs on one trace, one table.

use clap::Args;
use nandlab::catalog::BUFFERS;
use nandlab::ftl::FTLS;
use nandlab_lab::compare::{Comparing, Comparison};
use nandlab_lab::{Compare, plugin_list};

use crate::args::{CostArgs, DeviceArgs, OutputArgs, SizeArgs, TraceArgs};
use crate::compare_table as table;
use crate::fail::Failure;
use crate::progress::Progress;
use crate::rows::{Form, Printer};
use crate::style::{Style, count};
use crate::{human, output, run};

/// Buffers that are compared when none are named, one for each idea: nothing, recency, clean pages first, whole blocks
/// padded, padding by what it costs, statistics of groups, an NVRAM for writes, and a queue from general caching.
const TELLING_BUFFERS: &str = "none,lru,cflru,bplru,aalru,hitstat,wpa,s3-fifo";
/// FTLs, one for each idea: all of the map in RAM, the map on flash, and log blocks.
const TELLING_FTLS: &str = "page,dftl,fast";
/// Requests of a comparison for which nothing at all is named: an answer within minutes.
const QUICK_REQUESTS: u64 = 100_000;

/// Arguments of `compare`.
#[derive(Args, Debug)]
pub struct CompareArgs {
    #[command(flatten)]
    pub trace: TraceArgs,
    /// Buffers, separated by commas: names or name:key=value:key=value, or `all`. Default: eight that differ in kind.
    #[arg(long, short, value_name = "LIST", help_heading = "Device")]
    pub buffers: Option<String>,
    /// FTLs, separated by commas: names or name:key=value:key=value, or `all`. Default: three that differ in kind. With
    /// neither buffers nor FTLs nor --limit, the first 100000 requests are replayed.
    #[arg(long, short, value_name = "LIST", help_heading = "Device")]
    pub ftls: Option<String>,
    #[command(flatten)]
    pub device: DeviceArgs,
    #[command(flatten)]
    pub size: SizeArgs,
    /// Add how far the cost of each row lies above the least that any buffer of its size could cost (`nandlab bound`).
    #[arg(long, help_heading = "Costs")]
    pub bound: bool,
    #[command(flatten)]
    pub costs: CostArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Runs the command.
pub fn compare(args: &CompareArgs, style: Style) -> Result<(), Failure> {
    let form = Form::of(&args.output, None)?;
    let is_quick = args.buffers.is_none() && args.ftls.is_none() && args.trace.limit.is_none();
    let mut workload = args.trace.workload()?;
    workload.limit = workload.limit.or(is_quick.then_some(QUICK_REQUESTS));
    if !args.bound && args.costs.named() {
        let problem = "--read-cost and --write-cost are for --bound, which is not there";
        return Err(Failure::bad(problem, "add --bound"));
    }
    let compare = Compare {
        device: args.device.device(args.size.ram),
        workload,
        buffers: plugin_list(args.buffers.as_deref().unwrap_or(TELLING_BUFFERS), "buffer", BUFFERS)?,
        ftls: plugin_list(args.ftls.as_deref().unwrap_or(TELLING_FTLS), "ftl", FTLS)?,
        costs: if args.bound { Some(args.costs.costs()?) } else { None },
        threads: args.output.threads,
    };
    let json = output::Target::open(args.output.json.as_deref())?;
    let progress = Progress::new("comparing", args.output.quiet);
    let watch = progress.watch();
    let comparing = compare.begin(&watch)?;
    let columns = comparing.columns();
    let preamble = preamble(&compare, &comparing, is_quick);
    let printer = Printer::begin(&table::heading(preamble, &compare, &columns), form, style, &progress)?;
    let comparison = comparing.run(|row| printer.row(&table::cells(&columns, &row.cells(&columns))))?;
    printer.end(|form| {
        let foot = table::foot(&comparison, comparing.config.replay.settle, form, style);
        foot + &replayed(&comparison, form)
    })?;
    let all = comparing.rows;
    progress.end();
    run::warn(comparison.rows.iter().filter_map(|row| row.report.as_ref()));
    json.write(|| output::json(&comparison))?;
    if comparison.interrupted {
        return Err(Failure::Interrupted(format!("{} of {all} rows are done", comparison.rows.len())));
    }
    Failure::if_some_failed(comparison.rows.iter().any(|row| row.error.is_some()))
}

/// What is printed above the rows.
fn preamble(compare: &Compare, comparing: &Comparing<'_>, is_quick: bool) -> String {
    let mut text = table::preamble(&comparing.source, &comparing.config);
    if is_quick {
        text += &format!(
            "A first look: {} of {} buffers on {} of {} FTLs. -n N takes more requests, --buffers all --ftls all the rest.\n",
            compare.buffers.len(),
            BUFFERS.len(),
            compare.ftls.len(),
            FTLS.len()
        );
    }
    text
}

/// How much was replayed.
fn replayed(comparison: &Comparison, form: Form) -> String {
    let first = comparison.rows.iter().find_map(|row| row.report.as_ref());
    let Some(report) = first.filter(|_| form != Form::Csv) else { return String::new() };
    let recorded = comparison.recorded.map(|recorded| format!("; {}", human::recorded(&recorded))).unwrap_or_default();
    format!("\n{} requests replayed{recorded}\n", count(report.requests.total))
}
