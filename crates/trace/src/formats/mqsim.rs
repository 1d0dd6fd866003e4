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
    write: Some(|| Box::<Writer>::default()),
    sniff: |_| Sniff::No,
    parser: |_| Parser::Text(Box::new(WithUnit::new(TimeUnit::Nanoseconds, whole_line))),
};

/// Writes the five columns, which `SSDsim` reads as well. Times count from the first request and are exact.
#[derive(Default)]
pub(crate) struct Writer {
    before: u64,
}

impl Export for Writer {
    fn row(&mut self, record: &TraceRecord, at: u64, out: &mut Vec<u8>, _: &mut Lost) -> Result<(), String> {
        if at < self.before {
            return Err("MQSim wants times that never fall; put rows in order: --sort-window 100000".to_owned());
        }
        self.before = at;
        let (lba, sectors) = whole_sectors(record)?;
        if sectors == 0 {
            return Err(
                "a request of no length ends MQSim; leave it out: nandlab trace filter --min-length 512".to_owned()
            );
        }
        let (device, op) = (record.device, u8::from(is_read(record)?));
        writeln!(out, "{at} {device} {lba} {sectors} {op}").map_err(|error| error.to_string())
    }
}
