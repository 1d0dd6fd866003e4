//! Traces without a file: rows that a program holds in memory, or makes.

use std::fmt;
use std::sync::Arc;

use crate::row::{Extra, TraceRecord};

/// Rows in memory, which can be read from the beginning any number of times, by several passes at once.
pub trait MemoryRows: Send + Sync {
    /// How many there are.
    fn rows(&self) -> u64;
    /// What they carry besides time, device, operation, offset and length.
    fn extra(&self) -> Extra;
    /// All of them, in their order. Rows that change meanwhile give other requests, and nothing worse.
    fn stream(&self) -> Box<dyn Iterator<Item = TraceRecord> + Send>;
}

/// A trace in memory, by its name. Clones share the rows.
#[derive(Clone)]
pub struct MemoryTrace {
    name: String,
    rows: Arc<dyn MemoryRows>,
}

impl MemoryTrace {
    /// Rows under a name, which [`MemoryTrace::path`] marks so that it is not taken for a file.
    pub fn new(name: &str, rows: Arc<dyn MemoryRows>) -> Self {
        Self { name: format!("memory:{name}"), rows }
    }
    /// By what it is named among the paths of a trace.
    pub fn path(&self) -> &str {
        &self.name
    }
    /// The rows.
    pub(crate) fn rows(&self) -> &dyn MemoryRows {
        &*self.rows
    }
}

impl PartialEq for MemoryTrace {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.rows, &other.rows)
    }
}

impl fmt::Debug for MemoryTrace {
    /// Tells rows apart that are not the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:p}", self.name, Arc::as_ptr(&self.rows))
    }
}

#[cfg(test)]
mod tests {
    use nandlab::types::HostOp;

    use super::*;
    use crate::{Options, Records, Trace, stats_of};

    struct Ascending(u64);

    impl MemoryRows for Ascending {
        fn rows(&self) -> u64 {
            self.0
        }
        fn extra(&self) -> Extra {
            Extra::NONE
        }
        fn stream(&self) -> Box<dyn Iterator<Item = TraceRecord> + Send> {
            Box::new((0..self.0).map(|n| TraceRecord::plain(n * 10 + 5, HostOp::Write, n * 4096, 4096)))
        }
    }

    fn options(rows: u64) -> (Vec<String>, Options) {
        let memory = MemoryTrace::new("rows", Arc::new(Ascending(rows)));
        (vec![memory.path().to_owned()], Options { memory: Some(memory), ..Options::default() })
    }

    #[test]
    fn rows_in_memory_are_read_like_those_of_a_file() {
        let (paths, options) = options(1000);
        for _ in 0..2 {
            let mut trace = Trace::open_all(&paths, &options).unwrap();
            assert_eq!((trace.records().format(), trace.records().requests_total()), ("memory", Some(1000)));
            let requests: Vec<_> = trace.by_ref().map(Result::unwrap).collect();
            assert_eq!((requests.len(), requests[0].at.0, requests[999].at.0), (1000, 0, 9990));
            assert_eq!((requests[999].lba, requests[999].sectors), (999 * 8, 8));
        }
        let stats = stats_of(Records::open_all(&paths, &options).unwrap(), &options).unwrap();
        assert_eq!((stats.requests, stats.pages_written), (1000, 1000));
        let limited = Options { limit: Some(10), ..options };
        assert_eq!(Trace::open_all(&paths, &limited).unwrap().count(), 10);
    }

    #[test]
    fn trace_in_memory_refuses_options_of_files() {
        let (paths, options) = options(1);
        for options in [
            Options { format: Some("msr".to_owned()), ..options.clone() },
            Options { time_unit: Some(crate::TimeUnit::Nanoseconds), ..options },
        ] {
            assert!(Records::open_all(&paths, &options).is_err());
        }
        assert!(Records::open_all(&paths, &Options::default()).is_err(), "nobody holds it");
    }
}
