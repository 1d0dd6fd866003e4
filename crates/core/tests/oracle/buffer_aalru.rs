//! The oracle's AALRU: sections III-B to III-E of the paper and the manual page of `aalru`.

use nandlab::ledger::Cause;
use serde_json::{Value, json};

use super::counts::Counts;
use super::policy::{Access, Policy, Ram, Step};

/// Where Wf comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Equation 4 with all programs of the FTL.
    Ftl,
    /// Equation 4 with those of collections and merges alone.
    Collection,
    /// Equation 5.
    Delay,
}

#[derive(Clone, Copy, PartialEq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the parameters of the policy")]
pub struct Choices {
    pub period: u64,
    pub by_request: bool,
    pub beta: f64,
    /// Share of the frames that each list keeps.
    pub tau_min: f64,
    pub continuous: bool,
    pub source: Source,
    /// RB gives a page if it holds more than tau pages, not as many.
    pub tau_strict: bool,
    /// A block is padded with more than Th pages, not as many.
    pub pad_strict: bool,
    pub keep_written: f64,
    /// Microseconds, if they are not measured.
    pub d_read: Option<f64>,
    pub d_write: Option<f64>,
}

pub struct Aalru {
    choices: Choices,
    /// Most recent first.
    clean: Vec<u32>,
    written: Vec<u32>,
    frames: usize,
    tau: usize,
    /// Share of a block.
    th: f64,
    pages_per_block: usize,
    /// RRH, RWH, WRH, WWH.
    hits: [u64; 4],
    counted: u64,
    last_request: u64,
    d_read: f64,
    d_write: f64,
    program_us: f64,
    /// What the ledger said when the period began.
    began: [u64; 6],
}

impl Aalru {
    pub fn new(choices: Choices, pages_per_block: usize, service: [u64; 3]) -> Self {
        let [read_us, program_us, _] = service.map(|ns| ns as f64 / 1e3);
        Self {
            choices,
            clean: Vec::new(),
            written: Vec::new(),
            frames: 0,
            tau: 0,
            th: pages_per_block as f64,
            pages_per_block,
            hits: [0; 4],
            counted: 0,
            last_request: 0,
            d_read: choices.d_read.unwrap_or(read_us),
            d_write: choices.d_write.unwrap_or(program_us),
            program_us,
            began: [0; 6],
        }
    }

    fn set_tau(&mut self, tau: f64) {
        let all = self.frames as f64;
        let least = self.choices.tau_min;
        let tau = tau.clamp(least * all, (1.0 - least) * all).round() as usize;
        self.tau = tau.clamp(1, self.frames.saturating_sub(1).max(1));
    }

    fn end_period(&mut self, counts: &Counts) {
        let own = match self.choices.source {
            Source::Collection => vec![Cause::Gc, Cause::Merge, Cause::MapUpdate, Cause::MapGc],
            _ => Cause::ALL.into_iter().filter(|c| !matches!(c, Cause::Host | Cause::Pad)).collect(),
        };
        let now = [
            counts.programs(&own),
            counts.programs(&[Cause::Host, Cause::Pad]),
            counts.buffer_read_ns,
            counts.buffer_read_pages,
            counts.buffer_write_ns,
            counts.write_back_pages + counts.padded_pages,
        ];
        let mut grown = [0; 6];
        for (i, grown) in grown.iter_mut().enumerate() {
            *grown = now[i] - self.began[i];
        }
        self.began = now;
        let [gc, buffer, read_ns, reads, write_ns, writes] = grown;
        let mean = |ns: u64, pages: u64| (ns > 0 && pages > 0).then(|| ns as f64 / 1e3 / pages as f64);
        let (d_read, d_write) = (mean(read_ns, reads), mean(write_ns, writes));
        if let (Some(measured), None) = (d_read, self.choices.d_read) {
            self.d_read = measured;
        }
        if let (Some(measured), None) = (d_write, self.choices.d_write) {
            self.d_write = measured;
        }
        let [rrh, rwh, wrh, wwh] = self.hits.map(|hits| hits as f64);
        self.hits = [0; 4];
        let rr = (rwh * self.d_write + rrh * self.d_read) / self.tau.max(1) as f64;
        let wr = (wwh * self.d_write + wrh * self.d_read) / self.frames.saturating_sub(self.tau).max(1) as f64;
        if rr + wr > 0.0 {
            self.set_tau(rr / (wr + rr) * self.frames as f64);
        }
        let wf = match self.choices.source {
            Source::Delay => d_write.map(|us| us / self.program_us),
            _ => (buffer > 0).then(|| (gc + buffer) as f64 / buffer as f64),
        };
        let (whole, beta) = (self.pages_per_block as f64, self.choices.beta);
        match wf {
            None => {}
            Some(wf) if wf <= 1.0 => self.th = whole,
            Some(wf) if wf >= beta => self.th = 0.0,
            Some(wf) if self.choices.continuous => self.th = whole * (beta - wf) / (beta - 1.0),
            Some(wf) => self.th = whole - whole / beta * wf,
        }
    }

    fn write_cluster(&mut self, ram: &Ram) -> Step {
        let lbn = ram.lbn(*self.written.last().expect("a written page"));
        let cluster: Vec<u32> = self.written.iter().copied().filter(|lpn| ram.lbn(*lpn) == lbn).collect();
        let kept_places = (self.choices.keep_written * self.written.len() as f64 + 0.5).floor() as usize;
        let least = *self.written.last().expect("a written page");
        let young: Vec<u32> = self.written[..kept_places.min(self.written.len())].to_vec();
        let stay: Vec<u32> = cluster.iter().copied().filter(|lpn| young.contains(lpn) && *lpn != least).collect();
        let leave: Vec<u32> = cluster.iter().copied().filter(|lpn| !stay.contains(lpn)).collect();
        self.written.retain(|lpn| !cluster.contains(lpn));
        // In the order of their last use, most recent first.
        for lpn in stay.iter().rev() {
            self.clean.insert(0, *lpn);
        }
        let pages = ram.block_pages(lbn);
        // For a short block Th is the same share of its pages.
        let (held, needed) = ((cluster.len() * self.pages_per_block) as f64, self.th * pages as f64);
        let reached = if self.choices.pad_strict { held > needed } else { held >= needed };
        Step::Write { leave, stay, pad: cluster.len() < pages && reached }
    }
    fn forget(&mut self, lpn: u32) {
        self.clean.retain(|other| *other != lpn);
        self.written.retain(|other| *other != lpn);
    }
}

impl Policy for Aalru {
    fn hit(&mut self, access: Access, _ram: &Ram) {
        let was_clean = self.clean.contains(&access.lpn);
        self.hits[usize::from(!was_clean) * 2 + usize::from(access.write)] += 1;
        self.forget(access.lpn);
        if was_clean && !access.write {
            self.clean.insert(0, access.lpn);
        } else {
            self.written.insert(0, access.lpn);
        }
    }
    fn placed(&mut self, access: Access, _ram: &Ram) {
        let list = if access.write { &mut self.written } else { &mut self.clean };
        list.insert(0, access.lpn);
    }
    fn make_room(&mut self, ram: &Ram, _counts: &Counts) -> Vec<Step> {
        let gives = if self.choices.tau_strict { self.clean.len() > self.tau } else { self.clean.len() >= self.tau };
        if self.clean.is_empty() && self.written.is_empty() {
            return Vec::new();
        }
        if (gives || self.written.is_empty()) && !self.clean.is_empty() {
            return vec![Step::Drop(self.clean.pop().expect("a clean page"))];
        }
        vec![self.write_cluster(ram)]
    }
    fn after(&mut self, access: Access, _hit: bool, _ram: &Ram, counts: &Counts) -> Vec<Step> {
        if self.choices.by_request && access.request == self.last_request {
            return Vec::new();
        }
        self.last_request = access.request;
        self.counted += 1;
        if self.counted.is_multiple_of(self.choices.period) {
            self.end_period(counts);
        }
        Vec::new()
    }
    fn trimmed(&mut self, lpn: u32, _ram: &Ram) {
        self.forget(lpn);
    }
    fn flushed(&mut self, lpn: u32, _ram: &Ram) -> bool {
        self.forget(lpn);
        false
    }
    fn resized(&mut self, frames: usize) {
        if self.frames == 0 && self.tau == 0 {
            // The start: half of the frames, rounded down as in the lab's code.
            self.frames = frames;
            return self.set_tau((0.5 * frames as f64).floor());
        }
        if frames != self.frames {
            let share = self.tau as f64 / self.frames.max(1) as f64;
            self.frames = frames;
            self.set_tau(share * frames as f64);
        }
    }
    fn golden(&self) -> Option<Value> {
        let [rrh, rwh, wrh, wwh] = self.hits;
        Some(json!({
            "RB": self.clean, "WB": self.written, "tau": self.tau, "Th": (self.th * 1e6).round() / 1e6,
            "counters": {"RRH": rrh, "RWH": rwh, "WRH": wrh, "WWH": wwh},
        }))
    }
}
