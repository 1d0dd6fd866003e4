//! `nandlab datasheet`: what makers print of their drives, beside what the presets do.

use clap::Args;
use nandlab_lab::datasheet::{Datasheet, Datasheets, SheetResult, SheetRow};

use crate::args::OutputArgs;
use crate::fail::Failure;
use crate::files::Files;
use crate::output;
use crate::progress::Progress;
use crate::rows::{Cells, Form, Head, Heading, Printer, exact, names};
use crate::style::Style;

/// Arguments of `datasheet`.
#[derive(Args, Debug)]
pub struct DatasheetArgs {
    /// Device presets that model a drive. Default: all of them.
    #[arg(value_name = "DEVICE")]
    devices: Vec<String>,
    #[command(flatten)]
    output: OutputArgs,
}

impl DatasheetArgs {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        Files::default().writing("--json", self.output.json.as_ref())
    }
}

/// Runs the command.
pub fn datasheet(args: &DatasheetArgs, style: Style) -> Result<(), Failure> {
    let form = Form::of(&args.output, None)?;
    for device in &args.devices {
        Datasheet::of(device)?;
    }
    let sheets = Datasheets { devices: args.devices.clone(), threads: args.output.threads };
    let json = output::Target::open(args.output.json.as_deref())?;
    let progress = Progress::new("simulating drives", args.output.quiet);
    let watch = progress.watch();
    let printer = Printer::begin(&heading(), form, style, &progress)?;
    let result = sheets.run(&watch, |row| printer.row(&cells(row)))?;
    printer.end(|form| if form == Form::Text { FOOT.to_owned() } else { String::new() })?;
    progress.end();
    json.write(|| output::json(&result))?;
    if result.interrupted {
        return Err(Failure::Interrupted(format!("{} figures are done", result.rows.len())));
    }
    Ok(())
}

const FOOT: &str = "\nprinted: by the maker; error: simulated / printed - 1; calibrates: the key that this figure set, so that it is no evidence\n";

fn heading() -> Heading {
    let heads = [
        ("device", 16),
        ("figure", 42),
        ("unit", 5),
        ("printed", 10),
        ("simulated", 10),
        ("error", 8),
        ("calibrates", 30),
    ];
    Heading {
        text: String::new(),
        heads: heads.into_iter().map(|(text, width)| Head::new(text, width)).collect(),
        left: 3,
        exact: names(&SheetResult::columns()),
    }
}

fn cells(row: &SheetRow) -> Cells {
    let shown = vec![
        row.device.clone(),
        row.figure.clone(),
        row.unit.name().to_owned(),
        format!("{:.0}", row.printed),
        format!("{:.0}", row.simulated),
        format!("{:+.1} %", row.error * 100.0),
        row.calibrates.clone().unwrap_or_default(),
    ];
    Cells { shown, exact: vec![exact(&row.cells())] }
}
