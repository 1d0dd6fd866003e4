//! Runs tests against mutants.

#![expect(clippy::disallowed_methods, reason = "how long a test takes is what is measured here")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::Problem;
use crate::build::{CHOSEN, REACHED, Test};
use crate::plant::Mutant;
use crate::runs::{End, Run, Runs};

/// What is known about the tests.
pub struct Suite {
    runs: Runs,
    /// Where switches write that they were asked.
    reached: PathBuf,
    /// Tests that reach a mutant, by its index.
    by: BTreeMap<usize, Vec<String>>,
    /// Switches by the file of their mutant, for those that were hunted.
    homes: BTreeMap<usize, String>,
}

impl Suite {
    pub fn open(directory: &Path) -> Result<Self, Problem> {
        let runs = Runs::open(&directory.join("runs.jsonl"))?;
        // Each process has its own: two in one directory would take the other's for theirs.
        let reached = directory.join(format!("reached-{}", std::process::id()));
        Ok(Self { runs, reached, by: BTreeMap::new(), homes: BTreeMap::new() })
    }

    /// Runs every test without a mutant: each must pass.
    pub fn measure(&mut self, tests: &[Test]) -> Result<(), Problem> {
        let mut all = 0;
        for test in tests {
            if self.runs.get(test, 0).is_none() {
                std::fs::write(&self.reached, "").map_err(|error| format!("{}: {error}", self.reached.display()))?;
                let environment = (REACHED, self.reached.to_string_lossy().into_owned());
                let (end, ms) = run(test, environment, None)?;
                if end != End::Passed {
                    return Err(format!("{test} {end:?} without any mutant: nothing can be said"));
                }
                let reached = std::fs::read_to_string(&self.reached).unwrap_or_default();
                let reached: BTreeSet<usize> = reached.lines().filter_map(|number| number.parse().ok()).collect();
                self.runs.put(Run { test: test.to_string(), key: test.key, switch: 0, end, ms, reached })?;
            }
            let known = self.runs.get(test, 0).expect("it was run");
            for switch in &known.reached {
                self.by.entry(*switch - 1).or_default().push(test.to_string());
            }
            all += known.ms;
        }
        println!("{} tests pass without a mutant, in {} s", tests.len(), all / 1000);
        Ok(())
    }

    /// The test that catches a mutant, of those that take up to `patience` ms.
    pub fn hunt(
        &mut self,
        mutant: &Mutant,
        index: usize,
        tests: Vec<&Test>,
        patience: Option<u64>,
    ) -> Result<Option<String>, Problem> {
        let switch = index + 1;
        self.homes.insert(switch, mutant.file.clone());
        for (test, usual) in self.likely_first(mutant, switch, tests) {
            if patience.is_some_and(|most| usual > most) {
                continue;
            }
            let known = self.runs.get(test, switch).map(|run| run.end);
            let end = if let Some(end) = known {
                end
            } else {
                let (end, ms) = run(test, (CHOSEN, switch.to_string()), Some(usual))?;
                let reached = BTreeSet::new();
                self.runs.put(Run { test: test.to_string(), key: test.key, switch, end, ms, reached })?;
                end
            };
            if end != End::Passed {
                let hangs = if end == End::Hung { " (it hangs)" } else { "" };
                return Ok(Some(format!("{test}{hangs}")));
            }
        }
        Ok(None)
    }

    /// The tests that reach a mutant, with their usual time in ms: those that are known to catch it, then by how many
    /// they caught for their time, above all in its file, then the fast.
    fn likely_first<'a>(&self, mutant: &Mutant, switch: usize, tests: Vec<&'a Test>) -> Vec<(&'a Test, u64)> {
        let usual = |test: &'a Test| {
            let run = self.runs.get(test, 0).filter(|run| run.reached.contains(&switch))?;
            Some((test, run.ms))
        };
        let mut likely: Vec<(&Test, u64)> = tests.into_iter().filter_map(usual).collect();
        likely.sort_by_cached_key(|(test, ms)| {
            let is_caught = self.runs.get(test, switch).is_some_and(|run| run.end != End::Passed);
            let is_near = |other: usize| self.homes.get(&other) == Some(&mutant.file);
            let is_named = mutant.tests.contains(&test.binary);
            let name = test.to_string();
            let all = self.runs.caught(&name, |_| true);
            let caught = all + 10 * (self.runs.caught(&name, is_near) + usize::from(is_named));
            (!is_caught, u64::MAX - caught as u64 * 1_000_000 / (ms + 100), *ms)
        });
        likely
    }

    /// The tests that reach a mutant, for a person.
    pub fn reached(&self, index: usize) -> String {
        self.by
            .get(&index)
            .map_or("reached by no test".to_owned(), |by| format!("reached by {} tests, such as {}", by.len(), by[0]))
    }
}

/// Runs a test until it fails, its end or the limit, and says how long that took in ms.
fn run(test: &Test, environment: (&str, String), usual: Option<u64>) -> Result<(End, u64), Problem> {
    let start = Instant::now();
    // A mutant that hangs burns processor time, of which the limit does not depend on what else the machine does, or waits for
    // ever. It may also ask for memory without end.
    let processors = std::thread::available_parallelism().map_or(1, |number| number.get() as u64);
    let seconds = usual.map_or(3600, |ms| 10 + 2 * processors * ms / 1000);
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -v 8000000; ulimit -t {seconds}; exec \"$0\" --exact \"$1\"")])
        .arg(&test.program)
        .arg(&test.name);
    command.current_dir(&test.directory).env(environment.0, environment.1);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", test.name))?;
    let (lines, out) = channel();
    let stdout = child.stdout.take().expect("it is piped");
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if lines.send(line.ends_with("FAILED")).is_err() {
                break;
            }
        }
    });
    let end_of_time = start + Duration::from_secs(10 * seconds);
    let end = loop {
        match out.recv_timeout(end_of_time.saturating_duration_since(Instant::now())) {
            Ok(false) => {}
            Ok(true) => break End::Failed,
            Err(RecvTimeoutError::Timeout) => break End::Hung,
            Err(RecvTimeoutError::Disconnected) => {
                let status = child.wait().map_err(|error| format!("{}: {error}", test.name))?;
                break match status.signal() {
                    Some(9 | 24) => End::Hung, // KILL and XCPU: its processor time is over.
                    _ if status.success() => End::Passed,
                    _ => End::Failed,
                };
            }
        }
    };
    drop(out);
    if end != End::Passed {
        kill(&mut child);
    }
    reader.join().map_err(|_| "the reader of a test's output panicked".to_owned())?;
    Ok((end, start.elapsed().as_millis() as u64))
}

/// Ends a test and the programs that it started.
fn kill(child: &mut Child) {
    // The group may be gone already.
    let group = format!("-{}", child.id());
    let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    let _ = child.wait();
}
