//! What the host knows about its data: every version of every page that may come back after a power cut.

use nandlab::buffer::{Medium, Slots};
use nandlab::types::{Lpn, Slot};

use super::rig::PAGE_SECTORS;

const SECTORS: usize = PAGE_SECTORS as usize;

/// Contents of a page by sector: the tag of the write that filled it, 0 for zeros.
pub type Image = [u64; SECTORS];

/// The versions of a page, oldest first. The first one is durable; the last one is what a read must return.
type Versions = Vec<Image>;

/// Every version of every page that may come back after a power cut.
pub struct Model {
    pages: Vec<Versions>,
    tag: u64,
}

impl Model {
    pub fn new(logical_pages: u32) -> Self {
        Self { pages: vec![vec![[0; SECTORS]]; logical_pages as usize], tag: 0 }
    }

    pub fn newest(&self, lpn: u32) -> Image {
        *self.pages[lpn as usize].last().unwrap()
    }

    /// The host writes sectors; returns the bytes.
    pub fn write(&mut self, lba: u64, sectors: u32) -> Vec<u8> {
        self.tag += 1;
        let tag = self.tag << 8;
        for (lpn, part) in parts(lba, sectors) {
            let mut image = self.newest(lpn);
            for sector in part {
                image[sector] = tag + sector as u64;
            }
            self.pages[lpn as usize].push(image);
        }
        (lba..lba + u64::from(sectors)).flat_map(|s| sector_bytes(tag + s % u64::from(PAGE_SECTORS))).collect()
    }

    /// The host trims sectors: whole pages count.
    pub fn trim(&mut self, lba: u64, sectors: u32) {
        for (lpn, part) in parts(lba, sectors) {
            if part.len() == SECTORS {
                self.pages[lpn as usize].push([0; SECTORS]);
            }
        }
    }

    /// What the host read must be the last version.
    pub fn compare(&self, lba: u64, bytes: &[u8]) {
        for (i, sector) in bytes.chunks_exact(512).enumerate() {
            let at = lba + i as u64;
            let lpn = (at / u64::from(PAGE_SECTORS)) as u32;
            let expected = self.newest(lpn)[at as usize % SECTORS];
            assert_eq!(tag_of(sector), expected, "sector {at} of page {lpn}: not the last write");
        }
    }

    /// A request was acknowledged: what is on flash or in NVRAM is durable now, trims too, and after a flush everything.
    pub fn acknowledge(&mut self, slots: &Slots, flushed: bool) {
        for (lpn, versions) in self.pages.iter_mut().enumerate() {
            let slot = slots.find(Lpn(lpn as u32));
            let volatile = slot != Slot::NONE && slots.is_dirty(slot) && slots.medium(slot) == Medium::Dram;
            if flushed || !volatile {
                versions.drain(..versions.len() - 1);
            }
        }
    }

    /// The power failed and came back: each page must be one of the versions that may come back, and stays that one.
    pub fn recover(&mut self, lpn: u32, bytes: &[u8]) {
        let mut found = [0; SECTORS];
        for (tag, sector) in found.iter_mut().zip(bytes.chunks_exact(512)) {
            *tag = tag_of(sector);
        }
        let versions = &mut self.pages[lpn as usize];
        assert!(
            versions.contains(&found),
            "page {lpn} came back as {found:x?}, which is none of its versions from the durable one on: {versions:x?}"
        );
        *versions = vec![found];
    }
}

/// The pages of a range of sectors with the sectors inside each.
pub fn parts(lba: u64, sectors: u32) -> impl Iterator<Item = (u32, std::ops::Range<usize>)> {
    let end = lba + u64::from(sectors);
    let per_page = u64::from(PAGE_SECTORS);
    (lba / per_page..end.div_ceil(per_page)).map(move |page| {
        let first = page * per_page;
        let from = lba.max(first) - first;
        let to = end.min(first + per_page) - first;
        (page as u32, from as usize..to as usize)
    })
}

fn sector_bytes(tag: u64) -> impl Iterator<Item = u8> {
    std::iter::repeat_n(tag.to_le_bytes(), 512 / 8).flatten()
}

fn tag_of(sector: &[u8]) -> u64 {
    let (words, _) = sector.as_chunks::<8>();
    assert!(words.iter().all(|word| *word == words[0]), "a sector is torn");
    u64::from_le_bytes(words[0])
}
