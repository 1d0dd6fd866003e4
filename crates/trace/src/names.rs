//! Numbers for things that a format names by words (hosts, files): in order of appearance, the same for all files of a
//! trace.

use std::sync::{Arc, Mutex, PoisonError};

/// Names that are told apart.
pub(crate) const NAMES_MAX: usize = 4096;

/// The names of a trace; clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    shared: Arc<Mutex<Vec<Box<[u8]>>>>,
    /// The name of the last row and its number: rows of one name follow each other.
    last: Box<[u8]>,
    number: Option<u32>,
}

impl Names {
    /// No names yet: made once for a trace. A format takes a clone of what it is given, so that a name has one number in
    /// all files.
    pub(crate) fn of_a_trace() -> Self {
        Self { shared: Arc::default(), last: Box::default(), number: None }
    }
    /// The number of `name`; `None` if there are too many.
    #[inline]
    pub(crate) fn number(&mut self, name: &[u8]) -> Option<u32> {
        if *self.last == *name && self.number.is_some() {
            return self.number;
        }
        self.find(name)
    }

    fn find(&mut self, name: &[u8]) -> Option<u32> {
        let mut names = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let number = names.iter().position(|known| **known == *name).unwrap_or(names.len());
        if number == NAMES_MAX {
            return None;
        }
        if number == names.len() {
            names.push(name.into());
        }
        self.last = name.into();
        self.number = Some(number as u32);
        self.number
    }
}
