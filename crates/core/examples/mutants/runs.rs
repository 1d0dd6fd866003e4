//! What is known from this run and earlier ones: `runs.jsonl`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Problem;
use crate::build::Test;

/// How a run of a test ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    Passed,
    Failed,
    Hung,
}

/// A line of the file: one run of a test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Its binary and name.
    pub test: String,
    /// See `Test::key`.
    pub key: u64,
    /// The number of the switch; 0 is the run without a mutant.
    pub switch: usize,
    pub end: End,
    pub ms: u64,
    /// Switches that the run without a mutant asked.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub reached: BTreeSet<usize>,
}

pub struct Runs {
    file: File,
    known: BTreeMap<(u64, usize), Run>,
}

impl Runs {
    /// Reads the file and goes on behind it. A last line that was cut off is passed over.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        let problem = |error| format!("{}: {error}", path.display());
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(problem)?;
        let lines = BufReader::new(&file).lines().map_while(Result::ok);
        let runs = lines.filter_map(|line| serde_json::from_str::<Run>(&line).ok());
        let known = runs.map(|run| ((run.key, run.switch), run)).collect();
        file.write_all(b"\n").map_err(problem)?;
        Ok(Self { file, known })
    }

    pub fn get(&self, test: &Test, switch: usize) -> Option<&Run> {
        self.known.get(&(test.key, switch))
    }

    pub fn put(&mut self, run: Run) -> Result<(), Problem> {
        let line = serde_json::to_string(&run).expect("a run is plain") + "\n";
        self.file.write_all(line.as_bytes()).map_err(|error| format!("runs.jsonl: {error}"))?;
        self.known.insert((run.key, run.switch), run);
        Ok(())
    }

    /// How often a test of this name caught one of these mutants, in whatever build.
    pub fn caught(&self, name: &str, is_one: impl Fn(usize) -> bool) -> usize {
        let runs = self.known.values().filter(|run| run.test == name && run.end != End::Passed);
        runs.filter(|run| is_one(run.switch)).count()
    }
}
