//! RAM for translation pages that are being written back.

use crate::flash::{Flash, Ticket};
use crate::types::Nanos;

/// RAM for translation pages that are written back while look-ups go on.
///
/// Without it a look-up that evicts a dirty mapping waits until the translation page is read and programmed, which is how papers
/// evict; on a device whose dies collect at the same time it then waits for them, although all that it needs is the place in RAM.
#[derive(Debug)]
pub(super) struct WriteBuffer {
    /// By page of RAM: when what it holds is programmed.
    programmed: Vec<Ticket>,
    page_bytes: u32,
}

impl WriteBuffer {
    pub(super) fn new(pages: u32, page_bytes: u32) -> Self {
        Self { programmed: vec![Ticket::at(Nanos::ZERO); pages as usize], page_bytes }
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.programmed.len() as u64 * self.page_bytes as u64
    }

    /// Nothing is under way.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.programmed.len() as u32, self.page_bytes);
    }

    /// A translation page that a look-up evicted when it was `ready` is programmed at `done`: resolves when the look-up may
    /// go on.
    ///
    /// The page takes RAM that is free now, if there is some, else that of the page that has been under way longest: used in
    /// turn, one program on a die with much to do would stop look-ups while the rest of the RAM is free.
    pub(super) fn page(&mut self, flash: &mut Flash, done: Ticket, ready: Ticket) -> Ticket {
        let Flash { clock, .. } = flash;
        let is_free = |page: &Ticket| clock.time(*page).is_some_and(|at| at <= clock.now());
        let oldest = || (0..self.programmed.len()).min_by_key(|page| self.programmed[*page]);
        let Some(page) = self.programmed.iter().position(is_free).or_else(oldest) else { return done };
        let free = std::mem::replace(&mut self.programmed[page], done);
        clock.join(ready, free)
    }
}
