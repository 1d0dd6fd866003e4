//! `MQSim` ASCII: `time device sector size operation`, separated by blanks.
//!
//! - time: nanoseconds, a whole number (a workload file of `MQSim` can set another `Time_Unit`: such a trace must be
//!   converted). device: a number; each has its own address space.
//! - sector and size: sectors of 512 bytes. operation: 1 = read, 0 = write.
//!
//! The same reading as ssdsim, under which name such files are detected.
//!
//! Source: `MQSim` README; `ASCII_Trace_Definition.h`.

use crate::five::nanosecond_line;
use crate::registry::{Format, Parser, Sniff};

pub(crate) const FORMAT: Format = Format {
    name: "mqsim",
    title: "MQSim ASCII (nanoseconds, sectors)",
    extensions: &["trace", "txt"],
    sniff: |_| Sniff::No,
    parser: || Parser::Text(Box::new(nanosecond_line)),
};
