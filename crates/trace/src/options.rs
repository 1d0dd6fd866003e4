//! What the user chooses about a trace, and what was done to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nandlab::types::Nanos;

use crate::error::TraceError;
use crate::event::BlockEvent;
use crate::formats::columns::spec::ColumnSpec;
use crate::memory::MemoryTrace;
use crate::order::FileOrder;
use crate::passes::Passes;
use crate::row::ADDRESS_BYTES_MAX;
use crate::unit::TimeUnit;

/// What to do when a trace has several devices, each with its own address space.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Volumes {
    /// One device is fine; a second one is an error that says what to choose.
    #[default]
    Reject,
    /// Place the devices one after the other, in order of their numbers, each rounded up to whole pages. Reads a file
    /// twice (or once, if the address policy is [`AddressPolicy::Compact`]).
    Stack,
    /// Only this device.
    Pick(u32),
    /// Ignore the device: addresses of different devices overlap.
    Merge,
}

/// What to do with addresses beyond the capacity of the simulated device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AddressPolicy {
    /// An error that says what to choose.
    #[default]
    Reject,
    /// As they are, whatever the capacity: for callers without a device.
    Keep,
    /// Modulo the capacity. A request across the end is split in two.
    Modulo,
    /// Renumber units of the address space densely in order of first appearance, whatever the capacity. The offset inside
    /// the unit stays; a request whose units are no longer in a row is split. Whatever knows erase blocks sees them as they
    /// are if the unit is a whole number of them; smaller units make neighbours of pages that were none.
    Compact {
        /// Sectors of a unit: whole pages, as in [`Options::page_sectors`].
        unit_sectors: u64,
    },
}

/// Most rows that a sort looks ahead: each takes 96 bytes.
pub const SORT_WINDOW_MAX: u64 = 1 << 24;

/// How to read a trace.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the format, or `None` to detect it by content.
    pub format: Option<String>,
    /// Which column of a delimited text is what; `None` = what its header line tells.
    pub columns: Option<Arc<ColumnSpec>>,
    /// Bytes of which the numbers of objects are addresses, 1 or more; `None` = each object gets pages of its own.
    pub object_unit: Option<u64>,
    /// Unit of times, for the formats that do not fix it; `None` = what the format is assumed to have.
    pub time_unit: Option<TimeUnit>,
    /// Which event of a log with several events per request is read; `None` = [`BlockEvent::Issue`]. Other formats refuse it.
    pub event: Option<BlockEvent>,
    /// How several files become one trace; `None` = what their format suggests (see [`FileOrder`]).
    pub files: Option<FileOrder>,
    /// Clock jumps of more than this, backwards or forwards, are taken out.
    pub rebase: Option<Nanos>,
    /// Rows are put in order of time as far as this many rows, 1 to [`SORT_WINDOW_MAX`], can be looked ahead.
    pub sort_window: Option<u64>,
    /// Gaps between rows that are longer than this are shortened to it.
    pub cap_gap: Option<Nanos>,
    /// Several devices.
    pub volumes: Volumes,
    /// Addresses beyond the capacity.
    pub address: AddressPolicy,
    /// Capacity of the simulated device in sectors of 512 bytes; `None` = without limit.
    pub capacity_sectors: Option<u64>,
    /// Sectors of a page, for [`AddressPolicy::Compact`] and [`Volumes::Stack`]: 1 to 65,536.
    pub page_sectors: u32,
    /// Bad rows to skip before giving up; `None` = the first one is an error.
    pub skip_bad: Option<u64>,
    /// Rows to replay at most (counted before splitting, after picking); `None` = all.
    pub limit: Option<u64>,
    /// Seed of a generator (`make:...`); traces have none.
    pub seed: u64,
    /// Passes over the same inputs, if there are to be several: pipes are kept for them. `None` reads once.
    pub passes: Option<Passes>,
    /// A trace in memory, if one of the paths names it.
    pub memory: Option<MemoryTrace>,
    /// Once this is true, the next row is [`TraceError::Interrupted`].
    pub stop: Option<Arc<AtomicBool>>,
}

impl Default for Options {
    /// Detect, one device, no capacity, pages of 4 KiB, no bad rows, times as recorded, everything, seed 1.
    fn default() -> Self {
        Self {
            format: None,
            columns: None,
            object_unit: None,
            time_unit: None,
            event: None,
            files: None,
            rebase: None,
            sort_window: None,
            cap_gap: None,
            volumes: Volumes::Reject,
            address: AddressPolicy::Reject,
            capacity_sectors: None,
            page_sectors: 8,
            skip_bad: None,
            limit: None,
            seed: 1,
            passes: None,
            memory: None,
            stop: None,
        }
    }
}

impl Options {
    /// The reader asked to stop.
    #[inline]
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
    pub(crate) fn check(&self) -> Result<(), TraceError> {
        let wrong = |option, value: String, allowed: &str| {
            Err(TraceError::Option { option, value, allowed: allowed.to_owned() })
        };
        if !(1..=65_536).contains(&self.page_sectors) {
            return wrong("page_sectors", self.page_sectors.to_string(), "1 to 65536 sectors of 512 bytes");
        }
        if let AddressPolicy::Compact { unit_sectors } = self.address
            && (unit_sectors == 0
                || unit_sectors > ADDRESS_BYTES_MAX / 512
                || unit_sectors % u64::from(self.page_sectors) > 0)
        {
            let allowed = format!("whole pages of {} sectors", self.page_sectors);
            return wrong("unit_sectors", unit_sectors.to_string(), &allowed);
        }
        if self.object_unit == Some(0) {
            return wrong("object_unit", "0".to_owned(), "1 byte or more, as in 512 or 4KiB");
        }
        if let Some(window) = self.sort_window
            && !(1..=SORT_WINDOW_MAX).contains(&window)
        {
            return wrong("sort_window", window.to_string(), "1 to 16777216 rows");
        }
        for (option, time) in [("rebase", self.rebase), ("cap_gap", self.cap_gap)] {
            if time == Some(Nanos(0)) {
                return wrong(
                    option,
                    "0ns".to_owned(),
                    "a time above zero, as in 60s, or nothing: times stay as they are",
                );
            }
        }
        match self.capacity_sectors {
            Some(n) if n < u64::from(self.page_sectors) => {
                wrong("capacity_sectors", n.to_string(), "at least one page (page_sectors)")
            }
            None if self.address == AddressPolicy::Modulo => {
                wrong("capacity_sectors", "none".to_owned(), "a number of sectors (the address policy modulo needs it)")
            }
            _ => Ok(()),
        }
    }
}

/// A device of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeviceExtent {
    /// Number, as the trace has it.
    pub device: u32,
    /// Requests to it so far.
    pub requests: u64,
    /// Highest end of a request to it so far, in sectors.
    pub end_sectors: u64,
    /// First sector of its space in the replayed address space (0 unless stacked).
    pub base_sectors: u64,
}

/// What was done to the trace so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TraceReport {
    /// Requests delivered, each counted once however many pieces it was split into.
    pub requests: u64,
    /// Rows with a request in the trace, before any policy.
    pub records: u64,
    /// Rows that ask for nothing: blank lines, headers, events of no interest.
    pub other_rows: u64,
    /// Rows that do not say what was asked for, passed over.
    pub blank_rows: u64,
    /// Requests of a log with completions that have none: their latency is not known.
    pub without_completion: u64,
    /// Completions in such a log that belong to no request that was read.
    pub completions_alone: u64,
    /// Bad rows skipped.
    pub bad_rows: u64,
    /// The first bad row: where and what.
    pub first_bad: Option<String>,
    /// What is to be known of a text that ends without a line break, and where: it may have been cut within its last number.
    pub open_end: Option<String>,
    /// Requests of no length, dropped.
    pub zero_length: u64,
    /// Requests of other devices, dropped by [`Volumes::Pick`].
    pub other_devices: u64,
    /// Requests that began or ended inside a sector, widened to whole sectors.
    pub rounded: u64,
    /// Rows recorded earlier than the row before.
    pub out_of_order: u64,
    /// Rows that came too late for the window of the sort, and stay behind later ones.
    pub late: u64,
    /// Clock jumps taken out.
    pub clock_jumps: u64,
    /// Gaps shortened.
    pub gaps_capped: u64,
    /// By how much in all, in ns.
    pub gaps_capped_ns: u64,
    /// Requests whose time was raised to that of an earlier row.
    pub clamped: u64,
    /// Requests that were folded into the capacity by [`AddressPolicy::Modulo`].
    pub folded: u64,
    /// Distinct units that [`AddressPolicy::Compact`] renumbered.
    pub compacted_units: u64,
    /// Requests that an address policy had to split.
    pub split: u64,
    /// Time of the first request delivered, in ns since the first row of the trace, of whatever device that is.
    pub first_ns: u64,
    /// Time of the last one.
    pub last_ns: u64,
    /// Devices seen so far, in order of their numbers.
    pub devices: Vec<DeviceExtent>,
}
