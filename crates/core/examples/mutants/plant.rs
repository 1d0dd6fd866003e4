//! The list of mutants, and their places in the source.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

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
    #[serde(default)]
    pub alone: bool,
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

    /// Those to run: with one of the words in id or file, if there are any words, and not known to be equivalent.
    pub fn chosen(&self, words: &[String]) -> Vec<&Mutant> {
        let is_meant = |mutant: &&Mutant| {
            words.is_empty() || words.iter().any(|word| mutant.id.contains(word) || mutant.file.contains(word))
        };
        self.mutants.iter().filter(|mutant| mutant.equivalent.is_none()).filter(is_meant).collect()
    }
}

impl Mutant {
    /// Where the old text is in its file.
    fn place(&self, text: &str) -> Result<Range<usize>, Problem> {
        let outdated = |what: &str, times: usize| {
            format!(
                "mutant list out of date: `{what}` of `{}` is found {times} times in {}, must be once: mend or drop the \
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

    /// The code that stands in the place of old, with the mutant behind a switch.
    fn switched(&self, switch: usize) -> String {
        let Self { old, new, .. } = self;
        if self.alone {
            return new.clone();
        }
        let code = format!("if ::mutant_switch::on({switch}) {{\n{new}\n}} else {{\n{old}\n}}");
        if self.is_statement() { code } else { format!("({code})") }
    }
}

fn source(root: &Path, file: &str) -> Result<String, Problem> {
    std::fs::read_to_string(root.join(file)).map_err(|error| format!("mutant list out of date: {file}: {error}"))
}

/// Does every mutant find its place, and change something?
pub fn check(root: &Path, mutants: &[Mutant]) -> Result<(), Problem> {
    let mut problems = String::new();
    for mutant in mutants {
        let place = source(root, &mutant.file).and_then(|text| mutant.place(&text));
        let problem = match place {
            Err(problem) => Some(problem),
            _ if mutant.old == mutant.new => Some(format!("`{}` changes nothing", mutant.id)),
            _ if mutant.old.trim_start().starts_with("let ") && !mutant.alone => {
                Some(format!("`{}`: a `let` behind a switch is not seen behind it: change its expression", mutant.id))
            }
            _ => None,
        };
        if let Some(problem) = problem {
            writeln!(problems, "{problem}").expect("a string takes all");
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Groups of mutants that fit into one build.
pub fn batches(root: &Path, mutants: &[&Mutant]) -> Result<Vec<Vec<Mutant>>, Problem> {
    let mut batches: Vec<Vec<(Mutant, Range<usize>)>> = Vec::new();
    for mutant in mutants {
        let place = mutant.place(&source(root, &mutant.file)?)?;
        let fits = |batch: &&mut Vec<(Mutant, Range<usize>)>| {
            batch.iter().all(|(other, there)| {
                let is_apart = other.file != mutant.file || there.end <= place.start || place.end <= there.start;
                is_apart && !other.alone && !mutant.alone
            })
        };
        let planted = ((*mutant).clone(), place.clone());
        match batches.iter_mut().find(fits) {
            Some(batch) => batch.push(planted),
            None => batches.push(vec![planted]),
        }
    }
    Ok(batches.into_iter().map(|batch| batch.into_iter().map(|(mutant, _)| mutant).collect()).collect())
}

/// A file with mutants in it, and the lines of each.
pub struct Planted {
    pub text: String,
    /// First and last line with the index of the mutant.
    pub lines: Vec<(usize, usize, usize)>,
}

/// The changed files by name; mutant `i` has the switch `i + 1`.
pub fn plant(root: &Path, mutants: &[Mutant]) -> Result<BTreeMap<String, Planted>, Problem> {
    let mut by_file: BTreeMap<&str, Vec<(Range<usize>, usize)>> = BTreeMap::new();
    for (index, mutant) in mutants.iter().enumerate() {
        let place = mutant.place(&source(root, &mutant.file)?)?;
        by_file.entry(&mutant.file).or_default().push((place, index));
    }
    let mut files = BTreeMap::new();
    for (file, mut places) in by_file {
        let text = source(root, file)?;
        places.sort_by_key(|(place, _)| place.start);
        let (mut planted, mut done) = (Planted { text: String::new(), lines: Vec::new() }, 0);
        for (place, index) in places {
            planted.text += &text[done..place.start];
            let first = planted.text.matches('\n').count() + 1;
            planted.text += &mutants[index].switched(index + 1);
            planted.lines.push((first, planted.text.matches('\n').count() + 1, index));
            done = place.end;
        }
        planted.text += &text[done..];
        files.insert(file.to_owned(), planted);
    }
    Ok(files)
}
