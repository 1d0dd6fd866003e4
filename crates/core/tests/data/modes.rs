//! What a device of a script does at a time: the timing model, with its scheduler and its commands.

use nandlab::flash::clock::{ClockShape, CommandConfig, Planes, Scheduler, SchedulerConfig, Suspend};
use nandlab::flash::{Clock, Geometry, TimingModel};
use nandlab::ftl::FTLS;
use nandlab::types::Nanos;

use super::plugins::ftl_params;
use super::rig::{BLOCK, Script};
use crate::kit::times;

impl Script {
    /// One operation at a time, dies that work at the same time, or a scheduler with commands that do several things at a time.
    pub(super) fn clock(&self, geometry: &Geometry) -> Clock {
        let times = times(10, 100, 1000, 5);
        if !self.way(15) {
            let model = TimingModel::named(if self.way(0) { "parallel" } else { "serial" });
            return Clock::new(model, times, 2, 4);
        }
        let planes = geometry.planes_per_die;
        let reads_first = self.way(0);
        let copy_back = self.copies_back();
        let scheduler = SchedulerConfig {
            policy: Scheduler::named(if reads_first {
                "read_first"
            } else {
                ["fifo", "fair_share"][self.seed as usize & 1]
            }),
            suspend: if reads_first { Suspend::EraseAndProgram } else { Suspend::None },
            suspend_time: Nanos(if reads_first { 7 } else { 0 }),
            ..SchedulerConfig::default()
        };
        let commands = CommandConfig {
            unit_pages: if copy_back { 1 } else { 1 << (self.seed >> 5 & 1) },
            planes: if planes == 1 {
                Planes::One
            } else {
                [Planes::SamePage, Planes::AnyPage][self.seed as usize >> 6 & 1]
            },
            cache_read: self.seed >> 7 & 1 == 1,
            cache_program: self.seed >> 8 & 1 == 1,
            copy_back,
        };
        let (blocks, pages_per_block) = (geometry.blocks(), BLOCK);
        let shape = ClockShape { times, channels: 2, dies: 4, blocks, pages_per_block, planes, commands, scheduler };
        Clock::of(TimingModel::named("scheduled"), &shape)
    }

    pub(super) fn copies_back(&self) -> bool {
        self.way(15) && self.seed >> 9 & 1 == 1
    }

    /// The modes of the device in which it survives power cuts, those that are at work.
    pub fn modes(&self) -> Vec<&'static str> {
        let ftl = ftl_params(&FTLS[self.ftl].name(), self.seed, 2);
        let slices = ftl.get("gc_slice").is_some();
        [
            ("scheduler", self.way(15)),
            ("suspension", self.way(15) && self.way(0)),
            ("planes", self.way(15) && self.way(16)),
            ("cache registers", self.way(15) && self.seed >> 7 & 3 != 0),
            ("copy-back", self.copies_back()),
            ("slices", slices),
            ("SLC cache", ftl.get("slc").is_some()),
            ("flushing ahead", self.flush().is_some()),
            ("write through", self.writes_through()),
            ("power-loss protection", self.keeps_ram()),
        ]
        .into_iter()
        .filter_map(|(mode, on)| on.then_some(mode))
        .collect()
    }
}
