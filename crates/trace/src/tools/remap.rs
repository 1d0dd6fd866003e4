//! remap - Other addresses for the same requests
//!
//! In this order, each if it is asked for:
//!
//! 1. stack: the devices one after the other, in order of their numbers, each rounded up to whole pages; all become
//!    device 0. Needs to know the sizes of the devices, so it reads the trace twice.
//! 2. device: every request is of this device.
//! 3. shift: added to every offset.
//! 4. align: a request begins and ends at multiples of this many bytes; it grows, never shrinks.
//! 5. compact: units of the address space are numbered densely in order of first appearance, per device. The offset inside
//!    the unit stays, and a request whose units are no longer in a row is split. Remembers one number a unit. A unit of whole
//!    erase blocks of the device to be simulated keeps them as they are; smaller ones make neighbours of pages that were none.
//! 6. modulo: offsets modulo the capacity; a request across the end is split.
//!
//! Requests without address (flushes) get a new device only. Requests of no length are moved like one byte.

use std::collections::BTreeMap;

use nandlab::types::{HostOp, SECTOR_BYTES};

use super::{Counts, Flow, Tool, counts};
use crate::error::TraceError;
use crate::policy::{DEVICES_MAX, Devices, UnitNumbers, fold};
use crate::row::{Field, TraceRecord};
use crate::times::Timed;

/// Pages of the stacked devices.
const PAGE_SECTORS: u32 = 8;

/// The `remap` tool: stacks, shifts, aligns, compacts and folds the addresses of requests.
#[derive(Default)]
pub struct Remap {
    stack: Option<Devices>,
    /// Device of all requests.
    pub device: Option<u32>,
    /// Bytes added to every offset.
    pub shift: i64,
    /// Bytes.
    pub align: Option<u64>,
    /// Bytes of a unit.
    pub compact: Option<u64>,
    /// Bytes.
    pub modulo: Option<u64>,
    /// Of each device.
    units: BTreeMap<u32, UnitNumbers>,
    moved: u64,
    grown: u64,
    split: u64,
}

impl Remap {
    /// Learns the sizes of the devices in the first `limit` requests, in a pass of its own; then they are stacked in
    /// pages of 4 KiB.
    ///
    /// # Errors
    /// As reading the trace, or more devices or bytes than there may be.
    pub fn stack(&mut self, mut rows: Timed, limit: Option<u64>) -> Result<(), TraceError> {
        let mut devices = Devices::default();
        let mut left = limit.unwrap_or(u64::MAX);
        while left > 0
            && let Some(record) = rows.next()
        {
            left -= 1;
            if devices.see(&record?).is_none() {
                let (name, place) = rows.whereabouts();
                return Err(TraceError::TooManyDevices { name, place, max: DEVICES_MAX });
            }
        }
        if devices.stack(PAGE_SECTORS).is_none() {
            let problem = "the devices together have more than 2^63 bytes".to_owned();
            let (name, place) = rows.whereabouts();
            return Err(TraceError::Tool { name, place, problem });
        }
        self.stack = Some(devices);
        Ok(())
    }

    /// Steps 1 to 4: the range of bytes, without splitting.
    fn place(&mut self, record: &mut TraceRecord) -> Result<(), String> {
        let mut base = i128::from(self.shift);
        if let Some(devices) = &mut self.stack {
            let sectors = devices.see(record).ok_or("a device appears that was not there in the first pass")?;
            base += i128::from(sectors * SECTOR_BYTES);
            record.device = 0;
        }
        record.device = self.device.unwrap_or(record.device);
        if record.op == HostOp::Flush {
            return Ok(());
        }
        let (mut begin, mut end) = (i128::from(record.offset) + base, 0);
        end += begin + i128::from(record.length);
        if let Some(align) = self.align.map(i128::from) {
            // What has no length has none afterwards.
            let up = if record.length == 0 { 0 } else { align - 1 };
            let aligned = (begin.div_euclid(align) * align, (end + up).div_euclid(align) * align);
            self.grown += u64::from(aligned != (begin, end));
            (begin, end) = aligned;
        }
        let (offset, length) = (u64::try_from(begin), u64::try_from(end - begin));
        let (Ok(offset), Ok(length)) = (offset, length) else {
            return Err(format!("the offset {} is moved below 0; use a larger --offset", record.offset));
        };
        if offset > Field::OFFSET.max || length > Field::LENGTH.max {
            let (highest, longest) = (Field::OFFSET.allowed, Field::LENGTH.allowed);
            return Err(format!("it becomes {length} bytes at {offset}; allowed are {longest} at {highest}"));
        }
        self.moved += u64::from(offset != record.offset);
        (record.offset, record.length) = (offset, length as u32);
        Ok(())
    }

    /// The next piece of a range that lies together, and where.
    fn piece(&mut self, device: u32, at: u64, end: u64) -> (u64, u64) {
        let (to, length) = match self.compact {
            Some(unit) => self.units.entry(device).or_default().compact(device, at, end, unit),
            None => (at, end - at),
        };
        match self.modulo {
            Some(capacity) => fold(to, length, capacity),
            None => (to, length),
        }
    }
}

impl Tool for Remap {
    fn feed(&mut self, record: &TraceRecord, out: &mut Vec<TraceRecord>) -> Result<Flow, String> {
        let mut record = *record;
        self.place(&mut record)?;
        if record.op == HostOp::Flush || self.compact.is_none() && self.modulo.is_none() {
            out.push(record);
            return Ok(Flow::More);
        }
        let (mut at, end) = (record.offset, record.offset + u64::from(record.length));
        let mut pieces = 0;
        loop {
            let (offset, length) = self.piece(record.device, at, end);
            out.push(record.moved(at - record.offset, offset, length));
            pieces += 1;
            at += length;
            if at >= end {
                break;
            }
        }
        self.split += u64::from(pieces > 1);
        Ok(Flow::More)
    }

    fn counts(&self) -> Counts {
        counts([
            ("requests_moved", self.moved),
            ("requests_grown", self.grown),
            ("requests_split", self.split),
            ("units_renumbered", self.units.values().map(UnitNumbers::len).sum()),
        ])
    }
}
