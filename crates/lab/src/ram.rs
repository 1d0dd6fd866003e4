//! What the map of each FTL takes of the RAM of a device, and what it leaves for data.

use nandlab::config::{Config, PluginConfig};
use nandlab::error::ConfigError;
use nandlab::report::SCHEMA_VERSION;
use serde::Serialize;

use crate::device::Device;
use crate::error::Error;
use crate::memory;
use crate::table::{Cell, Column, Good, Table, Unit};

/// One FTL.
#[derive(Debug, Serialize)]
pub struct MapRow {
    /// FTL in short form.
    pub ftl: String,
    /// RAM of the map when the device was written once in order, bytes.
    pub map_bytes: Option<u64>,
    /// Most RAM that the map can take, bytes.
    pub map_bytes_most: Option<u64>,
    /// Data pages that a unified budget then leaves.
    pub data_pages: Option<u64>,
    /// The same when the map takes most.
    pub data_pages_least: Option<u64>,
    /// Why there are no numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The maps of FTLs on one device.
#[derive(Debug, Serialize)]
pub struct Maps {
    schema: u32,
    nandlab: &'static str,
    /// Name of the device.
    pub device: String,
    /// Pages that the host can address.
    pub logical_pages: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// DRAM that map and data share, bytes.
    pub ram_bytes: u64,
    /// A full map of 4 bytes a page, bytes.
    pub full_map_bytes: u64,
    /// FTL by FTL.
    pub rows: Vec<MapRow>,
}

/// Measures the map of each FTL on a device that was written once in order.
///
/// # Errors
/// The device cannot be built, whatever the FTL, or does not fit into the memory of this machine.
pub fn maps(device: &Device, ftls: &[PluginConfig]) -> Result<Maps, Error> {
    let builder = device.base()?;
    let config = |ftl: &PluginConfig| {
        let none = PluginConfig::named("none");
        device.with(builder.clone(), Some(&none), Some(ftl), &device.set).map(|(_, config)| config)
    };
    let mut configs: Vec<_> = ftls.iter().map(config).collect();
    // What is asked for may be a parameter that not all of them have.
    let plain = match configs.iter().find_map(|config| config.as_ref().ok()) {
        Some(plain) => plain.clone(),
        None => configs.pop().unwrap_or_else(|| config(&PluginConfig::named("page")))?,
    };
    memory::check(&plain)?;
    Ok(Maps {
        schema: SCHEMA_VERSION,
        nandlab: env!("CARGO_PKG_VERSION"),
        device: plain.device.name.clone(),
        logical_pages: plain.logical_pages(),
        page_bytes: plain.device.geometry.page_bytes,
        ram_bytes: plain.ram.dram.0,
        full_map_bytes: 4 * u64::from(plain.logical_pages()),
        rows: ftls.iter().zip(configs).map(|(ftl, config)| row(ftl, config)).collect(),
    })
}

fn row(ftl: &PluginConfig, config: Result<Config, ConfigError>) -> MapRow {
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
    MapRow { ftl: ftl.label(), map_bytes, map_bytes_most, data_pages, data_pages_least, error }
}

impl Maps {
    /// The rows as a table.
    pub fn table(&self) -> Table {
        let columns = vec![
            Column::plain("ftl", Unit::Text),
            Column::new("map_bytes", Unit::Bytes, Good::Low),
            Column::new("map_bytes_most", Unit::Bytes, Good::Low),
            Column::new("data_pages", Unit::Count, Good::High),
            Column::new("data_pages_least", Unit::Count, Good::High),
            Column::plain("error", Unit::Text),
        ];
        let cells = |row: &MapRow| {
            let numbers = [row.map_bytes, row.map_bytes_most, row.data_pages, row.data_pages_least].map(Cell::from);
            [Cell::from(row.ftl.as_str())].into_iter().chain(numbers).chain([row.error.as_deref().into()]).collect()
        };
        Table { rows: self.rows.iter().map(cells).collect(), columns }
    }
}
