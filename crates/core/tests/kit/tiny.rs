//! A tiny device under any FTL.

use nandlab::error::ConfigError;
use nandlab::flash::{CellConfig, ClockTimes, Flash, Geometry, Media, ProgramOrder, TimingModel};
use nandlab::ftl::{Ftl, Shape};
use nandlab::types::Nanos;
use serde_json::Value;

use super::build_ftl;

pub const PAGE_BYTES: u32 = 512;

pub fn shape(pages_per_block: u32, blocks: u32, logical_pages: u32, order: ProgramOrder) -> Shape {
    let geometry = Geometry::single_die(blocks, pages_per_block, PAGE_BYTES);
    Shape { geometry, logical_pages, slc_pages: (pages_per_block / 3).max(1), unit_pages: 2, order, seed: 7 }
}

pub fn build(ftl: &str, params: &Value, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    build_ftl(ftl, params.clone(), shape)
}

/// HitStat's times: reads cost nothing, so that elapsed time is erases and programs only. Blocks have an SLC mode for FTLs that
/// use it.
pub fn flash(shape: &Shape, media: Media) -> Flash {
    let times = ClockTimes::cells(Nanos::ZERO, Nanos::from_us(800), Nanos::from_us(1500));
    let mut flash = super::flash(shape, media, TimingModel::named("serial"), times);
    let slc = Some(Nanos::from_us(200));
    let cells = CellConfig { slc_read: slc, slc_program: slc, ..CellConfig::default() };
    flash.set_cells(cells, &times, 1, shape.slc_pages, shape.seed);
    flash
}
