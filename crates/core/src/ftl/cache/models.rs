//! Piecewise linear models of translation pages (TP): where does a page lie, computed instead of read?
//!
//! A model maps the number of a page within its TP to its place by line segments, and one bit a page tells whether the
//! model is exact for it, so that it never has to be tried. Numbers and places are *virtual*: pages are numbered, and
//! flash pages are counted, die by die, so that what consecutive writes lay down in stripes over the dies is a line on
//! every die. All arithmetic is in whole numbers; a slope is in units of 1/65536.

use crate::flash::Geometry;
use crate::types::{Lpn, Pbn, Ppn};

/// A slope of 1.
const ONE: i64 = 1 << 16;
/// Bytes of a piece: first number, place of it, slope.
const PIECE_BYTES: u64 = 12;

/// Part of a line: the page with number `first + n` lies at `base + floor(n * slope / ONE)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Piece {
    first: u32,
    base: i64,
    slope: i64,
}

impl Piece {
    const fn place(&self, number: u32) -> i64 {
        self.base + (((number - self.first) as i64 * self.slope) >> 16)
    }
}

/// A piece that grows while one slope is exact for all its points.
#[derive(Clone, Copy, Debug)]
struct Cone {
    first: u32,
    base: i64,
    /// Least and largest slope that is exact for every point so far.
    slopes: (i64, i64),
    points: u32,
}

impl Cone {
    const fn new((first, base): (u32, i64)) -> Self {
        Self { first, base, slopes: (i32::MIN as i64, i32::MAX as i64), points: 1 }
    }
    /// Takes one more point, unless no slope is exact for it and all before.
    fn extend(&mut self, (number, place): (u32, i64)) -> bool {
        let (dx, dy) = (i64::from(number - self.first), place - self.base);
        let least = -(-dy * ONE).div_euclid(dx);
        let largest = ((dy + 1) * ONE - 1).div_euclid(dx);
        let slopes = (least.max(self.slopes.0), largest.min(self.slopes.1));
        if slopes.0 > slopes.1 {
            return false;
        }
        self.slopes = slopes;
        self.points += 1;
        true
    }
    /// A single point is taken for the first of a run.
    const fn piece(&self) -> Piece {
        let slope = if self.points == 1 { ONE } else { self.slopes.0 };
        Piece { first: self.first, base: self.base, slope }
    }
}

/// The piecewise linear models of all translation pages.
#[derive(Debug)]
pub struct Models {
    geometry: Geometry,
    logical_pages: u32,
    entries_per_tp: u32,
    /// Dies over which consecutive pages go; 1 with a single frontier.
    lanes: u32,
    /// Most pieces of a model.
    pieces: u32,
    /// By translation page, ascending.
    by_tp: Vec<Vec<Piece>>,
    /// By LPN: the model tells where the page lies.
    exact: Vec<bool>,
    exact_pages: u32,
    /// Scratch of a training: pages that are mapped, with number and place.
    points: Vec<(Lpn, (u32, i64))>,
    cones: Vec<Cone>,
}

impl Models {
    /// Nothing learned. Consecutive pages go over `lanes` dies, of which the device has a multiple.
    pub fn new(geometry: Geometry, logical_pages: u32, entries_per_tp: u32, lanes: u32, pieces: u32) -> Self {
        assert!(pieces > 0 && geometry.blocks().is_multiple_of(lanes));
        Self {
            geometry,
            logical_pages,
            entries_per_tp,
            lanes,
            pieces,
            by_tp: vec![Vec::new(); logical_pages.div_ceil(entries_per_tp) as usize],
            exact: vec![false; logical_pages as usize],
            exact_pages: 0,
            points: Vec::new(),
            cones: Vec::new(),
        }
    }
    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::new(self.geometry, self.logical_pages, self.entries_per_tp, self.lanes, self.pieces);
    }
    /// RAM, bytes: a bit for every mapping and room for all pieces of every translation page.
    pub fn bytes(&self) -> u64 {
        let each = u64::from(self.entries_per_tp.div_ceil(8)) + PIECE_BYTES * u64::from(self.pieces);
        each * self.by_tp.len() as u64
    }
    /// Number of pages whose place the models tell.
    pub const fn exact_pages(&self) -> u32 {
        self.exact_pages
    }
    /// These pages, ascending.
    pub fn exact(&self) -> impl Iterator<Item = Lpn> + '_ {
        (0..self.logical_pages).map(Lpn).filter(|lpn| self.exact[lpn.index()])
    }

    /// Where the page lies, if the model tells.
    #[inline]
    pub fn predict(&self, lpn: Lpn) -> Option<Ppn> {
        if !self.exact[lpn.index()] {
            return None;
        }
        let number = self.number(lpn);
        let model = &self.by_tp[(lpn.0 / self.entries_per_tp) as usize];
        let at = model.partition_point(|piece| piece.first <= number);
        Some(self.physical(model[at - 1].place(number)))
    }

    /// The page lies elsewhere now, or nowhere.
    #[inline]
    pub fn forget(&mut self, lpn: Lpn) {
        self.exact_pages -= u32::from(std::mem::take(&mut self.exact[lpn.index()]));
    }

    /// Learns a translation page all of whose mappings are known. Greedy: a piece takes the following pages as long as
    /// one slope is exact for all of them. Of more pieces than there is room for, those of the most pages are kept.
    /// The model that was there stays if it is exact for as many pages.
    pub fn train(&mut self, tp: u32, newest: impl Fn(Lpn) -> Ppn) {
        let range = tp * self.entries_per_tp..((tp + 1) * self.entries_per_tp).min(self.logical_pages);
        let mut points = std::mem::take(&mut self.points);
        points.clear();
        for lane in 0..self.lanes {
            let first = range.start + (lane + self.lanes - range.start % self.lanes) % self.lanes;
            for lpn in (first..range.end).step_by(self.lanes as usize).map(Lpn) {
                let ppn = newest(lpn);
                if ppn.is_some() {
                    points.push((lpn, (self.number(lpn), self.place(ppn))));
                }
            }
        }
        let mut learned = self.fit(&points);
        let model = &mut self.by_tp[tp as usize];
        if hits(&learned, &points).filter(|hit| *hit).count() > hits(model, &points).filter(|hit| *hit).count() {
            std::mem::swap(model, &mut learned);
        }
        for lpn in range {
            self.exact_pages -= u32::from(std::mem::take(&mut self.exact[lpn as usize]));
        }
        for ((lpn, _), hit) in points.iter().zip(hits(&self.by_tp[tp as usize], &points)) {
            self.exact[lpn.index()] = hit;
            self.exact_pages += u32::from(hit);
        }
        self.points = points;
    }

    fn fit(&mut self, points: &[(Lpn, (u32, i64))]) -> Vec<Piece> {
        let cones = &mut self.cones;
        cones.clear();
        for (_, point) in points {
            if !cones.last_mut().is_some_and(|cone| cone.extend(*point)) {
                cones.push(Cone::new(*point));
            }
        }
        if cones.len() > self.pieces as usize {
            cones.sort_unstable_by_key(|cone| (std::cmp::Reverse(cone.points), cone.first));
            cones.truncate(self.pieces as usize);
            cones.sort_unstable_by_key(|cone| cone.first);
        }
        cones.iter().map(Cone::piece).collect()
    }

    /// Number of a page within its translation page, die by die.
    #[inline]
    const fn number(&self, lpn: Lpn) -> u32 {
        let first = lpn.0 - lpn.0 % self.entries_per_tp;
        let rows = self.entries_per_tp.div_ceil(self.lanes) + 1;
        lpn.0 % self.lanes * rows + lpn.0 / self.lanes - first / self.lanes
    }
    /// Number of a flash page, die by die.
    #[inline]
    fn place(&self, ppn: Ppn) -> i64 {
        let pbn = self.geometry.pbn(ppn).0;
        let virtual_block = pbn % self.lanes * (self.geometry.blocks() / self.lanes) + pbn / self.lanes;
        i64::from(virtual_block) * i64::from(self.geometry.pages_per_block)
            + i64::from(self.geometry.page_in_block(ppn))
    }
    /// The flash page with this number.
    #[inline]
    fn physical(&self, place: i64) -> Ppn {
        let (place, each) = (place as u32, self.geometry.blocks() / self.lanes);
        let virtual_block = place / self.geometry.pages_per_block;
        let pbn = Pbn(virtual_block % each * self.lanes + virtual_block / each);
        self.geometry.page(pbn, place % self.geometry.pages_per_block)
    }

    /// Checks every page that the models tell against its newest mapping; panics on a violation. For tests.
    pub fn check(&self, newest: impl Fn(Lpn) -> Ppn) {
        let count = self.exact().inspect(|lpn| {
            assert_eq!(self.predict(*lpn), Some(newest(*lpn)), "prediction of lpn {}", lpn.0);
            assert!(newest(*lpn).is_some(), "lpn {} is predicted and not mapped", lpn.0);
        });
        assert_eq!(count.count() as u32, self.exact_pages);
        assert!(self.by_tp.iter().all(|model| model.len() <= self.pieces as usize));
    }
}

/// For which of the points, in ascending order, a model is exact.
fn hits<'a>(model: &'a [Piece], points: &'a [(Lpn, (u32, i64))]) -> impl Iterator<Item = bool> + 'a {
    let mut at = 0;
    points.iter().map(move |(_, (number, place))| {
        while at < model.len() && model[at].first <= *number {
            at += 1;
        }
        at > 0 && model[at - 1].place(*number) == *place
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: u32 = 256;

    fn models(channels: u32, lanes: u32, pieces: u32) -> Models {
        let geometry = Geometry {
            channels,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 64 / channels,
            pages_per_block: 16,
            page_bytes: 512,
        };
        Models::new(geometry, PAGES, 64, lanes, pieces)
    }

    /// Trains all with pages at these places; returns how many pages of the first translation page are predicted.
    fn learned(models: &mut Models, place: impl Fn(u32) -> Ppn + Copy) -> usize {
        (0..PAGES / 64).for_each(|tp| models.train(tp, |lpn| place(lpn.0)));
        models.check(|lpn| place(lpn.0));
        models.exact().filter(|lpn| lpn.0 < 64).count()
    }

    #[test]
    fn every_line_takes_one_piece() {
        for (rise, run) in [(1, 1), (3, 1), (1, 3), (2, 3), (0, 1)] {
            assert_eq!(learned(&mut models(1, 1, 1), |lpn| Ppn(7 + lpn * rise / run)), 64, "slope {rise}/{run}");
        }
        assert_eq!(learned(&mut models(1, 1, 1), |lpn| Ppn(900 - lpn)), 64, "downwards");
        let every_fifth = |lpn: u32| if lpn.is_multiple_of(5) { Ppn(40 + lpn / 5) } else { Ppn::NONE };
        assert_eq!(learned(&mut models(1, 1, 1), every_fifth), 13, "of the mapped pages, all");
    }

    #[test]
    fn stripe_over_the_dies_is_a_line_on_every_die() {
        // Page by page over four dies, every die at another page of its second block.
        let striped = |lpn: u32| {
            let page = lpn / 4 + 3 * (lpn % 4);
            Ppn((4 + page / 16 * 4 + lpn % 4) * 16 + page % 16)
        };
        assert_eq!(learned(&mut models(4, 4, 4), striped), 64);
        let in_plain_numbers = learned(&mut models(4, 1, 4), striped);
        assert_eq!(in_plain_numbers, 4 * 4, "each of four pieces holds no more than a stripe");
    }

    #[test]
    fn longest_pieces_are_kept() {
        let broken = |lpn: u32| Ppn(if (30..34).contains(&lpn) { 900 - 7 * lpn * lpn % 91 } else { lpn });
        assert_eq!(learned(&mut models(1, 1, 1), broken), 60, "the first line goes on behind the gap");
        let jump = |lpn: u32| Ppn(if lpn % 64 < 20 { lpn } else { 200 + lpn });
        assert_eq!(learned(&mut models(1, 1, 1), jump), 44);
        assert_eq!(learned(&mut models(1, 1, 2), jump), 64);
    }

    #[test]
    fn better_model_is_not_replaced_by_a_worse_one() {
        let mut models = models(1, 1, 1);
        assert_eq!(learned(&mut models, Ppn), 64);
        // Some pages move. A model learned again would miss page 1 too, which shares a piece with moved page 0.
        let moved = |lpn: u32| Ppn(if lpn.is_multiple_of(11) { 999 - lpn * lpn % 91 } else { lpn });
        for lpn in (0..PAGES).step_by(11) {
            models.forget(Lpn(lpn));
            assert_eq!(models.predict(Lpn(lpn)), None);
        }
        assert_eq!(models.exact_pages(), PAGES - PAGES.div_ceil(11));
        assert_eq!(learned(&mut models, moved), 64 - 6);
    }
}
