//! A tiny device under any FTL.

use nandlab::error::ConfigError;
use nandlab::flash::{CellConfig, Clock, ClockTimes, Flash, Geometry, Media, ProgramOrder, TimingModel};
use nandlab::ftl::{FTLS, Ftl, Shape};
use nandlab::registry;
use nandlab::types::Nanos;
use rand::Rng;
use rand_pcg::Pcg64Mcg;
use serde_json::Value;

pub const PAGE_BYTES: u32 = 512;

pub fn shape(pages_per_block: u32, blocks: u32, logical_pages: u32, order: ProgramOrder) -> Shape {
    let geometry = Geometry::single_die(blocks, pages_per_block, PAGE_BYTES);
    Shape { geometry, logical_pages, slc_pages: (pages_per_block / 3).max(1), unit_pages: 2, order, seed: 7 }
}

pub fn build(ftl: &str, params: &Value, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    (registry::find(FTLS, "ftl", ftl)?.build)(params.clone(), shape)
}

/// HitStat's times: reads cost nothing, so that elapsed time is erases and programs only. Blocks have an SLC mode for FTLs that
/// use it.
pub fn flash(shape: &Shape, media: Media) -> Flash {
    let times = ClockTimes::cells(Nanos::ZERO, Nanos::from_us(800), Nanos::from_us(1500));
    let clock = Clock::new(TimingModel::named("serial"), times, shape.geometry.channels, shape.geometry.dies());
    let mut flash = Flash::new(shape.geometry, shape.order, media, clock);
    let slc = Some(Nanos::from_us(200));
    let cells = CellConfig { slc_read: slc, slc_program: slc, ..CellConfig::default() };
    flash.set_cells(cells, &times, 1, shape.slc_pages, shape.seed);
    flash
}

pub fn below(rng: &mut Pcg64Mcg, bound: u32) -> u32 {
    ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as u32
}
