//! A tiny device under any FTL.

use nandlab::error::ConfigError;
use nandlab::flash::{Clock, ClockTimes, Flash, Geometry, Media, ProgramOrder, TimingModel};
use nandlab::ftl::{FTLS, Ftl, Shape};
use nandlab::registry;
use nandlab::types::Nanos;
use rand::Rng;
use rand_pcg::Pcg64Mcg;
use serde_json::Value;

pub const PAGE_BYTES: u32 = 512;

pub fn shape(pages_per_block: u32, blocks: u32, logical_pages: u32, order: ProgramOrder) -> Shape {
    let geometry = Geometry::single_die(blocks, pages_per_block, PAGE_BYTES);
    Shape { geometry, logical_pages, slc_pages: 0, order, seed: 7 }
}

pub fn build(ftl: &str, params: &Value, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    (registry::find(FTLS, "ftl", ftl)?.build)(params.clone(), shape)
}

/// HitStat's times: reads cost nothing, so that elapsed time is erases and programs only.
pub fn flash(shape: &Shape, media: Media) -> Flash {
    let times = ClockTimes::cells(Nanos::ZERO, Nanos::from_us(800), Nanos::from_us(1500));
    Flash::new(
        shape.geometry,
        shape.order,
        media,
        Clock::new(TimingModel::named("serial"), times, shape.geometry.channels, shape.geometry.dies()),
    )
}

pub fn below(rng: &mut Pcg64Mcg, bound: u32) -> u32 {
    ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as u32
}
