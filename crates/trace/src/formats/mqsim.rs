//! `MQSim` ASCII: `time device sector size operation`, separated by blanks.
//!
//! - time: nanoseconds, a whole number (a workload file of `MQSim` can set another `Time_Unit`: name it with `--time-unit`).
//!   What follows `//` is a comment. device: a number; each has its own address space.
//! - sector and size: sectors of 512 bytes. operation: 1 = read, 0 = write.
//!
//! The same reading as ssdsim, under which name such files are detected.
//! - Written by `--to mqsim` (and `--to ssdsim`): reads and writes of whole sectors, times in ns from the first request.
//!
//! Source: `MQSim` README; `ASCII_Trace_Definition.h`.

use std::io::Write as _;

use crate::export::{Export, Lost, is_read, whole_sectors};
use crate::five::whole_line;
use crate::registry::{Format, Parser, Sniff, WithUnit};
use crate::row::{Extra, TraceRecord};
use crate::unit::TimeUnit;

pub(crate) const FORMAT: Format = Format {
    name: "mqsim",
    title: "MQSim ASCII (nanoseconds, sectors)",
    extensions: &["trace", "txt"],
    extra: Extra::NONE,
    write: Some(|| Box::new(Writer::of("MQSim"))),
    sniff: |_| Sniff::No,
    parser: |_| Parser::Text(Box::new(WithUnit::new(TimeUnit::Nanoseconds, whole_line))),
};

/// Writes the five columns, which `SSDsim` reads as well. Times count from the first request and are exact.
pub(crate) struct Writer {
    /// Whose format it is, for messages.
    simulator: &'static str,
    before: u64,
}

impl Writer {
    pub(crate) fn of(simulator: &'static str) -> Self {
        Self { simulator, before: 0 }
    }
}

impl Export for Writer {
    fn row(&mut self, record: &TraceRecord, at: u64, out: &mut Vec<u8>, _: &mut Lost) -> Result<(), String> {
        let simulator = self.simulator;
        if at < self.before {
            return Err(format!("{simulator} wants times that never fall; put rows in order: --sort-window 100000"));
        }
        self.before = at;
        // A flush has no length either, and goes with other advice.
        let (device, op) = (record.device, u8::from(is_read(record)?));
        let (lba, sectors) = whole_sectors(record)?;
        if sectors == 0 {
            return Err(format!(
                "{simulator} has no requests of no length; leave them out: nandlab trace filter --min-length 512"
            ));
        }
        writeln!(out, "{at} {device} {lba} {sectors} {op}").map_err(|error| error.to_string())
    }
}
