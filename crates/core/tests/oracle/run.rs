//! A run: the same requests to the product and to the oracle, compared after every one.

use nandlab::engine::Payload;
use nandlab::types::{HostOp, HostRequest, Lpn, Nanos};

use super::cases::Case;
use super::device::Device;
use super::product;
use super::workload::Workload;

/// What was compared.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Done {
    pub runs: u64,
    pub requests: u64,
    pub pages: u64,
}

impl std::ops::AddAssign for Done {
    fn add_assign(&mut self, other: Self) {
        self.runs += other.runs;
        self.requests += other.requests;
        self.pages += other.pages;
    }
}

impl std::fmt::Display for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { runs, requests, pages } = self;
        write!(f, "{runs} runs, {requests} requests, {pages} page accesses and trims")
    }
}

struct Run {
    case: Case,
    product: Box<dyn nandlab::engine::Ssd>,
    oracle: Device,
    /// Word for the next sector that is written.
    word: u64,
    requests: u64,
}

impl Run {
    fn new(case: Case) -> Self {
        let product = product::build(&case);
        let mut oracle = Device::new(case.setup, case.ftl.oracle(&case.setup), case.buffer.oracle(&case.setup));
        if case.filled {
            oracle.fill();
        }
        Self { case, product, oracle, word: 0, requests: 0 }
    }

    /// One request to both.
    fn step(&mut self, request: &HostRequest) -> Result<(), String> {
        self.requests += 1;
        let sectors = request.sectors as usize;
        let words: Vec<u64> = match request.op {
            HostOp::Write => (1..=sectors as u64).map(|i| self.word + i).collect(),
            _ => vec![0; sectors],
        };
        let mut bytes = Vec::new();
        let payload = match request.op {
            HostOp::Write if self.case.media => {
                bytes.extend(words.iter().flat_map(|word| word.to_le_bytes().repeat(64)));
                Payload::Write(&bytes)
            }
            HostOp::Read if self.case.media => {
                bytes.resize(sectors * 512, 0xEE);
                Payload::Read(&mut bytes)
            }
            _ => Payload::None,
        };
        let completion = self.product.submit(request, payload).map_err(|error| error.to_string())?;
        let found = self.oracle.submit(request, words);
        if request.op == HostOp::Write {
            self.word += sectors as u64;
        }
        if request.op == HostOp::Read && self.case.media {
            let expected: Vec<u8> = found.iter().flat_map(|word| word.to_le_bytes().repeat(64)).collect();
            if bytes != expected {
                return Err("the data read differ".to_owned());
            }
        }
        let (mine, admitted) = (self.oracle.finished(), self.oracle.array.now);
        if (completion.admitted, completion.finished) != (Nanos(admitted), Some(Nanos(mine))) {
            let counts = self.compare_counts().err().unwrap_or_default();
            return Err(format!("{completion:?}, the oracle: admitted {admitted}, finished {mine}\n{counts}"));
        }
        self.compare_counts()?;
        self.compare_states()?;
        self.compare_places()
    }

    /// What the policy knows, where the oracle tells it; now and then.
    fn compare_states(&mut self) -> Result<(), String> {
        let Some(mine) = self.oracle.policy.golden().filter(|_| self.requests % 4 == 1) else { return Ok(()) };
        let state = self.product.test_port().golden_state();
        if state == mine { Ok(()) } else { Err(format!("the policy's state is {state}, the oracle's {mine}")) }
    }

    fn compare_counts(&self) -> Result<(), String> {
        let (ledger, service) = (self.product.ledger(), self.case.setup.times.service());
        if self.oracle.array.counts.agrees(&ledger, service) {
            return Ok(());
        }
        let mut text = String::from("counts differ (name, ledger, oracle):");
        for (name, ledger, oracle) in self.oracle.array.counts.differences(&ledger, service) {
            text.extend(["\n  ", &name, ": ", &ledger.to_string(), ", ", &oracle.to_string()]);
        }
        Err(text)
    }

    /// Where every page lies, and in which version.
    fn compare_places(&self) -> Result<(), String> {
        for lpn in 0..self.case.setup.logical_pages as u32 {
            let place = self.product.ftl().locate(self.product.flash(), Lpn(lpn));
            let version = if place.is_some() { self.product.flash().oob(place).version } else { 0 };
            let (at, mine) = self.oracle.stored(lpn).map_or((u32::MAX, 0), |((block, page), version)| {
                ((block * self.case.setup.pages_per_block + page) as u32, version)
            });
            if place.0 != at || (self.case.media && version != mine) {
                return Err(format!("page {lpn} lies at {} in version {version}, the oracle: {at}, {mine}", place.0));
            }
        }
        Ok(())
    }

    /// After the last request: what is dirty, where everything lies, wear, versions, and the mean response.
    fn end(&mut self) -> Result<(), String> {
        self.product.drain();
        self.oracle.book();
        self.compare_counts()?;
        let (slots, ram) = (self.product.slots(), &self.oracle.ram);
        let mut dirty: Vec<u32> =
            slots.iter().filter(|slot| slots.is_dirty(*slot)).map(|slot| slots.lpn(slot).0).collect();
        dirty.sort_unstable();
        let expected: Vec<u32> = ram.pages.iter().filter(|(_, frame)| frame.dirty).map(|(lpn, _)| *lpn).collect();
        if dirty != expected {
            return Err(format!("dirty pages {dirty:?}, the oracle: {expected:?}"));
        }
        self.compare_places()?;
        let blocks = 0..self.case.setup.blocks as u32;
        let wear: Vec<u32> = blocks.map(|b| self.product.flash().erase_count(nandlab::types::Pbn(b))).collect();
        if wear != self.oracle.array.erases {
            return Err(format!("erase counts {wear:?}, the oracle: {:?}", self.oracle.array.erases));
        }
        let mean = self.product.times().response().mean_ns();
        let all: u128 = self.oracle.responses.iter().map(|ns| u128::from(*ns)).sum();
        let expected = all as f64 / self.oracle.responses.len() as f64;
        if mean != expected {
            return Err(format!("mean response {mean} ns, the oracle: {expected} ns"));
        }
        self.product.test_port().check();
        Ok(())
    }

    /// Reads every page and ends.
    fn read_back(&mut self) -> Result<(), String> {
        let sectors = self.case.setup.page_sectors as u32;
        for lpn in 0..self.case.setup.logical_pages as u64 {
            let lba = lpn * u64::from(sectors);
            let at = Nanos(self.oracle.array.now);
            self.step(&HostRequest::new(at, HostOp::Read, lba, sectors))?;
        }
        Ok(())
    }
}

/// Runs a case.
///
/// # Errors
/// The first difference, with the request and the case.
pub fn run(case: &Case, requests: u64) -> Result<Done, String> {
    let mut run = Run::new(case.clone());
    let mut workload = Workload::new(case.seed, case.setup);
    for nth in 0..requests {
        let request = workload.request();
        run.step(&request).map_err(|problem| format!("request {nth}, {request:?}\n{problem}\n{case:?}"))?;
    }
    run.read_back().map_err(|problem| format!("reading all back: {problem}\n{case:?}"))?;
    run.end().map_err(|problem| format!("at the end: {problem}\n{case:?}"))?;
    let ledger = run.product.ledger();
    let pages = ledger.host_page_reads + ledger.host_page_writes + ledger.host_page_trims;
    Ok(Done { runs: 1, requests: run.requests, pages })
}

/// Runs of all seeds for one pair.
///
/// # Errors
/// The first difference.
pub fn pair(buffer: &str, ftl: &str, seeds: std::ops::Range<u64>, requests: u64) -> Result<Done, String> {
    let mut done = Done::default();
    for seed in seeds {
        done += run(&Case::new(seed, buffer, ftl), requests)?;
    }
    Ok(done)
}
