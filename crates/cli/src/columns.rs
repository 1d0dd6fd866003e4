//! The columns of a table that people see, and what they see of a value.

use nandlab_lab::{Cell, Column, Unit};

use crate::style::{factor, time};

/// Said below a table with a `!` in it.
pub const OVERLOADED: &str =
    "! overloaded: more than 1 % of the requests were waiting at the end; times grow with the trace\n";

/// What stands above a column for people: its name in the table, the heading, characters of a usual value.
pub type Above = (&'static str, &'static str, usize);

/// The columns that have a heading for people: place in a row, column, heading, characters of a usual value.
pub fn shown<'a>(
    columns: &'a [Column],
    above: &'static [Above],
) -> impl Iterator<Item = (usize, &'a Column, &'static str, usize)> {
    columns.iter().enumerate().filter_map(|(at, column)| {
        let (_, head, width) = above.iter().find(|(name, ..)| *name == column.name)?;
        Some((at, column, *head, *width))
    })
}

/// A value for people, `-` where there is none; `count` writes what has no unit of its own.
pub fn value(cell: &Cell, unit: Unit, count: fn(u64) -> String) -> String {
    let Some(number) = cell.number() else { return "-".to_owned() };
    match unit {
        Unit::Ratio => format!("{:.2}", number * 100.0),
        Unit::Factor => factor(Some(number)),
        Unit::Time => time(number),
        _ => count(number as u64),
    }
}
