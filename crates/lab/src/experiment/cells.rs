//! The results of an experiment by the names of its cells.

use std::collections::BTreeMap;
use std::fmt;

use nandlab::registry::nearest;
use nandlab::report::Report;
use serde::Serialize;

use crate::error::Error;

/// The results of an experiment by the names of its cells.
#[derive(Debug, Default, Serialize)]
pub struct Cells(pub(super) BTreeMap<String, Report>);

impl Cells {
    /// The report of a cell.
    ///
    /// # Errors
    /// There is none of this name; the help has the nearest one.
    pub fn get(&self, name: &str) -> Result<&Report, Error> {
        self.0.get(name).ok_or_else(|| unknown("cells", name, self.0.keys()))
    }

    /// The names of all cells with their reports.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Report)> {
        self.0.iter().map(|(name, report)| (name.as_str(), report))
    }

    /// A figure of the cells whose names have each of these values in the place of `{}` in a pattern.
    ///
    /// # Errors
    /// One of them does not exist.
    pub fn across<'n>(
        &self,
        pattern: &str,
        values: &[&'n str],
        figure: impl Fn(&Report) -> f64,
    ) -> Result<Vec<(&'n str, f64)>, Error> {
        values.iter().map(|value| Ok((*value, figure(self.get(&pattern.replace("{}", value))?)))).collect()
    }
}

/// A name at `key` that is none of the known ones.
pub(crate) fn unknown(key: &str, name: &str, known: impl IntoIterator<Item = impl fmt::Display>) -> Error {
    let known: Vec<String> = known.into_iter().map(|name| name.to_string()).collect();
    let help = match nearest(name, &known) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.len() <= 20 => format!("use one of {}", known.join(", ")),
        None => format!("use one of {} and {} others", known[..20].join(", "), known.len() - 20),
    };
    Error::input(format!("{key}: there is no `{name}`"), help)
}
