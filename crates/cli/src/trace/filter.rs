//! `nandlab trace filter`: requests with certain properties.

use clap::Args;
use nandlab::types::HostOp;
use nandlab_trace::tools::Filter;

use super::{InputArgs, OutputArgs, pass, size};
use crate::fail::Failure;
use crate::number::{recorded_offset, recorded_time};
use crate::output;

/// Arguments of `trace filter`.
#[derive(Args, Debug)]
pub struct FilterArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Operations to keep, separated by commas: R, W, D (discard), F (flush).
    #[arg(long, value_name = "OPS", value_parser = op, value_delimiter = ',')]
    op: Vec<HostOp>,
    /// Devices to keep, separated by commas.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    device: Vec<u32>,
    /// Lowest first byte.
    #[arg(long, value_name = "SIZE", value_parser = recorded_offset, allow_hyphen_values = true)]
    min_offset: Option<u64>,
    /// Highest first byte.
    #[arg(long, value_name = "SIZE", value_parser = recorded_offset, allow_hyphen_values = true)]
    max_offset: Option<u64>,
    /// Least bytes of a request.
    #[arg(long, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    min_length: Option<u64>,
    /// Most bytes of a request.
    #[arg(long, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    max_length: Option<u64>,
    /// Earliest time as recorded (`trace cut` counts from the first request).
    #[arg(long, value_name = "TIME", value_parser = recorded_time, allow_hyphen_values = true)]
    min_time: Option<u64>,
    /// Latest time as recorded.
    #[arg(long, value_name = "TIME", value_parser = recorded_time, allow_hyphen_values = true)]
    max_time: Option<u64>,
}

fn op(text: &str) -> Result<HostOp, String> {
    match text {
        "R" => Ok(HostOp::Read),
        "W" => Ok(HostOp::Write),
        "D" => Ok(HostOp::Trim),
        "F" => Ok(HostOp::Flush),
        _ => Err("allowed are R, W, D (discard) and F (flush), separated by commas".to_owned()),
    }
}

/// Runs the tool.
pub fn filter(args: &FilterArgs) -> Result<(), Failure> {
    let range = |what, low: Option<u64>, high: Option<u64>| {
        if low.is_none() && high.is_none() {
            return Ok(None);
        }
        let (low, high) = (low.unwrap_or(0), high.unwrap_or(u64::MAX));
        if low > high {
            let problem = format!("--min-{what} is above --max-{what}: nothing would be left");
            return Err(Failure::bad(problem, "exchange the two"));
        }
        Ok(Some(low..=high))
    };
    let conditions = [args.min_offset, args.max_offset, args.min_length, args.max_length, args.min_time, args.max_time];
    if args.op.is_empty() && args.device.is_empty() && conditions.iter().all(Option::is_none) {
        output::complain("note: no condition is given, so that all requests are kept: --op, --device, --min-time, ...");
    }
    let tool = Filter {
        ops: args.op.clone(),
        devices: args.device.clone(),
        offset: range("offset", args.min_offset, args.max_offset)?,
        length: range("length", args.min_length, args.max_length)?,
        time_ns: range("time", args.min_time, args.max_time)?,
        dropped: 0,
    };
    pass(args.input.open()?, tool, args.input.limit, &args.output)
}
