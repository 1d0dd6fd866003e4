//! The copy of the tree with mutants in it, and its build.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::plant::{Mutant, plant};
use crate::{Problem, output};

/// A test binary.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Binary {
    /// Crate and target, for example `core/data`; the unit tests of a crate are `core/nandlab`.
    pub name: String,
    pub program: PathBuf,
    pub directory: PathBuf,
}

/// A build with the mutants that compile; the one at index `i` has the switch `i + 1`.
pub struct Built {
    pub mutants: Vec<Mutant>,
    pub binaries: Vec<Binary>,
    /// Mutants that do not compile, with the error.
    pub refused: Vec<(Mutant, String)>,
}

/// Tests that look at the source itself, or build it anew elsewhere: mutated code would fail them by its looks.
const NOT_RUN: [&str; 2] = ["core/tidy", "cli/contributing"];

const SWITCH: &str = "
//! The one switch of all mutants.
use std::sync::LazyLock;
static CHOSEN: LazyLock<usize> =
    LazyLock::new(|| std::env::var(\"NANDLAB_MUTANT\").map_or(0, |number| number.parse().expect(\"a number\")));
#[inline]
pub fn on(mutant: usize) -> bool {
    *CHOSEN == mutant
}
";

/// Builds the tests of a copy with these mutants, or with those of them that compile.
pub fn build(root: &Path, directory: &Path, mut mutants: Vec<Mutant>) -> Result<Built, Problem> {
    let mut refused = Vec::new();
    loop {
        copy(root, directory, &mutants)?;
        let (binaries, errors) = compile(directory)?;
        if errors.is_empty() {
            return Ok(Built { mutants, binaries, refused });
        }
        let files = plant(root, &mutants)?;
        let mut guilty = BTreeSet::new();
        for (file, line, message) in &errors {
            let lines = files.get(file).map_or(&[][..], |planted| &planted.lines);
            let found = lines.iter().find(|(first, last, _)| (first..=last).contains(&line));
            if let Some((_, _, index)) = found
                && guilty.insert(*index)
            {
                refused.push((mutants[*index].clone(), message.clone()));
            }
        }
        if guilty.is_empty() {
            return Err(format!("the copy does not compile, and not because of one mutant: {:?}", errors[0]));
        }
        for index in guilty.into_iter().rev() {
            mutants.remove(index);
        }
    }
}

/// Writes the tree into the directory; files that are as they should be keep their time.
fn copy(root: &Path, directory: &Path, mutants: &[Mutant]) -> Result<(), Problem> {
    let names = output(Command::new("git").args(["ls-files", "--", "."]).current_dir(root))?;
    let planted = plant(root, mutants)?;
    let mut wanted: BTreeSet<PathBuf> = BTreeSet::new();
    let switch = directory.join("crates/mutant_switch");
    let manifest = "[package]\nname = \"mutant_switch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n";
    for (path, text) in [("Cargo.toml", manifest), ("src/lib.rs", SWITCH)] {
        write(&switch.join(path), text.trim_start().as_bytes())?;
        wanted.insert(switch.join(path));
    }
    for name in names.lines().filter(|name| root.join(name).is_file()) {
        let target = directory.join(name);
        let text = match planted.get(name) {
            Some(planted) => planted.text.clone().into_bytes(),
            None => fs::read(root.join(name)).map_err(|error| format!("{name}: {error}"))?,
        };
        let is_manifest = name.starts_with("crates/") && name.ends_with("/Cargo.toml");
        let text = if is_manifest { with_switch(&text) } else { text };
        // The lock file of the copy knows the switch.
        if name != "Cargo.lock" || !target.is_file() {
            write(&target, &text)?;
        }
        wanted.insert(target);
    }
    remove_others(&directory.join("crates"), &wanted)
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

/// The test binaries, and the errors with file and line.
fn compile(directory: &Path) -> Result<(Vec<Binary>, Errors), Problem> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--workspace", "--offline", "--tests", "--keep-going", "--message-format=json"]);
    cargo.current_dir(directory).env("CARGO_TARGET_DIR", directory.join("target")).stderr(Stdio::null());
    let done = cargo.output().map_err(|error| format!("cargo: {error}"))?;
    let (mut binaries, mut errors) = (Vec::new(), Vec::new());
    for line in String::from_utf8_lossy(&done.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        if message["reason"] == "compiler-message" && message["message"]["level"] == "error" {
            errors.extend(places(&message["message"]));
        }
        binaries.extend(binary(&message));
    }
    if !done.status.success() && errors.is_empty() {
        return Err("cargo build --tests failed in the copy without naming a place: try it there".to_owned());
    }
    binaries.sort();
    Ok((binaries, errors))
}

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

fn binary(message: &Value) -> Option<Binary> {
    let program = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
    let directory = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let is_run =
        message["target"]["kind"].as_array()?.iter().any(|kind| kind == "lib" || kind == "bin" || kind == "test");
    let krate = directory.file_name()?.to_string_lossy().into_owned();
    let name = format!("{krate}/{}", message["target"]["name"].as_str()?);
    let is_wanted = is_run && krate != "mutant_switch" && !NOT_RUN.contains(&name.as_str());
    is_wanted.then(|| Binary { name, program: program.into(), directory })
}
