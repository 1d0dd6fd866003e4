//! Tables of results: rows of values under named columns with units.

use std::fmt;

/// What the values of a column are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// A name or a message.
    Text,
    /// True or false.
    Flag,
    /// How many.
    Count,
    /// Bytes.
    Bytes,
    /// A share, 1 for all.
    Ratio,
    /// How many times.
    Factor,
    /// Nanoseconds.
    Time,
}

/// Which values of a column are good.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Good {
    /// High ones.
    High,
    /// Low ones.
    Low,
    /// They cannot be compared.
    Neither,
}

/// A column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// Its name, as in the first line of comma-separated values.
    pub name: &'static str,
    /// What its values are.
    pub unit: Unit,
    /// Which of them are good.
    pub good: Good,
}

impl Column {
    pub(crate) const fn new(name: &'static str, unit: Unit, good: Good) -> Self {
        Self { name, unit, good }
    }
    /// A column whose values cannot be compared.
    pub(crate) const fn plain(name: &'static str, unit: Unit) -> Self {
        Self::new(name, unit, Good::Neither)
    }
}

/// A value. Its text is exact: what comma-separated values have.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell {
    /// A name or a message.
    Text(String),
    /// True or false.
    Flag(bool),
    /// Any number.
    Number(f64),
    /// There is none.
    Absent,
}

impl Cell {
    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        if let Self::Number(value) = self { Some(*value) } else { None }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Flag(flag) => flag.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Absent => Ok(()),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
impl From<bool> for Cell {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}
impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Number(count as f64)
    }
}
impl From<u32> for Cell {
    fn from(count: u32) -> Self {
        Self::Number(f64::from(count))
    }
}
impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}
impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

/// A table: rows of as many cells as there are columns.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}
