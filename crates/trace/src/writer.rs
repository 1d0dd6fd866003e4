//! Writes traces in our own two forms: text for pipes and for people (see the format `nandlab`), columns for keeping
//! (see `parquet`).

use std::io::{self, Write};

use flate2::write::GzEncoder;
use nandlab::types::Hint;

use crate::columns::ColumnsWriter;
use crate::formats::nandlab::{COLUMNS, MAGIC, op_letter, pattern_letter};
use crate::provenance::Step;
use crate::row::TraceRecord;
use crate::whole::WholeFile;

/// Bytes of text collected before they are written.
const TEXT_BYTES: usize = 256 << 10;
/// Longest row of text: nine columns of at most 20 characters.
const ROW_BYTES_MAX: usize = 256;
/// The level of `zstd` on the command line.
const ZSTD_LEVEL: i32 = 3;

/// A trace that is being written.
///
/// A file appears when [`Writer::finish`] has returned, and not before: as a whole or not at all.
pub struct Writer {
    form: Form,
    /// What was said about the trace at its beginning, and what is to be said at its end.
    begun: Vec<Step>,
    steps: Vec<Step>,
    requests: u64,
}

enum Form {
    Text(Box<Text>),
    Columns(Box<ColumnsWriter<WholeFile>>),
}

impl Writer {
    /// Begins a trace. `target` is `-` (standard output, text) or the name of a file: Parquet if it ends in `.parquet`,
    /// else text, compressed if it ends in `.zst` or `.gz`. `hints`: whether requests carry what the host tells.
    ///
    /// # Errors
    /// The file cannot be made or written, or its name asks for a compression that is not written.
    pub fn create(target: &str, steps: &[Step], hints: bool) -> io::Result<Self> {
        let ends = |ending: &str| target.len() > ending.len() && target.to_ascii_lowercase().ends_with(ending);
        if ["bz2", "xz", "lz4", "zip", "7z", "parquet.gz", "parquet.zst"].iter().any(|e| ends(&format!(".{e}"))) {
            let problem = "written are .parquet (compressed inside), text, and text with .zst or .gz at the end";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        if ends(".parquet") {
            let columns = ColumnsWriter::new(WholeFile::create(target)?, hints)?;
            return Ok(Self::begin(Form::Columns(Box::new(columns)), steps));
        }
        let sink = match target {
            "-" => Sink::Any(Box::new(io::stdout())),
            _ if ends(".zst") => Sink::Zstd(zstd::Encoder::new(WholeFile::create(target)?, ZSTD_LEVEL)?),
            _ if ends(".gz") => Sink::Gzip(GzEncoder::new(WholeFile::create(target)?, flate2::Compression::default())),
            _ => Sink::File(WholeFile::create(target)?),
        };
        Ok(Self::begin(Form::Text(Box::new(Text::new(sink, steps, hints)?)), steps))
    }

    /// Begins a trace as text in any place.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(out: Box<dyn Write + Send>, steps: &[Step], hints: bool) -> io::Result<Self> {
        Ok(Self::begin(Form::Text(Box::new(Text::new(Sink::Any(out), steps, hints)?)), steps))
    }

    fn begin(form: Form, steps: &[Step]) -> Self {
        Self { form, begun: steps.to_vec(), steps: steps.to_vec(), requests: 0 }
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

    /// Ends the trace: it is whole once this has returned.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(self) -> io::Result<()> {
        match self.form {
            Form::Columns(columns) => columns.finish(&self.steps)?.commit(),
            Form::Text(mut text) => {
                if self.steps != self.begun {
                    text.steps(&self.steps)?;
                }
                text.finish()
            }
        }
    }
}

/// Where text goes.
enum Sink {
    Any(Box<dyn Write + Send>),
    File(WholeFile),
    Zstd(zstd::Encoder<'static, WholeFile>),
    Gzip(GzEncoder<WholeFile>),
}

impl Sink {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Any(out) => out.write_all(bytes),
            Self::File(out) => out.write_all(bytes),
            Self::Zstd(out) => out.write_all(bytes),
            Self::Gzip(out) => out.write_all(bytes),
        }
    }
    fn finish(self) -> io::Result<()> {
        match self {
            Self::Any(mut out) => out.flush(),
            Self::File(out) => out.commit(),
            Self::Zstd(out) => out.finish()?.commit(),
            Self::Gzip(out) => out.finish()?.commit(),
        }
    }
}

struct Text {
    sink: Sink,
    bytes: Vec<u8>,
    hints: bool,
}

impl Text {
    fn new(sink: Sink, steps: &[Step], hints: bool) -> io::Result<Self> {
        let mut text = Self { sink, bytes: Vec::with_capacity(TEXT_BYTES + ROW_BYTES_MAX), hints };
        writeln!(text.bytes, "{MAGIC}")?;
        text.steps(steps)?;
        writeln!(text.bytes, "{}", COLUMNS[usize::from(hints)])?;
        Ok(text)
    }

    fn steps(&mut self, steps: &[Step]) -> io::Result<()> {
        for step in steps {
            writeln!(self.bytes, "# {}", serde_json::to_string(step).map_err(io::Error::other)?)?;
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
        self.number(length, if self.hints { b',' } else { b'\n' });
        if self.hints {
            let Hint { pattern, pc, run_pages, period } = record.hint;
            self.number(pc, b',');
            self.bytes.extend_from_slice(&[pattern_letter(pattern), b',']);
            self.number(run_pages, b',');
            self.number(period, b'\n');
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
