//! Mutation testing: plants the bugs of `scripts/mutants/list.toml` in a copy of the tree and sees which the tests catch.
//!
//! `cargo run -p nandlab --example mutants -- [--check] [--dir DIR] [WORD ...]`
//!
//! With words only the mutants are run whose id or file contains one of them. `--check` says whether every mutant still
//! finds its place, and runs nothing. The copy and its build lie in DIR (default: `nandlab-mutants` in the directory for
//! temporary files) and are used again by the next run. There also is `runs.jsonl`: every run of a test as it ended; what was
//! run is not run again until its binary or a file that it may read has changed, so that a run can be interrupted.
//!
//! All mutants are in one build, in the profile of `./test`, each behind a switch that reads an environment variable once.
//! Crate by crate (core, trace, plot, host, recorder, laboratory, command line) the tests are built, and every test runs by
//! itself without a mutant: it must pass, its time sets the limit after which a mutant counts as hanging (caught), and the
//! switches write down which of them it asks. Per mutant only tests run that reach it, likely and fast ones first, until one
//! fails.
//! Documentation tests are not run, nor tests that look at the source or build it again. Exit code: 0 if all were caught, 1 if a
//! mutant survived or did not compile, 2 if something else is wrong, such as a list that is out of date.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "mutants/build.rs"]
mod build;
#[path = "mutants/plant.rs"]
mod plant;
#[path = "mutants/runs.rs"]
mod runs;
#[path = "mutants/tests.rs"]
mod tests;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use build::{Copy, STAGES};
use plant::List;

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
            other if other.starts_with('-') => return Err(format!("`{other}` is not an option: --check, --dir DIR")),
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

fn run(arguments: &Arguments) -> Result<ExitCode, Problem> {
    let root = root();
    let list = List::read(&root.join("scripts/mutants/list.toml"))?;
    list.check(&root)?;
    // Mutants that wait for the tests of a further crate, by their index in the list.
    let mut waiting = list.chosen(&arguments.words);
    let (all, chosen) = (list.mutants.len(), waiting.len());
    println!("{all} mutants, {chosen} chosen that are not known to be equivalent, every one has its place");
    if arguments.only_check || chosen == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let mut copy = Copy::new(&root, &arguments.directory, &list.mutants)?;
    let mut suite = tests::Suite::open(&arguments.directory)?;
    for stage in STAGES {
        if !waiting.iter().any(|index| stage.sees(&list.mutants[*index])) {
            continue;
        }
        let tests = copy.build(&stage)?;
        waiting.retain(|index| !copy.refused.contains_key(index));
        suite.measure(&tests)?;
        // What the fast tests catch needs no slow one, and what they do not is soon known.
        for patience in [Some(8_000), None] {
            let mut survivors = Vec::new();
            for index in waiting {
                let mutant = &list.mutants[index];
                let seeing = tests.iter().filter(|_| stage.sees(mutant)).collect();
                match suite.hunt(mutant, index, seeing, patience)? {
                    Some(by) => println!("{}: caught by {by}", mutant.id),
                    None => survivors.push(index),
                }
            }
            waiting = survivors;
        }
        println!("after the tests of {}: {} of {chosen} left", stage.krate, waiting.len());
    }
    for index in &waiting {
        let mutant = &list.mutants[*index];
        println!("{}: SURVIVED ({}: {}), {}", mutant.id, mutant.file, mutant.kind, suite.reached(*index));
    }
    let refused = copy.refused.iter().filter(|(index, _)| list.chosen(&arguments.words).contains(index));
    let refused: Vec<_> = refused.map(|(index, error)| (&list.mutants[*index].id, error)).collect();
    for (id, error) in &refused {
        println!("{id}: DOES NOT COMPILE: {error}");
    }
    let caught = chosen - waiting.len() - refused.len();
    println!("{chosen} planted: {caught} caught, {} survived, {} do not compile", waiting.len(), refused.len());
    Ok(if caught == chosen { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn main() -> ExitCode {
    arguments().and_then(|arguments| run(&arguments)).unwrap_or_else(|problem| {
        eprintln!("{problem}");
        ExitCode::from(2)
    })
}
