//! Conformance: replays golden files against the plug-ins of the registry.
//!
//! A golden file holds worked examples in a form that any simulator can replay: operations, what each must cost, and
//! the state at the end. [`run`] recognises the kind of a file and returns every difference it finds.

pub mod ftl;
mod map_cache;
pub mod policy;

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// What a golden file is about.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A flash translation layer (schema `ftl-golden/1`).
    Ftl(String),
    /// A buffer policy (schema 1).
    Policy(String),
}

/// Why a file cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ConformError {
    /// Not JSON, or not of the shape its schema promises.
    #[error("not a readable golden file: {0}")]
    Malformed(#[from] serde_json::Error),
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
pub struct Difference {
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

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = self.step.map_or("at the end".to_owned(), |n| format!("step {n}"));
        let Self { case, op, expected, got, state, .. } = self;
        write!(f, "{case}, {step}, {op}: expected {expected}, got {got} ({state})")
    }
}

/// Outcome of a replay.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// What the file is about.
    pub kind: Kind,
    /// Cases replayed.
    pub cases: usize,
    /// Operations replayed.
    pub steps: usize,
    /// All differences, in order.
    pub differences: Vec<Difference>,
}

/// Recognises a golden file.
///
/// # Errors
/// When it is not JSON or of no known kind.
pub fn read(text: &str) -> Result<Kind, ConformError> {
    kind_of(&serde_json::from_str(text)?)
}

/// Replays a golden file.
///
/// # Errors
/// When it cannot be replayed at all; what a replay finds is in the report.
pub fn run(text: &str) -> Result<Report, ConformError> {
    let file: Value = serde_json::from_str(text)?;
    match kind_of(&file)? {
        Kind::Ftl(name) => ftl::run(&name, file),
        Kind::Policy(name) => policy::run(&name, file),
    }
}

fn kind_of(file: &Value) -> Result<Kind, ConformError> {
    let text = |key: &str| file.get(key).and_then(Value::as_str).map(str::to_owned);
    match (&file["schema"], text("ftl"), text("policy")) {
        (Value::String(schema), Some(ftl), _) if schema == "ftl-golden/1" => Ok(Kind::Ftl(ftl)),
        (Value::Number(schema), _, Some(policy)) if schema.as_u64() == Some(1) => Ok(Kind::Policy(policy)),
        (schema, _, _) => Err(ConformError::Unsupported(format!("schema {schema}"))),
    }
}
