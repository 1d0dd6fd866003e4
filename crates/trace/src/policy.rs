//! Devices and addresses: from the spaces of the trace to the one space of the simulated device.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::options::DeviceExtent;
use crate::row::TraceRecord;

/// Most devices that are told apart.
pub(crate) const DEVICES_MAX: usize = 65_536;

/// The devices of a trace, in order of their numbers.
#[derive(Default)]
pub(crate) struct Devices {
    list: Vec<DeviceExtent>,
    last: usize,
}

impl Devices {
    pub(crate) fn list(&self) -> &[DeviceExtent] {
        &self.list
    }

    /// The entry of `device`, made if it is new; `None` if there are too many.
    #[inline]
    fn entry(&mut self, device: u32) -> Option<&mut DeviceExtent> {
        if self.list.get(self.last).is_none_or(|d| d.device != device) {
            self.last = match self.list.binary_search_by_key(&device, |d| d.device) {
                Ok(index) => index,
                Err(_) if self.list.len() == DEVICES_MAX => return None,
                Err(index) => {
                    self.list.insert(index, DeviceExtent { device, requests: 0, end_sectors: 0, base_sectors: 0 });
                    index
                }
            };
        }
        Some(&mut self.list[self.last])
    }

    /// Accounts for a request; where the space of its device begins, in sectors, or `None` if there are too many.
    #[inline]
    pub(crate) fn see(&mut self, record: &TraceRecord) -> Option<u64> {
        let device = self.entry(record.device)?;
        device.requests += 1;
        device.end_sectors = device.end_sectors.max(record.end_lba());
        Some(device.base_sectors)
    }

    /// Places the devices one after the other, each in whole pages. `None` if the sum is beyond 2^54 sectors.
    pub(crate) fn stack(&mut self, page_sectors: u32) -> Option<()> {
        let mut base = 0u64;
        for device in &mut self.list {
            device.base_sectors = base;
            base += device.end_sectors.next_multiple_of(u64::from(page_sectors));
            if base > 1 << 54 {
                return None;
            }
            device.requests = 0;
            device.end_sectors = 0;
        }
        Some(())
    }

    /// "devices 0, 1, 2 and 19 more".
    pub(crate) fn names(&self) -> String {
        const SHOWN: usize = 24;
        let shown: Vec<_> = self.list.iter().take(SHOWN).map(|d| d.device.to_string()).collect();
        let more = self.list.len().saturating_sub(SHOWN);
        match (shown.len(), more) {
            (0, _) => "no request at all".to_owned(),
            (_, 0) => format!("device(s) {}", shown.join(", ")),
            _ => format!("devices {} and {more} more", shown.join(", ")),
        }
    }
}

/// Dense numbers for units of the address space (erase blocks, pages), in order of first appearance.
///
/// A hash map with a fixed seed, because one look-up per unit is the cost of compaction and a `BTreeMap` is several
/// times slower at millions of units; it is never iterated.
#[derive(Default)]
pub(crate) struct UnitNumbers {
    map: HashMap<(u32, u64), u64, FixedState>,
}

impl UnitNumbers {
    /// Distinct units so far.
    pub(crate) fn len(&self) -> u64 {
        self.map.len() as u64
    }
    /// The number of `unit` of `device`, given at its first appearance.
    #[inline]
    fn number(&mut self, device: u32, unit: u64) -> u64 {
        let next = self.map.len() as u64;
        *self.map.entry((device, unit)).or_insert(next)
    }
    /// The beginning of the range `at..end` (in bytes or sectors, as `unit` is) whose units have numbers in a row: where it
    /// lies now, and how long it is. A range of no length is moved like its first byte.
    pub(crate) fn compact(&mut self, device: u32, at: u64, end: u64, unit: u64) -> (u64, u64) {
        let (first, end_unit) = (at / unit, end.max(at + 1).div_ceil(unit));
        let number = self.number(device, first);
        let mut units = 1;
        while first + units < end_unit && self.number(device, first + units) == number + units {
            units += 1;
        }
        (number * unit + at % unit, (end - at).min(units * unit - at % unit))
    }
}

/// The beginning of a range that lies together modulo `capacity`: where, and how long.
#[inline]
pub(crate) fn fold(at: u64, length: u64, capacity: u64) -> (u64, u64) {
    let at = at % capacity;
    (at, length.min(capacity - at))
}
