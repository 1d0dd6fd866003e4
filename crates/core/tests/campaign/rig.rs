//! A device with real bytes, and a model of what every page must hold.

use nandlab::flash::{Flash, JOURNAL_LIMIT, Media, ProgramOrder, Ticket, Tombstone};
use nandlab::ftl::{Batch, Ftl, PageRead, PageWrite, Shape, Source};
use nandlab::ledger::Cause;
use nandlab::types::{Lbn, Lpn, Nanos};
use serde_json::Value;

use super::streams::{Dice, Digest};
use crate::kit::tiny::{PAGE_BYTES, build, flash, shape};

/// How a test device begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// As small as possible, nothing written.
    Empty,
    /// As small as possible, every page written once, programs in strict order if the FTL can.
    Full,
    /// The same, and nothing is ever trimmed: always as full as it can be.
    Tight,
    /// With more blocks, every page written once, programs in any order.
    Roomy,
    /// As small as possible, every page written once, every third trimmed, and that so often that the journal of trims
    /// is compacted within a few operations. More trims follow.
    Journal,
}

/// Those for random operations.
pub const STARTS: [Start; 4] = [Start::Empty, Start::Full, Start::Tight, Start::Roomy];

/// Size of a device; the number of blocks follows from what the FTL accepts.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub pages_per_block: u32,
    pub logical_pages: u32,
    /// 1, or 4 on two channels, or on four if the FTL wants that.
    pub dies: u32,
}

/// The smallest device that the FTL accepts, with some more blocks when it is to be roomy.
///
/// # Panics
/// When 100 blocks more than the data needs are not enough.
pub fn smallest(name: &str, params: &Value, size: Size, start: Start) -> Shape {
    let orders: &[ProgramOrder] = match start {
        Start::Roomy => &[ProgramOrder::Any],
        Start::Full => &[ProgramOrder::Strict, ProgramOrder::Ascending],
        Start::Empty | Start::Tight | Start::Journal => &[ProgramOrder::Ascending],
    };
    let least = size.logical_pages.div_ceil(size.pages_per_block);
    let planes = if params["frontiers"] == "plane" { 2 } else { 1 };
    for order in orders {
        // Replicas on distinct channels need four of them.
        for channels in if size.dies == 1 { vec![1] } else { vec![2, 4] } {
            for blocks in least..least + 100 {
                let wide = |blocks| {
                    let shape = shape(size.pages_per_block, blocks, size.logical_pages, *order);
                    spread(shape, channels, size.dies, planes)
                };
                if build(name, params, &wide(blocks)).is_ok() {
                    return wide(if start == Start::Roomy { blocks + 5 } else { blocks });
                }
            }
        }
    }
    panic!("{name} {params}: 100 spare blocks are not enough for {size:?}");
}

/// The same device, its blocks spread over planes, dies and channels (rounded up).
fn spread(mut shape: Shape, channels: u32, dies: u32, planes: u32) -> Shape {
    let geometry = &mut shape.geometry;
    geometry.blocks_per_plane = geometry.blocks_per_plane.div_ceil(dies * planes);
    geometry.planes_per_die = planes;
    geometry.channels = channels;
    geometry.dies_per_chip = dies / channels;
    shape
}

/// An FTL above a flash array with real bytes, and the model of what every page must hold.
pub struct Device {
    pub(super) name: String,
    pub(super) params: Value,
    start: Start,
    pub shape: Shape,
    pub ftl: Box<dyn Ftl>,
    pub flash: Flash,
    pub dice: Dice,
    /// What is going on, for the message of a failure.
    pub story: String,
    /// Digest of the FTL, its parameters and the array: what tells equal contents of different devices apart.
    pub(super) identity: Digest,
    /// By LPN: version, 0 = reads as zeros.
    pub(super) model: Vec<u64>,
    /// By LPN: the version an operation in flight may have left instead.
    pub(super) in_flight: Vec<Option<u64>>,
    /// By LPN: what is older than this was trimmed.
    pub(super) trimmed: Vec<u64>,
    /// The latest that was taken by a page.
    version: u64,
    written_last: u32,
    trimmed_last: Option<u32>,
    /// How often the journal of trims was compacted.
    pub compactions: u64,
}

impl Device {
    /// A device on which the operations of the stream with this name run.
    pub fn new(name: &str, params: &Value, mut shape: Shape, start: Start, stream: &str) -> Self {
        let logical = shape.logical_pages as usize;
        let mut dice = Dice::new(stream);
        shape.seed = dice.bits();
        let mut device = Self {
            name: name.to_owned(),
            params: params.clone(),
            start,
            ftl: build(name, params, &shape).expect("the shape was accepted"),
            flash: flash(&shape, Media::Memory),
            shape,
            dice,
            story: stream.to_owned(),
            identity: Digest::of(0, &format!("{name} {params} {shape:?}")),
            model: vec![0; logical],
            in_flight: vec![None; logical],
            trimmed: vec![0; logical],
            version: 0,
            written_last: 0,
            trimmed_last: None,
            compactions: 0,
        };
        if start != Start::Empty {
            device.fill();
        }
        if start == Start::Journal {
            device.fill_journal();
        }
        device
    }

    fn now(&self) -> Ticket {
        Ticket::at(self.flash.now())
    }

    fn contents(pages: &[PageWrite]) -> Vec<u8> {
        let mut bytes = vec![0; pages.len() * PAGE_BYTES as usize];
        for (page, bytes) in pages.iter().zip(bytes.chunks_exact_mut(PAGE_BYTES as usize)) {
            bytes[..4].copy_from_slice(&page.lpn.0.to_le_bytes());
            bytes[4..12].copy_from_slice(&page.version.to_le_bytes());
        }
        bytes
    }

    fn fill(&mut self) {
        for lbn in 0..self.shape.logical_blocks() {
            let pages: Vec<PageWrite> = self.pages_of(lbn).map(|lpn| self.renew(lpn)).collect();
            let bytes = Self::contents(&pages);
            let batch = Batch::new(&pages, &bytes);
            self.ftl.fill(&mut self.flash, Lbn(lbn), batch);
        }
        self.ftl.filled(&mut self.flash);
        self.flash.start_measuring();
        self.acknowledge();
    }

    /// Trims every third page, and these again until a few more trims have the journal compacted.
    fn fill_journal(&mut self) {
        let few = 1 + self.dice.below(3) as usize;
        for lpn in (0..self.shape.logical_pages).step_by(3).collect::<Vec<_>>().into_iter().cycle() {
            if self.flash.tombstones().len() + few >= JOURNAL_LIMIT {
                break;
            }
            let was_trimmed = self.model[lpn as usize] == 0;
            self.journal(lpn);
            self.version += 1;
            // A trim of what is trimmed changes nothing but the journal.
            if !was_trimmed {
                let now = self.now();
                self.ftl.trim(&mut self.flash, Lpn(lpn), now);
            }
            self.acknowledge();
        }
    }

    /// The tombstone is as old as it may be: newer than all that was written, as old as what is written next.
    fn journal(&mut self, lpn: u32) {
        let version = self.version + 1;
        let before = self.flash.tombstones().len();
        self.flash.journal(&[Tombstone { lpn: Lpn(lpn), version }]);
        self.compactions += u64::from(self.flash.tombstones().len() <= before);
        self.in_flight[lpn as usize] = Some(0);
        self.trimmed[lpn as usize] = version;
        self.trimmed_last = Some(lpn);
    }

    fn pages_of(&self, lbn: u32) -> impl Iterator<Item = u32> + use<> {
        let pages = self.shape.geometry.pages_per_block;
        lbn * pages..((lbn + 1) * pages).min(self.shape.logical_pages)
    }

    /// A new version of a page, in flight until acknowledged.
    fn renew(&mut self, lpn: u32) -> PageWrite {
        self.version += 1;
        self.written_last = lpn;
        self.in_flight[lpn as usize] = Some(self.version);
        PageWrite::new(Lpn(lpn), Cause::Host, self.version)
    }

    /// What was in flight is promised from now on.
    pub fn acknowledge(&mut self) {
        for (model, new) in self.model.iter_mut().zip(&mut self.in_flight) {
            *model = new.take().unwrap_or(*model);
        }
    }

    /// One random operation; its effects stay in flight.
    pub fn operate(&mut self) {
        let logical = self.shape.logical_pages;
        let is_hot = self.start != Start::Tight && self.dice.below(4) == 0;
        let lpn = self.dice.below(if is_hot { 6 } else { logical });
        if self.start == Start::Journal && self.dice.below(4) == 0 {
            return self.trim(lpn);
        }
        match self.dice.below(100) {
            0..45 => {
                // Often what was trimmed just now: it must not be taken for older than the trim.
                let lpn = self.trimmed_last.take().filter(|_| self.dice.below(2) == 0).unwrap_or(lpn);
                self.write(lpn..lpn + 1);
            }
            45..58 => {
                let end = (lpn + 1 + self.dice.below(7)).min(logical);
                self.write(lpn..end);
            }
            58..70 => self.write_block(lpn / self.shape.geometry.pages_per_block),
            85..96 if self.start != Start::Tight => self.trim(lpn),
            96..98 => self.ftl.idle(&mut self.flash, Nanos(u64::MAX / 4)),
            98..100 => self.ftl.settle(&mut self.flash),
            _ => {
                let end = Lpn((lpn + 1 + self.dice.below(6)).min(logical));
                self.read_as(PageRead { end, ..PageRead::new(Lpn(lpn), Cause::Host) });
            }
        }
    }

    fn write(&mut self, lpns: std::ops::Range<u32>) {
        let pages: Vec<PageWrite> = lpns.map(|lpn| self.renew(lpn)).collect();
        let bytes = Self::contents(&pages);
        let batch = Batch::new(&pages, &bytes);
        let now = self.now();
        self.ftl.write(&mut self.flash, batch, now);
    }

    /// A trim, every other time of the page that was written last: its copy is hardly older than the tombstone.
    fn trim(&mut self, lpn: u32) {
        let lpn = if self.dice.below(2) == 0 { self.written_last } else { lpn };
        let now = self.now();
        self.journal(lpn);
        self.ftl.trim(&mut self.flash, Lpn(lpn), now);
    }

    /// Some dirty pages of a logical block, padded to the whole.
    fn write_block(&mut self, lbn: u32) {
        let mut pages = Vec::new();
        let now = self.now();
        for lpn in self.pages_of(lbn) {
            if self.dice.below(2) == 0 {
                pages.push(self.renew(lpn));
            } else if self.ftl.keeps_map_on_flash() {
                let version = self.model[lpn as usize];
                pages.push(PageWrite { from: Source::OldCopy, ..PageWrite::new(Lpn(lpn), Cause::Pad, version) });
            } else if self.model[lpn as usize] > 0 && !self.ftl.completes_blocks() {
                self.ftl.read(&mut self.flash, PageRead::new(Lpn(lpn), Cause::Pad), now);
                let version = self.model[lpn as usize];
                pages.push(PageWrite::new(Lpn(lpn), Cause::Pad, version));
            }
        }
        let bytes = Self::contents(&pages);
        let batch = Batch::new(&pages, &bytes);
        self.ftl.write_block(&mut self.flash, Lbn(lbn), batch, now);
    }

    /// The version that a page holds.
    pub(super) fn found(&mut self, page: PageRead) -> u64 {
        let now = self.now();
        let lpn = page.lpn.0;
        let ppn = self.ftl.read(&mut self.flash, page, now).ppn;
        if ppn.is_none() {
            return 0;
        }
        let bytes = self.flash.bytes(ppn);
        assert_eq!(bytes[..4], lpn.to_le_bytes(), "page of another lpn");
        u64::from_le_bytes(bytes[4..12].try_into().expect("eight bytes"))
    }

    pub fn read(&mut self, lpn: u32) {
        self.read_as(PageRead::new(Lpn(lpn), Cause::Host));
    }

    fn read_as(&mut self, page: PageRead) {
        let found = self.found(page);
        assert_eq!(found, self.model[page.lpn.index()], "version of lpn {}", page.lpn.0);
    }

    /// All invariants of FTL and array.
    pub fn check(&self) {
        self.ftl.check(&self.flash);
        self.flash.check();
    }
}

impl Drop for Device {
    /// Says which run broke a promise.
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in {} {} from {:?}, {:?}: {}", self.name, self.params, self.start, self.shape, self.story);
        }
    }
}
