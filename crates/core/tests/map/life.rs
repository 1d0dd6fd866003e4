//! Does it lose data? Does it survive a power cut?

use nandlab::flash::{CutMode, Flash, Media, ProgramOrder, Tombstone};
use nandlab::ftl::{Batch, FTLS, Ftl, PageWrite, Shape};
use nandlab::ledger::Cause;
use nandlab::registry;
use nandlab::types::{Lbn, Lpn};
use serde_json::{Value, json};

use super::device::{Dice, PAGE_BYTES, build, flash, start};

/// An FTL and the smallest device that takes it, plus `spare` blocks a channel.
struct Setup {
    name: &'static str,
    params: Value,
    channels: u32,
    dies: u32,
    spare: u32,
    order: ProgramOrder,
}

fn extended(params: &Value, more: &Value) -> Value {
    let mut params = params.clone();
    params.as_object_mut().expect("parameters").extend(more.as_object().expect("parameters").clone());
    params
}

fn setups() -> Vec<Setup> {
    let demand = json!({"entries_per_tp": 4, "cmt_entries": 5, "cmt_protected": 3});
    let with = |more: Value| extended(&demand, &more);
    let nodes = |more: Value| extended(&json!({"entries_per_tp": 4}), &more);
    let one = |name, params, spare| Setup { name, params, channels: 1, dies: 1, spare, order: ProgramOrder::Ascending };
    let wide = |name, params, channels, dies, spare| Setup {
        name,
        params,
        channels,
        dies,
        spare,
        order: ProgramOrder::Strict,
    };
    let paged = |budget, load: Value| json!({"mode": "demand", "entries_per_tp": 10, "map_budget": budget, "load_entries": load});
    vec![
        one("dftl", demand.clone(), 0),
        one("dftl", with(json!({"evict_batch": true, "victim": "fifo"})), 4),
        one("dftl", with(json!({"write_miss_fetch": false, "alloc": "min_erase"})), 1),
        one("dftl", with(json!({"cmt_entries": 1, "cmt_protected": 0})), 0),
        one("dftl", with(json!({"cmt_entries": 64, "victim": {"d_choices": 2}})), 3),
        one("dftl", with(json!({"preset": "flashsim"})), 0),
        one("dftl", with(json!({"preset": "eagletree"})), 0),
        wide("dftl", demand.clone(), 2, 2, 0),
        wide("dftl", with(json!({"frontiers": "single", "victim": "cost_benefit"})), 2, 1, 2),
        wide("dftl", with(json!({"victim": "random"})), 3, 1, 1),
        one("rftl", with(json!({"replicas": 3})), 0),
        wide("rftl", with(json!({"replicas": 1, "preset": "flashsim"})), 2, 2, 0),
        wide("rftl", with(json!({"replicas": 2, "evict_batch": true})), 4, 1, 0),
        one("tpftl", nodes(json!({"cmt_entries": 7})), 0),
        one("tpftl", nodes(json!({"cmt_bytes": 50, "selective_threshold": 1, "alloc": "min_erase"})), 1),
        one("tpftl", nodes(json!({"cmt_entries": 1, "selective_prefetch": "start_off"})), 0),
        wide("tpftl", nodes(json!({"cmt_entries": 12, "request_prefetch": false})), 2, 2, 0),
        wide("tpftl", nodes(json!({"cmt_bytes": 90, "frontiers": "single", "victim": "random"})), 2, 1, 2),
        one("learnedftl", nodes(json!({"cmt_entries": 3})), 0),
        one("learnedftl", nodes(json!({"cmt_bytes": 30, "pieces": 1, "victim": "fifo"})), 4),
        wide("learnedftl", nodes(json!({"cmt_entries": 7})), 2, 2, 0),
        wide("learnedftl", json!({"cmt_entries": 2, "frontiers": "single", "entries_per_tp": 9}), 2, 1, 2),
        one("sftl", nodes(json!({"cache_bytes": 40})), 0),
        wide("sftl", nodes(json!({"cache_bytes": 17, "frontiers": "single"})), 2, 2, 1),
        wide("sftl", nodes(json!({"cache_bytes": 70})), 2, 2, 0),
        one("cdftl", nodes(json!({"cmt_entries": 4, "ctp_pages": 2})), 0),
        one("cdftl", nodes(json!({"cmt_entries": 1, "ctp_pages": 1, "victim": "fifo"})), 4),
        wide("cdftl", nodes(json!({"cmt_entries": 9, "ctp_pages": 3})), 2, 2, 0),
        one("urm-map", json!({"entries_per_tp": 8, "reserve": 1}), 0),
        wide("urm-map", json!({"entries_per_tp": 8, "max_run": 3}), 2, 2, 0),
        one("urm-map", paged(100, Value::Null), 0),
        one("urm-map", paged(48, json!(3)), 0),
        wide("urm-map", paged(70, json!(1)), 2, 2, 0),
    ]
}

const LOGICAL: u32 = 32;
const PAGES: u32 = 4;

fn device(setup: &Setup) -> Shape {
    let plugin = registry::find(FTLS, "ftl", setup.name).expect("registered");
    for blocks in 1..200 {
        let mut shape = super::device::shape(setup.channels, blocks * setup.channels, PAGES, LOGICAL, PAGE_BYTES);
        shape.geometry.dies_per_chip = setup.dies;
        shape.order = setup.order;
        if (plugin.build)(setup.params.clone(), &shape).is_ok() {
            shape.geometry.blocks_per_plane += setup.spare;
            return shape;
        }
    }
    panic!("no device is large enough for {}", setup.name);
}

/// What a page may hold: versions (0 = nothing), the first of which is acknowledged.
type Allowed = Vec<Vec<u64>>;

struct Run {
    shape: Shape,
    flash: Flash,
    ftl: Box<dyn Ftl>,
    dice: Dice,
    version: u64,
    allowed: Allowed,
    /// Without trims and hot pages the device is as full as it can be.
    easy: bool,
}

fn payload(lpn: u32, version: u64) -> Vec<u8> {
    let mut bytes = vec![version as u8; PAGE_BYTES as usize];
    bytes[..4].copy_from_slice(&lpn.to_le_bytes());
    bytes[8..16].copy_from_slice(&version.to_le_bytes());
    bytes
}

impl Run {
    fn new(setup: &Setup, full: bool, easy: bool, seed: u64) -> Self {
        let shape = device(setup);
        let flash = flash(&shape, Media::Memory);
        let ftl = build(setup.name, setup.params.clone(), &shape);
        let allowed = vec![vec![0]; LOGICAL as usize];
        let mut run = Self { shape, flash, ftl, dice: Dice(seed), version: 1, allowed, easy };
        if full {
            for lbn in 0..LOGICAL / PAGES {
                let lpns: Vec<u32> = (lbn * PAGES..(lbn + 1) * PAGES).collect();
                run.with_batch(&lpns, &[], |run, batch| run.ftl.fill(&mut run.flash, Lbn(lbn), batch));
            }
            run.ftl.filled(&mut run.flash);
            run.settle();
            run.flash.start_measuring();
        }
        run
    }

    /// The operation was acknowledged.
    fn settle(&mut self) {
        for allowed in &mut self.allowed {
            allowed.drain(..allowed.len() - 1);
        }
    }

    fn with_batch(&mut self, lpns: &[u32], pads: &[u32], act: impl FnOnce(&mut Self, Batch<'_>)) {
        let (mut pages, mut bytes) = (Vec::new(), Vec::new());
        self.version += 1;
        for lpn in lpns {
            let pad = pads.contains(lpn);
            let old = *self.allowed[*lpn as usize].last().expect("a version");
            if pad && old == 0 {
                continue;
            }
            let version = if pad { old } else { self.version };
            let cause = if pad { Cause::Pad } else { Cause::Host };
            pages.push(PageWrite { lpn: Lpn(*lpn), cause, version });
            bytes.extend(payload(*lpn, version));
            self.allowed[*lpn as usize].push(version);
        }
        act(self, Batch { pages: &pages, bytes: &bytes });
    }

    /// One random operation; it is acknowledged unless the power is cut in it.
    fn step(&mut self) {
        let lpn = if self.easy && self.dice.below(3) == 0 { self.dice.below(6) } else { self.dice.below(LOGICAL) };
        match self.dice.below(20) {
            0..=10 => self.with_batch(&[lpn], &[], |run, batch| {
                run.ftl.write(&mut run.flash, batch, start());
            }),
            11..=12 => {
                let lpns: Vec<u32> = (lpn..(lpn + 6).min(LOGICAL)).collect();
                self.with_batch(&lpns, &[], |run, batch| {
                    run.ftl.write(&mut run.flash, batch, start());
                });
            }
            13 => {
                let lbn = lpn / PAGES;
                let lpns: Vec<u32> = (lbn * PAGES..(lbn + 1) * PAGES).collect();
                let pads: Vec<u32> = lpns.iter().copied().filter(|_| self.dice.below(2) == 0).collect();
                for pad in &pads {
                    self.ftl.read(&mut self.flash, Lpn(*pad), Cause::Pad, start());
                }
                self.with_batch(&lpns, &pads, |run, batch| {
                    run.ftl.write_block(&mut run.flash, Lbn(lbn), batch, start());
                });
            }
            14..=15 if self.easy => {
                self.version += 1;
                self.allowed[lpn as usize].push(0);
                self.ftl.trim(&mut self.flash, Lpn(lpn), start());
                self.flash.journal(&[Tombstone { lpn: Lpn(lpn), version: self.version }]);
            }
            _ => self.read(lpn),
        }
        if !self.flash.is_cut() {
            self.settle();
        }
    }

    fn read(&mut self, lpn: u32) {
        self.ftl.announce(Lpn((lpn + self.dice.below(6)).min(LOGICAL)));
        let found = self.ftl.read(&mut self.flash, Lpn(lpn), Cause::Host, start());
        let held = self.held(lpn);
        assert_eq!(found.ppn.is_some(), held != 0);
        let newest = self.allowed[lpn as usize].last();
        assert!(self.flash.is_cut() || newest == Some(&held), "lpn {lpn} reads version {held}, not {newest:?}");
    }

    /// The version that a page holds, after checking its bytes.
    fn held(&self, lpn: u32) -> u64 {
        let ppn = self.ftl.locate(&self.flash, Lpn(lpn));
        if ppn.is_none() {
            return 0;
        }
        let version = self.flash.oob(ppn).version;
        assert_eq!(self.flash.bytes(ppn), payload(lpn, version), "bytes of lpn {lpn}");
        version
    }

    fn check(&self) {
        self.ftl.check(&self.flash);
        self.flash.check();
    }

    /// The power comes back, and perhaps fails again meanwhile. Every page must hold what was acknowledged or on its
    /// way.
    fn recover(&mut self, what: &str, cut: Option<(u64, CutMode)>) {
        self.flash.restore();
        if let Some((nth, mode)) = cut {
            self.flash.arm_cut(nth, mode);
        }
        self.ftl.rebuild(&mut self.flash);
        if self.flash.is_cut() {
            return;
        }
        self.check();
        for lpn in 0..LOGICAL {
            let held = self.held(lpn);
            let allowed = &mut self.allowed[lpn as usize];
            assert!(allowed.contains(&held), "{what}: lpn {lpn} holds version {held}, allowed {allowed:?}");
            *allowed = vec![held];
        }
    }
}

#[test]
fn does_a_read_return_the_last_write_after_any_operations() {
    for (number, setup) in setups().iter().enumerate() {
        for (full, easy, seed) in [(true, true, 1), (true, false, 2), (false, false, 3)] {
            let mut run = Run::new(setup, full, easy, seed);
            run.check();
            for _ in 0..12_500 {
                run.step();
                run.check();
            }
            for lpn in 0..LOGICAL {
                run.read(lpn);
            }
            assert!(run.flash.ledger.gc_runs > 1000, "setup {number} never collected");
            let open = run.shape.geometry.blocks() - run.ftl.free_blocks();
            assert!(open > LOGICAL / PAGES);
        }
    }
}

#[test]
fn does_every_page_survive_a_power_cut_at_any_flash_operation() {
    let (mut cuts, mut failed_again) = (0, 0);
    for (number, setup) in setups().iter().enumerate() {
        for mode in [CutMode::Before, CutMode::After, CutMode::Torn] {
            let mut reached = true;
            let mut nth = 0;
            while reached {
                nth += 1;
                let what = format!("setup {number} {}, cut {nth} {mode:?}", setup.name);
                let mut run = Run::new(setup, nth % 5 != 0, nth % 2 == 0, nth);
                for _ in 0..40 {
                    run.step();
                }
                run.flash.arm_cut(nth, mode);
                let steps = (0..40).take_while(|_| {
                    run.step();
                    !run.flash.is_cut()
                });
                let _ = steps.count();
                reached = run.flash.is_cut();
                // Every third time the power fails again while recovering, up to three times.
                for again in 0..nth % 3 * 3 {
                    run.recover(&what, Some((1 + (nth * 7 + again * 5) % 23, mode)));
                    failed_again += u64::from(run.flash.is_cut());
                }
                run.recover(&what, None);
                for _ in 0..20 {
                    run.step();
                    run.check();
                }
                cuts += 1;
            }
        }
    }
    assert!(cuts > 5_000 && failed_again > 5_000, "{cuts} cuts, and {failed_again} while recovering");
}
