//! `nandlab trace convert`: any format in, our own form out.

use clap::Args;
use nandlab_trace::{Step, Writer};

use super::InputArgs;
use crate::fail::Failure;

/// Arguments of `trace convert`.
#[derive(Args, Debug)]
pub struct ConvertArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Where to write; `-` is standard output.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: String,
}

/// Runs the tool.
pub fn convert(args: &ConvertArgs) -> Result<(), Failure> {
    let records = args.input.open()?;
    let step = Step::new("convert", records.names().map(|name| format!("{name} ({})", records.format())).collect());
    let cannot = |error| super::cannot_write(&args.output, &error);
    let mut writer = Writer::create(&args.output, &[step], true).map_err(cannot)?;
    for record in args.input.limited(records)? {
        writer.write(&record?).map_err(cannot)?;
    }
    writer.finish().map_err(cannot)
}
