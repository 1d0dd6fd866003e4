//! A search for what nothing else beats, in a space of cells that is too large to sweep: successive halving.
//!
//! Kevin Jamieson and Ameet Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", AISTATS 2016:
//! all candidates are tried on little, the better part of them on more, the rest in full. Here little is the beginning of the
//! workload, better is nearer to the front (of several metrics), and what was left out last is tried in full too, as a check.

mod clock;
mod front;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use crate::alone::root;
use crate::digest::{Metric, Point, Points, metrics};
use crate::error::Error;
use crate::experiment::{Experiment, PlacedRun, unknown};
use crate::files::{make_folder, write_file};
use crate::sweep::{SWEEP_MEMORY, Sweep, SweepResults, SweepShard, SweepStep, read_plan};
use crate::warm_up::WarmUp;
use crate::watch::{Watch, now};
use crate::workload::Workload;
pub use clock::SearchClock;
use front::{agreement, best_first, is_beaten};

/// The steps: how much of the budget each may spend. All cells on little, fewer and fewer on more, the best in full.
const STEPS: [(&str, f64); 3] = [("little", 0.25), ("more", 0.25), ("full", 0.5)];
/// Part of the cells that are run in full which checks those that were left out last.
const CHECKED: usize = 6;

/// A search that is asked for.
#[derive(Clone, Debug)]
pub struct Search {
    /// The file of the experiment, or the name of one that nandlab brings.
    pub plan: PathBuf,
    /// Where the results are kept: a sweep for each step.
    pub folder: PathBuf,
    /// The metrics whose front is wanted: of a report, of the experiment, or `ram` (bytes of the map and of the memories that the
    /// buffer uses).
    pub metrics: Vec<String>,
    /// What may be spent.
    pub budget: SearchBudget,
    /// Simulations at a time; `None`: one for each processor.
    pub threads: Option<usize>,
}

/// What a search may spend.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SearchBudget {
    /// A part of what the whole sweep would take, in requests; 1 is that sweep.
    Share(f64),
    /// About that many minutes on this machine: which cells are tried then depends on its speed.
    Minutes(f64),
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct FoundFront {
    /// Cells of the plan without their seeds.
    pub candidates: usize,
    /// Of those, run in full.
    pub in_full: usize,
    /// Requests that were simulated, as a part of those of the whole sweep; without those by which a budget in minutes was turned
    /// into one of requests.
    pub spent: f64,
    /// The names of the metrics.
    pub metrics: Vec<String>,
    /// What nothing else beats in all metrics, by workload; in the order of the first metric.
    pub front: Vec<FoundCell>,
    /// For each metric the share of pairs that the beginning of the workload orders as all of it does; `None` if no pair differs
    /// in both.
    pub agreement: Vec<Option<f64>>,
    /// Simulations that failed: their cells are not on the front, whatever they would have shown.
    pub failed: u64,
    /// Cells that were run in full and have no value of one of the metrics: they are not on the front either.
    pub without: usize,
    /// Cells that were left out last and run in full as a check.
    pub checked: usize,
    /// Of those, on the front all the same.
    pub missed: usize,
    /// What the clock decided, if the budget was one in minutes.
    pub clock: Option<SearchClock>,
    /// It was stopped before all was done.
    pub interrupted: bool,
}

/// A cell of the front.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundCell {
    /// Its name, without a seed.
    pub name: String,
    /// Its workload; empty if the plan has one only.
    pub workload: String,
    /// The metrics, in their units (nanoseconds, percent, bytes).
    pub values: Vec<f64>,
    /// The same for people.
    pub texts: Vec<String>,
}

/// Values by axes: what makes a candidate.
type Place = BTreeMap<String, String>;
/// The metrics of a candidate, all to be minimised.
type Values = Vec<f64>;
/// In place of a metric that a run has no value of, as the times of reads where there are none: worse than all others, so that
/// what has none in its beginning alone can still be tried.
const NO_VALUE: f64 = f64::MAX;

/// One step: its cells and the part of the workload.
struct Rung<'s> {
    folder: PathBuf,
    share: f64,
    places: &'s [Place],
    /// Simulations that failed, of all steps.
    failed: &'s Cell<u64>,
}

impl Search {
    /// Carries it out; `step` is told each cell. The same command goes on where it was stopped.
    ///
    /// # Errors
    /// A metric does not exist, the budget is too small, or as [`Sweep::run`].
    pub fn run(
        &self,
        watch: &Watch<'_>,
        mut step: impl FnMut(&str, SweepStep<'_>) + Send,
    ) -> Result<FoundFront, Error> {
        let mut experiment = read_plan(&self.plan)?;
        if experiment.workloads.is_empty() {
            // The built-in one, so that its beginning can be asked for.
            experiment.workloads.insert("built-in".to_owned(), Workload::default());
        }
        let mut metrics = self.metrics(&experiment)?;
        let all = candidates(experiment.placed()?);
        let mut found = FoundFront {
            candidates: all.len(),
            in_full: 0,
            spent: 0.0,
            metrics: self.metrics.clone(),
            front: Vec::new(),
            agreement: Vec::new(),
            failed: 0,
            without: 0,
            checked: 0,
            missed: 0,
            clock: None,
            interrupted: false,
        };
        let (failed, begun) = (Cell::new(0), now());
        // All in full: there is no need to know where a workload ends.
        let is_all = matches!(self.budget, SearchBudget::Share(budget) if budget >= 1.0);
        let lengths =
            if is_all { Some(BTreeMap::new()) } else { self.lengths(&experiment, &failed, watch, &mut step)? };
        let Some(lengths) = lengths else { return Ok(FoundFront { interrupted: true, ..found }) };
        let Some((budget, clock)) = self.share(&experiment, &all, &lengths, watch, &mut step)? else {
            return Ok(FoundFront { interrupted: true, ..found });
        };
        found.clock = clock;
        let is_exact: Vec<bool> = metrics.iter().map(|metric| *metric == Metric::ram()).collect();
        let plan = plan_of(budget, all.len());
        let length = |name: &str| lengths.get(name).map_or(1.0, |requests| *requests as f64);
        let requests =
            |places: &[Place]| -> f64 { places.iter().map(|at| length(&workload_of(&experiment, at))).sum() };
        let whole = requests(&all);
        let counted =
            lengths.keys().filter(|name| experiment.workloads.get(*name).is_none_or(|known| made(known).is_none()));
        found.spent = counted.map(|name| length(name)).sum::<f64>() / whole;
        let mut places = all;
        let mut before: Option<BTreeMap<Place, Values>> = None;
        for (number, (share, count)) in plan.iter().enumerate() {
            if let Some(before) = &before {
                places = best_first(before, *count, &is_exact);
            }
            found.spent += share * requests(&places) / whole;
            // A plan of one step is all in full.
            let name = STEPS[STEPS.len() - plan.len() + number].0;
            let rung = Rung { folder: self.folder.join(name), share: *share, places: &places, failed: &failed };
            let mut told = |told: SweepStep<'_>| step(name, told);
            let climbed = self.climb(&experiment, &mut metrics, &lengths, &rung, watch, &mut told)?;
            let Some(values) = climbed else { return Ok(FoundFront { interrupted: true, ..found }) };
            if number + 1 < plan.len() {
                before = Some(values);
                continue;
            }
            judge(&experiment, &metrics, &mut found, &places, before.as_ref(), &values);
        }
        found.failed = failed.get();
        if let Some(clock) = &mut found.clock {
            clock.took = now().duration_since(begun);
        }
        Ok(found)
    }

    /// The budget as a part of the whole sweep, and what the clock decided; `None` if it was stopped.
    fn share(
        &self,
        experiment: &Experiment,
        all: &[Place],
        lengths: &BTreeMap<String, u64>,
        watch: &Watch<'_>,
        step: &mut (impl FnMut(&str, SweepStep<'_>) + Send),
    ) -> Result<Option<(f64, Option<SearchClock>)>, Error> {
        let least = ((1 + CHECKED) as f64 / STEPS[STEPS.len() - 1].1 / all.len() as f64).min(1.0);
        let minutes = match self.budget {
            SearchBudget::Share(budget) if budget < least => {
                let problem = format!("--budget: {budget} of {} cells is too little to search", all.len());
                let enough = (least * 1000.0).ceil() / 1000.0;
                let more = if enough < 1.0 { format!("{enough} or more; ") } else { String::new() };
                return Err(Error::input(problem, format!("give {more}1 to run all cells in full")));
            }
            SearchBudget::Share(budget) => return Ok(Some((budget, None))),
            SearchBudget::Minutes(minutes) => minutes,
        };
        let Some(clock) = self.clock(experiment, all, lengths, watch, step)? else { return Ok(None) };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.unwrap_or(processors);
        let budget = clock.budget(minutes, least, all.len(), threads).ok_or_else(|| {
            let needed = clock.least_minutes(least, all.len(), threads);
            let problem = format!("--minutes: {minutes} is too little to search {} cells", all.len());
            Error::input(problem, format!("give {needed:.1} or more, or a smaller plan"))
        })?;
        Ok(Some((budget, Some(SearchClock { minutes, budget, took: Duration::ZERO }))))
    }

    fn metrics(&self, experiment: &Experiment) -> Result<Vec<Metric>, Error> {
        let mut known = metrics(&experiment.metrics)?;
        known.push(Metric::ram());
        let find = |name: &String| {
            let found = known.iter().find(|metric| metric.name == *name).cloned();
            found.ok_or_else(|| unknown("--minimise", name, known.iter().map(|metric| &metric.name)))
        };
        self.metrics.iter().map(find).collect()
    }

    /// The requests of each workload. One that may end before its limit, or has none, is run once, with the first cell
    /// that gets to the end.
    fn lengths(
        &self,
        experiment: &Experiment,
        failed: &Cell<u64>,
        watch: &Watch<'_>,
        step: &mut (impl FnMut(&str, SweepStep<'_>) + Send),
    ) -> Result<Option<BTreeMap<String, u64>>, Error> {
        let mut lengths = BTreeMap::new();
        let mut unknown: BTreeMap<String, BTreeSet<Place>> = BTreeMap::new();
        for placed in experiment.placed()? {
            let can_be_built = placed.run.device.configure().is_ok();
            let place = place(placed);
            let name = workload_of(experiment, &place);
            match experiment.workloads.get(&name).and_then(made) {
                Some(requests) => _ = lengths.insert(name, requests),
                None => unknown.entry(name).or_default().extend(can_be_built.then_some(place)),
            }
        }
        for round in 0.. {
            unknown.retain(|name, _| !lengths.contains_key(name));
            if unknown.is_empty() {
                break;
            }
            let next = |(name, places): (&String, &BTreeSet<Place>)| {
                places.iter().nth(round).cloned().ok_or_else(|| {
                    let help = format!("nandlab sweep status {} says why", self.folder.join("length").display());
                    Error::input(format!("workloads.{name}: no cell of it gets to its end"), help)
                })
            };
            let places = unknown.iter().map(next).collect::<Result<Vec<_>, _>>()?;
            let folder = if round == 0 { "length".to_owned() } else { format!("length-{}", round + 1) };
            let rung = Rung { folder: self.folder.join(folder), share: 1.0, places: &places, failed };
            let mut told = |told: SweepStep<'_>| step("length", told);
            let swept = self.sweep(experiment, &BTreeMap::new(), &rung, watch, &mut told)?;
            let Some((results, _)) = swept else { return Ok(None) };
            for row in results.rows()? {
                if let Some(requests) = row.number("trace.replayed") {
                    let place = row.values.into_iter().filter(|(axis, _)| axis != "seed").collect();
                    lengths.insert(workload_of(experiment, &place), requests as u64);
                }
            }
        }
        Ok(Some(lengths))
    }

    /// Runs the cells of a step; the results and the time that workers took, `None` if it was stopped.
    fn sweep(
        &self,
        experiment: &Experiment,
        lengths: &BTreeMap<String, u64>,
        rung: &Rung<'_>,
        watch: &Watch<'_>,
        step: &mut (impl FnMut(SweepStep<'_>) + Send),
    ) -> Result<Option<(SweepResults, Duration)>, Error> {
        let mut part = experiment.clone();
        let one = |(axis, value): (&String, &String)| (axis.clone(), vec![value.clone()]);
        part.cells = Some(rung.places.iter().map(|place| place.iter().map(one).collect()).collect());
        for (name, workload) in &mut part.workloads {
            if let (Some(requests), true) = (lengths.get(name), rung.share < 1.0) {
                let limit = ((*requests as f64 * rung.share).ceil() as u64).max(1);
                workload.limit = Some(limit);
                // Of a beginning half is measured if not all of the whole is.
                if workload.warm_up.is_some() {
                    workload.warm_up = Some(WarmUp::Requests(limit / 2));
                }
            }
        }
        let plan = rung.folder.join("experiment.toml");
        make_folder(&rung.folder)?;
        write_file(&plan, toml::to_string(&part).expect("an experiment is plain data"))?;
        let sweep = Sweep {
            plan: plan.clone(),
            folder: rung.folder.clone(),
            threads: self.threads,
            shard: SweepShard::ALL,
            retry: false,
            memory: SWEEP_MEMORY,
        };
        let work = sweep.run(watch, step)?;
        rung.failed.set(rung.failed.get() + work.failed);
        if work.interrupted {
            return Ok(None);
        }
        Ok(Some((SweepResults::open(&rung.folder)?, work.busy)))
    }

    /// The metrics of the cells of a step; cells that failed have none.
    fn climb(
        &self,
        experiment: &Experiment,
        metrics: &mut [Metric],
        lengths: &BTreeMap<String, u64>,
        rung: &Rung<'_>,
        watch: &Watch<'_>,
        step: &mut (impl FnMut(SweepStep<'_>) + Send),
    ) -> Result<Option<BTreeMap<Place, Values>>, Error> {
        let Some((results, _)) = self.sweep(experiment, lengths, rung, watch, step)? else { return Ok(None) };
        let rows = results.rows()?;
        for metric in metrics.iter_mut() {
            metric.look_at(&rows);
        }
        let points = Points::of(&rows);
        let valued = |point: &Point<'_>| {
            let value = |metric: &Metric| point.value(metric).map_or(NO_VALUE, |(value, _)| sign(metric) * value);
            let place = point.values.iter().map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned())).collect();
            (place, metrics.iter().map(value).collect())
        };
        let values: BTreeMap<Place, Values> = points.all.iter().map(valued).collect();
        // Of a beginning without events the whole may have some.
        if values.is_empty() || rung.share >= 1.0 && values.values().all(has_none) {
            let problem =
                format!("{}: no cell has a value of each of {}", rung.folder.display(), self.metrics.join(", "));
            let help = format!(
                "`nandlab sweep status {}` says why cells failed; a metric without events has no value",
                rung.folder.display()
            );
            return Err(Error::input(problem, help));
        }
        Ok(Some(values))
    }
}

/// The requests of a workload that is known before it is run: a generator makes as many as its limit says.
fn made(workload: &Workload) -> Option<u64> {
    let is_made = |trace: &String| trace.starts_with(nandlab_trace::generators::PREFIX);
    workload.limit.filter(|_| workload.trace.iter().all(is_made))
}

/// A metric is missing.
fn has_none(values: &Values) -> bool {
    values.contains(&NO_VALUE)
}

/// What the last step found, of which the one before had seen less.
fn judge(
    experiment: &Experiment,
    metrics: &[Metric],
    found: &mut FoundFront,
    places: &[Place],
    before: Option<&BTreeMap<Place, Values>>,
    results: &BTreeMap<Place, Values>,
) {
    found.in_full = places.len();
    found.checked = before.map_or(0, |_| (places.len() / CHECKED).max(1).min(places.len()));
    let left_out: BTreeSet<&Place> = places.iter().skip(places.len() - found.checked).collect();
    found.agreement = before.map_or_else(|| vec![None; metrics.len()], |before| agreement(before, results));
    let mut front: Vec<(&Place, &Values)> =
        results.iter().filter(|(place, values)| !has_none(values) && !is_beaten(place, values, results)).collect();
    found.without = results.values().filter(|values| has_none(values)).count();
    front.sort_by(|a, b| workload(a.0).cmp(workload(b.0)).then(a.1[0].total_cmp(&b.1[0])).then(a.0.cmp(b.0)));
    found.missed = front.iter().filter(|(place, _)| left_out.contains(place)).count();
    let cell = |(place, values): (&Place, &Values)| {
        let values: Vec<f64> = values.iter().zip(metrics).map(|(value, metric)| sign(metric) * value).collect();
        let texts = values.iter().zip(metrics).map(|(value, metric)| metric.text(*value)).collect();
        let name = name(experiment, place);
        FoundCell { name, workload: workload(place).to_owned(), values, texts }
    };
    found.front = front.into_iter().map(cell).collect();
}

/// For each step the part of the workload and how many cells run on it: each spends what it may, and the parts grow by the same
/// factor from step to step. What may be spent on everything in full is spent on that: nothing is left to guess.
fn plan_of(budget: f64, cells: usize) -> Vec<(f64, usize)> {
    if budget >= 1.0 {
        return vec![(1.0, cells)];
    }
    let last = STEPS.len() - 1;
    let least = (STEPS[0].1 * budget).min(1.0);
    let factor = root(1.0 / least, last as u64);
    let step = |(number, (_, part)): (usize, &(&str, f64))| {
        let share = if number == last { 1.0 } else { (0..number).fold(least, |share, _| share * factor) };
        (share, ((part * budget * cells as f64 / share) as usize).clamp(1, cells))
    };
    let mut plan: Vec<(f64, usize)> = STEPS.iter().enumerate().map(step).collect();
    plan[0].1 = cells;
    plan
}

/// Metrics are minimised: those whose high values are good with their sign turned.
fn sign(metric: &Metric) -> f64 {
    if metric.is_better(1.0, 0.0) { -1.0 } else { 1.0 }
}

/// A cell without its seed.
fn place(run: PlacedRun) -> Place {
    run.values.into_iter().filter(|(axis, _)| axis != "seed").collect()
}

/// The cells without their seeds.
fn candidates(placed: Vec<PlacedRun>) -> Vec<Place> {
    placed.into_iter().map(place).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The workload of a candidate, if the plan has several: those of different ones are not compared.
fn workload(place: &Place) -> &str {
    place.get("workload").map_or("", String::as_str)
}

/// The name of the workload of a candidate.
fn workload_of(experiment: &Experiment, place: &Place) -> String {
    let only = || experiment.workloads.keys().next().cloned().unwrap_or_default();
    place.get("workload").cloned().unwrap_or_else(only)
}

/// As cells are named: workload, device, buffer, FTL, then the further axes.
fn name(experiment: &Experiment, place: &Place) -> String {
    let first = ["workload", "device", "buffer", "ftl"];
    let further = experiment.axes.keys().map(String::as_str);
    let values = first.into_iter().chain(further).filter_map(|axis| place.get(axis).map(String::as_str));
    let name = values.collect::<Vec<_>>().join("/");
    if name.is_empty() { experiment.name.clone() } else { name }
}
