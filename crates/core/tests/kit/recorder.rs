//! What a buffer does, in order.

use std::sync::{Arc, Mutex};

use nandlab::ledger::Cause;
use nandlab::probe::{Command, Probe};
use nandlab::types::Lpn;

/// One thing that a probe sees.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// The page access was over.
    Access { lpn: u32, write: bool, hit: bool },
    /// Pages were read from the FTL.
    Read(Cause, Vec<u32>),
    /// Pages were written as one command, `padded` among them to complete a block.
    Write { lpns: Vec<u32>, padded: Vec<u32> },
    /// A clean page left.
    Drop(u32),
}

impl Event {
    /// A write without padding.
    pub fn write(lpns: &[u32]) -> Self {
        Self::Write { lpns: lpns.to_vec(), padded: vec![] }
    }
}

pub fn numbers(lpns: &[Lpn]) -> Vec<u32> {
    lpns.iter().map(|lpn| lpn.0).collect()
}

/// A probe whose clones share what they see.
#[derive(Clone, Default)]
pub struct Recorder(Arc<Mutex<Vec<Event>>>);

impl Recorder {
    /// The events since the last call.
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.lock().expect("nobody panicked"))
    }
}

impl Probe for Recorder {
    fn on_access(&mut self, lpn: Lpn, write: bool, hit: bool) {
        self.0.lock().expect("nobody panicked").push(Event::Access { lpn: lpn.0, write, hit });
    }
    fn on_command(&mut self, command: Command<'_>) {
        self.0.lock().expect("nobody panicked").push(match command {
            Command::Read { why, lpns } => Event::Read(why, numbers(lpns)),
            Command::Write { lpns, padded } => Event::Write { lpns: numbers(lpns), padded: numbers(padded) },
        });
    }
    fn on_drop(&mut self, lpn: Lpn) {
        self.0.lock().expect("nobody panicked").push(Event::Drop(lpn.0));
    }
}
