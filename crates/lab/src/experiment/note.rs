//! Notes of claims: text with figures of the results in braces.

use serde_json::Value;

use super::cells::Cells;
use super::place;
use crate::error::Error;
use crate::text::count;

const EXAMPLE: &str = "for example {lru/1MiB flash.erases.total} or {lru/1MiB hits.page.total %2}";

/// What stands in braces.
#[derive(Default)]
struct Figure<'t> {
    cell: &'t str,
    /// The cell from which the change is shown.
    against: Option<&'t str>,
    path: &'t str,
    steps: Vec<Step<'t>>,
    decimals: usize,
}

enum Step<'t> {
    Minus(&'t str),
    Over(&'t str),
    Times(f64),
}

impl Cells {
    /// The text with the figures of the results. `{CELL FIGURE}` names a value of the JSON report of a cell
    /// (`nandlab describe metrics`), as in `{lru/1MiB flash.erases.total}`. Steps may follow, in order: `- FIGURE` and
    /// `/ FIGURE` take another value of that report, `x1000` multiplies. `{CELL against OTHER FIGURE}` is the change in
    /// percent from the other cell; a ratio of nothing is `-`. Whole numbers are shown; `.2` asks for that many digits
    /// after the point, `%1` for the same in percent.
    ///
    /// # Errors
    /// Braces that do not end, a cell or a figure that does not exist.
    pub fn fill(&self, text: &str) -> Result<String, Error> {
        fill(text, |cell| Ok(Some(serde_json::to_value(self.get(cell)?).expect("a report is JSON"))))
    }
}

/// The same with the reports that `report` has of cells; of one that has none yet a figure is `?`.
pub(crate) fn fill(text: &str, report: impl Fn(&str) -> Result<Option<Value>, Error>) -> Result<String, Error> {
    let mut filled = String::new();
    for (before, words) in pieces(text)? {
        filled += before;
        if let Some(words) = words {
            let shown = parse(words).and_then(|figure| figure.show(&report));
            filled += &shown.map_err(|error| error.at(within(words)))?;
        }
    }
    Ok(filled)
}

/// Refuses figures that cannot be read or that no report has, and those of cells that `known` does not know.
pub(crate) fn check(text: &str, known: impl Fn(&str) -> Result<(), Error>) -> Result<(), Error> {
    let check = |figure: Figure<'_>| {
        [Some(figure.cell), figure.against].into_iter().flatten().try_for_each(&known)?;
        let others = figure.steps.iter().filter_map(|step| match step {
            Step::Minus(path) | Step::Over(path) => Some(*path),
            Step::Times(_) => None,
        });
        others.chain([figure.path]).try_for_each(place::check_path)
    };
    for words in pieces(text)?.into_iter().filter_map(|(_, words)| words) {
        parse(words).and_then(check).map_err(|error| error.at(within(words)))?;
    }
    Ok(())
}

fn within(words: &str) -> String {
    format!("note: `{{{words}}}`")
}

/// Text, and what stands in the braces behind it.
fn pieces(text: &str) -> Result<Vec<(&str, Option<&str>)>, Error> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some((before, behind)) = rest.split_once('{') {
        let end = || Error::input(format!("note: `{{{behind}` has no end"), "end a figure with `}`");
        let (words, behind) = behind.split_once('}').ok_or_else(end)?;
        pieces.push((before, Some(words)));
        rest = behind;
    }
    pieces.push((rest, None));
    Ok(pieces)
}

fn parse(text: &str) -> Result<Figure<'_>, Error> {
    let unknown = |word: &str| Error::input(format!("`{word}` is no figure"), EXAMPLE);
    let mut words = text.split_whitespace();
    let mut need = || words.next().ok_or_else(|| unknown(text));
    let mut figure = Figure { cell: need()?, path: need()?, ..Figure::default() };
    if figure.path == "against" {
        (figure.against, figure.path) = (Some(need()?), need()?);
    }
    while let Some(word) = words.next() {
        let number = word.get(1..).unwrap_or_default();
        let digits = || number.parse::<usize>().map_err(|_| unknown(word));
        let mut other = || words.next().ok_or_else(|| unknown(text));
        match word.as_bytes()[0] {
            b'-' => figure.steps.push(Step::Minus(other()?)),
            b'/' => figure.steps.push(Step::Over(other()?)),
            b'x' => figure.steps.push(Step::Times(number.parse().map_err(|_| unknown(word))?)),
            b'.' | b'%' if digits()? > 17 => return Err(unknown(word)),
            b'.' => figure.decimals = digits()?,
            b'%' => {
                figure.steps.push(Step::Times(100.0));
                figure.decimals = digits()?;
            }
            _ => return Err(unknown(word)),
        }
    }
    Ok(figure)
}

impl Figure<'_> {
    fn show(&self, reports: &impl Fn(&str) -> Result<Option<Value>, Error>) -> Result<String, Error> {
        let none = "?".to_owned();
        let Some(own) = reports(self.cell)? else { return Ok(none) };
        let own = self.value(&own)?;
        let value = match self.against {
            Some(other) => {
                let Some(other) = reports(other)? else { return Ok(none) };
                let other = self.value(&other)?;
                100.0 * (own - other) / other
            }
            None => own,
        };
        let is_count = self.decimals == 0 && value >= 0.0;
        Ok(if !value.is_finite() {
            "-".to_owned()
        } else if is_count {
            count(value.round() as u64)
        } else {
            format!("{value:.*}", self.decimals)
        })
    }

    fn value(&self, report: &Value) -> Result<f64, Error> {
        let at = |path: &str| match report.pointer(&format!("/{}", path.replace('.', "/"))) {
            // A ratio of nothing.
            Some(Value::Null) => Ok(f64::NAN),
            value => value.and_then(Value::as_f64).ok_or_else(|| {
                Error::input(format!("`{path}` is no figure"), "`nandlab describe metrics` has all figures")
            }),
        };
        let mut value = at(self.path)?;
        for step in &self.steps {
            match step {
                Step::Minus(path) => value -= at(path)?,
                Step::Over(path) => value /= at(path)?,
                Step::Times(factor) => value *= factor,
            }
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Cells, Experiment, Watch};

    fn cells() -> Cells {
        let text = "name = 'a'\nworkloads.w.limit = 1200\ndevices.d.set = ['device.geometry.blocks_per_plane=64']\n[buffers]\nlru = 'lru'\nfifo = 'fifo'\n";
        Experiment::parse("a.toml", text).unwrap().run(None, None, &Watch::default()).unwrap()
    }

    #[test]
    fn notes_have_the_figures_of_the_results() {
        let cells = cells();
        for (text, filled) in [
            ("{lru requests.total}, {lru requests.total / requests.total x3 .2}", "1,200, 3.00"),
            ("{fifo requests.total / requests.total %1} %", "100.0 %"),
            ("{lru requests.total - requests.total}", "0"),
            ("{lru against fifo requests.total .1} %", "0.0 %"),
            ("{lru against fifo flash.erases.total}", "-"),
        ] {
            assert_eq!(cells.fill(text).unwrap(), filled, "{text}");
        }
    }

    #[test]
    fn errors_of_notes_name_the_figure() {
        let cells = cells();
        for (text, words) in [
            ("{lur requests.total}", ["there is no `lur`", "did you mean `lru`?"]),
            ("{lru requests.totel}", ["`requests.totel` is no figure", "describe metrics"]),
            ("{lru requests.total .x}", ["`.x` is no figure", "{lru requests.total .x}"]),
            ("{lru against fifo}", ["`lru against fifo` is no figure", "for example"]),
            ("{lru requests", ["has no end", "`}`"]),
        ] {
            let error = cells.fill(text).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }
}
