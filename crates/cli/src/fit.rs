//! `nandlab fit`: the parameters with which a simulated drive takes as long as a real one did.

use clap::Args;
use nandlab_lab::{Fit, FitError, FitParameter, Fitted, FittedParameter, Told};

use crate::args::{DeviceArgs, PluginArgs, SizeArgs, TraceArgs};
use crate::fail::Failure;
use crate::progress::Progress;
use crate::style::{Style, Table, count, time};
use crate::{number, output};

/// Arguments of `fit`.
#[derive(Args, Debug)]
pub struct FitArgs {
    #[command(flatten)]
    pub trace: TraceArgs,
    #[command(flatten)]
    pub plugins: PluginArgs,
    #[command(flatten)]
    pub device: DeviceArgs,
    #[command(flatten)]
    pub size: SizeArgs,
    /// Search a key of the configuration, KEY=LOW..HIGH or KEY=A|B|C: with other bounds than by itself, or besides those that
    /// are searched (docs/fit.md); may be repeated. --set KEY=VALUE takes a key out of the search.
    #[arg(long, value_name = "KEY=VALUES", help_heading = "Search")]
    pub parameter: Vec<String>,
    /// Simulations of the search. What the data tells takes about 20 more for each parameter, and as many again each time (up
    /// to 4) that these find a better device.
    #[arg(long, value_name = "N", value_parser = evaluations, default_value = "500", allow_hyphen_values = true,
        help_heading = "Search")]
    pub evaluations: u64,
    /// The part of the requests, the last ones (of fio's jobs every third, or so), that the search does not see and is tested
    /// with: 0 to 0.9.
    #[arg(long, value_name = "PART", default_value = "0.33", allow_hyphen_values = true, help_heading = "Search")]
    pub holdout: f64,
    /// Cut a trace into so many equal parts and hold out the end of each, not that of the trace: for what changes on the way.
    /// 1 to 10,000.
    #[arg(long, value_name = "N", value_parser = parts, default_value = "1", allow_hyphen_values = true,
        help_heading = "Search")]
    pub holdout_parts: u64,
    /// Compare what flushes take too, as much as reads and as writes: of a trace with flushes, from a drive that writes its
    /// buffer to flash for them.
    #[arg(long, help_heading = "Search")]
    pub flushes: bool,
    /// Simulations at a time; the result does not depend on it. Default: one for each processor.
    #[arg(long, value_name = "N", value_parser = number::threads, allow_hyphen_values = true, help_heading = "Search")]
    pub threads: Option<usize>,
    /// Write the fitted device to a file, for --device.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<String>,
    /// Write the result as JSON to a file, or to standard output (`-`) instead of the tables.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<String>,
    /// No tables and no progress bar.
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

fn evaluations(text: &str) -> Result<u64, String> {
    number::ranged(text, 10, 1_000_000)
}

fn parts(text: &str) -> Result<u64, String> {
    number::ranged(text, 1, 10_000)
}

/// Runs the command.
pub fn fit(args: &FitArgs, style: Style) -> Result<(), Failure> {
    if args.trace.read.trace.is_empty() {
        let problem = "there is no trace to fit the device to";
        let help = "name one with recorded latencies, or results of fio, as in: nandlab fit drive.json";
        return Err(Failure::bad(problem, help));
    }
    if args.output.as_deref() == Some("-") && args.json.as_deref() == Some("-") {
        return Err(crate::rows::both("--output -", "--json -"));
    }
    let parameters = args.parameter.iter().map(|text| FitParameter::read(text));
    let fit = Fit {
        device: args.device.complete(args.size, &args.plugins),
        workload: args.trace.workload()?,
        parameters: parameters.collect::<Result<_, _>>()?,
        holdout: args.holdout,
        holdout_parts: args.holdout_parts as usize,
        flushes: args.flushes,
        evaluations: args.evaluations as usize,
        threads: args.threads,
    };
    let preset = output::Target::open(args.output.as_deref())?;
    let json = output::Target::open(args.json.as_deref())?;
    let progress = Progress::new("fitting", args.quiet);
    let fitted = fit.run(&progress.watch())?;
    progress.end();
    let prints = !args.quiet && ![&args.json, &args.output].iter().any(|target| target.as_deref() == Some("-"));
    if prints {
        output::print(&text(&fitted, style))?;
    }
    json.write(|| output::json(&fitted))?;
    preset.write(|| fitted.preset.clone())?;
    if fitted.interrupted {
        let done = fitted.evaluations;
        return Err(Failure::Interrupted(format!("the best of {done} evaluations; what the data tells is not known")));
    }
    Ok(())
}

fn text(fitted: &Fitted, style: Style) -> String {
    let Fitted { data, base, requests, evaluations, seed, loss, threshold, loss_before, .. } = fitted;
    let before = loss_before.map_or_else(String::new, |loss| format!(" (before: {})", off(loss.exp_m1())));
    let mut text = format!(
        "{data}: {} requests; {base}, {evaluations} evaluations, seed {seed}\n\
         times are off by {} on average{before}; as good: up to {}\n\n",
        count(*requests as u64),
        off(loss.exp_m1()),
        off(threshold.exp_m1()),
    );
    if !fitted.parameters.is_empty() {
        let mut table = Table::new(2);
        table.row(["PARAMETER", "the data tells", "best", "as good from", "to"]);
        for FittedParameter { key, short, told, low, high, choices, at_bound, .. } in &fitted.parameters {
            let told = match told {
                Told::Found => "its value",
                Told::Roughly => "its value, roughly",
                Told::AtLeast => "a lower bound",
                Told::AtMost => "an upper bound",
                Told::SomeOf => "some of its choices",
                Told::Nothing => "nothing",
            };
            let told = if *at_bound { format!("{told} (best at a bound)") } else { told.to_owned() };
            let low = if choices.len() > 1 { format!("{} choices", choices.len()) } else { low.clone() };
            table.row([key.clone(), told, short.clone(), low, high.clone()]);
        }
        text += &table.render(style);
        for FittedParameter { key, short_choices, .. } in fitted.parameters.iter().filter(|one| one.choices.len() > 1) {
            text += &format!("{key}: as good are\n  {}\n", short_choices.join("\n  "));
        }
        text.push('\n');
    }
    let mut table = Table::new(3);
    table.row(["TIMES", "", "", "requests", "recorded", "simulated", "off by"]);
    for FitError { held_out, kind, percentile, requests, recorded_ns, simulated_ns, error } in &fitted.errors {
        table.row([
            if *held_out { "held out" } else { "seen" }.to_owned(),
            (*kind).to_owned(),
            format!("p{percentile}"),
            count(*requests as u64),
            time(*recorded_ns),
            time(*simulated_ns),
            off(*error),
        ]);
    }
    text += &table.render(style);
    if fitted.parameters.iter().any(|parameter| parameter.told != Told::Found) {
        text += "\nAnother --seed, or more --evaluations, may end elsewhere: search with several before you quote a value or an error.\n";
    }
    for reason in &fitted.not_searched {
        text += &format!("not searched: {reason}\n");
    }
    for skipped in &fitted.skipped {
        text += &format!("not compared: {}: {}\n", skipped.job, skipped.reason);
    }
    text
}

/// An error in per cent.
fn off(error: f64) -> String {
    format!("{:.1} %", error * 100.0)
}
