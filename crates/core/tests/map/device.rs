//! A small device under an FTL, with the counters of the golden files.

use nandlab::flash::{Flash, Geometry, Media, ProgramOrder, Ticket, TimingModel};
use nandlab::ftl::{Ftl, PageWrite, Shape};
use nandlab::ledger::Cause;
use nandlab::types::{Lpn, Nanos};
use serde_json::Value;

pub use crate::kit::fill;
use crate::kit::{self, build_ftl, times};

/// Shape of a device of single-die channels.
pub fn shape(channels: u32, blocks: u32, pages_per_block: u32, logical_pages: u32, page_bytes: u32) -> Shape {
    assert_eq!(blocks % channels, 0);
    let geometry = Geometry {
        channels,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: blocks / channels,
        pages_per_block,
        page_bytes,
    };
    Shape { geometry, logical_pages, slc_pages: 0, unit_pages: 1, order: ProgramOrder::Ascending, seed: 1 }
}

/// A device that does one operation at a time.
pub fn flash(shape: &Shape, media: Media) -> Flash {
    timed_flash(shape, media, TimingModel::named("serial"))
}

/// An event-driven device without bytes.
pub fn parallel_flash(shape: &Shape) -> Flash {
    timed_flash(shape, Media::None, TimingModel::named("parallel"))
}

fn timed_flash(shape: &Shape, media: Media, model: TimingModel) -> Flash {
    kit::flash(shape, media, model, times(25_000, 200_000, 1_500_000, 10_000))
}

pub fn build(name: &str, params: Value, shape: &Shape) -> Box<dyn Ftl> {
    build_ftl(name, params, shape).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Why the parameters are refused.
pub fn refusal(name: &str, params: Value, shape: &Shape) -> String {
    build_ftl(name, params, shape).err().expect("this must be refused").to_string()
}

pub fn start() -> Ticket {
    Ticket::at(Nanos::ZERO)
}

pub fn host(lpn: u32, version: u64) -> PageWrite {
    PageWrite::new(Lpn(lpn), Cause::Host, version)
}
