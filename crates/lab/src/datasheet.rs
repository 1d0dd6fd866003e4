//! What the data sheets of drives print, next to what the presets that model them do.
//!
//! A sheet is a TOML file of its own (`datasheets/NAME.toml`) for the device preset of the same name: each figure is a workload
//! with the value that its maker prints. A difference says how far the preset is from the drive, except where the figure itself
//! set a key of the preset: then it is a calibration, which is said, and not evidence.

use nandlab::report::{Report, SCHEMA_VERSION};
use serde::{Deserialize, Serialize};

use crate::device::Device;
use crate::error::Error;
use crate::parallel;
use crate::run::Run;
use crate::table::{Cell, Column, Good, Table, Unit};
use crate::watch::Watch;
use crate::workload::Workload;

/// The sheets: name of the preset and TOML text.
const SHEETS: &[(&str, &str)] = &[
    ("nvme-enterprise", include_str!("../datasheets/nvme-enterprise.toml")),
    ("nvme-client", include_str!("../datasheets/nvme-client.toml")),
    ("sata-tlc", include_str!("../datasheets/sata-tlc.toml")),
    ("sata-qlc", include_str!("../datasheets/sata-qlc.toml")),
    ("ufs", include_str!("../datasheets/ufs.toml")),
];

/// What a figure is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum SheetUnit {
    /// 10^6 bytes of the host a second.
    #[serde(rename = "MB/s")]
    MegabytesPerSecond,
    /// Requests a second.
    #[serde(rename = "IOPS")]
    Iops,
}

impl SheetUnit {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MegabytesPerSecond => "MB/s",
            Self::Iops => "IOPS",
        }
    }

    fn of(self, report: &Report) -> Option<f64> {
        let rates = &report.throughput;
        match self {
            Self::MegabytesPerSecond => Some((rates.read_bytes_per_second? + rates.written_bytes_per_second?) / 1e6),
            Self::Iops => rates.requests_per_second,
        }
    }
}

/// A figure of a data sheet.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SheetFigure {
    /// What it is, as in `random read, depth 32`.
    pub name: String,
    /// What the maker prints.
    pub printed: f64,
    /// In what.
    pub unit: SheetUnit,
    /// The generator of the workload; `{span}` is all that the host can address.
    pub trace: String,
    /// Requests.
    pub requests: u64,
    /// Requests that the host has in flight.
    pub depth: u32,
    /// State of the device before: keys of the configuration.
    #[serde(default)]
    pub set: Vec<String>,
    /// The key of the preset that was set by this figure, if one was: it is not evidence then.
    #[serde(default)]
    pub calibrates: Option<String>,
}

/// A data sheet.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Datasheet {
    /// The device preset that models the drive.
    #[serde(skip)]
    pub device: String,
    /// The drive.
    pub drive: String,
    /// Where its figures come from.
    pub source: String,
    /// The figures.
    pub figures: Vec<SheetFigure>,
}

/// Data sheets to compare with.
#[derive(Clone, Debug, Default)]
pub struct Datasheets {
    /// Device presets; none are all that have a sheet.
    pub devices: Vec<String>,
    /// Runs at a time, which changes no result; `None`: one for each processor.
    pub threads: Option<usize>,
}

/// A figure, printed and simulated.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SheetRow {
    /// The device preset.
    pub device: String,
    /// The drive that it models.
    pub drive: String,
    /// What the figure is.
    pub figure: String,
    /// In what.
    pub unit: SheetUnit,
    /// What the maker prints.
    pub printed: f64,
    /// What the preset does.
    pub simulated: f64,
    /// simulated / printed - 1.
    pub error: f64,
    /// The key of the preset that was set by this figure: the error is not evidence then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibrates: Option<String>,
}

impl SheetRow {
    /// Its values in the order of [`SheetResult::columns`].
    pub fn cells(&self) -> Vec<Cell> {
        let text = |text: &str| Cell::Text(text.to_owned());
        let numbers = [self.printed, self.simulated, self.error].map(Cell::Number);
        let names = [text(&self.device), text(&self.drive), text(&self.figure), text(self.unit.name())];
        let calibrates = self.calibrates.clone().map_or(Cell::Absent, Cell::Text);
        names.into_iter().chain(numbers).chain([calibrates]).collect()
    }
}

/// All figures.
#[derive(Debug, Serialize)]
pub struct SheetResult {
    schema: u32,
    nandlab: &'static str,
    /// It was stopped, and rows are missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// In the order of the sheets.
    pub rows: Vec<SheetRow>,
}

impl SheetResult {
    /// The columns.
    pub fn columns() -> Vec<Column> {
        vec![
            Column::plain("device", Unit::Text),
            Column::plain("drive", Unit::Text),
            Column::plain("figure", Unit::Text),
            Column::plain("unit", Unit::Text),
            Column::plain("printed", Unit::Factor),
            Column::plain("simulated", Unit::Factor),
            Column::new("error", Unit::Ratio, Good::Neither),
            Column::plain("calibrates", Unit::Text),
        ]
    }

    /// As a table.
    pub fn table(&self) -> Table {
        Table { columns: Self::columns(), rows: self.rows.iter().map(SheetRow::cells).collect() }
    }
}

impl Datasheet {
    /// The sheet of a device preset.
    ///
    /// # Errors
    /// It has none.
    pub fn of(device: &str) -> Result<Self, Error> {
        let Some((_, text)) = SHEETS.iter().find(|(name, _)| *name == device) else {
            let names: Vec<&str> = SHEETS.iter().map(|(name, _)| *name).collect();
            let help = format!("use one of {}", names.join(", "));
            return Err(Error::input(format!("there is no data sheet of a device `{device}`"), help));
        };
        let mut sheet: Self = toml::from_str(text).expect("a test reads every sheet");
        device.clone_into(&mut sheet.device);
        Ok(sheet)
    }

    /// Device presets with a sheet.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SHEETS.iter().map(|(name, _)| *name)
    }

    fn run(&self, figure: &SheetFigure) -> Result<Run, Error> {
        let mut device = Device::of(self.device.clone());
        device.set = vec!["replay.mode=fast".to_owned(), format!("replay.queue_depth={}", figure.depth)];
        // What lies in RAM at the end took its share of no request.
        device.set.push("replay.settle=none".to_owned());
        device.set.extend(figure.set.iter().cloned());
        let (_, config) = device.configure()?;
        let span = u64::from(config.logical_pages()) * u64::from(config.device.geometry.page_bytes);
        let trace = figure.trace.replace("{span}", &format!("{span}B"));
        let workload = Workload { limit: Some(figure.requests), ..Workload::of(trace) };
        Ok(Run { device, workload })
    }
}

impl Datasheets {
    /// Simulates every figure; `done` gets each as soon as it and all before it are there.
    ///
    /// # Errors
    /// A device without a sheet, or what `done` says.
    pub fn run<E: From<Error>>(
        &self,
        watch: &Watch<'_>,
        mut done: impl FnMut(&SheetRow) -> Result<(), E>,
    ) -> Result<SheetResult, E> {
        let devices: Vec<String> = if self.devices.is_empty() {
            Datasheet::names().map(str::to_owned).collect()
        } else {
            self.devices.clone()
        };
        let sheets = devices.iter().map(|name| Datasheet::of(name)).collect::<Result<Vec<_>, _>>()?;
        let pieces: Vec<(&Datasheet, &SheetFigure)> =
            sheets.iter().flat_map(|sheet| sheet.figures.iter().map(move |figure| (sheet, figure))).collect();
        let work = watch.work(pieces.len());
        let simulate = |&(sheet, figure): &(&Datasheet, &SheetFigure)| {
            let (report, _) = sheet.run(figure)?.simulate(&work.part(), None)?;
            let simulated = figure.unit.of(&report).unwrap_or(f64::NAN);
            Ok(SheetRow {
                device: sheet.device.clone(),
                drive: sheet.drive.clone(),
                figure: figure.name.clone(),
                unit: figure.unit,
                printed: figure.printed,
                simulated,
                error: simulated / figure.printed - 1.0,
                calibrates: figure.calibrates.clone(),
            })
        };
        let mut rows = Vec::new();
        let complete = parallel::each(self.threads, &watch.stop, &pieces, simulate, |row: SheetRow| {
            done(&row)?;
            rows.push(row);
            Ok::<(), E>(())
        })?;
        Ok(SheetResult { schema: SCHEMA_VERSION, nandlab: env!("CARGO_PKG_VERSION"), interrupted: !complete, rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sheet_belongs_to_a_device_and_can_be_run() {
        for name in Datasheet::names() {
            let sheet = Datasheet::of(name).unwrap();
            assert!(!sheet.figures.is_empty() && sheet.source.len() > 20, "{name}");
            for figure in &sheet.figures {
                sheet.run(figure).unwrap_or_else(|error| panic!("{name}: {}: {error}", figure.name));
                assert!(figure.printed > 0.0 && figure.depth > 0 && figure.requests > 0, "{name}: {}", figure.name);
                // What a figure set is a key of the preset.
                let (_, config) = Device::of(name).configure().unwrap();
                let config = serde_json::to_value(config).unwrap();
                let at = |key: &String| config.pointer(&format!("/{}", key.replace('.', "/"))).is_some();
                assert!(figure.calibrates.as_ref().is_none_or(at), "{name}: {:?}", figure.calibrates);
            }
        }
        let error = Datasheet::of("lab").unwrap_err().to_string();
        assert!(error.contains("nvme-client"), "{error}");
    }
}
