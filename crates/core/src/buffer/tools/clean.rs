//! The clean pages of a list, linked among themselves in its order: for policies that let the least recently used clean
//! page of a list leave first (CFLRU, AD-LRU).
//!
//! A host flush makes pages clean in no order. The links are then rebuilt, in one pass, before they are used next.

use crate::buffer::Slots;
use crate::list::{Links, List};
use crate::types::Slot;

/// Links of the clean pages of one or more lists. The policy keeps a second [`List`] along with each list of pages.
#[derive(Debug, Default)]
pub struct CleanLinks {
    links: Links,
    /// The host flushed: some clean pages are not linked.
    stale: bool,
}

impl CleanLinks {
    /// A clean page came to the front of its list.
    #[inline]
    pub fn push_front(&mut self, clean: &mut List, slot: Slot) {
        self.links.push_front(clean, slot.0);
    }
    /// A page left its list, or became dirty there.
    #[inline]
    pub fn remove(&mut self, clean: &mut List, slot: Slot) {
        if self.links.is_linked(slot.0) {
            self.links.remove(clean, slot.0);
        }
    }
    /// The host flushed.
    pub const fn spoil(&mut self) {
        self.stale = true;
    }
    /// Rebuilds the links after a host flush, from the pages of every list.
    #[inline]
    pub fn rebuild<'a>(
        &mut self,
        pages: &Links,
        lists: impl IntoIterator<Item = (&'a List, &'a mut List)>,
        slots: &Slots,
    ) {
        if std::mem::take(&mut self.stale) {
            for (list, clean) in lists {
                self.relink(pages.iter(list), clean, slots);
            }
        }
    }
    fn relink(&mut self, pages: impl Iterator<Item = u32>, clean: &mut List, slots: &Slots) {
        while self.links.pop_back(clean).is_some() {}
        for id in pages.filter(|id| !slots.is_dirty(Slot(*id))) {
            self.links.push_back(clean, id);
        }
    }
}
