//! The copy of the tree with mutants in it, and its build.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fmt, fs};

use serde_json::Value;

use crate::plant::{Mutant, plant};
use crate::{Problem, output};

/// A test of a binary.
pub struct Test {
    /// Crate and target, for example `core/data`; the unit tests of a crate are `core/nandlab`.
    pub binary: String,
    pub name: String,
    pub program: PathBuf,
    pub directory: PathBuf,
    /// Changes when the binary is rebuilt or a file changes that it may read.
    pub key: u64,
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} {}", self.binary, self.name)
    }
}

/// Tests of one crate, and the crates whose mutants they can see.
pub struct Stage {
    pub krate: &'static str,
    sees: &'static [&'static str],
}

/// In this order: the tests of a crate are built only if a mutant is left for them.
pub const STAGES: [Stage; 7] = [
    Stage { krate: "core", sees: &["core"] },
    Stage { krate: "trace", sees: &["core", "trace"] },
    Stage { krate: "plot", sees: &["plot"] },
    Stage { krate: "host", sees: &["host"] },
    Stage { krate: "record", sees: &["record"] },
    Stage { krate: "lab", sees: &["plot", "host", "lab"] },
    Stage { krate: "cli", sees: &["core", "trace", "plot", "host", "record", "lab", "cli"] },
];

impl Stage {
    pub fn sees(&self, mutant: &Mutant) -> bool {
        self.sees.contains(&mutant.krate())
    }
}

/// Tests that look at the source itself, or build it again elsewhere: mutated code would fail them by its looks.
const NOT_RUN: [&str; 3] = ["core/tidy", "cli/tidy", "cli/contributing"];

/// Where the switches write the mutants that a test reaches, if this is in the environment.
pub const REACHED: &str = "NANDLAB_MUTANTS_REACHED";
/// The mutant that is on.
pub const CHOSEN: &str = "NANDLAB_MUTANT";

const SWITCH: &str = r#"
//! The one switch of all mutants.
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
static CHOSEN: LazyLock<usize> = LazyLock::new(|| match std::env::var_os("NANDLAB_MUTANTS_REACHED") {
    Some(_) => usize::MAX,
    None => std::env::var("NANDLAB_MUTANT").map_or(0, |number| number.parse().expect("a number")),
});
static SEEN: [AtomicBool; 8192] = [const { AtomicBool::new(false) }; 8192];
#[inline]
pub fn on(mutant: usize) -> bool {
    *CHOSEN == mutant || (*CHOSEN == usize::MAX && write_down(mutant))
}
#[cold]
fn write_down(mutant: usize) -> bool {
    if !SEEN[mutant].load(Relaxed) && !SEEN[mutant].swap(true, Relaxed) {
        use std::io::Write;
        let path = std::env::var_os("NANDLAB_MUTANTS_REACHED").expect("it was there");
        let file = std::fs::OpenOptions::new().append(true).open(path);
        file.and_then(|mut file| file.write_all(format!("{mutant}\n").as_bytes())).expect("a file to write to");
    }
    false
}
"#;

/// The copy. All mutants of the list are in it, so that numbers and binaries are the same whichever are run.
pub struct Copy<'a> {
    root: &'a Path,
    directory: &'a Path,
    mutants: &'a [Mutant],
    /// Mutants that do not compile, with the error.
    pub refused: BTreeMap<usize, String>,
    /// Digest of what tests may read besides their code.
    files: u64,
}

impl<'a> Copy<'a> {
    pub fn new(root: &'a Path, directory: &'a Path, mutants: &'a [Mutant]) -> Result<Self, Problem> {
        let mut copy = Self { root, directory, mutants, refused: BTreeMap::new(), files: 0 };
        copy.write()?;
        Ok(copy)
    }

    /// Builds the tests of a stage, without the mutants that do not compile.
    pub fn build(&mut self, stage: &Stage) -> Result<Vec<Test>, Problem> {
        loop {
            let (tests, errors) = self.compile(stage)?;
            if errors.is_empty() {
                return Ok(tests);
            }
            let (files, before) = (plant(self.root, self.mutants, |_| true)?, self.refused.len());
            for (file, line, message) in &errors {
                let lines = files.get(file).map_or(&[][..], |planted| &planted.lines);
                let is_here = |(first, last, _): &&(usize, usize, usize)| (first..=last).contains(&line);
                if let Some((_, _, index)) = lines.iter().find(is_here) {
                    self.refused.entry(*index).or_insert_with(|| message.clone());
                }
            }
            if self.refused.len() == before {
                return Err(format!("the copy does not compile, and not because of one mutant: {:?}", errors[0]));
            }
            self.write()?;
        }
    }

    /// Writes the tree into the directory; files that are as they should be keep their time.
    fn write(&mut self) -> Result<(), Problem> {
        let listed = ["ls-files", "--cached", "--others", "--exclude-standard", "--", "."];
        let names = output(Command::new("git").args(listed).current_dir(self.root))?;
        let planted = plant(self.root, self.mutants, |index| !self.refused.contains_key(index))?;
        let mut wanted: BTreeSet<PathBuf> = BTreeSet::new();
        let switch = self.directory.join("crates/mutant_switch");
        let manifest = "[package]\nname = \"mutant_switch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n";
        for (path, text) in [("Cargo.toml", manifest), ("src/lib.rs", SWITCH)] {
            write(&switch.join(path), text.trim_start().as_bytes())?;
            wanted.insert(switch.join(path));
        }
        let mut files = DefaultHasher::new();
        for name in names.lines().filter(|name| self.root.join(name).is_file()) {
            let target = self.directory.join(name);
            let text = match planted.get(name) {
                Some(planted) => planted.text.clone().into_bytes(),
                None => fs::read(self.root.join(name)).map_err(|error| format!("{name}: {error}"))?,
            };
            if !has_ending(name, "rs") && !name.starts_with("scripts/mutants/") {
                (name, &text).hash(&mut files);
            }
            let is_manifest = name.starts_with("crates/") && name.ends_with("/Cargo.toml");
            let text = if is_manifest { with_switch(&text) } else { text };
            write(&target, &text)?;
            wanted.insert(target);
        }
        self.files = files.finish();
        remove_others(&self.directory.join("crates"), &wanted)
    }

    /// The tests, and the errors with file and line.
    fn compile(&self, stage: &Stage) -> Result<(Vec<Test>, Errors), Problem> {
        let mut cargo = Command::new("cargo");
        // The whole workspace is named so that dependencies have the features that they have under `./test`.
        cargo.args(["test", "--no-run", "--workspace", "--offline", "--message-format=json", "--lib", "--bins"]);
        for name in names(&self.directory.join("crates").join(stage.krate).join("tests"))? {
            cargo.args(["--test", &name]);
        }
        cargo.current_dir(self.directory).env("CARGO_TARGET_DIR", self.directory.join("target"));
        let done = cargo.stderr(Stdio::piped()).output().map_err(|error| format!("cargo: {error}"))?;
        let (mut tests, mut errors) = (Vec::new(), Vec::new());
        for line in String::from_utf8_lossy(&done.stdout).lines() {
            let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
            if message["reason"] == "compiler-message" && message["message"]["level"] == "error" {
                errors.extend(places(&message["message"]));
            }
            tests.extend(self.tests(&message, stage)?);
        }
        if !done.status.success() && errors.is_empty() {
            return Err(format!("the copy does not compile:\n{}", String::from_utf8_lossy(&done.stderr)));
        }
        tests.sort_by_cached_key(ToString::to_string);
        Ok((tests, errors))
    }

    /// The tests of a binary that was built.
    fn tests(&self, message: &Value, stage: &Stage) -> Result<Vec<Test>, Problem> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (program, manifest) = (text(&message["executable"]), text(&message["manifest_path"]));
        let Some(directory) = Path::new(&manifest).parent().map(Path::to_owned) else { return Ok(Vec::new()) };
        let krate = directory.file_name().unwrap_or_default().to_string_lossy();
        let binary = format!("{krate}/{}", text(&message["target"]["name"]));
        if program.is_empty()
            || message["profile"]["test"] != true
            || krate != stage.krate
            || NOT_RUN.contains(&binary.as_str())
        {
            return Ok(Vec::new());
        }
        let of = fs::metadata(&program).and_then(|of| Ok((of.modified()?, of.len())));
        let of = of.map_err(|error| format!("{program}: {error}"))?;
        let list = |more: &[&str]| {
            output(Command::new(&program).args(["--list", "--format", "terse"]).args(more).current_dir(&directory))
        };
        let (all, ignored) = (list(&[])?, list(&["--ignored"])?);
        let ignored: BTreeSet<&str> = ignored.lines().collect();
        let run = all.lines().filter(|line| !ignored.contains(line));
        let names = run.filter_map(|line| line.strip_suffix(": test"));
        let test = |name: &str| {
            let mut key = DefaultHasher::new();
            (of, self.files, name).hash(&mut key);
            let (binary, name, program) = (binary.clone(), name.to_owned(), program.clone().into());
            Test { binary, name, program, directory: directory.clone(), key: key.finish() }
        };
        Ok(names.map(test).collect())
    }
}

fn has_ending(name: &str, ending: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == ending)
}

/// Names of the test targets in a directory.
fn names(tests: &Path) -> Result<Vec<String>, Problem> {
    let entries = fs::read_dir(tests).map_err(|error| format!("{}: {error}", tests.display()))?;
    let files = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(files.filter_map(|name| name.strip_suffix(".rs").map(str::to_owned)).collect())
}

/// A manifest that depends on the switch.
fn with_switch(manifest: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(manifest);
    text.replacen("[dependencies]\n", "[dependencies]\nmutant_switch = { path = \"../mutant_switch\" }\n", 1)
        .into_bytes()
}

fn write(path: &Path, text: &[u8]) -> Result<(), Problem> {
    if fs::read(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let problem = |error| format!("{}: {error}", path.display());
    fs::create_dir_all(path.parent().expect("a file lies in a directory")).map_err(problem)?;
    fs::write(path, text).map_err(problem)
}

/// Removes what an earlier copy had and this one has not.
fn remove_others(directory: &Path, wanted: &BTreeSet<PathBuf>) -> Result<(), Problem> {
    let problem = |error| format!("{}: {error}", directory.display());
    for entry in fs::read_dir(directory).map_err(problem)? {
        let path = entry.map_err(problem)?.path();
        if path.is_dir() {
            remove_others(&path, wanted)?;
        } else if !wanted.contains(&path) {
            fs::remove_file(&path).map_err(problem)?;
        }
    }
    Ok(())
}

type Errors = Vec<(String, usize, String)>;

/// Every place that an error of the compiler points to.
fn places(message: &Value) -> Errors {
    let text = message["message"].as_str().unwrap_or_default();
    let spans = message["spans"].as_array().into_iter().flatten();
    let place = |span: &Value| {
        let file = span["file_name"].as_str().unwrap_or_default().to_owned();
        (file, span["line_start"].as_u64().unwrap_or(0) as usize, text.to_owned())
    };
    spans.map(place).collect()
}
