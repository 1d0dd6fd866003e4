//! A small device under an FTL, with the counters of the golden files.

use nandlab::flash::{Clock, ClockTimes, Flash, Geometry, Media, ProgramOrder, Ticket, TimingModel};
use nandlab::ftl::{Batch, FTLS, Ftl, PageWrite, Shape};
use nandlab::ledger::Cause;
use nandlab::registry;
use nandlab::types::{Lbn, Lpn, Nanos};
use serde_json::Value;

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
    Shape { geometry, logical_pages, order: ProgramOrder::Ascending, seed: 1 }
}

/// A device that does one operation at a time.
pub fn flash(shape: &Shape, media: Media) -> Flash {
    timed_flash(shape, media, TimingModel::Serial)
}

/// An event-driven device without bytes.
pub fn parallel_flash(shape: &Shape) -> Flash {
    timed_flash(shape, Media::None, TimingModel::Parallel)
}

fn timed_flash(shape: &Shape, media: Media, model: TimingModel) -> Flash {
    let geometry = shape.geometry;
    let times = ClockTimes {
        page_read: Nanos(25_000),
        page_program: Nanos(200_000),
        block_erase: Nanos(1_500_000),
        page_transfer: Nanos(10_000),
        command: Nanos(0),
    };
    let clock = Clock::new(model, times, geometry.channels, geometry.dies());
    Flash::new(geometry, shape.order, media, clock)
}

pub fn build(name: &str, params: Value, shape: &Shape) -> Box<dyn Ftl> {
    let plugin = registry::find(FTLS, "ftl", name).expect("the FTL is registered");
    (plugin.build)(params, shape).unwrap_or_else(|e| panic!("{e}"))
}

/// Why the parameters are refused.
pub fn refusal(name: &str, params: Value, shape: &Shape) -> String {
    let plugin = registry::find(FTLS, "ftl", name).expect("the FTL is registered");
    (plugin.build)(params, shape).err().expect("this must be refused").to_string()
}

pub fn start() -> Ticket {
    Ticket::at(Nanos::ZERO)
}

/// Writes every logical page once, without bytes.
pub fn fill(ftl: &mut dyn Ftl, flash: &mut Flash, shape: &Shape) {
    for lbn in 0..shape.logical_blocks() {
        let n = shape.geometry.pages_per_block;
        let end = ((lbn + 1) * n).min(shape.logical_pages);
        let pages: Vec<PageWrite> = (lbn * n..end).map(|l| host(l, 1)).collect();
        ftl.fill(flash, Lbn(lbn), Batch::new(&pages, &[]));
    }
    ftl.filled(flash);
    flash.start_measuring();
}

pub fn host(lpn: u32, version: u64) -> PageWrite {
    PageWrite::new(Lpn(lpn), Cause::Host, version)
}

/// Small random numbers (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// Uniform below `n`.
    pub fn below(&mut self, n: u32) -> u32 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u32
    }
    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
