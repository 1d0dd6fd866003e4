//! Requests over time and address, in bounded memory.

use std::collections::BTreeMap;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// Most slices of time.
const SLICES_MAX: u64 = 512;
/// Most bands of addresses.
const BANDS_MAX: u64 = 1 << 20;
/// Most cells that are kept.
const CELLS_MAX: usize = 1 << 18;

/// Reads and writes by slice of time and band of addresses. Both widths are powers of two and double whenever there would
/// be more than 512 slices, 2^20 bands or 2^18 cells with requests, so that one pass over a trace of any length takes at
/// most 16 MiB. Time is active time: the sum of the times between rows so far, of which those above 60 s count as nothing
/// (and so do steps back of the clock), so that a week of silence does not hide an hour of work. A request counts where
/// it begins; the addresses of several devices lie over each other.
#[derive(Clone, Debug)]
pub struct Grid {
    cells: HashMap<(u32, u32), [u64; 2], FixedState>,
    /// Bytes read and written by slice.
    bytes: Vec<[u64; 2]>,
    slice_bits: u32,
    band_bits: u32,
}

impl Default for Grid {
    /// Slices of 1 us and bands of 4 KiB (powers of two near them).
    fn default() -> Self {
        Self { cells: HashMap::default(), bytes: Vec::new(), slice_bits: 10, band_bits: 12 }
    }
}

/// Requests of a slice of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slice {
    /// Its beginning in ns of active time.
    pub start_ns: u64,
    /// Its length in ns.
    pub length_ns: u64,
    /// Requests that read.
    pub reads: u64,
    /// Requests that write.
    pub writes: u64,
    /// Bytes that are read.
    pub read_bytes: u64,
    /// Bytes that are written.
    pub written_bytes: u64,
}

fn sum(a: [u64; 2], b: &[u64; 2]) -> [u64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

/// A grid in a window that holds every request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Heat {
    /// Active time in ns: beginning and end of the window.
    pub time_ns: [u64; 2],
    /// Addresses in bytes: beginning and end of the window.
    pub address: [u64; 2],
    /// Slices of time.
    pub columns: usize,
    /// Bands of addresses.
    pub rows: usize,
    /// Reads by `row * columns + column`, lowest addresses and earliest times first.
    pub reads: Vec<u64>,
    /// Writes likewise.
    pub writes: Vec<u64>,
}

impl Grid {
    /// Counts a request at an active time in ns.
    #[inline]
    pub(crate) fn add(&mut self, time: u64, offset: u64, bytes: u64, write: bool) {
        let (slices, bands) = (time >> self.slice_bits, offset >> self.band_bits);
        if slices >= SLICES_MAX || bands >= BANDS_MAX {
            let bits = |value: u64, limit: u64| (u64::BITS - value.leading_zeros()).saturating_sub(limit.ilog2());
            self.widen(bits(slices, SLICES_MAX), bits(bands, BANDS_MAX));
        }
        let cell = ((time >> self.slice_bits) as u32, (offset >> self.band_bits) as u32);
        self.cells.entry(cell).or_default()[usize::from(write)] += 1;
        if self.bytes.len() <= cell.0 as usize {
            self.bytes.resize(cell.0 as usize + 1, [0; 2]);
        }
        self.bytes[cell.0 as usize][usize::from(write)] += bytes;
        while self.cells.len() > CELLS_MAX {
            self.widen(0, 1);
        }
    }

    /// Makes slices and bands wider by powers of two.
    fn widen(&mut self, slice_bits: u32, band_bits: u32) {
        if slice_bits > 0 {
            let wide = 1 << slice_bits.min(SLICES_MAX.ilog2() + 1);
            self.bytes = self.bytes.chunks(wide).map(|chunk| chunk.iter().fold([0; 2], sum)).collect();
        }
        self.slice_bits += slice_bits;
        self.band_bits += band_bits;
        let mut wider = HashMap::<_, [u64; 2], _>::default();
        #[allow(clippy::iter_over_hash_type, reason = "sums do not depend on the order")]
        for ((slice, band), counts) in std::mem::take(&mut self.cells) {
            let wide = wider.entry((slice >> slice_bits, band >> band_bits)).or_default();
            *wide = sum(*wide, &counts);
        }
        self.cells = wider;
    }

    fn sorted(&self) -> BTreeMap<(u32, u32), [u64; 2]> {
        self.cells.iter().map(|(cell, counts)| (*cell, *counts)).collect()
    }

    /// Requests over time: slices of equal length, as many as there are but at most `most` (at least 1).
    pub fn slices(&self, most: usize) -> Vec<Slice> {
        let cells = self.sorted();
        let Some(((last, _), _)) = cells.last_key_value() else { return Vec::new() };
        let merged = (u64::from(*last) + 1).div_ceil(most.max(1) as u64).next_power_of_two();
        let bits = self.slice_bits + merged.ilog2();
        let count = (u64::from(*last) >> merged.ilog2()) + 1;
        let empty = |i: u64| Slice {
            start_ns: i << bits,
            length_ns: 1 << bits,
            reads: 0,
            writes: 0,
            read_bytes: 0,
            written_bytes: 0,
        };
        let mut slices: Vec<Slice> = (0..count).map(empty).collect();
        for ((slice, _), counts) in cells {
            let slice = &mut slices[(slice >> merged.ilog2()) as usize];
            slice.reads += counts[0];
            slice.writes += counts[1];
        }
        for (slice, bytes) in slices.iter_mut().zip(self.bytes.chunks(1 << merged.ilog2())) {
            [slice.read_bytes, slice.written_bytes] = bytes.iter().fold([0; 2], sum);
        }
        slices
    }

    /// The grid between the lowest address (or 0, if that is less than a tenth of the way) and the highest, in at most so
    /// many columns and rows; `None` without requests.
    pub fn heat(&self, columns: usize, rows: usize) -> Option<Heat> {
        let cells = self.sorted();
        let low = cells.keys().map(|(_, band)| *band).min()?;
        let high = cells.keys().map(|(_, band)| *band).max()?;
        let low = if u64::from(low) * 10 < u64::from(high) { 0 } else { low };
        let last = cells.keys().map(|(slice, _)| *slice).max()?;
        let across = (u64::from(last) + 1).div_ceil(columns.max(1) as u64);
        let up = u64::from(high - low + 1).div_ceil(rows.max(1) as u64);
        let columns = (u64::from(last) + 1).div_ceil(across) as usize;
        let rows = u64::from(high - low + 1).div_ceil(up) as usize;
        let bottom = u64::from(low) << self.band_bits;
        let mut heat = Heat {
            time_ns: [0, (columns as u64 * across) << self.slice_bits],
            address: [bottom, bottom + ((rows as u64 * up) << self.band_bits)],
            columns,
            rows,
            reads: vec![0; columns * rows],
            writes: vec![0; columns * rows],
        };
        for ((slice, band), counts) in cells {
            let index = (u64::from(band - low) / up) as usize * columns + (u64::from(slice) / across) as usize;
            heat.reads[index] += counts[0];
            heat.writes[index] += counts[1];
        }
        Some(heat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_stays_counted_however_wide_the_grid_becomes() {
        let mut grid = Grid::default();
        let mut x = 88_172_645_463_325_252_u64;
        let times: Vec<u64> = (0..20_000u64).map(|i| i * i * i / 7).collect();
        for time in &times {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            grid.add(*time, x >> (x % 64), time % 1000, x.is_multiple_of(3));
        }
        let heat = grid.heat(100, 100).unwrap();
        assert!(heat.columns <= 100 && heat.rows <= 100);
        assert_eq!(heat.reads.iter().chain(&heat.writes).sum::<u64>(), 20_000);
        assert!(heat.time_ns[1] > times[19_999]);
        let slices = grid.slices(32);
        assert!((17..=32).contains(&slices.len()), "{}", slices.len());
        for slice in &slices {
            let inside = |time: &&u64| (slice.start_ns..slice.start_ns + slice.length_ns).contains(*time);
            assert_eq!(slice.reads + slice.writes, times.iter().filter(inside).count() as u64);
            let bytes: u64 = times.iter().filter(inside).map(|time| time % 1000).sum();
            assert_eq!(slice.read_bytes + slice.written_bytes, bytes);
        }
    }
}
