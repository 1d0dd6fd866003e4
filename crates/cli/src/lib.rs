//! The command line of nandlab: thin. What is simulated lives in the core, what is read in the trace crate. It is a library
//! because the Python package brings the command too.
#![allow(clippy::format_push_string, clippy::format_collect, reason = "the text is short and for people")]

mod advice;
mod args;
mod bound;
mod catalog;
mod cli;
mod columns;
mod compare;
mod compare_table;
mod conform;
mod curve;
mod curve_table;
mod datasheet;
mod doctor;
mod fail;
mod files;
mod fit;
mod human;
mod interrupt;
mod number;
mod output;
mod pages;
mod picture;
mod probe;
mod progress;
mod ram;
mod reading;
mod record;
mod report;
mod reproduce;
mod rows;
mod run;
mod search;
mod style;
mod sweep;
mod trace;

use std::ffi::OsString;

use clap::{CommandFactory, Parser};

use cli::{Cli, Command};
use fail::Failure;
use nandlab_lab::Capacity;
use style::Style;

/// Runs the command that these arguments are, the name of the program among them, and returns its exit code. A message about
/// arguments that are no command ends the process at once. Takes over the signals of the process.
pub fn run_command(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    report_bugs();
    interrupt::listen();
    let done = match Cli::try_parse_from(arguments) {
        Ok(cli) => dispatch(&cli),
        Err(wrong) if wrong.use_stderr() => wrong.exit(),
        Err(help) => output::print_with(|| help.print()),
    };
    match done {
        Ok(()) => 0,
        Err(failure) => {
            if let Some(message) = doctor::message(&failure) {
                output::complain(&message);
            }
            failure.exit_code()
        }
    }
}

fn dispatch(cli: &Cli) -> Result<(), Failure> {
    cli.command.files().check()?;
    let style = Style::for_stdout(cli.color);
    match &cli.command {
        Command::Run(args) => run::run(args, style),
        Command::Compare(args) => compare::compare(args, style),
        Command::Curve(args) => curve::curve(args, style),
        Command::Bound(args) => bound::bound(args, style),
        Command::Fit(args) => fit::fit(args, style),
        Command::Probe(args) => probe::probe(args),
        Command::Report(args) => report::report(args),
        Command::Sweep(args) => sweep::sweep(args, style),
        Command::Datasheet(args) => datasheet::datasheet(args, style),
        Command::Search(args) => search::search(args),
        Command::Reproduce(args) => reproduce::reproduce(args),
        Command::Pages(args) => pages::pages(args),
        Command::Ram(args) => ram::ram(args, style),
        Command::List { what } => catalog::list(*what, style),
        Command::Describe { name, kind } => catalog::describe(name, *kind, style),
        Command::Config(args) if args.schema => output::print(&output::json(&nandlab::config::Config::schema())),
        Command::Config(args) => {
            if args.device.capacity == Some(Capacity::Fit) {
                let problem = "--capacity fit is the size of a trace, and a configuration has none";
                return Err(Failure::bad(problem, "give a size as in --capacity 1TiB"));
            }
            let (_, config) = args.device.complete(args.size, &args.plugins).configure()?;
            output::print(&config.to_toml())
        }
        Command::Conform { files, show } => conform::conform(files, *show, style),
        Command::Record(args) => record::record(args),
        Command::RecordTraced { level, command } => record::traced(*level, command),
        Command::Trace(command) => trace::trace(command, style),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "nandlab", &mut script);
            output::print(&String::from_utf8_lossy(&script))
        }
    }
}

/// A panic is a broken invariant, never a wrong input (a damaged trace is caught where it is read): say so. The exit code is 101.
fn report_bugs() {
    std::panic::set_hook(Box::new(|panic| {
        if nandlab_trace::is_guarded() {
            return;
        }
        output::complain(&format!(
            "error: this is a bug in nandlab {}, please report it with the command and its input: {panic}",
            env!("CARGO_PKG_VERSION")
        ));
    }));
}
