//! `nandlab trace remap`: other addresses, other devices.

use clap::Args;
use nandlab_trace::tools::Remap;

use super::{InputArgs, OutputArgs, pass, size, some_size};
use crate::fail::Failure;
use crate::output;

/// Arguments of `trace remap`. They take effect in the order in which they are listed.
#[derive(Args, Debug)]
pub struct RemapArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Place the devices one after the other on device 0, in whole pages of 4 KiB; reads the trace twice.
    #[arg(long)]
    stack: bool,
    /// Make all requests requests of this device.
    #[arg(long, value_name = "N", value_parser = device, allow_hyphen_values = true)]
    device: Option<u32>,
    /// Add this to every offset; may be negative, as in --offset=-1MiB.
    #[arg(long, value_name = "SIZE", value_parser = shift, default_value = "0", allow_hyphen_values = true)]
    offset: i64,
    /// Widen requests so that they begin and end at multiples of this.
    #[arg(long, value_name = "SIZE", value_parser = some_size, allow_hyphen_values = true)]
    align: Option<u64>,
    /// Number pages of this size densely in order of first appearance, per device (4 KiB if no size is given).
    #[arg(long, value_name = "SIZE", value_parser = some_size, num_args = 0..=1, default_missing_value = "4KiB",
          require_equals = true)]
    compact: Option<u64>,
    /// Fold offsets into this capacity.
    #[arg(long, value_name = "SIZE", value_parser = some_size, allow_hyphen_values = true)]
    modulo: Option<u64>,
}

fn device(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| *number < u32::MAX);
    number.ok_or_else(|| "allowed is a whole number, 0 to 4294967294".to_owned())
}

fn shift(text: &str) -> Result<i64, String> {
    match text.strip_prefix('-') {
        Some(text) => size(text).map(|bytes| -bytes.cast_signed()),
        None => size(text).map(u64::cast_signed),
    }
}

/// Runs the tool.
pub fn remap(args: &RemapArgs) -> Result<(), Failure> {
    let is_idle = !args.stack && args.device.is_none() && args.offset == 0;
    if is_idle && args.align.is_none() && args.compact.is_none() && args.modulo.is_none() {
        output::complain(
            "note: nothing is to be changed, so that all requests stay as they are: --stack, --device, ...",
        );
    }
    let mut tool = Remap::default();
    if args.stack {
        tool.stack(args.input.open_first()?, args.input.limit)?;
    }
    (tool.device, tool.shift, tool.align) = (args.device, args.offset, args.align);
    (tool.compact, tool.modulo) = (args.compact, args.modulo);
    pass(args.input.open()?, tool, args.input.limit, &args.output)
}
