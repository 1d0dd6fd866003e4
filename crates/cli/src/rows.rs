//! Rows of a table, printed one after the other while the next ones are still at work: for people, as Markdown or as
//! comma-separated values.

use nandlab_lab::{Cell, Column, Table, csv_line};

use crate::args::OutputArgs;
use crate::fail::Failure;
use crate::progress::Progress;
use crate::style::{Layout, Style};

/// A form of tables on standard output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// For people.
    Text,
    /// For papers and READMEs.
    Markdown,
    /// For machines: exact numbers.
    Csv,
}

impl Form {
    /// The form that was asked for; `None` when standard output gets no table. What was asked for by name is printed, with
    /// `--quiet` too; `plot` names the option that draws on standard output.
    ///
    /// # Errors
    /// Two options want standard output.
    pub fn of(output: &OutputArgs, plot: Option<&str>) -> Result<Option<Self>, Failure> {
        let json = (output.json.as_deref() == Some("-")).then_some("--json -");
        if let (Some(plot), Some(json)) = (plot, json) {
            return Err(both(plot, json));
        }
        let asked = match (output.csv, output.markdown) {
            (true, _) => Some((Self::Csv, "--csv")),
            (_, true) => Some((Self::Markdown, "--markdown")),
            _ => None,
        };
        match (asked, plot.or(json)) {
            (Some((_, form)), Some(taken)) => Err(both(form, taken)),
            (Some((form, _)), None) => Ok(Some(form)),
            (None, Some(_)) => Ok(None),
            (None, None) => Ok((!output.quiet).then_some(Self::Text)),
        }
    }
}

/// Two options want standard output; those that can write to a file instead end in ` -`.
pub fn both(one: &str, other: &str) -> Failure {
    let help = match (one.strip_suffix(" -"), other.strip_suffix(" -")) {
        (Some(_), Some(_)) => "give one of them the name of a file".to_owned(),
        (Some(option), None) => format!("leave {other} out, or write {option} FILE"),
        (None, Some(option)) => format!("leave {one} out, or write {option} FILE"),
        (None, None) => "leave one of them out".to_owned(),
    };
    Failure::bad(format!("{one} and {other} both want standard output"), help)
}

/// A column.
#[derive(Clone, Debug)]
pub struct Head {
    /// Its heading for people.
    pub text: String,
    /// Characters of a usual value for people: the column is set before its values are known.
    pub width: usize,
}

impl Head {
    /// A column whose values have that many characters.
    pub fn new(text: impl Into<String>, width: usize) -> Self {
        Self { text: text.into(), width }
    }
}

/// A row in all forms.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    /// For people.
    pub shown: Vec<String>,
    /// For machines: the fields of one line or of several.
    pub exact: Vec<Vec<String>>,
}

/// What is printed above the rows.
#[derive(Clone, Debug)]
pub struct Heading {
    /// For people: a paragraph before the table.
    pub text: String,
    /// The columns for people.
    pub heads: Vec<Head>,
    /// Columns at the left that are set to the left.
    pub left: usize,
    /// The fields for machines.
    pub exact: String,
}

/// Prints a table row by row.
pub struct Printer<'a> {
    form: Option<Form>,
    layout: Layout,
    style: Style,
    progress: &'a Progress,
}

impl<'a> Printer<'a> {
    /// Prints the heading.
    pub fn begin(heading: &Heading, form: Option<Form>, style: Style, progress: &'a Progress) -> Result<Self, Failure> {
        let texts: Vec<&str> = heading.heads.iter().map(|head| head.text.as_str()).collect();
        let widths = heading.heads.iter().map(|head| head.width.max(head.text.chars().count())).collect();
        let layout = Layout { left: heading.left, widths };
        let head = match form {
            None => String::new(),
            Some(Form::Text) => {
                format!("{}\n{}", heading.text, layout.line(texts.into_iter().map(|text| (text, true)), style))
            }
            Some(Form::Markdown) => {
                let right = "-:|".repeat(texts.len() - heading.left);
                format!("| {} |\n|{}{right}\n", texts.join(" | "), "-|".repeat(heading.left))
            }
            Some(Form::Csv) => format!("{}\n", heading.exact),
        };
        let printer = Self { form, layout, style, progress };
        printer.print(&head)?;
        Ok(printer)
    }

    /// Prints a row.
    pub fn row(&self, cells: &Cells) -> Result<(), Failure> {
        self.print(&match self.form {
            None => String::new(),
            Some(Form::Text) => self.layout.line(cells.shown.iter().map(|cell| (cell.as_str(), false)), self.style),
            Some(Form::Markdown) => {
                let cells: Vec<&str> = cells.shown.iter().map(|cell| cell.trim_end()).collect();
                format!("| {} |\n", cells.join(" | "))
            }
            Some(Form::Csv) => cells.exact.iter().map(csv_line).collect(),
        })
    }

    /// Prints what goes below the rows, if this form has it.
    pub fn end(self, foot: impl FnOnce(Form) -> String) -> Result<(), Failure> {
        self.form.map_or(Ok(()), |form| self.print(&foot(form)))
    }

    fn print(&self, text: &str) -> Result<(), Failure> {
        if text.is_empty() { Ok(()) } else { self.progress.print(text) }
    }
}

/// The names of columns, for machines.
pub fn names(columns: &[Column]) -> String {
    columns.iter().map(|column| column.name).collect::<Vec<_>>().join(",")
}

/// The values of a row, for machines.
pub fn exact(cells: &[Cell]) -> Vec<String> {
    cells.iter().map(ToString::to_string).collect()
}

/// A table as comma-separated values.
pub fn csv(table: &Table) -> String {
    let rows = table.rows.iter().map(|row| csv_line(exact(row)));
    format!("{}\n", names(&table.columns)) + &rows.collect::<String>()
}
