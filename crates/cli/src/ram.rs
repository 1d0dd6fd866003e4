//! `nandlab ram`: what the map of each FTL takes of the RAM of a device, and what it leaves for data.

use nandlab::config::{Config, PluginConfig};
use nandlab::error::ConfigError;
use nandlab::ftl::FTLS;
use nandlab::report::SCHEMA_VERSION;
use serde::Serialize;

use crate::args::{DeviceArgs, RamArgs};
use crate::fail::{Exit, Failure};
use crate::style::{Style, Table, count};
use crate::{compare, memory, output, rows, setup};

/// One FTL.
#[derive(Serialize)]
struct Row {
    /// FTL in short form.
    ftl: String,
    /// RAM of the map when the device was written once in order, bytes.
    map_bytes: Option<u64>,
    /// Most RAM that the map can take, bytes.
    map_bytes_most: Option<u64>,
    /// Data pages that a unified budget then leaves.
    data_pages: Option<u64>,
    /// The same when the map takes most.
    data_pages_least: Option<u64>,
    /// Why there are no numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct Answer {
    schema: u32,
    nandlab: &'static str,
    device: String,
    /// Pages that the host can address.
    logical_pages: u32,
    page_bytes: u32,
    /// DRAM that map and data share, bytes.
    ram_bytes: u64,
    /// A full map of 4 bytes a page, bytes.
    full_map_bytes: u64,
    rows: Vec<Row>,
}

const HEADS: [&str; 5] = ["FTL", "map", "map, most", "data pages", "data pages, least"];
const CSV: &str = "ftl,map_bytes,map_bytes_most,data_pages,data_pages_least,error";

/// Runs the command.
pub fn ram(args: &RamArgs, style: Style) -> Result<(), Failure> {
    match (args.json.as_deref(), args.csv, args.markdown) {
        (Some("-"), true, _) => return Err(rows::both("--csv", "--json -")),
        (Some("-"), _, true) => return Err(rows::both("--markdown", "--json -")),
        _ => {}
    }
    let ftls = compare::plugins(args.ftls.as_deref(), "ftl", FTLS)?;
    let device = DeviceArgs {
        device: args.device.clone(),
        set: args.set.clone(),
        precondition: Some("full".into()),
        ..DeviceArgs::default()
    };
    let builder = setup::builder(&device, args.ram)?;
    let config = |ftl: &PluginConfig| {
        let none = PluginConfig::named("none");
        setup::config(builder.clone(), Some(&none), Some(ftl), &device.set).map(|(_, config)| config)
    };
    // What no FTL can do anything about ends the command at once.
    let plain = config(&PluginConfig::named("page"))?;
    memory::check(&plain)?;
    let rows = ftls.iter().map(|ftl| row(ftl, config(ftl)));
    let answer = Answer {
        schema: SCHEMA_VERSION,
        nandlab: env!("CARGO_PKG_VERSION"),
        device: plain.device.name.clone(),
        logical_pages: plain.logical_pages(),
        page_bytes: plain.device.geometry.page_bytes,
        ram_bytes: plain.ram.dram.0,
        full_map_bytes: 4 * u64::from(plain.logical_pages()),
        rows: rows.collect(),
    };
    publish(args, &answer, style)?;
    if answer.rows.iter().any(|row| row.error.is_some()) { Err(Failure::Said(Exit::SomeRows)) } else { Ok(()) }
}

fn row(ftl: &PluginConfig, config: Result<Config, ConfigError>) -> Row {
    let measured = config.and_then(|config| {
        let device = config.build()?;
        let left = |map: u64| config.ram.dram.0.saturating_sub(map) / u64::from(config.device.geometry.page_bytes);
        let (now, most) = (device.ftl().map_bytes(), device.ftl().map_bytes_most());
        Ok([now, most, left(now), left(most)].map(Some))
    });
    let ([map_bytes, map_bytes_most, data_pages, data_pages_least], error) = match measured {
        Ok(numbers) => (numbers, None),
        Err(error) => ([None; 4], Some(error.to_string())),
    };
    Row { ftl: ftl.label(), map_bytes, map_bytes_most, data_pages, data_pages_least, error }
}

impl Row {
    fn numbers(&self) -> [Option<u64>; 4] {
        [self.map_bytes, self.map_bytes_most, self.data_pages, self.data_pages_least]
    }
    /// Cells behind the name, numbers in groups of three digits.
    fn cells(&self) -> Vec<String> {
        self.numbers().iter().map(|n| n.map_or_else(|| "-".to_owned(), count)).collect()
    }
}

fn publish(args: &RamArgs, answer: &Answer, style: Style) -> Result<(), Failure> {
    output::Target::open(args.json.as_deref())?.write(|| output::json(answer))?;
    if args.json.as_deref() == Some("-") {
        return Ok(());
    }
    output::print(&match (args.csv, args.markdown) {
        (true, _) => csv(&answer.rows),
        (_, true) => markdown(&answer.rows),
        _ => text(answer, style),
    })
}

fn text(answer: &Answer, style: Style) -> String {
    let mut table = Table::new(1);
    table.row(HEADS);
    for row in &answer.rows {
        table.row([vec![row.ftl.clone()], row.cells()].concat());
    }
    let Answer { device, logical_pages, page_bytes, ram_bytes, full_map_bytes, .. } = answer;
    let mut text = format!(
        "{device}: {} logical pages of {page_bytes} bytes; a full map takes {} bytes of {} bytes of RAM\n\n{}\n\
         map: bytes when the device was written once in order, and at most\n\
         data pages: what a unified budget (ram.budget = \"unified\") then leaves for data\n",
        count(u64::from(*logical_pages)),
        count(*full_map_bytes),
        count(*ram_bytes),
        table.render(style)
    );
    for row in answer.rows.iter().filter(|row| row.error.is_some()) {
        text += &format!("{} {}: {}\n", style.warn("failed:"), row.ftl, row.error.as_deref().unwrap_or_default());
    }
    text
}

fn markdown(rows: &[Row]) -> String {
    let lines = rows.iter().map(|row| format!("| {} | {} |\n", row.ftl, row.cells().join(" | ")));
    format!("| {} |\n|-|-:|-:|-:|-:|\n", HEADS.join(" | ")) + &lines.collect::<String>()
}

fn csv(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let numbers = row.numbers().map(|n| n.map_or_else(String::new, |n| n.to_string()));
        let error = row.error.as_deref().unwrap_or_default();
        format!("{},{},{}\n", rows::quoted(&row.ftl), numbers.join(","), rows::quoted(error))
    };
    CSV.to_owned() + "\n" + &rows.iter().map(line).collect::<String>()
}
