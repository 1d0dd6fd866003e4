//! What a device keeps of the page in a frame that no policy needs: the read that fills it, its version and its bytes.

use crate::flash::{Flash, Media, Ticket};
use crate::types::{Nanos, Slot};

/// Contents of the frames, by slot. They grow with the slots that are used.
#[derive(Debug)]
pub(super) struct Contents {
    /// When the frame is filled, if it was ever filled from flash.
    ready: Vec<Ticket>,
    /// Empty without media, and so are the bytes.
    versions: Vec<u64>,
    bytes: Vec<u8>,
    /// Bytes of a page; 0 without media.
    page_bytes: usize,
}

impl Contents {
    /// Empty frames for pages of this array.
    pub(super) fn new(flash: &Flash) -> Self {
        let page_bytes = if flash.media() == Media::Memory { flash.geometry().page_bytes as usize } else { 0 };
        Self { ready: Vec::new(), versions: Vec::new(), bytes: Vec::new(), page_bytes }
    }

    /// A page came into the frame: version 0, until it is written or filled.
    #[inline]
    pub(super) fn begin(&mut self, slot: Slot) {
        if self.page_bytes > 0 {
            self.begin_bytes(slot.index());
        }
    }
    #[inline(never)]
    fn begin_bytes(&mut self, at: usize) {
        if at >= self.versions.len() {
            self.versions.resize(at + 1, 0);
            self.bytes.resize((at + 1) * self.page_bytes, 0);
        }
        self.versions[at] = 0;
    }

    /// When the read that filled the frame last is done.
    #[inline]
    pub(super) fn ready(&self, slot: Slot) -> Ticket {
        self.ready[slot.index()]
    }
    pub(super) fn set_ready(&mut self, slot: Slot, ticket: Ticket) {
        if slot.index() >= self.ready.len() {
            self.ready.resize(slot.index() + 1, Ticket::at(Nanos::ZERO));
        }
        self.ready[slot.index()] = ticket;
    }

    /// Version of the page; 0 without media.
    #[inline]
    pub(super) fn version(&self, slot: Slot) -> u64 {
        self.versions.get(slot.index()).copied().unwrap_or_default()
    }
    /// Without media there is nothing to remember.
    #[inline]
    pub(super) fn set_version(&mut self, slot: Slot, version: u64) {
        if let Some(known) = self.versions.get_mut(slot.index()) {
            *known = version;
        }
    }

    /// Bytes of the page; none without media.
    pub(super) fn bytes(&self, slot: Slot) -> &[u8] {
        &self.bytes[slot.index() * self.page_bytes..][..self.page_bytes]
    }
    pub(super) fn bytes_mut(&mut self, slot: Slot) -> &mut [u8] {
        &mut self.bytes[slot.index() * self.page_bytes..][..self.page_bytes]
    }
}
