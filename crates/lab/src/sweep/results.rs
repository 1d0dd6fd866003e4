//! The folder of a sweep as its readers see it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::SweepCell;
use super::store::{Store, Values, write_parquet};
use crate::course::Course;
use crate::error::Error;
use crate::experiment::{Experiment, unknown};
use crate::files::{make_folder, write_file};
use crate::run::Run;

const PLAN: &str = "plan.json";
const TABLE: &str = "results.parquet";
/// What the form of the folder is called.
const VERSION: u32 = 2;

/// The results of a sweep: a folder, which may grow meanwhile.
#[derive(Debug)]
pub struct SweepResults {
    folder: PathBuf,
    plan: StoredPlan,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredPlan {
    version: u32,
    /// The text of the experiment.
    experiment: String,
    cells: Vec<StoredCell>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredCell {
    name: String,
    values: Vec<(String, String)>,
    id: String,
    run: Run,
}

/// What is known of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CellStatus {
    /// It has a report.
    Done,
    /// It cannot be built, or failed.
    Failed,
    /// It has not run yet.
    Open,
}

impl CellStatus {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Open => "open",
        }
    }
}

/// A cell and its result.
#[derive(Clone, Debug, Serialize)]
pub struct SweepRow {
    /// Name of the cell.
    pub cell: String,
    /// The value of each axis that has more than one.
    pub values: BTreeMap<String, String>,
    /// Hash of all that decides the result.
    pub id: String,
    /// What is known of it.
    pub status: CellStatus,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Its report, without the time that it took (`nandlab describe metrics`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Value>,
    /// How the run went.
    #[serde(skip)]
    pub(crate) course: Option<Course>,
}

impl SweepRow {
    /// A cell that was simulated, for tests of what reads results.
    #[cfg(test)]
    pub(crate) fn done(cell: impl Into<String>, values: BTreeMap<String, String>, report: Value) -> Self {
        let (id, status) = (String::new(), CellStatus::Done);
        Self { cell: cell.into(), values, id, status, error: None, report: Some(report), course: None }
    }
    /// A number of the report by its path, as in `hits.page.total`.
    pub fn number(&self, path: &str) -> Option<f64> {
        self.report.as_ref()?.pointer(&format!("/{}", path.replace('.', "/")))?.as_f64()
    }
}

impl SweepResults {
    /// Makes the folder and puts the plan into it.
    pub(super) fn begin(folder: &Path, experiment: String, cells: &[SweepCell]) -> Result<Self, Error> {
        let name = |plan: &str| Experiment::read(PLAN, plan).map(|experiment| experiment.name);
        let (new, old) = (name(&experiment)?, Self::open(folder).and_then(|results| name(&results.plan.experiment)));
        if let Some(old) = old.ok().filter(|old| *old != new) {
            let problem =
                format!("{} has the results of the experiment `{old}`, and this one is `{new}`", folder.display());
            let help = format!(
                "name another folder, or remove {}: its cells are used where they fit",
                folder.join(PLAN).display()
            );
            return Err(Error::input(problem, help));
        }
        make_folder(&folder.join("cells"))?;
        let cells = cells.iter().map(|cell| {
            let SweepCell { name, values, id, run, .. } = cell.clone();
            StoredCell { name, values, id, run }
        });
        let plan = StoredPlan { version: VERSION, experiment, cells: cells.collect() };
        let text = serde_json::to_string(&plan).expect("a plan is plain data") + "\n";
        let target = folder.join(PLAN);
        // Several processes with the same plan do not write it over and over.
        if std::fs::read_to_string(&target).ok().as_ref() != Some(&text) {
            // A table of the cells of before would look as if it were that of these.
            _ = std::fs::remove_file(folder.join(TABLE));
            write_file(&target, text)?;
        }
        Ok(Self { folder: folder.to_owned(), plan })
    }

    /// The results in the folder of a sweep.
    ///
    /// # Errors
    /// There is no sweep in it, or its plan is damaged or of another version.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, Error> {
        let folder = folder.into();
        let path = folder.join(PLAN);
        let text = std::fs::read_to_string(&path).map_err(|error| {
            let help = "name the folder that was given to `nandlab sweep PLAN -o FOLDER`";
            Error::input(format!("{}: there is no sweep: {error}", path.display()), help)
        })?;
        let again = |problem: String| {
            let help = format!(
                "run `nandlab sweep PLAN -o {}` again: it writes the plan anew and runs only cells that have no result yet",
                folder.display()
            );
            Error::input(format!("{}: {problem}", path.display()), help)
        };
        let plan: StoredPlan =
            serde_json::from_str(&text).map_err(|error| again(format!("the plan is damaged: {error}")))?;
        if plan.version != VERSION {
            return Err(again(format!("its form is {}, and this program reads {VERSION}", plan.version)));
        }
        Ok(Self { folder, plan })
    }

    /// Where the results of cells lie.
    pub(super) fn cells_folder(&self) -> PathBuf {
        self.folder.join("cells")
    }

    pub(super) fn store(&self) -> Store {
        Store(self.cells_folder())
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The experiment.
    ///
    /// # Errors
    /// The text in the plan is not one.
    pub fn experiment(&self) -> Result<Experiment, Error> {
        Experiment::read(&self.folder.join(PLAN).display().to_string(), &self.plan.experiment)
    }

    fn cell(&self, name: &str) -> Result<&StoredCell, Error> {
        let cells = &self.plan.cells;
        let found = cells.iter().find(|known| known.name == name);
        found.ok_or_else(|| unknown("cells", name, cells.iter().map(|cell| &cell.name)))
    }

    /// The run of a cell.
    ///
    /// # Errors
    /// There is none of this name; the help has the nearest one.
    pub fn run(&self, cell: &str) -> Result<&Run, Error> {
        Ok(&self.cell(cell)?.run)
    }

    /// All that decided the result of a cell, as JSON; nothing if it has none yet.
    ///
    /// # Errors
    /// There is no such cell, or the result cannot be read.
    pub fn key(&self, cell: &str) -> Result<Option<String>, Error> {
        let (id, store) = (&self.cell(cell)?.id, self.store());
        if store.has(id) { Ok(Some(store.read(id)?.key)) } else { Ok(None) }
    }

    /// The cells in the order of their names, with their results.
    ///
    /// # Errors
    /// A result cannot be read.
    pub fn rows(&self) -> Result<Vec<SweepRow>, Error> {
        self.plan.cells.iter().map(|cell| self.row(cell)).collect()
    }

    /// A cell has a report.
    ///
    /// # Errors
    /// A result cannot be read.
    pub(crate) fn has_reports(&self) -> Result<bool, Error> {
        for cell in &self.plan.cells {
            if self.row(cell)?.report.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A cell with its result.
    ///
    /// # Errors
    /// There is none of this name (the help has the nearest one), or its result cannot be read.
    pub fn get(&self, cell: &str) -> Result<SweepRow, Error> {
        self.row(self.cell(cell)?)
    }

    fn row(&self, cell: &StoredCell) -> Result<SweepRow, Error> {
        let StoredCell { name, values, id, .. } = cell;
        let store = self.store();
        let result = if store.has(id) { Some(store.read(id)?) } else { None };
        let status = match &result {
            None => CellStatus::Open,
            Some(result) if result.error.is_some() => CellStatus::Failed,
            Some(_) => CellStatus::Done,
        };
        let broken = |error| {
            let help = "remove the file and run the sweep again";
            Error::input(format!("cells/{id}.parquet: the result is not JSON: {error}"), help)
        };
        let (report, course, error) = match result {
            None => (None, None, None),
            Some(result) => {
                let report = result.report.map(|text| serde_json::from_str(&text).map_err(broken)).transpose()?;
                let course = result.course.map(|text| serde_json::from_str(&text).map_err(broken)).transpose()?;
                (report, course, result.error)
            }
        };
        let values = values.iter().cloned().collect();
        Ok(SweepRow { cell: name.clone(), values, id: id.clone(), status, error, report, course })
    }

    /// Writes `results.parquet`: a row for each cell, with its name, the values of all axes, its status and error, and every
    /// number of its report, as `report.NAME` where an axis has the name.
    pub(super) fn write_table(&self) -> Result<(), Error> {
        let rows = self.rows()?;
        let text = |value: &dyn Fn(&SweepRow) -> Option<String>| Values::Text(rows.iter().map(value).collect());
        let mut columns = vec![("cell".to_owned(), text(&|row| Some(row.cell.clone())))];
        for axis in axes(&rows) {
            columns.push((axis.clone(), text(&|row| row.values.get(&axis).cloned())));
        }
        columns.push(("status".to_owned(), text(&|row| Some(row.status.name().to_owned()))));
        columns.push(("error".to_owned(), text(&|row| row.error.clone())));
        for path in numbers(&rows) {
            let values = rows.iter().map(|row| row.number(&path)).collect();
            let is_taken = columns.iter().any(|(name, _)| *name == path);
            columns.push((if is_taken { format!("report.{path}") } else { path }, Values::Number(values)));
        }
        write_parquet(&self.folder.join(TABLE), &columns)
    }
}

/// The axes with more than one value, in the order of names of cells.
pub(crate) fn axes(rows: &[SweepRow]) -> Vec<String> {
    let known: std::collections::BTreeSet<&String> = rows.iter().flat_map(|row| row.values.keys()).collect();
    let place = |axis: &str| match axis {
        "seed" => usize::MAX,
        _ => ["workload", "device", "buffer", "ftl"].iter().position(|known| *known == axis).unwrap_or(usize::MAX - 1),
    };
    let mut axes: Vec<String> = known.into_iter().cloned().collect();
    axes.sort_by_key(|axis| place(axis));
    axes
}

/// The paths of all numbers in the reports, apart from the configuration, in the order of the first report that has them.
fn numbers(rows: &[SweepRow]) -> Vec<String> {
    let mut paths = Vec::new();
    let mut known = std::collections::BTreeSet::new();
    for report in rows.iter().filter_map(|row| row.report.as_ref()?.as_object()) {
        for (name, value) in report.iter().filter(|(name, _)| *name != "config" && *name != "schema") {
            collect(name, value, &mut |path| {
                if known.insert(path.to_owned()) {
                    paths.push(path.to_owned());
                }
            });
        }
    }
    paths
}

fn collect(path: &str, value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::Number(_) => found(path),
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| collect(&format!("{path}.{name}"), value, found));
        }
        _ => {}
    }
}
