//! Mutation testing: plants the bugs of `scripts/mutants/list.toml` in a copy of the tree and sees which the tests catch.
//!
//! `cargo run -p nandlab --example mutants -- [--check] [--dir DIR] [WORD ...]`
//!
//! With words only the mutants are run whose id or file contains one of them. `--check` says whether every mutant still
//! finds its place, and runs nothing. The copy and its build lie in DIR (default: `nandlab-mutants` in the directory for
//! temporary files) and are used again by the next run.
//!
//! As many mutants as possible go into one build, each behind a switch that reads an environment variable once; those that
//! overlap, and those marked `alone`, need further builds. Then every test binary runs once without a mutant: it must pass,
//! and its time sets the limit after which a mutant counts as hanging (caught). Per mutant the binaries that need its crate
//! run, likely ones first, until one fails. Documentation tests are not run. Exit code: 0 if all were caught, 1 if a mutant
//! survived or did not compile, 2 if something else is wrong, such as a list that is out of date.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "mutants/build.rs"]
mod build;
#[path = "mutants/plant.rs"]
mod plant;
#[path = "mutants/tests.rs"]
mod tests;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use plant::{List, Mutant};

/// What is wrong, for a person.
pub type Problem = String;

struct Arguments {
    only_check: bool,
    directory: PathBuf,
    words: Vec<String>,
}

fn arguments() -> Result<Arguments, Problem> {
    let mut parsed =
        Arguments { only_check: false, directory: std::env::temp_dir().join("nandlab-mutants"), words: Vec::new() };
    let mut rest = std::env::args().skip(1);
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--check" => parsed.only_check = true,
            "--dir" => parsed.directory = rest.next().ok_or("--dir needs a directory")?.into(),
            other if other.starts_with('-') => return Err(format!("`{other}` is no option: --check, --dir DIR")),
            word => parsed.words.push(word.to_owned()),
        }
    }
    Ok(parsed)
}

/// Root of the tree that this program was built from.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a program to its end and returns what it printed.
fn output(command: &mut Command) -> Result<String, Problem> {
    let name = format!("{command:?}");
    let done = command.output().map_err(|error| format!("{name}: {error}"))?;
    if !done.status.success() {
        return Err(format!("{name}: {}\n{}", done.status, String::from_utf8_lossy(&done.stderr)));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// How many there were of each kind of end.
#[derive(Default)]
struct Counts {
    caught: usize,
    survived: Vec<String>,
    not_compiled: Vec<String>,
}

fn run(arguments: &Arguments) -> Result<ExitCode, Problem> {
    let list = List::read(&root().join("scripts/mutants/list.toml"))?;
    let chosen: Vec<&Mutant> = list.chosen(&arguments.words);
    plant::check(&root(), &list.mutants)?;
    println!("{} mutants, {} chosen, every one has its place", list.mutants.len(), chosen.len());
    if arguments.only_check || chosen.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let mut counts = Counts::default();
    let mut suite = tests::Suite::default();
    for (number, batch) in plant::batches(&root(), &chosen)?.into_iter().enumerate() {
        println!("build {}: {} mutants", number + 1, batch.len());
        let built = build::build(&root(), &arguments.directory, batch)?;
        for (mutant, error) in &built.refused {
            println!("{}: DOES NOT COMPILE: {error}", mutant.id);
            counts.not_compiled.push(mutant.id.clone());
        }
        if built.mutants.iter().any(|mutant| !mutant.alone) {
            suite.measure(&built.binaries)?;
        }
        for (switch, mutant) in built.mutants.iter().enumerate() {
            if let Some(by) = suite.hunt(mutant, switch + 1, &built.binaries)? {
                counts.caught += 1;
                println!("{}: caught by {by}", mutant.id);
            } else {
                counts.survived.push(mutant.id.clone());
                println!("{}: SURVIVED ({}: {})", mutant.id, mutant.file, mutant.kind);
            }
        }
    }
    let Counts { caught, survived, not_compiled } = counts;
    println!("{caught} caught, {} survived, {} did not compile", survived.len(), not_compiled.len());
    for (what, ids) in [("survived", &survived), ("did not compile", &not_compiled)] {
        if !ids.is_empty() {
            println!("{what}: {}", ids.join(" "));
        }
    }
    Ok(if survived.is_empty() && not_compiled.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn main() -> ExitCode {
    arguments().and_then(|arguments| run(&arguments)).unwrap_or_else(|problem| {
        eprintln!("{problem}");
        ExitCode::from(2)
    })
}
