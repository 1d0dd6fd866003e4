//! `nandlab trace cut`: a window of a trace.

use clap::Args;
use nandlab_trace::tools::Cut;

use super::{InputArgs, OutputArgs, pass, time};
use crate::fail::Failure;
use crate::number;

/// Arguments of `trace cut`.
#[derive(Args, Debug)]
pub struct CutArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Beginning of the window, from the first request on, as in 90s.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "0s", allow_hyphen_values = true)]
    from: u64,
    /// End of the window (not in it), from the first request on.
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    to: Option<u64>,
    /// Requests of the window to leave out at its beginning.
    #[arg(long, value_name = "N", value_parser = number::any, default_value = "0", allow_hyphen_values = true)]
    skip: u64,
    /// Requests to keep at most.
    #[arg(long, value_name = "N", value_parser = number::positive, allow_hyphen_values = true)]
    take: Option<u64>,
}

/// Runs the tool.
pub fn cut(args: &CutArgs) -> Result<(), Failure> {
    if args.to.is_some_and(|to| to <= args.from) {
        return Err(Failure::bad("--from and --to leave nothing between them", "--to is later than --from"));
    }
    pass(args.input.open()?, Cut::new(args.from, args.to, args.skip, args.take), args.input.limit, &args.output)
}
