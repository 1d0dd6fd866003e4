//! The list of mutants, and their places in the source.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::Problem;

/// One planted bug; the fields are explained at the head of the list.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    pub id: String,
    pub file: String,
    pub kind: String,
    pub old: String,
    pub new: String,
    pub within: Option<String>,
    #[serde(default)]
    pub tests: Vec<String>,
    pub equivalent: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    #[serde(rename = "mutant")]
    pub mutants: Vec<Mutant>,
}

impl List {
    pub fn read(path: &Path) -> Result<Self, Problem> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let list: Self = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut ids = BTreeSet::new();
        match list.mutants.iter().find(|mutant| !ids.insert(&mutant.id)) {
            Some(twice) => Err(format!("{}: the id `{}` is there twice", path.display(), twice.id)),
            None => Ok(list),
        }
    }

    /// Indices of those to run: with one of the words in id or file, if there are any words, and not known to be
    /// equivalent.
    pub fn chosen(&self, words: &[String]) -> Vec<usize> {
        let is_meant = |mutant: &Mutant| {
            words.is_empty() || words.iter().any(|word| mutant.id.contains(word) || mutant.file.contains(word))
        };
        let is_chosen = |index: &usize| self.mutants[*index].equivalent.is_none() && is_meant(&self.mutants[*index]);
        (0..self.mutants.len()).filter(is_chosen).collect()
    }

    /// Does every mutant find its place, and change something?
    pub fn check(&self, root: &Path) -> Result<(), Problem> {
        let mut problems = String::new();
        for mutant in &self.mutants {
            let place = source(root, &mutant.file).and_then(|text| mutant.place(&text));
            let problem = match place {
                Err(problem) => Some(problem),
                _ if mutant.old == mutant.new => Some(format!("`{}` changes nothing", mutant.id)),
                _ if mutant.old.trim_start().starts_with("let ") => Some(format!(
                    "`{}`: a `let` behind a switch is not seen behind it: change its expression",
                    mutant.id
                )),
                _ => None,
            };
            if let Some(problem) = problem {
                writeln!(problems, "{problem}").expect("a string takes all");
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let planted = plant(root, &self.mutants, |_| true)?;
        let wrong = planted.iter().filter_map(|(file, planted)| is_syntax(file, &planted.text).err());
        let wrong: Vec<Problem> = wrong.collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    }
}

impl Mutant {
    /// Where the old text is in its file.
    fn place(&self, text: &str) -> Result<Range<usize>, Problem> {
        let outdated = |what: &str, times: usize| {
            format!(
                "mutant list out of date: `{what}` of `{}` is found {times} times in {}, must be once: fix or drop the \
                 entry in scripts/mutants/list.toml",
                self.id, self.file
            )
        };
        let once = |what: &str, text: &str, part: &str| match text.matches(part).count() {
            1 => Ok(text.find(part).expect("it is there")),
            times => Err(outdated(what, times)),
        };
        let (start, part) = match &self.within {
            Some(within) => (once("within", text, within)?, within.as_str()),
            None => (0, text),
        };
        let at = start + once("old", part, &self.old)?;
        Ok(at..at + self.old.len())
    }

    /// True if old is whole statements, so that new may be none.
    fn is_statement(&self) -> bool {
        self.old.trim_end().ends_with([';', '}'])
    }

    /// The crate that it is in.
    pub fn krate(&self) -> &str {
        self.file.split('/').nth(1).unwrap_or_default()
    }
}

fn source(root: &Path, file: &str) -> Result<String, Problem> {
    std::fs::read_to_string(root.join(file)).map_err(|error| format!("mutant list out of date: {file}: {error}"))
}

/// Is it still a source file with the switches in it? `old` may not be whole.
fn is_syntax(file: &str, text: &str) -> Result<(), Problem> {
    let problem = |error: &dyn std::fmt::Display| format!("{file} with its mutants: {error}");
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--emit", "stdout"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| problem(&error))?;
    // It reads all of its input before it writes.
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).map_err(|error| problem(&error))?;
    let done = child.wait_with_output().map_err(|error| problem(&error))?;
    if done.status.success() { Ok(()) } else { Err(problem(&String::from_utf8_lossy(&done.stderr))) }
}

/// A file with mutants in it, and the lines of each.
#[derive(Default)]
pub struct Planted {
    pub text: String,
    /// First and last line with the index of the mutant.
    pub lines: Vec<(usize, usize, usize)>,
}

/// A place in a file and the index of its mutant.
type Place = (Range<usize>, usize);

impl Planted {
    fn line(&self) -> usize {
        self.text.matches('\n').count() + 1
    }

    /// Appends this part of the source with its mutants, which are in the order of their places, outer ones first.
    fn append(
        &mut self,
        source: &str,
        part: Range<usize>,
        mut places: &[Place],
        all: &[Mutant],
    ) -> Result<(), Problem> {
        let mut done = part.start;
        while let Some((place, first)) = places.first() {
            let same = places.iter().take_while(|(other, _)| other == place).count();
            let inside = places[same..].iter().take_while(|(other, _)| other.start < place.end).count();
            let (here, inner) = places[..same + inside].split_at(same);
            if let Some((_, other)) = inner.iter().find(|(other, _)| other.end > place.end) {
                return Err(format!("`{}` and `{}` overlap: one must hold the other", all[*first].id, all[*other].id));
            }
            self.text += &source[done..place.start];
            let is_statement = all[*first].is_statement();
            self.text += if is_statement { "" } else { "(" };
            for (_, index) in here {
                let line = self.line();
                write!(self.text, "if ::mutant_switch::on({}) {{\n{}\n", index + 1, all[*index].new).expect("it grows");
                self.lines.push((line, self.line() - 1, *index));
                self.text += "} else ";
            }
            self.text += "{\n";
            self.append(source, place.clone(), inner, all)?;
            self.text += if is_statement { "\n}" } else { "\n})" };
            (done, places) = (place.end, &places[same + inside..]);
        }
        self.text += &source[done..part.end];
        Ok(())
    }
}

/// The changed files by name; mutant `i` has the switch `i + 1`.
pub fn plant(
    root: &Path,
    mutants: &[Mutant],
    is_wanted: impl Fn(&usize) -> bool,
) -> Result<BTreeMap<String, Planted>, Problem> {
    let mut by_file: BTreeMap<&str, Vec<Place>> = BTreeMap::new();
    for index in (0..mutants.len()).filter(is_wanted) {
        let place = mutants[index].place(&source(root, &mutants[index].file)?)?;
        by_file.entry(&mutants[index].file).or_default().push((place, index));
    }
    let mut files = BTreeMap::new();
    for (file, mut places) in by_file {
        let text = source(root, file)?;
        places.sort_by_key(|(place, index)| (place.start, usize::MAX - place.end, *index));
        let mut planted = Planted::default();
        planted.append(&text, 0..text.len(), &places, mutants)?;
        files.insert(file.to_owned(), planted);
    }
    Ok(files)
}
