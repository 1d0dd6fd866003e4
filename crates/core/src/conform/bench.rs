//! A tiny serial device with real bytes, on which the operations of a golden file run.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::counters::counters;
use super::{ConformError, parse};
use crate::error::ConfigError;
use crate::flash::{Clock, ClockTimes, Flash, Geometry, Media, PageKind, ProgramOrder, Ticket, TimingModel};
use crate::ftl::{Batch, FTLS, Ftl, PageRead, PageWrite, Shape, Source};
use crate::ledger::Cause;
use crate::registry;
use crate::types::{Lbn, Lpn, Nanos, Pbn, Ppn};

const PAGE_BYTES: u32 = 512;
/// Most pages of a device.
const MOST_PAGES: u64 = 1 << 24;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Device {
    program_order: ProgramOrder,
    precondition: Precondition,
    pages_per_block: u32,
    physical_blocks: u32,
    logical_pages: u32,
}

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Precondition {
    Empty,
    Full,
}

impl Device {
    fn validate(&self) -> Result<(), ConfigError> {
        let Self { pages_per_block, physical_blocks, logical_pages, .. } = *self;
        let pages = u64::from(pages_per_block) * u64::from(physical_blocks);
        if pages == 0 || pages > MOST_PAGES {
            let problem =
                format!("{physical_blocks} blocks of {pages_per_block} pages are outside 1 to {MOST_PAGES} pages");
            return Err(ConfigError::new("device.physical_blocks", problem, "such a device is too small or too large"));
        }
        if logical_pages == 0 || u64::from(logical_pages) > pages {
            let problem = format!("{logical_pages} is outside 1 to the {pages} physical pages");
            return Err(ConfigError::new("device.logical_pages", problem, "leave some blocks spare"));
        }
        Ok(())
    }
}

/// What is wrong, what was expected, and what came.
pub(super) type Wrong = (String, Value, Value);

/// One operation of a case.
#[derive(Deserialize)]
#[serde(untagged)]
enum Operation {
    /// `["flush"]`
    Bare((String,)),
    /// `["w", lpn]`, `["r", lpn]`, `["t", lpn]`
    Page((String, u32)),
    /// `["rq", start, pages]`
    Request((String, u32, u32)),
    /// `["rq", "r" or "w", start, pages]`
    Typed((String, String, u32, u32)),
    /// `["wg", lbn, [offsets], pad]`
    Group((String, u32, Vec<u32>, bool)),
}

/// A device with a model of what every page must hold.
pub(super) struct Bench {
    pub(super) ftl: Box<dyn Ftl>,
    pub(super) flash: Flash,
    /// Version by LPN, 0 = never written or trimmed.
    model: Vec<u64>,
    version: u64,
    /// Blocks of the device as the file has it.
    counted_blocks: u32,
}

impl Bench {
    /// The device of a case with the FTL `name`.
    ///
    /// # Errors
    /// When there cannot be such a device, or the FTL refuses its parameters.
    pub(super) fn new(name: &str, device: &Device, params: &Map<String, Value>) -> Result<Self, ConfigError> {
        device.validate()?;
        // Everything runs on one die; copies of a translation page then lie side by side, as the files have it.
        let geometry =
            Geometry::single_die(device.physical_blocks + kept_back(name), device.pages_per_block, PAGE_BYTES);
        let times = ClockTimes::cells(Nanos::from_us(25), Nanos::from_us(200), Nanos::from_us(1500));
        let clock = Clock::new(TimingModel::named("serial"), times, 1, 1);
        let order = device.program_order;
        let shape =
            Shape { geometry, logical_pages: device.logical_pages, slc_pages: 0, unit_pages: 1, order, seed: 1 };
        let plugin = registry::find(FTLS, "ftl", name)?;
        let ftl = (plugin.build)(parameters(name, params), &shape)?;
        let mut bench = Self {
            ftl,
            flash: Flash::new(geometry, order, Media::Memory, clock),
            model: vec![0; device.logical_pages as usize],
            version: 0,
            counted_blocks: device.physical_blocks,
        };
        if device.precondition == Precondition::Full {
            bench.fill(shape.logical_blocks());
        }
        Ok(bench)
    }

    fn fill(&mut self, logical_blocks: u32) {
        for lbn in 0..logical_blocks {
            let pages: Vec<PageWrite> = self.pages_of(lbn).map(|lpn| self.new_version(lpn)).collect();
            let bytes = contents(&pages);
            self.ftl.fill(&mut self.flash, Lbn(lbn), Batch::new(&pages, &bytes));
        }
        self.ftl.filled(&mut self.flash);
        self.flash.start_measuring();
    }

    /// Pages of a logical block.
    fn pages_of(&self, lbn: u32) -> impl Iterator<Item = Lpn> + use<> {
        let pages = self.flash.geometry().pages_per_block;
        let end = self.model.len() as u32;
        (lbn.saturating_mul(pages).min(end)..lbn.saturating_add(1).saturating_mul(pages).min(end)).map(Lpn)
    }

    fn new_version(&mut self, lpn: Lpn) -> PageWrite {
        self.version += 1;
        self.model[lpn.index()] = self.version;
        PageWrite::new(lpn, Cause::Host, self.version)
    }

    fn now(&self) -> Ticket {
        Ticket::at(self.flash.now())
    }

    /// Carries out one operation, which stands at `place` of the file; what is wrong with its answers goes to `found`.
    ///
    /// # Errors
    /// When the device cannot do that.
    pub(super) fn operate(&mut self, place: &str, op: &Value, found: &mut Vec<Wrong>) -> Result<(), ConformError> {
        let refuse = |problem: String| ConformError::Shape { place: place.to_owned(), problem };
        let unknown = || refuse(format!("{op} is not an FTL operation: w, r, t, wg, rq, flush with their numbers"));
        let logical = self.model.len() as u64;
        let pages = |start: u32, len: u32| match u64::from(start) + u64::from(len) {
            end if len > 0 && end <= logical => Ok(start..start + len),
            _ => Err(refuse(format!("{op} is not within the {logical} logical pages"))),
        };
        let operation: Operation = parse(place, op.clone()).map_err(|_| unknown())?;
        match operation {
            Operation::Bare((op,)) if op == "flush" => self.ftl.settle(&mut self.flash),
            Operation::Page((op, lpn)) if op == "w" => self.write(pages(lpn, 1)?.map(Lpn)),
            Operation::Page((op, lpn)) if op == "r" => self.read_all(pages(lpn, 1)?, found),
            Operation::Page((op, lpn)) if op == "t" => self.trim(Lpn(pages(lpn, 1)?.start)),
            Operation::Typed((op, kind, start, len)) if op == "rq" && kind == "r" => {
                self.read_all(pages(start, len)?, found);
            }
            Operation::Typed((op, kind, start, len)) if op == "rq" && kind == "w" => {
                self.write(pages(start, len)?.map(Lpn));
            }
            Operation::Request((op, start, len)) if op == "rq" => self.write(pages(start, len)?.map(Lpn)),
            Operation::Group((op, lbn, offsets, pad)) if op == "wg" => {
                let all: Vec<Lpn> = self.pages_of(lbn).collect();
                let ascending = offsets.windows(2).all(|pair| pair[0] < pair[1]);
                if !ascending || offsets.last().is_none_or(|last| *last as usize >= all.len()) {
                    let problem = format!("offsets of block {lbn} ascend and are below {}", all.len());
                    return Err(refuse(problem));
                }
                self.write_group(lbn, &all, &offsets, pad, found);
            }
            _ => return Err(unknown()),
        }
        self.ftl.check(&self.flash);
        self.flash.check();
        Ok(())
    }

    fn trim(&mut self, lpn: Lpn) {
        self.flash.ledger.host_page_trims += 1;
        self.model[lpn.index()] = 0;
        let now = self.now();
        self.ftl.trim(&mut self.flash, lpn, now);
    }

    /// The host reads pages in one request.
    fn read_all(&mut self, pages: std::ops::Range<u32>, found: &mut Vec<Wrong>) {
        for lpn in pages.clone().map(Lpn) {
            self.flash.ledger.host_page_reads += 1;
            let page = PageRead { end: Lpn(pages.end), ..PageRead::new(lpn, Cause::Host) };
            if self.read(page, found).is_none() {
                self.flash.ledger.unmapped_reads += 1;
            }
        }
    }

    /// Reads a page and compares it with the model.
    fn read(&mut self, page: PageRead, found: &mut Vec<Wrong>) -> Ppn {
        let lpn = page.lpn;
        let now = self.now();
        let ppn = self.ftl.read(&mut self.flash, page, now).ppn;
        let got = if ppn.is_some() { decode(self.flash.bytes(ppn)) } else { (lpn.0, 0) };
        let expected = (lpn.0, self.model[lpn.index()]);
        if got != expected {
            found.push(("(lpn, version) read".to_owned(), json!(expected), json!(got)));
        }
        ppn
    }

    /// Dirty pages on their way down, without padding.
    fn write(&mut self, lpns: impl Iterator<Item = Lpn>) {
        let pages: Vec<PageWrite> = lpns.map(|lpn| self.new_version(lpn)).collect();
        self.flash.ledger.host_page_writes += pages.len() as u64;
        let now = self.now();
        self.ftl.write(&mut self.flash, Batch::new(&pages, &contents(&pages)), now);
    }

    /// Dirty pages of one logical block, padded by hand unless the FTL does that itself.
    fn write_group(&mut self, lbn: u32, all: &[Lpn], offsets: &[u32], pad: bool, found: &mut Vec<Wrong>) {
        let dirty: Vec<Lpn> = offsets.iter().map(|offset| all[*offset as usize]).collect();
        if !pad && dirty.len() < all.len() {
            return self.write(dirty.into_iter());
        }
        self.flash.ledger.host_page_writes += dirty.len() as u64;
        let mut pages = Vec::new();
        for &lpn in all {
            if dirty.contains(&lpn) {
                pages.push(self.new_version(lpn));
            } else if !self.ftl.completes_blocks() {
                pages.extend(self.pad(lpn, found));
            }
        }
        let now = self.now();
        self.ftl.write_block(&mut self.flash, Lbn(lbn), Batch::new(&pages, &contents(&pages)), now);
    }

    /// A page that pads a group: read first, or by the FTL in the page's turn.
    fn pad(&mut self, lpn: Lpn, found: &mut Vec<Wrong>) -> Option<PageWrite> {
        let version = self.model[lpn.index()];
        let from = if self.ftl.keeps_map_on_flash() { Source::OldCopy } else { Source::Ram };
        if from == Source::Ram && version > 0 {
            self.read(PageRead::new(lpn, Cause::Pad), found);
        }
        (from == Source::OldCopy || version > 0)
            .then_some(PageWrite { from, ..PageWrite::new(lpn, Cause::Pad, version) })
    }

    /// The part `what` of the final state.
    pub(super) fn end_state(&self, what: &str) -> Value {
        let geometry = self.flash.geometry();
        let pages = || (0..geometry.pages() as u32).map(Ppn);
        let ledger = &self.flash.ledger;
        match what {
            "free_blocks" => json!(self.ftl.free_blocks()),
            "programmed_pages" => json!(pages().filter(|p| self.flash.is_programmed(*p)).count()),
            "valid_data_pages" => {
                let is_data = |p: &Ppn| self.flash.oob(*p).kind == PageKind::Data;
                json!(pages().filter(|p| self.flash.is_valid(*p)).filter(is_data).count())
            }
            "location" => {
                let place = |lpn| match self.ftl.locate(&self.flash, Lpn(lpn)) {
                    Ppn::NONE => Value::Null,
                    ppn => json!([geometry.pbn(ppn).0, geometry.page_in_block(ppn)]),
                };
                (0..self.model.len() as u32).map(place).collect()
            }
            "erase_counts" => (0..self.counted_blocks).map(|b| json!(self.flash.erase_count(Pbn(b)))).collect(),
            "padding_model" => json!({
                "full_merges": ledger.merges_full,
                "sum_rlb": ledger.merges_full_log_blocks,
                "sum_log_pages": ledger.merges_full_log_pages,
            }),
            other => self.ftl.golden_state(&self.flash)[other].clone(),
        }
    }

    /// Where it stands, in a line.
    pub(super) fn state(&self) -> String {
        format!("{} free blocks; so far {}", self.ftl.free_blocks(), json!(counters(&self.flash.ledger, false)))
    }
}

/// Parameters of a golden file in the names of this project.
fn parameters(name: &str, params: &Map<String, Value>) -> Value {
    let names: &[(&str, &str)] = match name {
        "page" => &[("gc", "victim")],
        "superblock" => &[("S", "superblock_blocks"), ("K", "update_blocks"), ("U_total", "update_blocks_total")],
        _ => &[],
    };
    let ours =
        |key: &String| names.iter().find(|(theirs, _)| theirs == key).map_or(key.clone(), |(_, ours)| (*ours).into());
    let mut params: Map<String, Value> = params.iter().map(|(key, value)| (ours(key), value.clone())).collect();
    if name == "page" {
        params.insert("frontiers".to_owned(), json!("single"));
    }
    Value::Object(params)
}

/// Blocks at the end of the array that an FTL keeps outside its free list and that the files do not count.
fn kept_back(name: &str) -> u32 {
    u32::from(name == "superblock")
}

/// Bytes of pages: LPN and version, then zeros.
fn contents(pages: &[PageWrite]) -> Vec<u8> {
    let mut bytes = vec![0; pages.len() * PAGE_BYTES as usize];
    for (page, bytes) in pages.iter().zip(bytes.chunks_exact_mut(PAGE_BYTES as usize)) {
        bytes[..4].copy_from_slice(&page.lpn.0.to_le_bytes());
        bytes[4..12].copy_from_slice(&page.version.to_le_bytes());
    }
    bytes
}

fn decode(bytes: &[u8]) -> (u32, u64) {
    let (lpn, rest) = bytes.split_at(4);
    (u32::from_le_bytes(lpn.try_into().unwrap()), u64::from_le_bytes(rest[..8].try_into().unwrap()))
}
