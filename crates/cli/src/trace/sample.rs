//! `nandlab trace sample`: a part that is like the whole.

use clap::{Args, ValueEnum};
use nandlab_trace::tools::{Ratio, Sample, SampleBy};

use super::{InputArgs, OutputArgs, pass, some_size};
use crate::fail::Failure;
use crate::number;

/// Arguments of `trace sample`.
#[derive(Args, Debug)]
pub struct SampleArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Share to keep, as in 0.01 or 1/64.
    #[arg(long, value_name = "P", value_parser = Ratio::parse, allow_hyphen_values = true)]
    rate: Ratio,
    /// What is kept or dropped as one. By space, all accesses to a unit of the address space (SHARDS).
    #[arg(long, value_enum, default_value = "space")]
    by: By,
    /// Unit of the address space; larger ones keep more of sequential runs.
    #[arg(long, value_name = "SIZE", value_parser = some_size, allow_hyphen_values = true)]
    unit: Option<u64>,
    /// Another seed keeps another part.
    #[arg(long, value_name = "N", value_parser = number::any, default_value = "1", allow_hyphen_values = true)]
    seed: u64,
}

/// What is kept or dropped as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum By {
    /// Units of the address space.
    Space,
    /// Devices.
    Device,
    /// Requests.
    Request,
}

/// Unit unless told otherwise.
const UNIT_BYTES: u64 = 4096;

/// Runs the tool.
pub fn sample(args: &SampleArgs) -> Result<(), Failure> {
    let by = match args.by {
        By::Space => SampleBy::Space(args.unit.unwrap_or(UNIT_BYTES)),
        _ if args.unit.is_some() => {
            return Err(Failure::bad("--unit has a meaning with --by space only", "leave one of the two out"));
        }
        By::Device => SampleBy::Device,
        By::Request => SampleBy::Request,
    };
    let tool = Sample::new(args.rate, args.seed, by)
        .map_err(|problem| Failure::bad(format!("--rate: {problem}"), "for example --rate 0.01"))?;
    pass(args.input.open()?, tool, args.input.limit, &args.output)
}
