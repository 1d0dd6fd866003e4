//! A device without buffer and bytes, and random writes.

use nandlab::flash::{Flash, Geometry, Media, ProgramOrder, TimingModel};
use nandlab::ftl::{Batch, Ftl, PageWrite, Shape};
use nandlab::ledger::Cause;
use nandlab::types::{Lpn, Nanos};
use rand_pcg::Pcg64Mcg;
use serde_json::Value;

use crate::kit::{below, build_ftl, fill, flash, times};

/// An FTL on one die, every page written once.
pub struct Device {
    pub ftl: Box<dyn Ftl>,
    pub flash: Flash,
    pub logical: u32,
}

impl Device {
    /// With the FTL `page`.
    pub fn new(params: &Value, pages_per_block: u32, blocks: u32, logical: u32) -> Self {
        Self::of("page", params, pages_per_block, blocks, logical)
    }

    pub fn of(ftl: &str, params: &Value, pages_per_block: u32, blocks: u32, logical: u32) -> Self {
        let shape = Shape {
            geometry: Geometry::single_die(blocks, pages_per_block, 512),
            logical_pages: logical,
            slc_pages: 0,
            unit_pages: 1,
            order: ProgramOrder::Strict,
            seed: 7,
        };
        let mut ftl = build_ftl(ftl, params.clone(), &shape).unwrap_or_else(|error| panic!("{params}: {error}"));
        let times = times(50_000, 500_000, 2_000_000, 10_000);
        let mut flash = flash(&shape, Media::None, TimingModel::named("serial"), times);
        fill(&mut *ftl, &mut flash, &shape);
        Self { ftl, flash, logical }
    }

    pub fn write(&mut self, lpn: u32) {
        let after = nandlab::flash::Ticket::at(Nanos::ZERO);
        self.ftl.write(&mut self.flash, Batch::new(&[host(lpn)], &[]), after);
    }

    /// Programs per write of the host in `measured` overwrites of the logical pages after `warm_up` of them.
    pub fn amplification(&mut self, warm_up: u32, measured: u32, mut next: impl FnMut() -> u32) -> f64 {
        (0..warm_up * self.logical).for_each(|_| self.write(next()));
        let start = self.flash.ledger;
        (0..measured * self.logical).for_each(|_| self.write(next()));
        self.ftl.check(&self.flash);
        (self.flash.ledger - start).programs() as f64 / (f64::from(measured) * f64::from(self.logical))
    }
}

pub fn host(lpn: u32) -> PageWrite {
    PageWrite::new(Lpn(lpn), Cause::Host, 0)
}

/// Writes of which a share `r` goes to the first share `f` of the pages.
pub fn hot_cold(logical: u32, r: f64, f: f64) -> impl FnMut() -> u32 {
    let mut rng = Pcg64Mcg::new(29);
    let hot = (f * f64::from(logical)).round() as u32;
    move || {
        if f64::from(below(&mut rng, 1 << 30)) < r * f64::from(1 << 30) {
            below(&mut rng, hot)
        } else {
            hot + below(&mut rng, logical - hot)
        }
    }
}
