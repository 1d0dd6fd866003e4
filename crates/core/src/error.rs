//! Errors of configurations.

use std::fmt;

/// A configuration that cannot be built: which key, what is wrong, how to fix it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// File the key came from, if any.
    pub file: Option<String>,
    /// Dotted path of the key, for example `ftl.log_blocks`.
    pub key: String,
    /// What is wrong, with the value and the allowed range.
    pub problem: String,
    /// What to do about it.
    pub help: String,
}

impl ConfigError {
    /// An error about `key`.
    pub fn new(key: impl Into<String>, problem: impl Into<String>, help: impl Into<String>) -> Self {
        Self { file: None, key: key.into(), problem: problem.into(), help: help.into() }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        write!(f, "{}: {}", self.key, self.problem)?;
        if !self.help.is_empty() {
            write!(f, "\n  help: {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}
