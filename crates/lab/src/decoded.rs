//! Traces that are kept decoded, for several simulations on the same requests.

use std::collections::BTreeMap;
use std::mem::size_of;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nandlab::report::TraceSource;
use nandlab::types::HostRequest;
use nandlab_trace::{AddressPolicy, Options, Volumes, generators};

use crate::error::Error;

/// Decoded traces in memory, for runs that replay the same one: the first run that needs a trace decodes it, all others that
/// read it in the same way share it. Clones share what is kept. By default nothing is kept.
#[derive(Clone, Debug, Default)]
pub struct Decoded(Option<Arc<Mutex<Shelf>>>);

impl PartialEq for Decoded {
    /// Where requests are kept does not change them.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[derive(Debug)]
struct Shelf {
    /// Bytes that may still be taken.
    free: usize,
    /// Traces that were read from their files, each time counted.
    read: u64,
    traces: BTreeMap<String, Arc<Mutex<State>>>,
}

/// What is known of a trace.
#[derive(Debug, Default)]
enum State {
    #[default]
    Unread,
    Kept(Arc<KeptTrace>),
    /// Too large, or not readable to its end: each caller that needs it reads it.
    Streamed,
}

/// All requests of a trace.
#[derive(Debug)]
pub(crate) struct KeptTrace {
    pub(crate) requests: Vec<HostRequest>,
    /// Of each piece, ns; nothing if none was recorded.
    pub(crate) latencies: Vec<u64>,
    /// The first sector beyond all requests.
    pub(crate) end: u64,
    /// Before the first request was read, and behind the last.
    pub(crate) begun: TraceSource,
    pub(crate) ended: TraceSource,
}

/// What a decoded request takes, with its latency.
const REQUEST_BYTES: usize = size_of::<HostRequest>() + size_of::<u64>();

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Decoded {
    /// Keeps traces as long as all together take at most this many bytes; others are decoded by each run.
    pub fn up_to(bytes: u64) -> Self {
        let free = usize::try_from(bytes).unwrap_or(usize::MAX);
        Self(Some(Arc::new(Mutex::new(Shelf { free, read: 0, traces: BTreeMap::new() }))))
    }

    /// How often a trace was read from its files.
    pub fn reads(&self) -> u64 {
        self.0.as_ref().map_or(0, |shelf| lock(shelf).read)
    }

    /// Whether anything is kept at all.
    pub(crate) fn keeps(&self) -> bool {
        self.0.is_some()
    }

    /// The trace of this key, which `read` reads if it was not read yet; it takes the room for every request, and gives nothing
    /// if there is none left. Callers that come meanwhile wait. Nothing if the trace is not kept.
    ///
    /// # Errors
    /// Reading was stopped. Other errors come to those who read the trace themselves.
    pub(crate) fn get(
        &self,
        key: &str,
        read: impl FnOnce(&mut Room<'_>) -> Result<Option<KeptTrace>, Error>,
    ) -> Result<Option<Arc<KeptTrace>>, Error> {
        let Some(shelf) = &self.0 else { return Ok(None) };
        let state = lock(shelf).traces.entry(key.to_owned()).or_default().clone();
        let mut state = lock(&state);
        if let State::Unread = *state {
            lock(shelf).read += 1;
            let mut room = Room { shelf, taken: 0 };
            let trace = read(&mut room);
            if !matches!(trace, Ok(Some(_))) {
                room.give_back();
            }
            *state = match trace {
                Err(Error::Stopped) => return Err(Error::Stopped),
                Ok(Some(trace)) => State::Kept(Arc::new(trace)),
                Ok(None) | Err(_) => State::Streamed,
            };
        }
        Ok(if let State::Kept(trace) = &*state { Some(trace.clone()) } else { None })
    }
}

/// Where a trace is kept that is being read.
pub(crate) struct Room<'a> {
    shelf: &'a Mutex<Shelf>,
    taken: usize,
}

impl Room<'_> {
    /// Takes the room of this many requests; false if there is not as much.
    pub(crate) fn take(&mut self, requests: usize) -> bool {
        let bytes = requests * REQUEST_BYTES;
        let mut shelf = lock(self.shelf);
        let fits = bytes <= shelf.free;
        if fits {
            shelf.free -= bytes;
            self.taken += bytes;
        }
        fits
    }

    fn give_back(self) {
        lock(self.shelf).free += self.taken;
    }
}

/// All of the options that decides which requests come out; and the options with which they are read for everyone.
pub(crate) fn shared(paths: &[String], options: &Options) -> (String, Options) {
    let mut options = options.clone();
    let is_made = paths.iter().any(|path| path.starts_with(generators::PREFIX));
    if !is_made {
        options.seed = 0;
        // As recorded, whatever the size of the device; whether they fit is for the user of them to check.
        if matches!(options.address, AddressPolicy::Reject | AddressPolicy::Keep) {
            options.address = AddressPolicy::Keep;
            options.capacity_sectors = None;
            if options.volumes != Volumes::Stack {
                options.page_sectors = 1;
            }
        }
    }
    let key = format!("{paths:?} {:?}", Options { passes: None, stop: None, ..options.clone() });
    (key, options)
}
