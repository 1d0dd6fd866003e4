//! A device with real bytes, and a model of what every page must hold.

use nandlab::flash::{CutMode, Flash, Media, ProgramOrder, Ticket, Tombstone};
use nandlab::ftl::{Batch, Ftl, PageWrite, Shape, Source};
use nandlab::ledger::Cause;
use nandlab::types::{Lbn, Lpn, Nanos};
use rand_pcg::Pcg64Mcg;
use serde_json::Value;

use crate::common::{PAGE_BYTES, below, build, flash, shape};

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
}

/// All of them.
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
/// When 64 blocks more than the data needs are not enough.
pub fn smallest(name: &str, params: &Value, size: Size, start: Start) -> Shape {
    let orders: &[ProgramOrder] = match start {
        Start::Roomy => &[ProgramOrder::Any],
        Start::Full => &[ProgramOrder::Strict, ProgramOrder::Ascending],
        Start::Empty | Start::Tight => &[ProgramOrder::Ascending],
    };
    let least = size.logical_pages.div_ceil(size.pages_per_block);
    for order in orders {
        // Replicas on distinct channels need four of them.
        for channels in if size.dies == 1 { vec![1] } else { vec![2, 4] } {
            for blocks in least..least + 64 {
                let wide = |blocks| {
                    let shape = shape(size.pages_per_block, blocks, size.logical_pages, *order);
                    spread(shape, channels, size.dies)
                };
                if build(name, params, &wide(blocks)).is_ok() {
                    return wide(if start == Start::Roomy { blocks + 5 } else { blocks });
                }
            }
        }
    }
    panic!("{name} {params}: 64 spare blocks are not enough for {size:?}");
}

/// The same device, its blocks spread over dies and channels (rounded up).
fn spread(mut shape: Shape, channels: u32, dies: u32) -> Shape {
    let geometry = &mut shape.geometry;
    geometry.blocks_per_plane = geometry.blocks_per_plane.div_ceil(dies);
    geometry.channels = channels;
    geometry.dies_per_chip = dies / channels;
    shape
}

/// See the module text.
pub struct Device {
    name: String,
    params: Value,
    start: Start,
    pub shape: Shape,
    pub ftl: Box<dyn Ftl>,
    pub flash: Flash,
    pub rng: Pcg64Mcg,
    /// What is going on, for the message of a failure.
    pub story: String,
    /// By LPN: version, 0 = reads as zeros.
    model: Vec<u64>,
    /// By LPN: the version an operation in flight may have left instead.
    in_flight: Vec<Option<u64>>,
    /// By LPN: version of the last acknowledged trim.
    trimmed: Vec<u64>,
    version: u64,
}

impl Device {
    pub fn new(name: &str, params: &Value, shape: Shape, start: Start, seed: u64) -> Self {
        let logical = shape.logical_pages as usize;
        let mut device = Self {
            name: name.to_owned(),
            params: params.clone(),
            start,
            ftl: build(name, params, &shape).expect("the shape was accepted"),
            flash: flash(&shape, Media::Memory),
            shape,
            rng: Pcg64Mcg::new(u128::from(seed)),
            story: format!("seed {seed}"),
            model: vec![0; logical],
            in_flight: vec![None; logical],
            trimmed: vec![0; logical],
            version: 0,
        };
        if start != Start::Empty {
            device.fill();
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
            let batch = Batch { pages: &pages, bytes: &Self::contents(&pages) };
            self.ftl.fill(&mut self.flash, Lbn(lbn), batch);
        }
        self.ftl.filled(&mut self.flash);
        self.flash.start_measuring();
        self.acknowledge();
    }

    fn pages_of(&self, lbn: u32) -> impl Iterator<Item = u32> + use<> {
        let pages = self.shape.geometry.pages_per_block;
        lbn * pages..((lbn + 1) * pages).min(self.shape.logical_pages)
    }

    /// A new version of a page, in flight until acknowledged.
    fn renew(&mut self, lpn: u32) -> PageWrite {
        self.version += 1;
        self.in_flight[lpn as usize] = Some(self.version);
        PageWrite { lpn: Lpn(lpn), cause: Cause::Host, version: self.version, from: Source::Ram }
    }

    /// What was in flight is promised from now on.
    pub fn acknowledge(&mut self) {
        for ((model, new), trimmed) in self.model.iter_mut().zip(&mut self.in_flight).zip(&mut self.trimmed) {
            *model = new.take().unwrap_or(*model);
            *trimmed = if *model == 0 { self.version } else { *trimmed };
        }
    }

    /// One random operation; its effects stay in flight.
    pub fn operate(&mut self) {
        let logical = self.shape.logical_pages;
        let is_hot = self.start != Start::Tight && below(&mut self.rng, 4) == 0;
        let lpn = below(&mut self.rng, if is_hot { 6 } else { logical });
        let now = self.now();
        match below(&mut self.rng, 100) {
            0..45 => {
                let page = [self.renew(lpn)];
                let batch = Batch { pages: &page, bytes: &Self::contents(&page) };
                self.ftl.write(&mut self.flash, batch, now);
            }
            45..58 => {
                let end = (lpn + 1 + below(&mut self.rng, 7)).min(logical);
                let pages: Vec<PageWrite> = (lpn..end).map(|lpn| self.renew(lpn)).collect();
                let batch = Batch { pages: &pages, bytes: &Self::contents(&pages) };
                self.ftl.write(&mut self.flash, batch, now);
            }
            58..70 => self.write_block(lpn / self.shape.geometry.pages_per_block),
            85..96 if self.start != Start::Tight => {
                self.version += 1;
                self.in_flight[lpn as usize] = Some(0);
                self.flash.journal(&[Tombstone { lpn: Lpn(lpn), version: self.version }]);
                self.ftl.trim(&mut self.flash, Lpn(lpn), now);
            }
            96..98 => self.ftl.idle(&mut self.flash, Nanos(u64::MAX / 4)),
            98..100 => self.ftl.settle(&mut self.flash),
            _ => {
                self.ftl.announce(Lpn((lpn + 1 + below(&mut self.rng, 6)).min(logical)));
                self.read(lpn);
            }
        }
    }

    /// Some dirty pages of a logical block, padded to the whole.
    fn write_block(&mut self, lbn: u32) {
        let mut pages = Vec::new();
        let now = self.now();
        for lpn in self.pages_of(lbn) {
            if below(&mut self.rng, 2) == 0 {
                pages.push(self.renew(lpn));
            } else if self.ftl.keeps_map_on_flash() {
                let version = self.model[lpn as usize];
                pages.push(PageWrite { lpn: Lpn(lpn), cause: Cause::Pad, version, from: Source::OldCopy });
            } else if self.model[lpn as usize] > 0 && !self.ftl.completes_blocks() {
                self.ftl.read(&mut self.flash, Lpn(lpn), Cause::Pad, now);
                let version = self.model[lpn as usize];
                pages.push(PageWrite { lpn: Lpn(lpn), cause: Cause::Pad, version, from: Source::Ram });
            }
        }
        let batch = Batch { pages: &pages, bytes: &Self::contents(&pages) };
        self.ftl.write_block(&mut self.flash, Lbn(lbn), batch, now);
    }

    /// The version that a page holds.
    fn found(&mut self, lpn: u32) -> u64 {
        let now = self.now();
        let ppn = self.ftl.read(&mut self.flash, Lpn(lpn), Cause::Host, now).ppn;
        if ppn.is_none() {
            return 0;
        }
        let bytes = self.flash.bytes(ppn);
        assert_eq!(bytes[..4], lpn.to_le_bytes(), "page of another lpn");
        u64::from_le_bytes(bytes[4..12].try_into().expect("eight bytes"))
    }

    pub fn read(&mut self, lpn: u32) {
        let found = self.found(lpn);
        assert_eq!(found, self.model[lpn as usize], "version of lpn {lpn}");
    }

    /// All invariants of FTL and array.
    pub fn check(&self) {
        self.ftl.check(&self.flash);
        self.flash.check();
    }

    /// The page whose current or coming version went down with a lower page. Other pages are owed as ever.
    fn lost(&self) -> Option<u32> {
        let oob = self.flash.lost_page()?;
        let lpn = oob.number as usize;
        let is_owed = |lpn: usize| oob.version == self.model[lpn] || Some(oob.version) == self.in_flight[lpn];
        (oob.kind == nandlab::flash::PageKind::Data && is_owed(lpn)).then_some(oob.number)
    }

    /// Power comes back: a new FTL finds everything in the array. It fails `again` times inside the recovery, earlier
    /// each time. Returns the cuts that happened there and the pages lost with lower pages.
    pub fn recover(&mut self, mode: CutMode, again: u64) -> (u64, u64) {
        let (mut cuts, mut lost) = (0, Vec::new());
        for step in (0..=again).rev() {
            lost.extend(self.lost());
            self.flash.restore();
            self.ftl = build(&self.name, &self.params, &self.shape).expect("as before");
            if step > 0 {
                self.flash.arm_cut(step, mode);
            }
            self.ftl.rebuild(&mut self.flash);
            cuts += u64::from(self.flash.is_cut());
        }
        self.check();
        for lpn in 0..self.shape.logical_pages {
            let found = self.found(lpn);
            let (acknowledged, new) = (self.model[lpn as usize], self.in_flight[lpn as usize].take());
            // What was lost may be any older version, but nothing that was trimmed.
            let is_older = found == 0 || (found > self.trimmed[lpn as usize] && found <= acknowledged);
            assert!(
                found == acknowledged || Some(found) == new || (lost.contains(&lpn) && is_older),
                "lpn {lpn} holds version {found}, acknowledged {acknowledged}, in flight {new:?}, lost {lost:?}"
            );
            self.model[lpn as usize] = found;
        }
        (cuts, lost.len() as u64)
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
