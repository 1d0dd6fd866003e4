//! A small device around one policy that is told something about merges below, and what no such policy may be upset by.

use nandlab::buffer::Frames;
use nandlab::engine::Ssd;
use nandlab::error::ConfigError;
use nandlab::flash::Geometry;
use nandlab::ftl::Ftl;
use nandlab::ledger::MergeKind;
use nandlab::types::HostOp;
use serde_json::{Value, json};

use crate::kit::{Around, Dice, Recorder, Rig, Twist, build_ftl, submit};

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

/// Pages that a policy says it has, and those of them that it says are dirty.
fn listed(state: &Value) -> (usize, Option<usize>) {
    let len = |list: &Value| list.as_array().map_or(0, Vec::len);
    match state["lists"].as_object() {
        None => (len(&state["RB"]) + len(&state["WB"]), Some(len(&state["WB"]))),
        Some(lists) => {
            let groups =
                lists.iter().flat_map(|(bound, list)| list.as_array().unwrap().iter().map(move |g| (bound, g)));
            let pages = groups.map(|(bound, group)| {
                let pages = len(&group["pages"]);
                assert!(pages <= bound.parse().unwrap(), "{pages} pages in the list up to {bound}");
                pages
            });
            (pages.sum(), None)
        }
    }
}

#[test]
fn trims_flushes_a_new_ledger_and_a_changing_share_of_ram_are_survived() {
    for (policy, params) in [
        ("aalru", json!({"period": 64})),
        ("hitstat", json!({"full_flush": "lazy", "levels_period": 50})),
        ("hitstat", json!({"full_flush": "eager", "levels_period": 50})),
    ] {
        let (mut random, least) = (Dice(14), if policy == "aalru" { 2 } else { 1 });
        let (mut device, _) = Merging { logical_pages: 250, ..Merging::default() }.device(policy, params);
        for i in 0..15_000 {
            let first = random.skewed(240);
            if i == 12_000 {
                device.start_measuring();
            }
            match random.below64(100) {
                0..5 => submit(&mut *device, HostOp::Trim, first, 8),
                5..6 => submit(&mut *device, HostOp::Flush, 0, 0),
                6 => device.set_frames(Frames { dram: least + random.below64(60) as u32, nvram: 0 }),
                7..70 => submit(&mut *device, HostOp::Write, first, 1 + random.below64(9) as u32),
                _ => submit(&mut *device, HostOp::Read, first, 1 + random.below64(4) as u32),
            }
            if !random.percent(20) {
                continue;
            }
            let (pages, dirty) = listed(&device.test_port().golden_state());
            let slots = device.slots();
            assert_eq!(pages as u32, slots.used().total(), "{policy}");
            assert!(dirty.is_none_or(|dirty| dirty as u32 == slots.dirty_pages()), "{policy}: {dirty:?} dirty pages");
        }
        device.test_port().check();
    }
}
