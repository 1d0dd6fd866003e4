//! `nandlab ram`: what the map of each FTL takes of the RAM of a device, and what it leaves for data.

use clap::Args;
use nandlab::ftl::FTLS;
use nandlab::types::Bytes;
use nandlab_lab::ram::{Maps, maps};
use nandlab_lab::{Cell, plugin_list};

use crate::args::DeviceArgs;
use crate::fail::Failure;
use crate::rows::{self, csv};
use crate::style::{Style, Table, count};
use crate::{number, output};

/// Arguments of `ram`.
#[derive(Args, Debug)]
pub struct RamArgs {
    /// A device preset (`nandlab list devices`) or a TOML file.
    #[arg(long, short, value_name = "PRESET|FILE", default_value = nandlab::config::DEFAULT_DEVICE)]
    pub device: String,
    /// DRAM that map and data share (ram.dram).
    #[arg(long, value_name = "SIZE", value_parser = number::size, allow_hyphen_values = true)]
    pub ram: Option<Bytes>,
    /// FTLs, separated by commas: names or name:key=value:key=value; all when absent.
    #[arg(long, short, value_name = "LIST")]
    pub ftls: Option<String>,
    /// Any key of the configuration, for example --set `device.over_provisioning={spare_over_logical=0.07}`; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Write the answer as JSON to a file, or to standard output (`-`) instead of the table.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<String>,
    /// Print comma-separated values.
    #[arg(long, help_heading = "Output", conflicts_with = "markdown")]
    pub csv: bool,
    /// Print a Markdown table.
    #[arg(long, help_heading = "Output")]
    pub markdown: bool,
}

const HEADS: [&str; 5] = ["FTL", "map", "map, most", "data pages", "data pages, least"];

/// Runs the command.
pub fn ram(args: &RamArgs, style: Style) -> Result<(), Failure> {
    match (args.json.as_deref(), args.csv, args.markdown) {
        (Some("-"), true, _) => return Err(rows::both("--csv", "--json -")),
        (Some("-"), _, true) => return Err(rows::both("--markdown", "--json -")),
        _ => {}
    }
    let ftls = plugin_list(args.ftls.as_deref().unwrap_or("all"), "ftl", FTLS)?;
    let device = DeviceArgs {
        device: args.device.clone(),
        set: args.set.clone(),
        precondition: Some("full".to_owned()),
        ..DeviceArgs::default()
    };
    let maps = maps(&device.device(args.ram), &ftls)?;
    output::Target::open(args.json.as_deref())?.write(|| output::json(&maps))?;
    if args.json.as_deref() != Some("-") {
        output::print(&match (args.csv, args.markdown) {
            (true, _) => csv(&maps.table()),
            (_, true) => markdown(&maps),
            _ => text(&maps, style),
        })?;
    }
    Failure::if_some_failed(maps.rows.iter().any(|row| row.error.is_some()))
}

/// Cells of each row, numbers in groups of three digits; without the error.
fn cells(maps: &Maps) -> Vec<Vec<String>> {
    let shown = |cell: &Cell| match cell {
        Cell::Number(number) => count(*number as u64),
        Cell::Absent => "-".to_owned(),
        other => other.to_string(),
    };
    maps.table().rows.iter().map(|row| row.iter().take(HEADS.len()).map(shown).collect()).collect()
}

fn text(maps: &Maps, style: Style) -> String {
    let mut table = Table::new(1);
    table.row(HEADS);
    for row in cells(maps) {
        table.row(row);
    }
    let Maps { device, logical_pages, page_bytes, ram_bytes, full_map_bytes, .. } = maps;
    let mut text = format!(
        "{device}: {} logical pages of {page_bytes} bytes; a full map takes {} bytes of {} bytes of RAM\n\n{}\n\
         map: bytes when the device was written once in order, and at most\n\
         data pages: what a unified budget (ram.budget = \"unified\") then leaves for data\n",
        count(u64::from(*logical_pages)),
        count(*full_map_bytes),
        count(*ram_bytes),
        table.render(style)
    );
    for row in maps.rows.iter().filter(|row| row.error.is_some()) {
        text += &format!("{} {}: {}\n", style.warn("failed:"), row.ftl, row.error.as_deref().unwrap_or_default());
    }
    text
}

fn markdown(maps: &Maps) -> String {
    let lines = cells(maps).into_iter().map(|row| format!("| {} |\n", row.join(" | ")));
    format!("| {} |\n|-|-:|-:|-:|-:|\n", HEADS.join(" | ")) + &lines.collect::<String>()
}
