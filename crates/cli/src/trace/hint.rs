//! `nandlab trace hint`: the hints that a host could have given with the requests of a trace.

use clap::{Args, ValueEnum};
use nandlab_host::{Hinter, Indicator, Mix, Patterns, SkippedFrames};

use super::{InputArgs, OutputArgs, pass};
use crate::fail::Failure;
use crate::number;

/// Arguments of `trace hint`.
#[derive(Args, Debug)]
pub struct HintArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    output: OutputArgs,
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

/// Runs the tool.
pub fn hint(args: &HintArgs) -> Result<(), Failure> {
    let rows = args.input.open()?;
    let (extra, recording) = (rows.records().extra(), rows.records().recording());
    if extra.origin && recording.is_empty() && rows.records().format() == "nandlab" {
        let problem =
            format!("{}: text names its call stacks, if it has any, after its last row", rows.records().name());
        return Err(Failure::bad(problem, "keep it as Parquet first: nandlab trace convert TRACE -o t.parquet"));
    }
    if extra.origin && args.input.paths()?.len() > 1 {
        let problem = "the call stacks of several traces are known one file after the other";
        return Err(Failure::bad(problem, "make one of them first: nandlab trace merge A B -o t.parquet"));
    }
    let indicator = Indicator {
        depth: usize::try_from(args.depth).unwrap_or(usize::MAX),
        skip: match args.skip {
            Skip::None => SkippedFrames::None,
            Skip::Library => SkippedFrames::Library,
        },
        mix: match args.mix {
            Mixing::Sum => Mix::Sum,
            Mixing::Hash => Mix::Hash,
        },
    };
    let longest = u32::try_from(args.longest).unwrap_or(u32::MAX);
    let hinter = Hinter::new(indicator, recording, Patterns::new(longest));
    pass(rows, hinter, args.input.limit, &args.output)
}
