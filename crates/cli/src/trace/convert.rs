//! `nandlab trace convert`: any format in, our own forms out.

use clap::Args;
use nandlab_trace::tools::Keep;

use super::{InputArgs, OutputArgs, pass};
use crate::fail::Failure;

/// Arguments of `trace convert`.
#[derive(Args, Debug)]
pub struct ConvertArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Runs the tool.
pub fn convert(args: &ConvertArgs) -> Result<(), Failure> {
    pass(args.input.open()?, Keep, args.input.limit, &args.output)
}
