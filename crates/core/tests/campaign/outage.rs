//! Power fails and comes back: what the cells still hold, and that all of it is found again.

use nandlab::flash::{CutMode, PageKind};
use nandlab::ftl::PageRead;
use nandlab::ledger::{Cause, Op};
use nandlab::types::{Lpn, Pbn, Ppn};

use super::rig::Device;
use super::streams::Seen;
use crate::kit::tiny::build;

/// What an outage was.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outage {
    /// 1 if the power failed at a flash operation, and never before on equal cells with equal promises.
    pub cuts: u64,
    /// The same for cuts inside the recovery.
    pub recovery_cuts: u64,
    /// Lower pages that went down with contents that were promised or on their way.
    pub lower_pages: u64,
    /// Acknowledged pages that came back older, because such a lower page was the only copy.
    pub lost_pages: u64,
}

impl Device {
    /// By LPN: version of the newest copy on the cells that is not trimmed, 0 if there is none. Recovery cannot find
    /// more, and must not find less.
    fn surviving(&self) -> Vec<u64> {
        let mut newest = vec![0; self.model.len()];
        for ppn in (0..self.flash.geometry().pages() as u32).map(Ppn).filter(|ppn| self.flash.is_programmed(*ppn)) {
            let oob = self.flash.oob(ppn);
            let lpn = oob.number as usize;
            if oob.kind == PageKind::Data && oob.version >= self.trimmed[lpn] {
                newest[lpn] = oob.version.max(newest[lpn]);
            }
        }
        newest
    }

    /// Digest of the cells and of what the host is owed. The order of copies with equal contents is left out, so that
    /// some that differ count as equal.
    fn digest(&self) -> u64 {
        let mut digest = self.identity;
        for ((model, new), trimmed) in self.model.iter().zip(&self.in_flight).zip(&self.trimmed) {
            digest.add(*model);
            digest.add(new.map_or(u64::MAX, |new| new));
            digest.add(*trimmed);
        }
        let pages = self.flash.geometry().pages_per_block;
        for pbn in (0..self.flash.geometry().blocks()).map(Pbn) {
            let (next, erases) = (self.flash.next_page(pbn), self.flash.erase_count(pbn));
            digest.add(u64::from(next) << 32 | u64::from(erases));
            for ppn in (0..pages.min(next)).map(|offset| Ppn(pbn.0 * pages + offset)) {
                if !self.flash.is_programmed(ppn) {
                    digest.add(u64::MAX);
                    continue;
                }
                let oob = self.flash.oob(ppn);
                digest.add(u64::from(oob.number) << 1 | u64::from(oob.kind == PageKind::Map));
                digest.add(if oob.kind == PageKind::Map { 0 } else { oob.version });
            }
        }
        digest.value()
    }

    /// The page whose current or coming version went down with a lower page. Other pages are owed as usual.
    fn owed_lower_page(&self) -> Option<(usize, u64)> {
        let oob = self.flash.lost_page()?;
        let lpn = oob.number as usize;
        let is_owed =
            oob.kind == PageKind::Data && (oob.version == self.model[lpn] || Some(oob.version) == self.in_flight[lpn]);
        is_owed.then_some((lpn, oob.version))
    }

    /// Power comes back: a new FTL finds everything in the array. It fails `again` times inside the recovery, earlier
    /// each time. Every page must then hold the newest copy that is left of it, and that must be what was acknowledged
    /// or on its way, unless the only copy of that went down with a lower page.
    pub fn recover(&mut self, mode: CutMode, again: u64, seen: &mut Seen) -> Outage {
        let mut outage = Outage::default();
        let mut lost = vec![false; self.model.len()];
        let mut surviving = Vec::new();
        for step in (0..=again).rev() {
            let (was_cut, lower) = (self.flash.is_cut(), self.owed_lower_page());
            self.flash.restore();
            surviving = self.surviving();
            if was_cut {
                let count = if step == again { &mut outage.cuts } else { &mut outage.recovery_cuts };
                *count += seen.cut(self.digest());
                outage.lower_pages += u64::from(lower.is_some());
                if let Some((lpn, version)) = lower {
                    lost[lpn] |= surviving[lpn] != version;
                }
            }
            self.ftl = build(&self.name, &self.params, &self.shape).expect("as before");
            if step > 0 {
                self.flash.arm_cut(step, mode);
            }
            let before = self.flash.ledger;
            self.ftl.rebuild(&mut self.flash);
            let cost = self.flash.ledger - before;
            for op in [Op::Read, Op::Program, Op::Erase] {
                assert_eq!(cost.count(op, Cause::Recover), cost.total(op), "{op:?} of a recovery under another cause");
            }
        }
        self.check();
        for lpn in 0..self.model.len() {
            let found = self.found(PageRead::new(Lpn(lpn as u32), Cause::Host));
            let (acknowledged, new, left) = (self.model[lpn], self.in_flight[lpn].take(), surviving[lpn]);
            assert_eq!(
                found, left,
                "lpn {lpn} does not hold the newest copy that was left (acknowledged {acknowledged})"
            );
            let is_owed = found == acknowledged || Some(found) == new;
            assert!(
                is_owed || lost[lpn],
                "lpn {lpn} holds version {found}, acknowledged {acknowledged}, in flight {new:?}, no lower page lost"
            );
            outage.lost_pages += u64::from(!is_owed);
            self.model[lpn] = found;
        }
        outage
    }
}
