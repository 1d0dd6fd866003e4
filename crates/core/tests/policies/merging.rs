//! A small device around one policy that is told something about merges below.

use nandlab::engine::{PartialWrite, Settings, Ssd};
use nandlab::error::ConfigError;
use nandlab::flash::Geometry;
use nandlab::ftl::Ftl;
use nandlab::ledger::MergeKind;
use serde_json::{Value, json};

use crate::kit::{Around, Recorder, Rig, Twist, build_ftl};

/// An FTL that says something else about its merges.
struct Pretends(Option<MergeKind>);

impl Twist for Pretends {
    fn merges(&self, _: &dyn Ftl) -> Option<MergeKind> {
        self.0
    }
}

/// What a test chooses about its device.
#[derive(Clone, Copy)]
pub struct Merging {
    pub logical_pages: u32,
    pub pages_per_block: u32,
    pub page_sectors: u32,
    pub frames: u32,
    pub physical_blocks: u32,
    /// The FTL that the policy takes the one below for, and the one that is really there with its parameters.
    pub ftl: &'static str,
    pub real_ftl: &'static str,
    pub ftl_params: &'static str,
    pub partial_write: PartialWrite,
}

impl Default for Merging {
    fn default() -> Self {
        Self {
            logical_pages: 128,
            pages_per_block: 8,
            page_sectors: 1,
            frames: 24,
            physical_blocks: 4096,
            ftl: "page",
            real_ftl: "page",
            ftl_params: "{}",
            partial_write: PartialWrite::Fetch,
        }
    }
}

impl Merging {
    /// A device filled once.
    pub fn device(self, policy: &str, params: Value) -> (Box<dyn Ssd>, Recorder) {
        self.try_device(policy, params).unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn try_device(self, policy: &str, params: Value) -> Result<(Box<dyn Ssd>, Recorder), ConfigError> {
        let geometry = Geometry::single_die(self.physical_blocks, self.pages_per_block, self.page_sectors * 512);
        let rig = Rig {
            ftl: self.real_ftl,
            ftl_params: serde_json::from_str(self.ftl_params).unwrap(),
            settings: Settings { partial_write: self.partial_write, ..Settings::one_at_a_time(self.logical_pages) },
            filled: true,
            ..Rig::new(geometry, self.logical_pages, self.frames)
        };
        let merges = build_ftl(self.ftl, json!({}), &rig.shape()).unwrap().merges();
        let mut device = rig.try_device(policy, params, Box::new(Around::new(rig.ftl(), Pretends(merges))))?;
        let recorder = Recorder::default();
        device.set_probe(Some(Box::new(recorder.clone())));
        Ok((device, recorder))
    }
}
