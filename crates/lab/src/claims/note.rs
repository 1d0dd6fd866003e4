//! Notes of claims: text with figures of the results in braces.

use serde_json::Value;

use crate::error::Error;
use crate::experiment::Cells;
use crate::text::count;

/// A text with its figures. `{CELL FIGURE}` names a value of the JSON report of a cell, as in
/// `{lru/1MiB flash.erases.total}`; then may follow: `/ FIGURE` divides by another value of that report, `x1000` multiplies,
/// `.2` shows that many digits behind the point, `%1` the same in percent.
pub(super) fn fill(text: &str, cells: &Cells) -> Result<String, Error> {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((words, behind)) = behind.split_once('}') else {
            return Err(Error::input(format!("note: `{{{behind}` has no end"), "end a figure with `}`"));
        };
        filled += before;
        let figure = figure(words, cells);
        filled += &figure.map_err(|error| Error::input(format!("note: `{{{words}}}`: {error}"), ""))?;
        rest = behind;
    }
    Ok(filled + rest)
}

fn figure(words: &str, cells: &Cells) -> Result<String, Error> {
    let unknown =
        |word: &str| Error::input(format!("`{word}` is no figure"), "for example {lru/1MiB flash.erases.total}");
    let mut words = words.split_whitespace();
    let mut word = || words.next();
    let report = serde_json::to_value(cells.get(word().unwrap_or_default())?).expect("a report is JSON");
    let at = |path: &str| match report.pointer(&format!("/{}", path.replace('.', "/"))) {
        // A ratio of nothing.
        Some(Value::Null) => Ok(f64::NAN),
        value => value.and_then(Value::as_f64).ok_or_else(|| unknown(path)),
    };
    let mut value = at(word().unwrap_or_default())?;
    let mut decimals = 0;
    while let Some(next) = word() {
        let number = next.get(1..).unwrap_or_default();
        let digits = || number.parse::<usize>().map_err(|_| unknown(next));
        match next.as_bytes()[0] {
            b'/' => value /= at(word().unwrap_or_default())?,
            b'x' => value *= number.parse::<f64>().map_err(|_| unknown(next))?,
            b'.' => decimals = digits()?,
            b'%' => (value, decimals) = (100.0 * value, digits()?),
            _ => return Err(unknown(next)),
        }
    }
    Ok(if decimals > 0 || value.is_nan() { format!("{value:.decimals$}") } else { count(value.round() as u64) })
}

#[cfg(test)]
mod tests {
    use super::fill;
    use crate::{Cells, Experiment, Watch};

    fn cells() -> Cells {
        let text = "name = 'a'\nworkloads.w.limit = 1200\n[buffers]\nlru = 'lru'\nfifo = 'fifo'\n";
        Experiment::parse("a.toml", text).unwrap().run(None, None, &Watch::default()).unwrap()
    }

    #[test]
    fn notes_have_the_figures_of_the_results() {
        let text = "{lru requests.total}, {lru requests.total / requests.total x3 .2}, {fifo requests.total / requests.total %1} %";
        assert_eq!(fill(text, &cells()).unwrap(), "1,200, 3.00, 100.0 %");
    }

    #[test]
    fn errors_of_notes_name_the_figure() {
        let cells = cells();
        for (text, words) in [
            ("{lur requests.total}", ["there is no `lur`", "did you mean `lru`?"]),
            ("{lru requests.totel}", ["`requests.totel` is no figure", "for example"]),
            ("{lru requests.total .x}", ["`.x` is no figure", "{lru requests.total .x}"]),
            ("{lru requests", ["has no end", "`}`"]),
        ] {
            let error = fill(text, &cells).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }
}
