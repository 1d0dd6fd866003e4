//! `nandlab trace`: tools for traces, one file each.

mod convert;
mod cut;
mod filter;
mod hint;
mod info;
mod info_table;
mod info_text;
mod lengths;
mod make;
mod matching;
mod merge;
mod patterns;
mod remap;
mod sample;
mod scale;
mod split;

use std::io::{self, IsTerminal};

use clap::{Args, Subcommand};
use nandlab::types::{Bytes, Nanos, SECTOR_BYTES};
use nandlab_trace::tools::{Applied, Counts, Tool};
use nandlab_trace::{Extra, Options, Recording, Records, Step, Timed, Writer};

use crate::fail::{Exit, Failure};
use crate::files::Files;
use crate::reading::{ReadArgs, ReadingArgs};
use crate::style::Style;
use crate::{number, output};

/// The tools. Those that change a trace write text to standard output unless told otherwise, and read it from there.
#[derive(Subcommand, Debug)]
pub enum TraceCommand {
    /// Write a trace in nandlab's own form (Parquet columns, or text) or in that of another tool.
    Convert(convert::ConvertArgs),
    /// Cut out a window, by time or by number.
    Cut(cut::CutArgs),
    /// Keep a part that is like the whole: pages by hash (SHARDS), devices or requests.
    Sample(sample::SampleArgs),
    /// Make a trace faster or slower.
    Scale(scale::ScaleArgs),
    /// Give requests other addresses or devices.
    Remap(remap::RemapArgs),
    /// Merge several traces by time; each argument is a trace, a quoted pattern one in several files.
    Merge(merge::MergeArgs),
    /// Split a trace into files.
    Split(split::SplitArgs),
    /// Keep the requests with certain properties.
    Filter(filter::FilterArgs),
    /// Measure traces: sizes, times, footprints, reuse, sequentiality (docs/trace-info.md defines every figure).
    Info(info::InfoArgs),
    /// Compare two traces by what `info` measures. Exit code 0: all within the tolerance, 1: not all.
    Match(matching::MatchArgs),
    /// Work out the hints that a host could give with each request: pattern, run length and period by program location.
    Hint(hint::HintArgs),
    /// Judge how well the lengths of runs can be predicted, and train URM's regressions that predict them.
    Lengths(lengths::LengthsArgs),
    /// Show the program locations of a trace with hints: the pattern, lengths, period and call stack of each.
    Patterns(patterns::PatternsArgs),
    /// Make a synthetic trace, or check the presets against the figures of their papers.
    Make(make::MakeArgs),
}

impl TraceCommand {
    /// The traces that a tool reads, and how; nothing for those that read several or none.
    pub fn reads(&self) -> Option<(Vec<String>, ReadingArgs)> {
        let input = match self {
            Self::Convert(args) => &args.input,
            Self::Cut(args) => &args.input,
            Self::Sample(args) => &args.input,
            Self::Scale(args) => &args.input,
            Self::Remap(args) => &args.input,
            Self::Split(args) => &args.input,
            Self::Filter(args) => &args.input,
            Self::Hint(args) => &args.input,
            Self::Lengths(args) => &args.input,
            Self::Patterns(args) => &args.input,
            Self::Info(args) if args.traces.len() == 1 => return Some((args.traces.clone(), args.reading.clone())),
            Self::Info(_) | Self::Merge(_) | Self::Match(_) | Self::Make(_) => return None,
        };
        Some((input.read.trace.clone(), input.read.reading.clone()))
    }
}

impl TraceCommand {
    /// What it reads and writes; the parts of `split` are known when they begin.
    pub fn files(&self) -> Files {
        let (read, output) = match self {
            Self::Convert(args) => (&args.input.read, &args.output),
            Self::Cut(args) => (&args.input.read, &args.output),
            Self::Sample(args) => (&args.input.read, &args.output),
            Self::Scale(args) => (&args.input.read, &args.output),
            Self::Remap(args) => (&args.input.read, &args.output),
            Self::Filter(args) => (&args.input.read, &args.output),
            Self::Hint(args) => (&args.input.read, &args.output),
            Self::Merge(args) => (&args.read, &args.output),
            Self::Info(args) => return args.files(),
            Self::Match(args) => return args.files(),
            Self::Lengths(args) => return args.files(),
            Self::Patterns(args) => return args.files(),
            Self::Split(_) | Self::Make(_) => return Files::default(),
        };
        let lengths = if let Self::Hint(args) = self { args.lengths.as_ref() } else { None };
        Files::reading(&read.trace).and(lengths).writing("--output", Some(&output.output))
    }
}

/// Runs a tool.
pub fn trace(command: &TraceCommand, style: Style) -> Result<(), Failure> {
    match command {
        TraceCommand::Convert(args) => convert::convert(args),
        TraceCommand::Cut(args) => cut::cut(args),
        TraceCommand::Sample(args) => sample::sample(args),
        TraceCommand::Scale(args) => scale::scale(args),
        TraceCommand::Remap(args) => remap::remap(args),
        TraceCommand::Merge(args) => merge::merge(args),
        TraceCommand::Split(args) => split::split(args),
        TraceCommand::Filter(args) => filter::filter(args),
        TraceCommand::Hint(args) => hint::hint(args),
        TraceCommand::Lengths(args) => lengths::lengths(args, style),
        TraceCommand::Patterns(args) => patterns::patterns(args, style),
        TraceCommand::Info(args) => info::info(args, style),
        TraceCommand::Match(args) => matching::matching(args, style),
        TraceCommand::Make(args) => make::make(args, style),
    }
}

/// What is read by a tool.
#[derive(Args, Clone, Debug)]
pub struct InputArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// Requests to read at most.
    #[arg(long, short = 'n', value_name = "N", value_parser = number::positive, allow_hyphen_values = true)]
    pub limit: Option<u64>,
}

impl InputArgs {
    /// Opens the rows, with their times corrected.
    pub fn open(&self) -> Result<Timed, Failure> {
        let paths = self.paths()?;
        // A pipe is kept only if there was a first pass: memory stays constant for all other tools.
        let options = if self.read.passes.are_begun() { self.read.options()? } else { self.read.reading.options()? };
        self.open_with(&paths, options)
    }

    fn open_with(&self, paths: &[String], options: Options) -> Result<Timed, Failure> {
        let options = Options { limit: self.limit, ..options };
        Ok(Timed::new(Records::open_all(paths, &options)?, &options))
    }

    /// Opens them for a first pass of two.
    pub fn open_first(&self) -> Result<Timed, Failure> {
        self.open_with(&self.paths()?, self.read.options()?)
    }

    fn paths(&self) -> Result<Vec<String>, Failure> {
        if self.read.trace.is_empty() { Ok(vec!["-".to_owned()]) } else { self.read.paths() }
    }
}

/// Where a tool writes.
#[derive(Args, Clone, Debug)]
pub struct OutputArgs {
    /// Where to write: Parquet if the name ends in .parquet, else text (compressed for .zst and .gz); `-` is standard
    /// output.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: String,
    /// Say what was done even if standard error is not a terminal.
    #[arg(long, short)]
    pub verbose: bool,
}

impl OutputArgs {
    /// Begins the trace.
    pub fn begin(&self, steps: &[Step], extra: Extra) -> Result<Writer, Failure> {
        Writer::create(&self.output, steps, extra).map_err(|error| cannot_begin(&self.output, &error))
    }

    /// Writes all requests and ends the trace; returns how many there were.
    pub fn fill<E: Into<Failure>>(
        &self,
        writer: &mut Writer,
        records: impl Iterator<Item = Result<nandlab_trace::TraceRecord, E>>,
    ) -> Result<(), Failure> {
        for record in records {
            writer.write(&record.map_err(Into::into)?).map_err(|error| cannot_write(&self.output, &error))?;
        }
        Ok(())
    }

    /// Ends the trace and says what was done.
    pub fn end(&self, mut writer: Writer, steps: Vec<Step>, told: Recording, counts: &Counts) -> Result<(), Failure> {
        writer.set_steps(steps);
        writer.set_recording(told);
        writer.finish().map_err(|error| cannot_write(&self.output, &error))?;
        self.say(counts);
        Ok(())
    }

    /// One line about what was done, for people.
    pub fn say(&self, counts: &Counts) {
        if self.verbose || io::stderr().is_terminal() {
            let counts: Vec<String> = counts.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
            let tool = told();
            output::complain(&format!("{}: {}", tool.split(' ').next().unwrap_or_default(), counts.join(", ")));
        }
    }
}

/// Says what is assumed about a trace because it does not say it itself.
fn warn_of_assumed(records: &Records) {
    if let Some(assumed) = records.assumed() {
        output::complain(&format!("warning: {assumed}"));
    }
}

/// Applies a tool to a trace and writes what it makes.
pub fn pass<T: Tool>(rows: Timed, tool: T, limit: Option<u64>, output: &OutputArgs) -> Result<(), Failure> {
    warn_of_assumed(rows.records());
    let step = step(&[rows.records()]);
    let begun = chain(&[rows.records()], &step, &Counts::new());
    let mut writer = output.begin(&begun, rows.records().extra().or(tool.adds()))?;
    let mut applied = Applied::new(rows, tool, limit);
    output.fill(&mut writer, &mut applied)?;
    let counts = applied.counts();
    let (steps, told) = (chain(&[applied.records()], &step, &counts), applied.records().recording());
    output.end(writer, steps, told, &counts)
}

/// Call stacks and files must be known now, before the last row.
///
/// # Errors
/// They are not: text names them after its last row.
fn need_tables(records: &Records) -> Result<(), Failure> {
    if records.extra().origin && records.recording().is_empty() && records.format() == "nandlab" {
        let problem = format!("{}: text names its call stacks, if it has any, after its last row", records.name());
        return Err(Failure::bad(problem, "keep it as Parquet first: nandlab trace convert TRACE -o t.parquet"));
    }
    Ok(())
}

/// What the user told the tool.
fn told() -> String {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    words.skip_while(|word| word != "trace").skip(1).collect::<Vec<_>>().join(" ")
}

/// This tool as a step.
pub fn step(inputs: &[&Records]) -> Step {
    Step::new(
        told(),
        inputs
            .iter()
            .flat_map(|records| records.names().map(|name| format!("{name} ({})", records.format())))
            .collect(),
    )
}

/// The steps of what was read, and this one with what it counted.
pub fn chain(inputs: &[&Records], step: &Step, counts: &Counts) -> Vec<Step> {
    let mut histories: Vec<Vec<Step>> = Vec::new();
    for records in inputs {
        let history = records.steps();
        // Parts of one trace have the same.
        if !histories.contains(&history) {
            histories.push(history);
        }
    }
    let mut steps = histories.concat();
    steps.push(Step { counts: counts.clone(), ..step.clone() });
    steps
}

/// A trace that cannot be begun: its name may ask for what is not written.
pub fn cannot_begin(target: &str, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::InvalidInput {
        return Failure::bad(
            format!("{target}: {error}"),
            "name the file so, or write text and compress it with another tool",
        );
    }
    cannot_write(target, error)
}

/// A trace that cannot be written. A reader that went away ends the program quietly.
pub fn cannot_write(target: &str, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Failure::Hangup;
    }
    if error.kind() == io::ErrorKind::InvalidInput {
        return Failure::bad(error.to_string(), "nandlab describe NAME says what a format has a place for");
    }
    let is_stdout = target == "-";
    let problem = format!("{}: cannot be written: {error}", if is_stdout { "standard output" } else { target });
    if is_stdout {
        return Failure::Message(Exit::Failed, problem);
    }
    let help = "no incomplete file is left; check the folder, its permissions and the space on the disk";
    Failure::Message(Exit::Failed, format!("{problem}\n  help: {help}"))
}

/// A length of time with a unit, in ns.
fn time(text: &str) -> Result<u64, String> {
    Nanos::parse(text).map(|time| time.0)
}

/// A size with or without a unit, in bytes.
fn size(text: &str) -> Result<u64, String> {
    Bytes::parse(text).map(|size| size.0)
}

/// A size of at least a sector.
fn some_size(text: &str) -> Result<u64, String> {
    let said = || Err(format!("allowed are at least {SECTOR_BYTES} bytes"));
    size(text).and_then(|size| if size >= SECTOR_BYTES { Ok(size) } else { said() })
}
