//! Conformance: replays golden files against the plug-ins of the registry.
//!
//! A golden file holds worked examples in a form that any simulator can replay: operations, what each must cost, and
//! the state at the end; or tables of what formulas give. [`run`] recognises the kind of a file and returns every
//! difference it finds.

mod bench;
mod compressed;
mod counters;
mod formulas;
mod ftl;
mod map_cache;
mod policy;
mod replicas;
mod tables;
mod timing;

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What a golden file is about.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GoldenKind {
    /// A flash translation layer (schema `ftl-golden/1`).
    Ftl(String),
    /// A buffer policy (schema 1).
    Policy(String),
    /// URM's compressed mapping table alone (schema `ftl-golden/1`).
    CompressedTable,
    /// Finishing times of flash operations (schema `flash-timing/1`).
    Timing,
    /// The printed tables of HitStat (schema `paper-table/1`).
    PaperTables,
    /// Values of the papers' formulas (schema 1).
    Formulas,
}

/// Why a file cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ConformError {
    /// Not JSON, or not of the shape its schema promises.
    #[error("not a readable golden file: {0}")]
    Malformed(#[from] serde_json::Error),
    /// A field is missing, unknown or of the wrong kind.
    #[error("not of the shape of its schema: {place}: {problem}")]
    Shape {
        /// The field, such as `cases[2].device.pages_per_block`.
        place: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Readable, but of a kind that this version has no replay for.
    #[error("not a golden file this version can replay: {0}")]
    Unsupported(String),
    /// The plug-in it is about is not in the registry.
    #[error("{0}")]
    Unknown(crate::error::ConfigError),
    /// A case cannot be built.
    #[error("case `{case}`: {error}")]
    Config {
        /// Name of the case.
        case: String,
        /// What is wrong with its device or parameters.
        error: crate::error::ConfigError,
    },
}

/// One point where a plug-in does not do what the file says.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Mismatch {
    /// Name of the case.
    pub case: String,
    /// Number of the operation from 1; absent for the state at the end of the case.
    pub step: Option<usize>,
    /// The operation, as in the file, or what of the final state is compared.
    pub op: String,
    /// What the file says.
    pub expected: Value,
    /// What the plug-in did.
    pub got: Value,
    /// Its state at that moment, in a line.
    pub state: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = self.step.map_or("at the end".to_owned(), |n| format!("step {n}"));
        let Self { case, op, expected, got, state, .. } = self;
        write!(f, "{case}, {step}, {op}: expected {expected}, got {got} ({state})")
    }
}

/// Outcome of a replay.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Conformance {
    /// What the file is about.
    pub kind: GoldenKind,
    /// Cases replayed.
    pub cases: usize,
    /// Operations replayed.
    pub steps: usize,
    /// All differences, in order.
    pub differences: Vec<Mismatch>,
}

/// Recognises a golden file.
///
/// # Errors
/// When it is not JSON or of no known kind.
pub fn read(text: &str) -> Result<GoldenKind, ConformError> {
    kind_of(&serde_json::from_str(text)?)
}

/// Replays a golden file.
///
/// # Errors
/// When it cannot be replayed at all; what a replay finds is in the report.
pub fn run(text: &str) -> Result<Conformance, ConformError> {
    let file: Value = serde_json::from_str(text)?;
    match kind_of(&file)? {
        GoldenKind::Ftl(name) => ftl::run(&name, file),
        GoldenKind::Policy(name) => policy::run(&name, file),
        GoldenKind::CompressedTable => compressed::run(file),
        GoldenKind::Timing => timing::run(file),
        GoldenKind::PaperTables => tables::run(file),
        GoldenKind::Formulas => formulas::run(file),
    }
}

fn kind_of(file: &Value) -> Result<GoldenKind, ConformError> {
    let text = |key: &str| file.get(key).and_then(Value::as_str).map(str::to_owned);
    match (&file["schema"], text("ftl"), text("policy")) {
        (Value::String(schema), Some(ftl), _) if schema == "ftl-golden/1" && ftl == compressed::NAME => {
            Ok(GoldenKind::CompressedTable)
        }
        (Value::String(schema), Some(ftl), _) if schema == "ftl-golden/1" => Ok(GoldenKind::Ftl(ftl)),
        (Value::String(schema), ..) if schema == "flash-timing/1" => Ok(GoldenKind::Timing),
        (Value::String(schema), ..) if schema == "paper-table/1" => Ok(GoldenKind::PaperTables),
        (Value::Number(schema), _, Some(policy)) if schema.as_u64() == Some(1) => Ok(GoldenKind::Policy(policy)),
        (Value::Number(schema), ..)
            if schema.as_u64() == Some(1) && formulas::SECTIONS.iter().any(|s| file.get(s).is_some()) =>
        {
            Ok(GoldenKind::Formulas)
        }
        (schema, _, _) => Err(ConformError::Unsupported(format!(
            "schema {schema}; known are \"ftl-golden/1\" with `ftl`, \"flash-timing/1\", \"paper-table/1\", and 1 with \
             `policy` or one of {}",
            formulas::SECTIONS.join(", ")
        ))),
    }
}

/// Reads a part of a file; an error names the field behind `place`.
fn parse<T: DeserializeOwned>(place: &str, value: Value) -> Result<T, ConformError> {
    crate::registry::typed(value).map_err(|misfit| {
        let place = match (place, misfit.path.as_str()) {
            ("", path) => path.to_owned(),
            (place, ".") => place.to_owned(),
            (place, path) if path.starts_with('[') => format!("{place}{path}"),
            (place, path) => format!("{place}.{path}"),
        };
        ConformError::Shape { place, problem: misfit.problem }
    })
}

impl Conformance {
    const fn new(kind: GoldenKind) -> Self {
        Self { kind, cases: 0, steps: 0, differences: Vec::new() }
    }

    /// The next row of a table, `told` as in the file.
    fn row<'a>(&'a mut self, case: &'a str, step: usize, told: impl Serialize) -> Row<'a> {
        self.steps += 1;
        Row { report: self, case, step, told: json!(told).to_string() }
    }
}

/// A row of a table: fields that are compared.
struct Row<'a> {
    report: &'a mut Conformance,
    case: &'a str,
    step: usize,
    told: String,
}

impl Row<'_> {
    fn note(&mut self, field: &str, expected: Value, got: Value) {
        let (case, op, state) = (self.case.to_owned(), field.to_owned(), self.told.clone());
        self.report.differences.push(Mismatch { case, step: Some(self.step), op, expected, got, state });
    }
    /// Both must be equal.
    fn exact(&mut self, field: &str, expected: impl Serialize, got: impl Serialize) {
        let (expected, got) = (json!(expected), json!(got));
        if expected != got {
            self.note(field, expected, got);
        }
    }
    /// Both must be equal except for a rounding of `within`.
    fn close(&mut self, field: &str, expected: f64, got: f64, within: f64) {
        let is_same = (expected - got).abs() <= within;
        if !is_same {
            self.note(field, json!(expected), json!(got));
        }
    }
}
