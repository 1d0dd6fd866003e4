//! `nandlab trace hint`: the hints that a host could have given with the requests of a trace.

use clap::{Args, ValueEnum};
use nandlab::types::Hint;
use nandlab_host::{
    HintControl, Hinter, Indicator, LengthModel, LengthSurvey, MappingLengths, Mix, Patterns, SkippedFrames,
};
use nandlab_trace::Timed;

use super::{InputArgs, OutputArgs, pass};
use crate::fail::Failure;
use crate::number;

/// Arguments of `trace hint`.
#[derive(Args, Debug)]
pub struct HintArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    host: HostArgs,
    /// Say besides how many mappings the run of each request will need, by the mean of its program location (`mean`), by
    /// the run before (`last`), by what comes in the trace (`actual`: no host knows that), or by a file of `nandlab trace
    /// lengths`.
    #[arg(long, value_name = "mean|last|actual|FILE")]
    pub lengths: Option<String>,
    /// Tell something else, as a control of what each part is worth.
    #[arg(long, value_enum, conflicts_with = "lengths")]
    tell: Option<Told>,
    /// Give each request the hint of another one, drawn by this seed, as a control.
    #[arg(long, value_name = "SEED", value_parser = number::any, allow_hyphen_values = true, conflicts_with = "tell")]
    shuffle: Option<u64>,
}

/// What hints tell.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Told {
    /// Patterns, program locations and periods; no lengths.
    Patterns,
    /// Lengths; all requests are said to be sequential.
    Lengths,
    /// All, with the lengths that runs turn out to have: no host knows them.
    Actual,
}

/// How a host tells program locations and their patterns.
#[derive(Args, Debug)]
pub struct HostArgs {
    /// Frames of the call stack that make a program location, from the innermost on.
    #[arg(long, value_name = "FRAMES", value_parser = number::positive, default_value = "5", allow_hyphen_values = true)]
    depth: u64,
    /// Innermost frames that are passed over.
    #[arg(long, value_enum, default_value = "library")]
    skip: Skip,
    /// How frames become a number.
    #[arg(long, value_enum, default_value = "hash")]
    mix: Mixing,
    /// Pages of an announced run at most.
    #[arg(long, value_name = "PAGES", value_parser = number::positive, default_value_t = u64::from(Patterns::LONGEST), allow_hyphen_values = true)]
    longest: u64,
}

impl HostArgs {
    /// The host, for the requests of a trace.
    ///
    /// # Errors
    /// The trace has no program locations, or its call stacks are not known before its requests.
    pub fn hinter(&self, input: &InputArgs, rows: &Timed) -> Result<Hinter, Failure> {
        let (extra, recording) = (rows.records().extra(), rows.records().recording());
        super::need_tables(rows.records())?;
        if !extra.origin && !extra.hints {
            let problem =
                format!("{}: its requests have no call stacks and no program locations", rows.records().name());
            return Err(Failure::bad(problem, "record a program: nandlab record -o t.parquet -- COMMAND"));
        }
        if extra.origin && input.paths()?.len() > 1 {
            let problem = "the call stacks of several traces are known one file after the other";
            return Err(Failure::bad(problem, "make one of them first: nandlab trace merge A B -o t.parquet"));
        }
        let longest = u32::try_from(self.longest).unwrap_or(u32::MAX);
        Ok(Hinter::new(self.indicator(), recording, Patterns::new(longest)))
    }

    /// How program locations are told.
    fn indicator(&self) -> Indicator {
        Indicator {
            depth: usize::try_from(self.depth).unwrap_or(usize::MAX),
            skip: match self.skip {
                Skip::None => SkippedFrames::None,
                Skip::Library => SkippedFrames::Library,
            },
            mix: match self.mix {
                Mixing::Sum => Mix::Sum,
                Mixing::Hash => Mix::Hash,
            },
        }
    }
}

/// Innermost frames that are passed over.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Skip {
    /// None, as in the paper.
    None,
    /// Those of the C library and the dynamic linker.
    Library,
}

/// How frames become a number.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mixing {
    /// By their sum, as in the paper: their order does not count.
    Sum,
    /// By a hash.
    Hash,
}

/// The lengths of the runs of a whole trace.
pub fn survey(host: &HostArgs, input: &InputArgs) -> Result<LengthSurvey, Failure> {
    let mut rows = input.open_first()?;
    let mut hinter = host.hinter(input, &rows)?;
    let mut survey = LengthSurvey::new(host.indicator());
    for record in rows.by_ref() {
        let (hint, facts) = hinter.look(&record?);
        survey.add(facts, &hint);
    }
    Ok(survey)
}

/// The hints of a whole trace.
fn hints(args: &HintArgs, lengths: Option<MappingLengths>) -> Result<Vec<Hint>, Failure> {
    let mut rows = args.input.open_first()?;
    let mut hinter = args.host.hinter(&args.input, &rows)?;
    if let Some(lengths) = lengths {
        hinter = hinter.with_lengths(lengths);
    }
    let mut hints = Vec::new();
    for record in rows.by_ref() {
        hints.push(hinter.look(&record?).0);
    }
    Ok(hints)
}

/// A file of `nandlab trace lengths`, for program locations that this host tells.
pub fn model(path: &str, host: &HostArgs) -> Result<LengthModel, Failure> {
    let help = "make one: nandlab trace lengths TRACE -o lengths.toml";
    let text = std::fs::read_to_string(path).map_err(|error| Failure::bad(format!("{path}: {error}"), help))?;
    let model = LengthModel::parse(&text).map_err(|problem| Failure::bad(format!("{path}: {problem}"), help))?;
    let (trained, told) = (model.indicator(), host.indicator());
    if trained != told {
        let problem = format!("{path}: was trained on program locations by {trained}, and these are by {told}");
        return Err(Failure::bad(problem, format!("use {trained}, or train regressions for these")));
    }
    Ok(model)
}

/// Runs the tool.
pub fn hint(args: &HintArgs) -> Result<(), Failure> {
    let lengths = match args.lengths.as_deref() {
        None => None,
        Some("mean") => Some(MappingLengths::Mean),
        Some("last") => Some(MappingLengths::Last),
        Some("actual") => Some(MappingLengths::Actual(survey(&args.host, &args.input)?.actual())),
        Some(path) => Some(MappingLengths::Model(Box::new(model(path, &args.host)?))),
    };
    let longest = u32::try_from(args.host.longest).unwrap_or(u32::MAX);
    // Whoever needs the whole trace first reads it first.
    let control = match (args.tell, args.shuffle) {
        (_, Some(seed)) => Some(HintControl::shuffled(hints(args, lengths.clone())?, seed)),
        (None, None) => None,
        (Some(Told::Patterns), None) => Some(HintControl::Patterns),
        (Some(Told::Lengths), None) => Some(HintControl::Lengths),
        (Some(Told::Actual), None) => Some(HintControl::Actual(survey(&args.host, &args.input)?.actual(), longest)),
    };
    let rows = args.input.open()?;
    let mut hinter = args.host.hinter(&args.input, &rows)?;
    if let Some(lengths) = lengths {
        hinter = hinter.with_lengths(lengths);
    }
    if let Some(control) = control {
        hinter = hinter.with_control(control);
    }
    pass(rows, hinter, args.input.limit, &args.output)
}
