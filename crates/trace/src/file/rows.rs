//! Where the rows of a file come from: lines, binary records, columns or a generator.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parquet::errors::ParquetError;

use super::Common;
use crate::buffer::{Buffer, Failure};
use crate::columns::Columns;
use crate::error::{Place, TraceError};
use crate::event::Events;
use crate::generators;
use crate::input::Compression;
use crate::lines::Lines;
use crate::provenance::About;
use crate::registry::{BinaryParser, Parser};
use crate::unit::TimeUnit;

/// Where rows come from.
pub(super) enum Rows {
    Lines(Lines),
    Binary(Box<dyn BinaryParser>, Buffer),
    Columns(Box<Columns>),
    /// Not read at all.
    Made(generators::RequestStream),
}

impl Rows {
    /// The rows of an opened source, and the place before the first.
    pub(super) fn new(
        parser: Parser,
        mut buffer: Buffer,
        name: &Arc<str>,
        compression: Option<Compression>,
        taken: &Arc<AtomicU64>,
        common: &Common,
    ) -> Result<(Self, Place), TraceError> {
        let head = buffer.peek().map_err(|error| broken(name, compression, Place::Byte(0), error.into()))?;
        Ok(match parser {
            Parser::Text(mut parser) => {
                let marked = head.starts_with(b"\xEF\xBB\xBF");
                parser.told(&common.options);
                parser.begin(&head[if marked { 3 } else { 0 }..]);
                if marked {
                    let _byte_order_mark = buffer.record(3, "byte order mark");
                }
                (Self::Lines(Lines::new(parser, buffer)), Place::Line(0))
            }
            Parser::Binary(mut parser) => {
                parser.told(&common.options);
                (Self::Binary(parser, buffer), Place::Byte(0))
            }
            Parser::Columns => {
                let seekable = compression.is_none() && std::fs::metadata(&**name).is_ok_and(|data| data.is_file());
                if !seekable {
                    return Err(TraceError::NeedsFile { name: name.to_string() });
                }
                let file = File::open(&**name).map_err(|source| TraceError::Open { name: name.to_string(), source })?;
                let columns = Columns::open(file, Arc::clone(taken));
                let columns = columns.map_err(|error| broken(name, None, Place::Row(0), error))?;
                (Self::Columns(Box::new(columns)), Place::Row(0))
            }
        })
    }

    pub(super) fn events(&mut self) -> Option<&mut Events> {
        match self {
            Self::Lines(lines) => lines.parser.events(),
            Self::Binary(parser, _) => parser.events(),
            Self::Columns(_) | Self::Made(_) => None,
        }
    }

    pub(super) fn has_objects(&self) -> bool {
        match self {
            Self::Lines(lines) => lines.parser.has_objects(),
            Self::Binary(parser, _) => parser.has_objects(),
            Self::Columns(_) | Self::Made(_) => false,
        }
    }

    pub(super) fn time_is_told(&self) -> bool {
        match self {
            Self::Lines(lines) => lines.parser.time_is_told(),
            Self::Binary(parser, _) => parser.time_is_told(),
            Self::Columns(_) | Self::Made(_) => true,
        }
    }

    pub(super) fn time_unit(&mut self) -> Option<&mut TimeUnit> {
        match self {
            Self::Lines(lines) => lines.parser.time_unit(),
            Self::Binary(parser, _) => parser.time_unit(),
            Self::Columns(_) | Self::Made(_) => None,
        }
    }

    pub(super) fn about(&self) -> &About {
        match self {
            Self::Lines(lines) => lines.parser.about(),
            Self::Binary(..) | Self::Made(_) => About::NOTHING,
            Self::Columns(columns) => columns.about(),
        }
    }
}

/// What the failure is to the reader of the trace.
#[cold]
pub(super) fn broken(name: &str, compression: Option<Compression>, place: Place, failure: Failure) -> TraceError {
    let name = name.to_owned();
    let source = match failure {
        Failure::Bad(row) => return TraceError::Row { name, place, row },
        Failure::NoTrace(problem) => return TraceError::NoTrace { name, problem },
        Failure::Altered(what) => return TraceError::Altered { name, what },
        Failure::Columns(ParquetError::External(source)) => match source.downcast::<io::Error>() {
            // What a decompressor says has no number of the system.
            Ok(source) if source.raw_os_error().is_some() => *source,
            Ok(source) => return TraceError::DamagedColumns { name, place, problem: source.to_string() },
            Err(other) => return TraceError::DamagedColumns { name, place, problem: other.to_string() },
        },
        Failure::Columns(ParquetError::NYI(problem)) => return TraceError::UnreadColumns { name, problem },
        Failure::Columns(error) => return TraceError::DamagedColumns { name, place, problem: error.to_string() },
        Failure::Io(source) => source,
    };
    match compression.map(Compression::name) {
        None => TraceError::Read { name, place, source },
        Some(compression) if source.kind() == io::ErrorKind::UnexpectedEof => {
            TraceError::CutOff { name, compression, place }
        }
        Some(compression) => TraceError::Corrupt { name, compression, place, source },
    }
}
