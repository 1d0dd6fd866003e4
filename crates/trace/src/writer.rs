//! Writes traces: text for pipes and for people (see the format `nandlab`).

use std::fs::File;
use std::io::{self, BufWriter, Write};

use nandlab::types::{Hint, HostOp};

use crate::formats::nandlab::{COLUMNS, MAGIC, letter};
use crate::provenance::Step;
use crate::row::TraceRecord;

/// A trace that is being written.
pub struct Writer {
    out: BufWriter<Box<dyn Write + Send>>,
    hints: bool,
}

impl Writer {
    /// Begins a trace in a file, or on standard output (`-`). `hints`: whether requests carry what the host tells.
    ///
    /// # Errors
    /// The file cannot be made or written.
    pub fn create(target: &str, steps: &[Step], hints: bool) -> io::Result<Self> {
        if target == "-" {
            return Self::new(Box::new(io::stdout()), steps, hints);
        }
        Self::new(Box::new(File::create(target)?), steps, hints)
    }

    /// Begins a trace in any place.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(out: Box<dyn Write + Send>, steps: &[Step], hints: bool) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 18, out);
        writeln!(out, "{MAGIC}")?;
        for step in steps {
            writeln!(out, "# {}", serde_json::to_string(step).map_err(io::Error::other)?)?;
        }
        writeln!(out, "{}", COLUMNS[usize::from(hints)])?;
        Ok(Self { out, hints })
    }

    /// Adds a request.
    ///
    /// # Errors
    /// It cannot be written.
    #[inline]
    pub fn write(&mut self, record: &TraceRecord) -> io::Result<()> {
        let op = match record.op {
            HostOp::Read => 'R',
            HostOp::Write => 'W',
            HostOp::Trim => 'D',
            HostOp::Flush => 'F',
        };
        let TraceRecord { at, offset, length, device, .. } = record;
        write!(self.out, "{},{device},{op},{offset},{length}", at.0)?;
        if self.hints {
            let Hint { pattern, pc, run_pages, period } = record.hint;
            write!(self.out, ",{pc},{},{run_pages},{period}", letter(pattern))?;
        }
        self.out.write_all(b"\n")
    }

    /// Ends the trace: it is whole once this has returned.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}
