//! Sweeps: the cells of an experiment file, each with a result of its own in a folder, so that a sweep can be stopped, killed,
//! continued, and shared by machines that have nothing in common but the folder.
//!
//! The folder has `plan.json` (the cells and what they are), `cells/ID.parquet` with one row for each cell that is done, and,
//! once all are, `results.parquet` with a row for each cell and a column for each metric. `ID` is a hash of all that decides
//! the result ([`SweepCell::id`]); a file appears as a whole or not at all, and is the same bytes whatever process wrote it.

mod key;
mod plan;
mod results;
mod store;

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::course::Course;
use crate::decoded::Decoded;
use crate::error::Error;
use crate::parallel;
use crate::watch::{Part, Watch, now};
pub use plan::SweepCell;
pub(crate) use plan::read_plan;
pub(crate) use results::axes;
pub use results::{CellStatus, SweepResults, SweepRow};
use store::CellResult;

/// Memory for decoded traces when nothing else is said, bytes.
pub const SWEEP_MEMORY: u64 = 1 << 30;
/// Old enough that no process writes it any more.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// A sweep that is asked for.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The file of the experiment, or the name of one that nandlab brings.
    pub plan: PathBuf,
    /// Where the results are kept; it is made if it does not exist.
    pub folder: PathBuf,
    /// Simulations at a time; `None`: one for each processor.
    pub threads: Option<usize>,
    /// Which cells are done here; the others are left to other processes.
    pub shard: SweepShard,
    /// Cells that failed are tried again.
    pub retry: bool,
    /// Memory for decoded traces, bytes; traces beyond it are decoded by each cell.
    pub memory: u64,
}

/// A part of the cells of a sweep: every `of`-th, from the `number`-th on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SweepShard {
    /// 1 to `of`.
    pub number: usize,
    /// How many parts there are.
    pub of: usize,
}

impl SweepShard {
    /// All cells.
    pub const ALL: Self = Self { number: 1, of: 1 };
}

impl std::str::FromStr for SweepShard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err(format!("`{text}` is not a part: write 2/3 for the second of three")),
        }
    }
}

/// What a sweep did.
#[derive(Clone, Debug, Default)]
pub struct SweepWork {
    /// Cells of the plan that have different results.
    pub cells: usize,
    /// Cells of this process: of its part.
    pub own: usize,
    /// Of those, simulated now.
    pub run: u64,
    /// Of those, failed: now, or before and not tried again.
    pub failed: u64,
    /// Sum of the time that workers spent on cells.
    pub busy: Duration,
    /// Time from the first cell to the last.
    pub wall: Duration,
    /// Simulations at a time.
    pub threads: usize,
    /// Times that a trace was decoded for many cells.
    pub decoded: u64,
    /// It was stopped before all was done.
    pub interrupted: bool,
    /// All cells of the plan have a result, and `results.parquet` is written.
    pub complete: bool,
}

/// A cell that was just done.
#[derive(Clone, Copy, Debug)]
pub struct SweepStep<'a> {
    /// Its name.
    pub name: &'a str,
    /// Why it failed, if it did.
    pub error: Option<&'a str>,
    /// Cells of this process that are done, those of earlier runs included.
    pub done: usize,
    /// Cells of this process.
    pub own: usize,
}

impl Sweep {
    /// Runs all cells that have no result yet. `step` is told each cell when its result is in its place.
    ///
    /// # Errors
    /// The plan cannot be read, no cell of it can be built, a trace cannot be read, the machine has too little memory for a
    /// cell, or a result cannot be written. A cell that cannot be built or fails is not an error: its result says why.
    pub fn run(&self, watch: &Watch<'_>, step: impl FnMut(SweepStep<'_>) + Send) -> Result<SweepWork, Error> {
        let (text, cells) = plan::read(&self.plan, &Decoded::up_to(self.memory))?;
        let results = SweepResults::begin(&self.folder, text, &cells)?;
        remove_abandoned(&self.folder);
        remove_abandoned(&results.cells_folder());
        let mut ids = BTreeSet::new();
        let mut own: Vec<&SweepCell> = cells.iter().filter(|cell| ids.insert(cell.id.clone())).collect();
        let all = own.len();
        // By the hash, so that cells that take long are spread over all parts.
        own.sort_by(|a, b| a.id.cmp(&b.id));
        let own: Vec<_> = own.into_iter().skip(self.shard.number - 1).step_by(self.shard.of).collect();
        let store = results.store();
        let mut failed = 0;
        let mut open = Vec::new();
        for cell in &own {
            let fails = store.has(&cell.id) && store.read(&cell.id)?.error.is_some();
            failed += u64::from(fails && !self.retry);
            if !store.has(&cell.id) || fails && self.retry {
                open.push(*cell);
            }
        }
        if self.shard == SweepShard::ALL && !open.is_empty() {
            // Several processes that share the folder without shards begin at different places.
            let first = std::process::id() as usize % open.len();
            open.rotate_left(first);
        }
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.unwrap_or(processors).min(open.len().max(1));
        let mut work = SweepWork { cells: all, own: own.len(), failed, threads, ..SweepWork::default() };
        let (busy, begun) = (AtomicU64::new(0), now());
        let told = Mutex::new((step, own.len() - open.len(), 0_u64, 0_u64));
        let parts = watch.work(open.len());
        let finished = parallel::each(
            Some(threads),
            &watch.stop,
            &open,
            |cell| {
                let (part, started) = (parts.part(), now());
                // Another process may have been faster.
                let is_there = store.has(&cell.id);
                let is_new = !is_there || self.retry && store.read(&cell.id)?.error.is_some();
                let result = if is_new { simulate(cell, &part)? } else { store.read(&cell.id)? };
                if is_new {
                    store.write(&result)?;
                }
                busy.fetch_add(now().duration_since(started).as_nanos() as u64, Ordering::Relaxed);
                let mut told = told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let (step, done, run, failed) = &mut *told;
                *done += 1;
                *run += u64::from(is_new);
                *failed += u64::from(result.error.is_some());
                step(SweepStep { name: &cell.name, error: result.error.as_deref(), done: *done, own: own.len() });
                Ok(())
            },
            |()| Ok::<_, Error>(()),
        )?;
        let (_, _, run, now_failed) = told.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        work.run = run;
        work.failed += now_failed;
        work.busy = Duration::from_nanos(busy.into_inner());
        work.wall = now().duration_since(begun);
        work.decoded = cells.first().map_or(0, |cell| cell.run.workload.decoded.reads());
        work.interrupted = !finished;
        if ids.iter().all(|id| store.has(id)) {
            // Also after no run at all: it may be damaged, or from before a cell was run again.
            results.write_table()?;
            work.complete = true;
        }
        Ok(work)
    }
}

/// The result of a cell, or why there is none.
///
/// # Errors
/// What another machine or another day may do better: the disk, the memory, a signal.
fn simulate(cell: &SweepCell, part: &Part<'_>) -> Result<CellResult, Error> {
    let failed = |error| {
        Ok(CellResult { id: cell.id.clone(), key: cell.key.clone(), report: None, course: None, error: Some(error) })
    };
    if let Some(problem) = &cell.problem {
        return failed(problem.clone());
    }
    let mut course = Course::default();
    let simulated = || cell.run.simulate_over(&cell.base, part, None, Some(&mut course));
    let outcome = catch_unwind(AssertUnwindSafe(simulated));
    match outcome {
        Ok(Ok((mut report, _))) => {
            report.wall = None;
            // What is in the files decides, not what they are called.
            report.trace.name.clear();
            report.trace.files.clear();
            let report = Some(serde_json::to_string(&report).expect("a report is plain data"));
            let course = Some(serde_json::to_string(&course).expect("a course is plain data"));
            Ok(CellResult { id: cell.id.clone(), key: cell.key.clone(), report, course, error: None })
        }
        Ok(Err(error)) if error.may_pass() => Err(error),
        Ok(Err(error)) => failed(error.to_string()),
        Err(panic) => failed(format!("a bug: {}", message(&*panic))),
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_owned()
}

/// Removes what processes left that were killed long ago. What cannot be removed is in nobody's way.
fn remove_abandoned(folder: &Path) {
    let Ok(entries) = folder.read_dir() else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_unfinished = name.starts_with('.') && name.ends_with(".tmp");
        let age = entry.metadata().and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
        if is_unfinished && age.is_some_and(|age| age > ABANDONED) {
            _ = std::fs::remove_file(entry.path());
        }
    }
}
