//! Traces in memory: the columns of a table, read where they lie.
//!
//! A row is a request. Columns are named as in the files of nandlab: `offset` and `length` in bytes, or `lba` and `sectors` of
//! 512 bytes; `op` (letters R, W, D, F as text or as their codes) or `write` (true or false), else all are writes; `time_ns`,
//! `device`, `latency_ns`, `process`, `pattern` (letters s, l, c, r as text or as their codes), `pc`, `run_pages`,
//! `period` and `mappings` if there are such.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::DataType;
use nandlab::types::{Hint, HostOp, Nanos, Pattern, SECTOR_BYTES};
use nandlab_trace::generators::RequestStream;
use nandlab_trace::{ADDRESS_BYTES_MAX, Extra, MemoryRows, MemoryTrace, Origin, REQUEST_BYTES_MAX, TraceRecord};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrow;
use crate::numpy_array;

/// The columns that are known.
pub const NAMES: [&str; 15] = [
    "time_ns",
    "device",
    "op",
    "write",
    "offset",
    "length",
    "lba",
    "sectors",
    "latency_ns",
    "process",
    "pc",
    "run_pages",
    "period",
    "pattern",
    "mappings",
];

/// A part of the rows: for each of [`NAMES`] its values, if there are any.
struct Chunk {
    rows: usize,
    columns: [Option<ArrayRef>; NAMES.len()],
}

/// The rows of a table.
struct Columns {
    chunks: Vec<Chunk>,
    extra: Extra,
}

/// A trace in memory, for a run.
#[pyclass(frozen, module = "nandlab._native")]
pub struct Memory(pub MemoryTrace);

#[pymethods]
impl Memory {
    /// By what the trace is named among paths.
    #[getter]
    fn path(&self) -> &str {
        self.0.path()
    }
}

/// Takes a table that has `__arrow_c_stream__`, or a dict of one-dimensional arrays of `NumPy`.
///
/// # Errors
/// A column is missing, too long, of another type, or has an impossible value; the text names it.
#[pyfunction]
pub fn memory(py: Python<'_>, table: &Bound<'_, PyAny>) -> PyResult<Memory> {
    let mut chunks = Vec::new();
    if let Ok(dict) = table.cast::<PyDict>() {
        let mut given: Vec<(String, ArrayRef)> = Vec::new();
        for (name, array) in dict.iter() {
            let name: String = name.extract()?;
            given.push((name.clone(), numpy_array::read(&name, &array)?));
        }
        chunks.push(chunk(&given)?);
    } else {
        let (schema, batches) = arrow::import(table)?;
        let names: Vec<&String> = schema.fields().iter().map(|field| field.name()).collect();
        for batch in batches {
            let given: Vec<_> = names.iter().map(|name| (*name).clone()).zip(batch.columns().iter().cloned()).collect();
            chunks.push(chunk(&given)?);
        }
    }
    let has = |name: &str| chunks.iter().any(|chunk| chunk.columns[at(name)].is_some());
    let extra = Extra {
        latency: has("latency_ns"),
        process: has("process"),
        hints: has("pattern") || has("pc") || has("run_pages") || has("period"),
        mappings: has("mappings"),
        origin: false,
    };
    let columns = Columns { chunks, extra };
    py.detach(|| columns.check()).map_err(PyValueError::new_err)?;
    Ok(Memory(MemoryTrace::new("columns", Arc::new(Shared(Arc::new(columns))))))
}

/// The place of a column.
fn at(name: &str) -> usize {
    NAMES.iter().position(|known| *known == name).unwrap_or(NAMES.len())
}

/// Puts columns in their places.
fn chunk(given: &[(String, ArrayRef)]) -> PyResult<Chunk> {
    let mut columns: [Option<ArrayRef>; NAMES.len()] = Default::default();
    let mut rows = None;
    for (name, array) in given {
        if *rows.get_or_insert(array.len()) != array.len() {
            let (other, first) = (array.len(), rows.unwrap_or_default());
            return Err(PyValueError::new_err(format!(
                "trace[{name:?}]: {other} rows, and the first column has {first}"
            )));
        }
        // Other columns are the user's own affair.
        let Some(place) = columns.get_mut(at(name)) else { continue };
        if array.logical_null_count() > 0 {
            let problem = format!(
                "trace[{name:?}]: {} values are missing (null); fill them in or leave the rows out",
                array.logical_null_count()
            );
            return Err(PyValueError::new_err(problem));
        }
        let array = written_out(array);
        check_type(name, &array)?;
        if place.replace(array).is_some() {
            return Err(PyValueError::new_err(format!("trace[{name:?}]: there are two columns of this name")));
        }
    }
    let has = |name: &str| columns[at(name)].is_some();
    for (one, other) in [("offset", "lba"), ("length", "sectors"), ("op", "write")] {
        if has(one) && has(other) {
            return Err(PyValueError::new_err(format!("trace: both {one:?} and {other:?} are there: leave one out")));
        }
        if !has(one) && !has(other) && one != "op" {
            let names: Vec<&String> = given.iter().map(|(name, _)| name).collect();
            let problem = format!("trace: there is no column {one:?} (bytes) or {other:?} (512 bytes), only {names:?}");
            return Err(PyValueError::new_err(problem));
        }
    }
    Ok(Chunk { rows: rows.unwrap_or(0), columns })
}

/// A dictionary of text without nulls row by row, as Arrow has categories; any other column as it is.
fn written_out(array: &ArrayRef) -> ArrayRef {
    let Some(dictionary) = array.as_any_dictionary_opt().filter(|dictionary| !dictionary.is_empty()) else {
        return Arc::clone(array);
    };
    let values = dictionary.values();
    let texts: Vec<&str> = match values.data_type() {
        DataType::Utf8 => values.as_string::<i32>().iter().map(Option::unwrap_or_default).collect(),
        DataType::LargeUtf8 => values.as_string::<i64>().iter().map(Option::unwrap_or_default).collect(),
        DataType::Utf8View => values.as_string_view().iter().map(Option::unwrap_or_default).collect(),
        _ => return Arc::clone(array),
    };
    Arc::new(StringArray::from_iter_values(dictionary.normalized_keys().into_iter().map(|key| texts[key])))
}

fn check_type(name: &str, array: &ArrayRef) -> PyResult<()> {
    let kind = array.data_type();
    let fits = match name {
        "op" | "pattern" => {
            kind.is_integer() || matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        }
        "write" => kind.is_integer() || *kind == DataType::Boolean,
        _ => kind.is_integer(),
    };
    if fits {
        return Ok(());
    }
    let wanted = match name {
        "op" => "text (R, W, D, F) or the codes of these letters",
        "pattern" => "text (s, l, c, r) or the codes of these letters",
        "write" => "true or false",
        _ => "whole numbers",
    };
    Err(PyTypeError::new_err(format!("trace[{name:?}]: its type is {kind}, and {wanted} are needed")))
}

/// A number of a column; negative ones as the huge numbers that no column allows.
fn number(array: &ArrayRef, row: usize) -> u64 {
    match array.data_type() {
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row) as u64,
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).into(),
        DataType::Int32 => i64::from(array.as_primitive::<Int32Type>().value(row)) as u64,
        DataType::UInt16 => array.as_primitive::<UInt16Type>().value(row).into(),
        DataType::Int16 => i64::from(array.as_primitive::<Int16Type>().value(row)) as u64,
        DataType::UInt8 => array.as_primitive::<UInt8Type>().value(row).into(),
        DataType::Int8 => i64::from(array.as_primitive::<Int8Type>().value(row)) as u64,
        DataType::Boolean => array.as_boolean().value(row).into(),
        DataType::Utf8 => letter(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => letter(array.as_string::<i64>().value(row)),
        DataType::Utf8View => letter(array.as_string_view().value(row)),
        _ => unreachable!("types are checked"),
    }
}

/// The only letter of a text.
fn letter(text: &str) -> u64 {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) => u64::from(u32::from(letter)),
        _ => 0,
    }
}

/// What the code of a letter asks for.
fn operation(code: u64) -> Option<HostOp> {
    match u8::try_from(code).ok()?.to_ascii_uppercase() {
        b'R' => Some(HostOp::Read),
        b'W' => Some(HostOp::Write),
        b'D' => Some(HostOp::Trim),
        b'F' => Some(HostOp::Flush),
        _ => None,
    }
}

/// What the code of a letter says of a pattern.
fn pattern(code: u64) -> Option<Pattern> {
    match u8::try_from(code).ok()? {
        b's' => Some(Pattern::Sequential),
        b'l' => Some(Pattern::Looping),
        b'c' => Some(Pattern::ClusteredHot),
        b'r' => Some(Pattern::Random),
        _ => None,
    }
}

/// Its numbers have a sign.
fn is_signed(array: &ArrayRef) -> bool {
    array.data_type().is_signed_integer()
}

impl Chunk {
    fn get(&self, name: usize, row: usize) -> Option<u64> {
        self.columns[name].as_ref().map(|array| number(array, row))
    }

    /// A row.
    ///
    /// # Errors
    /// The column whose value is impossible, with the value.
    fn record(&self, row: usize) -> Result<TraceRecord, (usize, u64)> {
        let get = |name: usize| self.get(name, row);
        let within = |name: usize, most: u64| match get(name) {
            Some(value) if value > most => Err((name, value)),
            value => Ok(value),
        };
        let scaled = |bytes: usize, sectors: usize, most: u64| match within(bytes, most)? {
            Some(value) => Ok(value),
            None => Ok(within(sectors, most / SECTOR_BYTES)?.unwrap_or(0) * SECTOR_BYTES),
        };
        let small = |name: usize| Ok(within(name, u64::from(u32::MAX))?.unwrap_or(0) as u32);
        let op = match (get(2), within(3, 1)?) {
            (Some(code), _) => operation(code).ok_or((2, code))?,
            (None, Some(0)) => HostOp::Read,
            (None, _) => HostOp::Write,
        };
        let pattern = match get(13) {
            Some(code) => pattern(code).ok_or((13, code))?,
            None => Pattern::default(),
        };
        // Times of Windows begin in 1601 and need all bits.
        let latest = if self.columns[0].as_ref().is_some_and(is_signed) { i64::MAX as u64 } else { u64::MAX };
        let mappings = within(14, u64::from(u16::MAX))?.unwrap_or(0) as u16;
        let hint = Hint { pattern, pc: small(10)?, run_pages: small(11)?, period: small(12)?, mappings };
        Ok(TraceRecord {
            at: Nanos(within(0, latest)?.unwrap_or(0)),
            device: within(1, u64::from(u32::MAX) - 1)?.unwrap_or(0) as u32,
            op,
            offset: scaled(4, 6, ADDRESS_BYTES_MAX - REQUEST_BYTES_MAX)?,
            length: scaled(5, 7, REQUEST_BYTES_MAX)? as u32,
            latency_ns: within(8, i64::MAX as u64)?.unwrap_or(0),
            process: small(9)?,
            hint,
            origin: Origin::default(),
        })
    }
}

impl Columns {
    /// Looks at all values once.
    fn check(&self) -> Result<(), String> {
        let mut before = 0;
        for chunk in &self.chunks {
            for row in 0..chunk.rows {
                if let Err((name, value)) = chunk.record(row) {
                    let signed = chunk.columns[name].as_ref().is_some_and(is_signed);
                    let (name, row) = (NAMES[name], before + row);
                    let shown = if signed { value.cast_signed().to_string() } else { value.to_string() };
                    return Err(format!("trace[{name:?}], row {row}: {shown} is impossible: {}", allowed(name)));
                }
            }
            before += chunk.rows;
        }
        Ok(())
    }
}

/// What a column may have, in words.
fn allowed(name: &str) -> &'static str {
    match name {
        "op" => "R(ead), W(rite), D(iscard) or F(lush), as text or as the codes of these letters",
        "pattern" => "s(equential), l(ooping), c(lustered hot) or r(andom), as text or as the codes of these letters",
        "write" => "0 (a read) or 1 (a write)",
        "offset" => "bytes, 0 to 2^63 - 2^30 - 1",
        "lba" => "sectors of 512 bytes, 0 to 2^54 - 2^21 - 1",
        "length" => "bytes, 0 to 2^30",
        "sectors" => "sectors of 512 bytes, 0 to 2^21",
        "time_ns" => "nanoseconds, 0 to 2^64 - 1",
        "latency_ns" => "nanoseconds, 0 to 2^63 - 1",
        "device" => "0 to 2^32 - 2",
        "mappings" => "0 to 2^16 - 1",
        _ => "0 to 2^32 - 1",
    }
}

/// Rows of which streams are made.
struct Shared(Arc<Columns>);

impl MemoryRows for Shared {
    fn rows(&self) -> u64 {
        self.0.chunks.iter().map(|chunk| chunk.rows as u64).sum()
    }
    fn extra(&self) -> Extra {
        self.0.extra
    }
    fn stream(&self) -> RequestStream {
        let columns = Arc::clone(&self.0);
        let (mut part, mut row) = (0, 0);
        Box::new(std::iter::from_fn(move || {
            loop {
                let chunk = columns.chunks.get(part)?;
                if row == chunk.rows {
                    (part, row) = (part + 1, 0);
                    continue;
                }
                row += 1;
                // What was possible when the table was taken and is not now was changed meanwhile: it ends there.
                return chunk.record(row - 1).ok();
            }
        }))
    }
}
