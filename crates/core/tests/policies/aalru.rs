//! AALRU against a slow reference written from its paper.

use nandlab::ledger::{Cause, Ledger, Op};
use nandlab::types::HostOp;
use serde_json::{Value, json};

use super::merging::Merging;
use crate::kit::{Dice, Event, submit};

/// The policy with plain vectors; front = most recent.
#[allow(clippy::struct_excessive_bools)]
struct Reference {
    block_pages: u32,
    logical_pages: u32,
    frames: usize,
    rb: Vec<u32>,
    wb: Vec<u32>,
    tau: f64,
    th: f64,
    hits: [f64; 4],
    accesses: u64,
    last_look: Ledger,
    period: u64,
    by_request: bool,
    beta: f64,
    tau_min: f64,
    tau_strict: bool,
    pad_strict: bool,
    continuous: bool,
    delay: bool,
    keep: f64,
    fixed: Option<(f64, f64)>,
    d: (f64, f64),
    events: Vec<Event>,
}

impl Reference {
    fn evict(&mut self) {
        let enough = if self.tau_strict { self.rb.len() as f64 > self.tau } else { self.rb.len() as f64 >= self.tau };
        if (enough && !self.rb.is_empty()) || self.wb.is_empty() {
            self.events.push(Event::Drop(self.rb.pop().unwrap()));
            return;
        }
        let block = self.wb.last().unwrap() / self.block_pages;
        let mut pages: Vec<u32> = self.wb.iter().copied().filter(|p| p / self.block_pages == block).collect();
        pages.sort_unstable();
        let oldest = *self.wb.last().unwrap();
        let young = &self.wb[..(self.keep * self.wb.len() as f64 + 0.5).floor() as usize];
        let kept: Vec<u32> = young.iter().copied().filter(|p| *p != oldest && pages.contains(p)).collect();
        self.wb.retain(|p| p / self.block_pages != block);
        let end = ((block + 1) * self.block_pages).min(self.logical_pages);
        let whole: Vec<u32> = (block * self.block_pages..end).collect();
        // Of a short block Th is the same share.
        let count = pages.len() as f64 * f64::from(self.block_pages);
        let th = self.th * whole.len() as f64;
        if pages.len() < whole.len() && (if self.pad_strict { count > th } else { count >= th }) {
            let padded: Vec<u32> = whole.iter().copied().filter(|p| !pages.contains(p)).collect();
            let read: Vec<u32> = padded.iter().copied().filter(|p| !self.rb.contains(p)).collect();
            if !read.is_empty() {
                self.events.push(Event::Read(Cause::Pad, read));
            }
            self.events.push(Event::Write { lpns: whole, padded });
        } else {
            self.events.push(Event::Write { lpns: pages, padded: vec![] });
        }
        self.rb.splice(0..0, kept);
    }

    fn access(&mut self, page: u32, write: bool) {
        let in_rb = self.rb.contains(&page);
        let in_wb = self.wb.contains(&page);
        self.rb.retain(|p| *p != page);
        self.wb.retain(|p| *p != page);
        match (in_rb, in_wb, write) {
            (true, _, false) => self.hits[0] += 1.0,
            (true, _, true) => self.hits[1] += 1.0,
            (_, true, false) => self.hits[2] += 1.0,
            (_, true, true) => self.hits[3] += 1.0,
            _ => {
                if self.rb.len() + self.wb.len() == self.frames {
                    self.evict();
                }
                if !write {
                    self.events.push(Event::Read(Cause::Host, vec![page]));
                }
            }
        }
        if write || in_wb {
            self.wb.insert(0, page);
        } else {
            self.rb.insert(0, page);
        }
        self.events.push(Event::Access { lpn: page, write, hit: in_rb || in_wb });
    }

    /// The end of an access (or of the first access of a request), with what the device has counted by then.
    fn tick(&mut self, ledger: &Ledger) {
        self.accesses += 1;
        if !self.accesses.is_multiple_of(self.period) {
            return;
        }
        let window = *ledger - self.last_look;
        self.last_look = *ledger;
        let mut write_sample = None;
        if window.buffer_read_ns > 0 && window.buffer_read_pages > 0 {
            self.d.0 = window.buffer_read_ns as f64 / window.buffer_read_pages as f64 / 1000.0;
        }
        if window.buffer_write_ns > 0 && window.buffer_write_pages > 0 {
            self.d.1 = window.buffer_write_ns as f64 / window.buffer_write_pages as f64 / 1000.0;
            write_sample = Some(self.d.1);
        }
        let (d_read, d_write) = self.fixed.unwrap_or(self.d);
        let [rrh, rwh, wrh, wwh] = std::mem::take(&mut self.hits);
        let frames = self.frames as f64;
        let rr = (rwh * d_write + rrh * d_read) / self.tau;
        let wr = (wwh * d_write + wrh * d_read) / (frames - self.tau);
        if rr + wr > 0.0 {
            let tau = rr / (rr + wr) * frames;
            self.tau = tau.max(self.tau_min * frames).min((1.0 - self.tau_min) * frames).round();
            self.tau = self.tau.max(1.0).min(frames - 1.0);
        }
        let from_buffer = window.count(Op::Program, Cause::Host) + window.count(Op::Program, Cause::Pad);
        let wf = if self.delay {
            write_sample.map(|d| d / 800.0)
        } else if from_buffer > 0 {
            Some(window.programs() as f64 / from_buffer as f64)
        } else {
            None
        };
        let Some(wf) = wf else { return };
        let whole = f64::from(self.block_pages);
        self.th = if wf <= 1.0 {
            whole
        } else if wf >= self.beta {
            0.0
        } else if self.continuous {
            whole * (self.beta - wf) / (self.beta - 1.0)
        } else {
            whole - whole / self.beta * wf
        };
    }
}

/// A reference with random parameters and the policy's parameters.
fn random_pair(random: &mut Dice, rig: Merging, fixed: bool) -> (Reference, Value) {
    let fixed = fixed.then(|| (random.below64(50) as f64, 1.0 + random.below64(200) as f64));
    let reference = Reference {
        block_pages: rig.pages_per_block,
        logical_pages: rig.logical_pages,
        frames: rig.frames as usize,
        rb: vec![],
        wb: vec![],
        tau: f64::from(rig.frames / 2),
        th: f64::from(rig.pages_per_block),
        hits: [0.0; 4],
        accesses: 0,
        last_look: Ledger::default(),
        period: 1 + random.below64(64),
        by_request: random.percent(30),
        beta: random.pick(&[1.5, 3.0, 5.0]),
        tau_min: random.pick(&[0.0, 0.1, 0.3]),
        tau_strict: random.percent(30),
        pad_strict: random.percent(30),
        continuous: random.percent(50),
        delay: false,
        keep: random.pick(&[0.0, 0.0, 0.3, 0.5, 1.0]),
        fixed,
        d: (60.0, 800.0),
        events: vec![],
    };
    let compare = |strict| if strict { "gt" } else { "ge" };
    let params = json!({
        "period": reference.period,
        "period_unit": if reference.by_request { "requests" } else { "pages" },
        "beta": reference.beta,
        "tau_min": reference.tau_min,
        "tau_compare": compare(reference.tau_strict),
        "pad_compare": compare(reference.pad_strict),
        "th_line": if reference.continuous { "continuous" } else { "eq6" },
        "keep_written": reference.keep,
        "d_read": fixed.map(|d| d.0),
        "d_write": fixed.map(|d| d.1),
    });
    (reference, params)
}

#[test]
fn aalru_equals_a_slow_reference_when_garbage_collection_is_told_from_outside() {
    let mut random = Dice(11);
    let mut padded_writes = 0;
    for _ in 0..40 {
        let rig = Merging { frames: 10 + random.below64(30) as u32, logical_pages: 125, ..Merging::default() };
        let (mut reference, params) = random_pair(&mut random, rig, true);
        let (mut device, recorder) = rig.device("aalru", params.clone());
        for i in 0..1000 {
            let write = random.percent(60);
            let pages = 1 + random.below64(8).saturating_sub(3) as u32;
            let first = random.skewed(u64::from(rig.logical_pages - pages)) as u32;
            if random.percent(20) {
                for _ in 0..random.below64(60) {
                    device.test_port().flash_mut().ledger.add(Op::Program, Cause::Gc, 0);
                }
            }
            let op = if write { HostOp::Write } else { HostOp::Read };
            submit(&mut *device, op, u64::from(first), pages);
            let gc = device.ledger().count(Op::Program, Cause::Gc);
            for page in first..first + pages {
                reference.access(page, write);
                if page == first || !reference.by_request {
                    let mut ledger = Ledger::default();
                    ledger.ops[Op::Program as usize][Cause::Gc as usize] = gc;
                    let sent =
                        |event: &Event| if let Event::Write { lpns, .. } = event { lpns.len() as u64 } else { 0 };
                    ledger.ops[Op::Program as usize][Cause::Host as usize] = reference.events.iter().map(sent).sum();
                    reference.tick(&ledger);
                }
            }
            if i % 5 > 0 {
                continue;
            }
            let state = device.test_port().golden_state();
            assert_eq!(state["tau"], json!(reference.tau as u32), "access {i} of {params}");
            assert_eq!(state["RB"], json!(reference.rb), "access {i} of {params}");
            assert_eq!(state["WB"], json!(reference.wb), "access {i} of {params}");
        }
        let events = recorder.take();
        assert!(events == reference.events, "{params}");
        let padding = |e: &&Event| matches!(e, Event::Write { padded, .. } if !padded.is_empty());
        padded_writes += events.iter().filter(padding).count();
        device.test_port().check();
    }
    assert!(padded_writes > 500, "{padded_writes}");
}

#[test]
fn aalru_equals_a_slow_reference_when_it_measures_the_device() {
    let mut random = Dice(12);
    let mut gc_runs = 0;
    for round in 0..24 {
        let rig = Merging {
            frames: 10 + random.below64(40) as u32,
            logical_pages: 250,
            physical_blocks: 36 + random.below64(8) as u32,
            ..Merging::default()
        };
        let (mut reference, mut params) = random_pair(&mut random, rig, false);
        reference.delay = round % 3 == 0;
        params["wf_source"] = json!(if reference.delay { "delay" } else { "ftl" });
        let (mut device, recorder) = rig.device("aalru", params.clone());
        for i in 0..3000 {
            let write = random.percent(60);
            let page = random.skewed(u64::from(rig.logical_pages)) as u32;
            submit(&mut *device, if write { HostOp::Write } else { HostOp::Read }, u64::from(page), 1);
            reference.access(page, write);
            reference.tick(&device.ledger());
            assert!(recorder.take() == std::mem::take(&mut reference.events), "access {i} of {params}");
            assert_eq!(device.test_port().golden_state()["tau"], json!(reference.tau as u32), "access {i} of {params}");
        }
        gc_runs += device.ledger().gc_runs;
        device.test_port().check();
    }
    assert!(gc_runs > 1000, "{gc_runs}");
}

#[test]
fn aalru_pads_under_write_amplification() {
    let padded = |physical_blocks| {
        let rig = Merging { logical_pages: 1024, frames: 64, physical_blocks, ..Merging::default() };
        let (mut device, _) = rig.device("aalru", json!({"period": 256, "beta": 3.0}));
        let mut random = Dice(13);
        for _ in 0..8000 {
            let first = random.below64(255) * 4;
            submit(&mut *device, HostOp::Write, first, 4);
        }
        (device.ledger().waf_buffer(), device.ledger().padded_pages)
    };
    let (roomy_waf, roomy_pads) = padded(8000);
    let (tight_waf, tight_pads) = padded(132);
    assert_eq!((roomy_waf, roomy_pads), (1.0, 0));
    assert!(tight_waf > 1.5 && tight_pads > 1000, "{tight_waf} {tight_pads}");
}

#[test]
fn trims_flushes_and_a_changing_share_of_ram_are_survived() {
    let mut random = Dice(14);
    let rig = Merging { logical_pages: 250, ..Merging::default() };
    let (mut device, _) = rig.device("aalru", json!({"period": 64}));
    for i in 0..20_000 {
        let first = random.skewed(240);
        if i == 15_000 {
            device.start_measuring();
        }
        match random.below64(100) {
            0..5 => submit(&mut *device, HostOp::Trim, first, 8),
            5..6 => submit(&mut *device, HostOp::Flush, 0, 0),
            6 => device.set_frames(nandlab::buffer::Frames { dram: 2 + random.below64(60) as u32, nvram: 0 }),
            7..60 => submit(&mut *device, HostOp::Write, first, 1 + random.below64(4) as u32),
            _ => submit(&mut *device, HostOp::Read, first, 1 + random.below64(4) as u32),
        }
        if !random.percent(20) {
            continue;
        }
        let state = device.test_port().golden_state();
        let listed = state["RB"].as_array().unwrap().len() + state["WB"].as_array().unwrap().len();
        assert_eq!(listed as u32, device.slots().used().total());
        assert_eq!(state["WB"].as_array().unwrap().len() as u32, device.slots().dirty_pages());
    }
    device.test_port().check();
}

#[test]
fn aalru_accepts_the_other_padding_rules() {
    let padded = |rule: Value| {
        let rig = Merging { logical_pages: 125, frames: 24, ..Merging::default() };
        let (mut device, recorder) = rig.device("aalru", json!({"padding": rule, "period": 64}));
        let mut random = Dice(15);
        for _ in 0..3000 {
            let op = if random.percent(60) { HostOp::Write } else { HostOp::Read };
            submit(&mut *device, op, random.skewed(125), 1);
        }
        let shares = |event: &Event| match event {
            Event::Write { lpns, padded } => Some((lpns.len() - padded.len(), padded.len())),
            _ => None,
        };
        recorder.take().iter().filter_map(shares).collect::<Vec<_>>()
    };
    assert!(padded(json!("never")).iter().all(|(_, pads)| *pads == 0));
    // The last block of the device has 5 pages.
    assert!(padded(json!("always")).iter().all(|(dirty, pads)| [5, 8].contains(&(dirty + pads))));
    for (dirty, pads) in padded(json!(0.5)) {
        assert!(if pads == 0 { dirty < 4 || dirty == 8 || dirty == 5 } else { dirty >= 3 }, "{dirty} {pads}");
    }
    // Nothing below it amplifies, so nothing is padded.
    assert!(padded(json!("aalru")).iter().all(|(_, pads)| *pads == 0));
}

#[test]
fn aalru_keeps_the_shares_of_its_regions_when_the_number_of_frames_changes() {
    let (mut device, _) = Merging::default().device("aalru", json!({"tau_start": 0.25}));
    let mut tau = |dram: u32| {
        device.set_frames(nandlab::buffer::Frames { dram, nvram: 0 });
        device.test_port().golden_state()["tau"].as_u64().unwrap()
    };
    // A quarter of 24 frames is 6, of 48 it is 12; an eighth more or less is rounded; each region keeps a tenth.
    assert_eq!([tau(24), tau(48), tau(12), tau(24), tau(40)], [6, 12, 3, 6, 10]);
}
