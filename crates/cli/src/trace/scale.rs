//! `nandlab trace scale`: faster or slower.

use clap::Args;
use nandlab_trace::tools::{Ratio, Scale, Span};

use super::{InputArgs, OutputArgs, pass};
use crate::fail::Failure;
use crate::number;

/// Arguments of `trace scale`.
#[derive(Args, Debug)]
pub struct ScaleArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    by: By,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct By {
    /// Factor of the time between requests: 0.5 or 1/2 is twice as fast.
    #[arg(long, value_name = "FACTOR", value_parser = Ratio::parse, allow_hyphen_values = true)]
    time: Option<Ratio>,
    /// Mean requests per second afterwards; reads the trace twice.
    #[arg(long, value_name = "IOPS", value_parser = number::positive, allow_hyphen_values = true)]
    rate: Option<u64>,
}

/// Runs the tool.
pub fn scale(args: &ScaleArgs) -> Result<(), Failure> {
    let tool = match (args.by.time, args.by.rate) {
        (Some(factor), _) => Scale::time(factor),
        (None, rate) => {
            let mut span = Span::default();
            let limit = args.input.limit.map_or(usize::MAX, |limit| limit as usize);
            for record in args.input.open_first()?.take(limit) {
                span.add(&record?);
            }
            let factor = span.factor(rate.unwrap_or(1));
            let (numerator, denominator) =
                factor.map_err(|problem| Failure::bad(format!("--rate: {problem}"), "--time scales any trace"))?;
            Scale::exactly(numerator, denominator)
        }
    };
    pass(args.input.open()?, tool, args.input.limit, &args.output)
}
