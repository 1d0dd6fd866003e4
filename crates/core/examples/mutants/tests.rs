//! Runs test binaries against mutants.

#![expect(clippy::disallowed_methods, reason = "how long a test takes is what is measured here")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::Problem;
use crate::build::Binary;
use crate::plant::Mutant;

/// Crates whose tests can see a change of a crate.
const SEEN_BY: [(&str, &[&str]); 4] =
    [("core", &["core", "trace", "cli"]), ("trace", &["trace", "cli"]), ("plot", &["plot", "cli"]), ("cli", &["cli"])];

/// How a run of a test binary ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Passed,
    Failed,
    Hung,
}

/// What is known about the test binaries.
#[derive(Default)]
pub struct Suite {
    /// By name: time without a mutant.
    times: BTreeMap<String, Duration>,
    /// By file, and by crate: binaries that caught mutants there, with how many.
    caught: BTreeMap<(String, String), u32>,
}

impl Suite {
    /// Runs every binary without a mutant: each must pass.
    pub fn measure(&mut self, binaries: &[Binary]) -> Result<(), Problem> {
        for binary in binaries.iter().filter(|binary| !self.times.contains_key(&binary.name)).collect::<Vec<_>>() {
            let start = Instant::now();
            match run(binary, 0, Duration::from_secs(3600))? {
                End::Passed => self.times.insert(binary.name.clone(), start.elapsed()),
                end => return Err(format!("{} {end:?} without any mutant: nothing can be said", binary.name)),
            };
        }
        let all: Duration = self.times.values().sum();
        println!("{} test binaries pass without a mutant, in {} s", self.times.len(), all.as_secs());
        Ok(())
    }

    /// The binary that catches a mutant.
    pub fn hunt(&mut self, mutant: &Mutant, switch: usize, binaries: &[Binary]) -> Result<Option<String>, Problem> {
        for binary in self.likely_first(mutant, binaries) {
            let usual = self.times.get(&binary.name).copied().unwrap_or(Duration::from_secs(300));
            let end = run(binary, if mutant.alone { 0 } else { switch }, 4 * usual + Duration::from_secs(30))?;
            if end != End::Passed {
                *self.caught.entry((mutant.file.clone(), binary.name.clone())).or_default() += 1;
                let hangs = if end == End::Hung { " (it hangs)" } else { "" };
                return Ok(Some(binary.name.clone() + hangs));
            }
        }
        Ok(None)
    }

    /// The binaries that can see a mutant: those that its entry names, those that caught others in its file, the fast.
    fn likely_first<'a>(&self, mutant: &Mutant, binaries: &'a [Binary]) -> Vec<&'a Binary> {
        let home = mutant.file.split('/').nth(1).unwrap_or_default();
        let seen_by = SEEN_BY.iter().find(|(krate, _)| *krate == home).map_or(&[][..], |(_, by)| *by);
        let is_of = |binary: &&Binary| seen_by.iter().any(|krate| binary.name.starts_with(&format!("{krate}/")));
        let mut likely: Vec<&Binary> = binaries.iter().filter(is_of).collect();
        likely.sort_by_key(|binary| {
            let named = mutant.tests.iter().position(|name| *name == binary.name).unwrap_or(usize::MAX);
            let caught = self.caught.get(&(mutant.file.clone(), binary.name.clone())).copied().unwrap_or(0);
            let time = self.times.get(&binary.name).copied().unwrap_or_default();
            (named, u32::MAX - caught, time)
        });
        likely
    }
}

/// Runs a test binary until its first failure, its end or the limit.
fn run(binary: &Binary, switch: usize, limit: Duration) -> Result<End, Problem> {
    // A mutant may also ask for memory without end.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 16000000; exec \"$0\""]).arg(&binary.program);
    command.current_dir(&binary.directory).env("NANDLAB_MUTANT", switch.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", binary.name))?;
    let (lines, out) = channel();
    let stdout = child.stdout.take().expect("it is piped");
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if lines.send(line.ends_with("FAILED")).is_err() {
                break;
            }
        }
    });
    let end_of_time = Instant::now() + limit;
    let end = loop {
        match out.recv_timeout(end_of_time.saturating_duration_since(Instant::now())) {
            Ok(false) => {}
            Ok(true) => break End::Failed,
            Err(RecvTimeoutError::Timeout) => break End::Hung,
            Err(RecvTimeoutError::Disconnected) => {
                let status = child.wait().map_err(|error| format!("{}: {error}", binary.name))?;
                break if status.success() { End::Passed } else { End::Failed };
            }
        }
    };
    drop(out);
    if end != End::Passed {
        kill(&mut child);
    }
    reader.join().map_err(|_| "the reader of a test's output panicked".to_owned())?;
    Ok(end)
}

/// Ends a test and the programs that it started.
fn kill(child: &mut Child) {
    // The group may be gone already.
    let group = format!("-{}", child.id());
    let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    let _ = child.wait();
}
