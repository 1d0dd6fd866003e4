//! Writes traces in our own two forms: text for pipes and for people (see the format `nandlab`), columns for keeping
//! (see `parquet`).

use std::collections::BTreeMap;
use std::io::{self, Write};

use nandlab::types::Hint;

use crate::columns::ColumnsWriter;
use crate::detect;
use crate::export::{Export, Lost};
use crate::formats::nandlab::{MAGIC, header, op_letter, pattern_letter};
use crate::provenance::Step;
use crate::recording::Recording;
use crate::row::{Extra, Origin, TraceRecord};
use crate::sink::{Sink, ends};
use crate::whole::WholeFile;

/// Bytes of text collected before they are written.
const TEXT_BYTES: usize = 256 << 10;
/// Longest row of text: fourteen columns, of which four may have 20 characters and the others 10.
const ROW_BYTES_MAX: usize = 256;

/// A trace that is being written.
///
/// A file appears when [`Writer::finish`] has returned, and not before: as a whole or not at all.
pub struct Writer {
    form: Form,
    /// What was said about the trace at its beginning, and what is to be said at its end.
    begun: Vec<Step>,
    steps: Vec<Step>,
    recording: Recording,
    requests: u64,
}

enum Form {
    Text(Box<Text>),
    Foreign(Box<Foreign>),
    Columns(Box<ColumnsWriter<WholeFile>>),
}

impl Writer {
    /// Begins a trace. `target` is `-` (standard output, text) or the name of a file: Parquet if it ends in `.parquet`,
    /// else text, compressed if it ends in `.zst` or `.gz`. `extra`: what requests carry
    /// besides the rest.
    ///
    /// # Errors
    /// The file cannot be made or written, or its name asks for a compression that is not written.
    pub fn create(target: &str, steps: &[Step], extra: Extra) -> io::Result<Self> {
        if ends(target, ".parquet") {
            let columns = ColumnsWriter::new(WholeFile::create(target)?, extra)?;
            return Ok(Self::begin(Form::Columns(Box::new(columns)), steps));
        }
        Ok(Self::begin(Form::Text(Box::new(Text::new(Sink::create(target)?, steps, extra)?)), steps))
    }

    /// Begins a trace in the format of another tool, in a file (compressed if its name ends in `.zst` or `.gz`) or, for `-`,
    /// on standard output. It says nothing of where the trace comes from.
    ///
    /// # Errors
    /// There is no such format, the file cannot be made, or its name asks for a compression that is not written.
    pub fn export(target: &str, format: &str) -> io::Result<Self> {
        let invalid = |problem| io::Error::new(io::ErrorKind::InvalidInput, problem);
        let mut export = detect::export(format).map_err(invalid)?;
        let mut bytes = Vec::with_capacity(TEXT_BYTES + ROW_BYTES_MAX);
        export.begin(&mut bytes);
        let foreign = Foreign { sink: Sink::create(target)?, export, bytes, first: None, lost: Lost::default() };
        Ok(Self::begin(Form::Foreign(Box::new(foreign)), &[]))
    }

    /// What the format had no place for so far, by kind.
    pub fn lost(&self) -> BTreeMap<String, u64> {
        match &self.form {
            Form::Foreign(foreign) => foreign.lost.counts(),
            Form::Text(_) | Form::Columns(_) => BTreeMap::new(),
        }
    }

    /// Begins a trace as text in any place.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(out: Box<dyn Write + Send>, steps: &[Step], extra: Extra) -> io::Result<Self> {
        Ok(Self::begin(Form::Text(Box::new(Text::new(Sink::Any(out), steps, extra)?)), steps))
    }

    fn begin(form: Form, steps: &[Step]) -> Self {
        Self { form, begun: steps.to_vec(), steps: steps.to_vec(), recording: Recording::default(), requests: 0 }
    }

    /// Adds a request.
    ///
    /// # Errors
    /// It cannot be written, or it has a number that readers would not believe ([`io::ErrorKind::InvalidInput`]).
    #[inline]
    pub fn write(&mut self, record: &TraceRecord) -> io::Result<()> {
        self.requests += 1;
        record
            .check()
            .map_err(|bad| io::Error::new(io::ErrorKind::InvalidInput, format!("request {}: {bad}", self.requests)))?;
        match &mut self.form {
            Form::Text(text) => text.write(record),
            Form::Columns(columns) => columns.write(record),
            Form::Foreign(foreign) => foreign.write(record, self.requests),
        }
    }

    /// Requests written so far.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Replaces the steps that the trace names, when they have counted what they did. Text has them at its beginning,
    /// too, as they were then.
    pub fn set_steps(&mut self, steps: Vec<Step>) {
        self.steps = steps;
    }

    /// Says what the files and call stacks are that the requests name.
    pub fn set_recording(&mut self, recording: Recording) {
        self.recording = recording;
    }

    /// Ends the trace: it is whole once this has returned.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(self) -> io::Result<()> {
        match self.form {
            Form::Columns(columns) => columns.finish(&self.steps, &self.recording)?.commit(),
            Form::Foreign(mut foreign) => {
                foreign.export.end(&mut foreign.bytes);
                foreign.sink.write_all(&foreign.bytes)?;
                foreign.sink.finish()
            }
            Form::Text(mut text) => {
                if self.steps != self.begun {
                    text.steps(&self.steps)?;
                }
                text.recording(&self.recording)?;
                text.finish()
            }
        }
    }
}

/// A trace in the format of another tool.
struct Foreign {
    sink: Sink,
    export: Box<dyn Export>,
    bytes: Vec<u8>,
    /// Time of the first request.
    first: Option<u64>,
    lost: Lost,
}

impl Foreign {
    fn write(&mut self, record: &TraceRecord, number: u64) -> io::Result<()> {
        let invalid =
            |problem: String| io::Error::new(io::ErrorKind::InvalidInput, format!("request {number}: {problem}"));
        let first = *self.first.get_or_insert(record.at.0);
        if record.at.0 < first && self.export.counts_from_first() {
            let problem =
                "it lies before the first, and times count from there; put rows in order: --sort-window 100000";
            return Err(invalid(problem.to_owned()));
        }
        let at = record.at.0.saturating_sub(first);
        self.lost.count(record, self.export.place());
        self.export.row(record, at, &mut self.bytes, &mut self.lost).map_err(invalid)?;
        if self.bytes.len() >= TEXT_BYTES {
            self.sink.write_all(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }
}

struct Text {
    sink: Sink,
    bytes: Vec<u8>,
    extra: Extra,
}

impl Text {
    fn new(sink: Sink, steps: &[Step], extra: Extra) -> io::Result<Self> {
        let mut text = Self { sink, bytes: Vec::with_capacity(TEXT_BYTES + ROW_BYTES_MAX), extra };
        writeln!(text.bytes, "{MAGIC}")?;
        text.steps(steps)?;
        writeln!(text.bytes, "{}", header(extra))?;
        Ok(text)
    }

    fn steps(&mut self, steps: &[Step]) -> io::Result<()> {
        for step in steps {
            writeln!(self.bytes, "# {}", serde_json::to_string(step).map_err(io::Error::other)?)?;
        }
        Ok(())
    }

    fn recording(&mut self, recording: &Recording) -> io::Result<()> {
        for entry in recording.entries() {
            writeln!(self.bytes, "# {}", serde_json::to_string(&entry).map_err(io::Error::other)?)?;
            if self.bytes.len() >= TEXT_BYTES {
                self.pass_on()?;
            }
        }
        Ok(())
    }

    #[inline]
    fn write(&mut self, record: &TraceRecord) -> io::Result<()> {
        let TraceRecord { at, offset, length, device, .. } = *record;
        self.number(at.0, b',');
        self.number(device, b',');
        self.bytes.extend_from_slice(&[op_letter(record.op), b',']);
        self.number(offset, b',');
        self.number(length, b',');
        if self.extra.latency {
            self.number(record.latency_ns, b',');
        }
        if self.extra.process {
            self.number(record.process, b',');
        }
        if self.extra.hints {
            let Hint { pattern, pc, run_pages, period, .. } = record.hint;
            self.number(pc, b',');
            self.bytes.extend_from_slice(&[pattern_letter(pattern), b',']);
            self.number(run_pages, b',');
            self.number(period, b',');
        }
        if self.extra.mappings {
            self.number(record.hint.mappings, b',');
        }
        if self.extra.origin {
            let Origin { file, file_page, stack } = record.origin;
            self.number(file, b',');
            self.number(file_page, b',');
            self.number(stack, b',');
        }
        if let Some(last) = self.bytes.last_mut() {
            *last = b'\n';
        }
        if self.bytes.len() >= TEXT_BYTES { self.pass_on() } else { Ok(()) }
    }

    #[inline]
    fn number(&mut self, number: impl itoa::Integer, after: u8) {
        self.bytes.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        self.bytes.push(after);
    }

    #[cold]
    fn pass_on(&mut self) -> io::Result<()> {
        self.sink.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.pass_on()?;
        self.sink.finish()
    }
}
