//! Experiments: what varies over what, as values and as TOML; each cell is a run with a name.

mod cells;
mod check;
mod claim;
mod formula;
mod manual;
mod metric;
mod note;
mod place;
mod setting;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::device::Device;
use crate::error::Error;
use crate::parallel;
use crate::run::Run;
use crate::watch::Watch;
use crate::workload::Workload;

pub use cells::Cells;
pub(crate) use cells::unknown;
pub use claim::{Claim, ClaimTest, ClaimWay, ExperimentFigure};
pub(crate) use formula::Formula;
pub use metric::{ExperimentMetric, MetricEnd, MetricUnit};
pub(crate) use metric::{OWN_METRICS, TAIL, WRITES};
pub(crate) use note::{check as check_note, fill};
pub use setting::{Setting, SettingOfSome};

/// How it is written.
const FORM: &str = "an experiment is a TOML file; docs/experiments.md describes its keys and values";
/// Most cells that one experiment has.
const CELLS_MAX: usize = 100_000;

/// Runs that belong together: every combination of workloads, devices, buffers, FTLs, further axes and seeds, or those that
/// `cells` lists. As TOML:
///
/// ```
/// let experiment = nandlab_lab::Experiment::parse("ram.toml", r#"
///     name = "ram"
///     [workloads.skewed]
///     trace = ["make:zipf:theta=0.9"]
///     limit = 500
///     [devices.lab]
///     base = "lab"
///     set = ["precondition=none"]
///     [buffers]
///     lru = "lru"
///     cflru = "cflru:window_ratio=0.5"
///     [axes.ram]
///     1MiB = ["ram.dram=1MiB"]
///     2MiB = ["ram.dram=2MiB"]
/// "#)?;
/// let cells = experiment.run(None, None, &nandlab_lab::Watch::default())?;
/// assert_eq!(cells.get("lru/2MiB")?.requests.total, 500);
/// assert_eq!(cells.fill("{lru/2MiB requests.total} requests")?, "500 requests");
/// # Ok::<(), nandlab_lab::Error>(())
/// ```
///
/// The name of a cell is made of its values, in the order workload, device, buffer, FTL, further axes by their names, seed;
/// an axis with one value only is left out.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Experiment {
    /// A short name, as on a command line.
    pub name: String,
    /// How it is called in a heading.
    pub title: String,
    /// What it is for, in a sentence.
    pub sentence: String,
    /// What is replayed; without any, the built-in workload.
    pub workloads: BTreeMap<String, Workload>,
    /// Devices; without any, the default preset.
    pub devices: BTreeMap<String, Device>,
    /// Buffers in short form (`name:key=value`); without any, those of the devices.
    pub buffers: BTreeMap<String, String>,
    /// FTLs in short form; without any, those of the devices.
    pub ftls: BTreeMap<String, String>,
    /// Further axes: for each value of one the settings that make it (`["ram.dram=1MiB"]`), which follow those of the device.
    pub axes: BTreeMap<String, BTreeMap<String, Vec<Setting>>>,
    /// The axes that a paper leaves open: its claims are judged for every combination of their values.
    pub open: Vec<String>,
    /// Seeds; without any, that of the device.
    pub seeds: Vec<u64>,
    /// Parts of the product: each names values of some axes, and has all values of the others. All cells when absent.
    pub cells: Option<Vec<BTreeMap<String, Vec<String>>>>,
    /// Metrics that a report on a sweep has besides its own.
    pub metrics: BTreeMap<String, ExperimentMetric>,
    /// What holds for all of its claims, in Markdown.
    pub about: String,
    /// Figures and tables of a paper, by the names that `nandlab reproduce --figure` takes.
    pub figures: BTreeMap<String, ExperimentFigure>,
    /// What a paper claims about the results.
    pub claims: Vec<Claim>,
}

/// A run and where it stands in an experiment.
pub(crate) struct PlacedRun {
    /// Of the cell.
    pub(crate) name: String,
    /// The value of each axis that has more than one.
    pub(crate) values: Vec<(String, String)>,
    pub(crate) run: Run,
}

/// An axis with its values.
type Axis<'a> = (&'a str, Vec<String>);

impl Experiment {
    /// Reads an experiment from the text of a TOML file of this name.
    ///
    /// # Errors
    /// It is not TOML, a key or a value of it is impossible, or a device cannot be configured. The text names the file.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let experiment = Self::read(file, text)?;
        experiment.check().map_err(|error| error.at(file))?;
        Ok(experiment)
    }

    /// The same without a look at the cells: of a sweep some may be impossible.
    pub(crate) fn read(file: &str, text: &str) -> Result<Self, Error> {
        let parsed: Result<Self, _> = toml::from_str(text);
        let experiment = parsed.map_err(|error| {
            let at = error.span().map_or(0, |span| span.start.min(text.len()));
            let (before, after) = text.split_at(at);
            let line = [before.rsplit('\n').next(), after.lines().next()].map(Option::unwrap_or_default).concat();
            let number = before.matches('\n').count() + 1;
            let place = error.span().map_or(String::new(), |_| format!(" line {number}, `{}`", line.trim()));
            Error::input(format!("{file}{place}: {}", error.message()), FORM)
        })?;
        let check = || {
            experiment.check_names()?;
            experiment.check_metrics()?;
            experiment.check_claims(&experiment.placed()?)
        };
        check().map_err(|error| error.at(file))?;
        Ok(experiment)
    }

    fn check_names(&self) -> Result<(), Error> {
        if !is_name(&self.name) {
            return Err(Error::input(format!("name: `{}` is no name", self.name), NAMES));
        }
        if let Some(twice) = self.seeds.iter().enumerate().find(|(at, seed)| self.seeds[..*at].contains(seed)) {
            return Err(Error::input(format!("seeds: {} is there twice", twice.1), "name each once"));
        }
        for (name, workload) in &self.workloads {
            if workload.limit == Some(0) {
                return Err(Error::input(
                    format!("workloads.{name}.limit: 0 is below 1"),
                    "leave it out for all requests",
                ));
            }
        }
        Ok(())
    }

    /// # Errors
    /// A key or a value is impossible, a device cannot be configured, or a note names a cell that does not exist; nothing is
    /// simulated.
    pub fn check(&self) -> Result<(), Error> {
        self.check_names()?;
        let placed = self.placed()?;
        for PlacedRun { name, run, .. } in &placed {
            run.device.configure().map_err(|error| error.at(format!("cell {name}")))?;
        }
        self.check_notes(&placed.iter().map(|cell| cell.name.as_str()).collect())?;
        self.check_metrics()?;
        self.check_claims(&placed)
    }

    /// Refuses notes of claims with other cells than these.
    pub(crate) fn check_notes(&self, cells: &BTreeSet<&str>) -> Result<(), Error> {
        let is_cell = |cell: &str| {
            if cells.contains(cell) { Ok(()) } else { Err(unknown("cells", cell, cells)) }
        };
        self.claims.iter().try_for_each(|Claim { place, note, .. }| {
            note::check(note, is_cell).map_err(|error| error.at(format!("claims: {place}")))
        })
    }

    /// The runs by their names.
    ///
    /// # Errors
    /// A name is impossible, a cell names an axis or a value that does not exist, or there are too many.
    pub fn runs(&self) -> Result<BTreeMap<String, Run>, Error> {
        Ok(self.placed()?.into_iter().map(|placed| (placed.name, placed.run)).collect())
    }

    /// The runs by their names, with the values of the axes that have more than one.
    pub(crate) fn placed(&self) -> Result<Vec<PlacedRun>, Error> {
        let axes = self.axes()?;
        self.check_settings(&axes)?;
        let whole = [BTreeMap::new()];
        let mut runs = BTreeMap::new();
        for part in self.cells.as_deref().unwrap_or(&whole) {
            for (axis, values) in part {
                let known = axes.iter().find(|(name, _)| name == axis);
                let (_, known) = known.ok_or_else(|| unknown("cells", axis, axes.iter().map(|(name, _)| *name)))?;
                if let Some(value) = values.iter().find(|value| !known.contains(value)) {
                    return Err(unknown(&format!("cells.{axis}"), value, known));
                }
            }
            let chosen: Vec<_> = axes.iter().map(|(axis, all)| part.get(*axis).unwrap_or(all)).collect();
            let count = chosen.iter().fold(1_usize, |count, values| count.saturating_mul(values.len()));
            if runs.len().saturating_add(count) > CELLS_MAX {
                let problem = format!("cells: more than {CELLS_MAX}");
                return Err(Error::input(problem, "list the combinations that are needed under [[cells]]"));
            }
            let mut combinations = vec![Vec::new()];
            for values in chosen {
                let longer = |before: &Vec<_>| {
                    let before = before.clone();
                    values.iter().map(move |value| [before.as_slice(), &[value.as_str()]].concat())
                };
                combinations = combinations.iter().flat_map(longer).collect();
            }
            for values in &combinations {
                let several = axes.iter().zip(values).filter(|((_, all), _)| all.len() > 1);
                let values_of_cell =
                    several.map(|((axis, _), value)| ((*axis).to_owned(), (*value).to_owned())).collect();
                let name = self.cell_name(&axes, values);
                self.check_keys(&name, &axes, values)?;
                let run = self.cell(&axes, values);
                runs.insert(name.clone(), PlacedRun { name, values: values_of_cell, run });
            }
        }
        Ok(runs.into_values().collect())
    }

    /// The axes that have values, in the order of names of cells.
    fn axes(&self) -> Result<Vec<Axis<'_>>, Error> {
        fn names<V>(values: &BTreeMap<String, V>) -> Vec<String> {
            values.keys().cloned().collect()
        }
        let own = ["workload", "device", "buffer", "ftl", "seed"];
        // The first are axes of every experiment, the others columns of its results.
        let taken =
            |name: &&String| own.contains(&name.as_str()) || ["cell", "status", "error"].contains(&name.as_str());
        if let Some(taken) = self.axes.keys().find(taken) {
            return Err(Error::input(format!("axes.{taken}: the name is taken"), "give it another name"));
        }
        let plugins = [names(&self.workloads), names(&self.devices), names(&self.buffers), names(&self.ftls)];
        let further = self.axes.iter().map(|(name, values)| (name.as_str(), names(values)));
        let seeds = (own[4], self.seeds.iter().map(ToString::to_string).collect());
        let axes: Vec<Axis<'_>> = own.into_iter().zip(plugins).chain(further).chain([seeds]).collect();
        for (axis, values) in &axes {
            if let Some(bad) = [*axis].into_iter().chain(values.iter().map(String::as_str)).find(|name| !is_name(name))
            {
                return Err(Error::input(format!("{axis}: `{bad}` is no name"), NAMES));
            }
        }
        Ok(axes.into_iter().filter(|(_, values)| !values.is_empty()).collect())
    }

    fn cell_name(&self, axes: &[Axis<'_>], values: &[&str]) -> String {
        let several = axes.iter().zip(values).filter(|((_, all), _)| all.len() > 1);
        let name = several.map(|(_, value)| *value).collect::<Vec<_>>().join("/");
        if name.is_empty() { self.name.clone() } else { name }
    }

    fn cell(&self, axes: &[Axis<'_>], values: &[&str]) -> Run {
        let mut run = Run::default();
        for ((axis, _), value) in axes.iter().zip(values) {
            match *axis {
                "workload" => run.workload = self.workloads[*value].clone(),
                // Before all that is put over it.
                "device" => run.device = self.devices[*value].clone(),
                "buffer" => run.device.buffer = Some(self.buffers[*value].clone()),
                "ftl" => run.device.ftl = Some(self.ftls[*value].clone()),
                "seed" => run.device.set.push(format!("seed={value}")),
                axis => {
                    for setting in &self.axes[axis][*value] {
                        Self::apply(setting, axes, values, &mut run);
                    }
                }
            }
        }
        run
    }

    fn apply(setting: &Setting, axes: &[Axis<'_>], values: &[&str], run: &mut Run) {
        let device = &mut run.device;
        match setting {
            Setting::Always(text) => device.set.push(text.clone()),
            Setting::Some(SettingOfSome { cells, buffer, ftl, trace, set }) => {
                let value_on = |axis: &String| {
                    axes.iter().zip(values).find(|((name, _), _)| name == axis).map(|(_, value)| *value)
                };
                if cells.iter().all(|(axis, some)| some.iter().any(|value| value_on(axis) == Some(value))) {
                    device.buffer = buffer.clone().or(device.buffer.take());
                    device.ftl = ftl.clone().or(device.ftl.take());
                    device.set.extend_from_slice(set);
                    if !trace.is_empty() {
                        run.workload.trace.clone_from(trace);
                    }
                }
            }
        }
    }

    /// Refuses a cell in which two axes set one key to different values: its name would say what it is not.
    fn check_keys(&self, cell: &str, axes: &[Axis<'_>], values: &[&str]) -> Result<(), Error> {
        let mut all = BTreeMap::new();
        for ((axis, _), value) in axes.iter().zip(values) {
            let of_axis = self.axes.get(*axis).and_then(|known| known.get(*value)).into_iter().flatten();
            let of_seed = (*axis == "seed").then_some(("seed", *value));
            for (key, set) in of_axis.flat_map(Setting::always).chain(of_seed) {
                let (by, other) = all.insert(key, (*axis, set)).unwrap_or((*axis, set));
                if by != *axis && other != set {
                    let problem = format!("cell {cell}: `{by}` sets `{key}` to {other}, and `{axis}` to {set}");
                    return Err(Error::input(
                        problem,
                        "let one axis set it, or list the cells that are meant under [[cells]]",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Refuses settings of cells that do not exist.
    fn check_settings(&self, axes: &[Axis<'_>]) -> Result<(), Error> {
        for (axis, values) in &self.axes {
            for (value, settings) in values {
                let wheres = settings.iter().filter_map(|setting| match setting {
                    Setting::Some(some) => Some(&some.cells),
                    Setting::Always(_) => None,
                });
                for (of, some) in wheres.flatten() {
                    let key = format!("axes.{axis}.{value}: where");
                    let known = axes.iter().find(|(name, _)| name == of);
                    let (_, known) = known.ok_or_else(|| unknown(&key, of, axes.iter().map(|(name, _)| *name)))?;
                    if let Some(wrong) = some.iter().find(|value| !known.contains(value)) {
                        return Err(unknown(&format!("{key}.{of}"), wrong, known));
                    }
                }
            }
        }
        Ok(())
    }

    /// Carries out all cells; `limit` is for a quick look: requests of every cell at most. As many `threads` as processors
    /// when `None`; the results do not depend on it.
    ///
    /// # Errors
    /// As [`Experiment::check`], a simulation fails, or `watch` stopped the work.
    pub fn run(&self, limit: Option<u64>, threads: Option<usize>, watch: &Watch<'_>) -> Result<Cells, Error> {
        self.check()?;
        let (names, mut runs): (Vec<_>, Vec<_>) = self.runs()?.into_iter().unzip();
        for run in &mut runs {
            run.workload.limit = [run.workload.limit, limit].into_iter().flatten().min();
        }
        let work = watch.work(runs.len());
        let reports = parallel::map(threads, &watch.stop, &runs, |run| Ok(run.simulate(&work.part(), None)?.0))?;
        Ok(Cells(names.into_iter().zip(reports).collect()))
    }
}

/// What names are made of.
const NAMES: &str = "a name has one character at least, and no space, `/`, `{` or `}`";

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control() || "/{}".contains(c))
}

#[cfg(test)]
mod tests {
    use super::Experiment;

    const TEXT: &str = "name = 'a'\nseeds = [1, 2]\n[buffers]\nlru = 'lru'\nfifo = 'fifo'\n[ftls]\npage = 'page'\n\
                        [axes.ram]\nsmall = ['ram.dram=1MiB']\nlarge = ['ram.dram=2MiB']\n";

    fn names(text: &str) -> Vec<String> {
        Experiment::parse("a.toml", text).unwrap().runs().unwrap().into_keys().collect()
    }
    fn problem(more: &str) -> String {
        Experiment::parse("a.toml", &format!("{TEXT}{more}")).unwrap_err().to_string()
    }

    #[test]
    fn cells_are_the_product_or_the_listed_parts() {
        assert_eq!(names(TEXT).len(), 8);
        let listed =
            format!("{TEXT}[[cells]]\nbuffer = ['lru']\nram = ['small']\n[[cells]]\nseed = ['2']\nbuffer = ['lru']\n");
        assert_eq!(names(&listed), ["lru/large/2", "lru/small/1", "lru/small/2"]);
        assert_eq!(names("name = 'only'\n[buffers]\nlru = 'lru'\n"), ["only"]);
        assert!(names("name = 'none'\ncells = []\n").is_empty());
    }

    #[test]
    fn cells_have_the_settings_of_their_axes() {
        let runs = Experiment::parse("a.toml", TEXT).unwrap().runs().unwrap();
        let device = &runs["lru/large/2"].device;
        assert_eq!((device.buffer.as_deref(), device.ftl.as_deref()), (Some("lru"), Some("page")));
        assert_eq!(device.set, ["ram.dram=2MiB", "seed=2"]);
    }

    #[test]
    fn axes_may_set_the_same_key_where_they_do_not_meet() {
        let axis = "[axes.more]\nno = []\nyes = ['ram.dram=4MiB']\n\
                    some = [{ where = { ram = ['large'] }, set = ['ram.dram=8MiB'] }]\n";
        let met = problem(axis);
        assert!(met.contains("`more` sets `ram.dram` to 4MiB, and `ram` to 2MiB"), "{met}");
        let cells = "[[cells]]\nmore = ['no', 'some']\n";
        assert_eq!(names(&format!("{TEXT}{axis}{cells}")).len(), 16);
    }

    #[test]
    fn errors_name_file_key_and_fix() {
        for (more, words) in [
            ("[[cells]]\nbufer = ['lru']\n", ["a.toml", "cells: there is no `bufer`", "did you mean `buffer`?"]),
            ("[[cells]]\nbuffer = ['lr']\n", ["a.toml", "cells.buffer: there is no `lr`", "did you mean `lru`?"]),
            ("[axes.ftl]\nx = []\n", ["a.toml", "axes.ftl", "another name"]),
            ("[axes.'a b']\nx = []\n", ["a.toml", "`a b` is no name", "no space"]),
            ("[workloads.w]\nlimit = 0\n", ["a.toml", "workloads.w.limit: 0 is below 1", "leave it out"]),
            ("[workloads.w]\nlimits = 1\n", ["a.toml line 12, `limits = 1`", "unknown field `limits`", "`limit`"]),
            ("[workloads.w]\nlimit = 'x'\n", ["a.toml line 12, `limit = 'x'`", "expected u64", "docs/experiments.md"]),
            ("[axes.wear]\nx = ['ram.nvram=much']\n", ["a.toml", "cell fifo/large/1", "ram.nvram"]),
            // Only one of the two would have an effect.
            (
                "[axes.wear]\nx = ['ram.dram = 3MiB']\n",
                ["a.toml", "cell fifo/large/1: `ram` sets `ram.dram` to 2MiB, and `wear` to 3MiB", "one axis"],
            ),
            (
                "[axes.wear]\nx = [{ set = ['seed=3'] }]\n",
                ["a.toml", "`wear` sets `seed` to 3, and `seed` to 1", "one axis"],
            ),
        ] {
            let text = problem(more);
            assert!(words.iter().all(|word| text.contains(word)), "{text}");
        }
    }

    #[test]
    fn results_name_the_nearest_cell() {
        let text =
            format!("{TEXT}[[cells]]\nseed = ['1']\n[devices.d]\nset = ['device.geometry.blocks_per_plane=64']\n");
        let experiment = Experiment::parse("a.toml", &text).unwrap();
        let cells = experiment.run(Some(20), None, &crate::Watch::default()).unwrap();
        assert_eq!(cells.iter().count(), 4);
        assert_eq!(cells.get("lru/small/1").unwrap().requests.total, 20);
        assert!(cells.get("lru/smal/1").unwrap_err().help().contains("`lru/small/1`"));
    }
}
