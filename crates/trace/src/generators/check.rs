//! Does a preset have the figures that its paper prints?

use std::collections::VecDeque;

use nandlab::error::ConfigError;
use nandlab::types::{HostOp, SECTOR_BYTES};

use super::figures::{Characteristic, Class, Preset, Target};
use super::{Context, make};
use crate::row::TraceRecord;

/// Requests before and after one that it may adjoin to be sequential.
const WINDOW: usize = 10;
/// Bytes of a page in which footprints are counted.
const PAGE: u64 = 4096;
const MIB: f64 = (1 << 20) as f64;

/// A figure of a preset.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckRow {
    /// What is counted, with its unit.
    pub column: String,
    /// The figure of the paper; nothing where the paper prints none.
    pub target: Option<Target>,
    /// What the requests have.
    pub achieved: f64,
    /// The preset was not fitted to it.
    pub judged: bool,
}

impl CheckRow {
    /// How far from the target in percent of it; 0 within bounds, nothing without a target.
    pub fn deviation_percent(&self) -> Option<f64> {
        Some(self.target?.deviation_percent(self.achieved))
    }
}

/// Makes the requests of a preset and counts them.
///
/// # Errors
/// None, for the presets that are tested.
pub fn check(preset: &Preset, seed: u64) -> Result<Vec<CheckRow>, ConfigError> {
    let made = make(preset.name, Context::new(seed))?;
    let by_sector = preset.targets.iter().any(|(column, _)| {
        matches!(
            column,
            Characteristic::SectorsWritten(..) | Characteristic::ClassRequests(_) | Characteristic::ClassMib(_)
        )
    });
    let mut counts = Counts { sectors: by_sector.then(Vec::new), ..Counts::default() };
    for record in made.records.take(made.requests as usize) {
        counts.add(&record);
    }
    counts.settle(0);
    let printed = preset.targets.iter().map(|(column, target)| (*column, Some(*target)));
    let context = [
        Characteristic::MeanKib,
        Characteristic::WritePercent,
        Characteristic::SequentialPercent,
        Characteristic::FootprintMib,
    ];
    let others = context.iter().filter(|column| preset.targets.iter().all(|(known, _)| known != *column));
    let row = |(column, target): (Characteristic, Option<Target>)| CheckRow {
        column: column.title(),
        target,
        achieved: counts.value(column),
        judged: false,
    };
    Ok(printed.chain(others.map(|column| (*column, None))).map(row).collect())
}

/// A request that may still turn out to adjoin one that follows.
struct Recent {
    start: u64,
    end: u64,
    class: Class,
}

/// Requests and their bytes.
#[derive(Clone, Copy, Default)]
struct Amount {
    requests: u64,
    bytes: u64,
}

#[derive(Default)]
struct Counts {
    reads: Amount,
    writes: Amount,
    /// In the order of [`Class::ALL`].
    classes: [Amount; 4],
    /// By the number of the part, 0 if it is of none.
    parts: Vec<u64>,
    recent: VecDeque<Recent>,
    /// One bit for every page touched.
    pages: Vec<u64>,
    /// Writes of every sector, if they are asked for.
    sectors: Option<Vec<u32>>,
}

impl Counts {
    fn add(&mut self, record: &TraceRecord) {
        let (start, end) = (record.offset, record.offset + u64::from(record.length));
        let amount = if record.op == HostOp::Write { &mut self.writes } else { &mut self.reads };
        amount.requests += 1;
        amount.bytes += end - start;
        let mut class = Class { sequential: false, update: self.write_sectors(start, end) };
        for other in self.recent.iter_mut().filter(|other| other.end == start || other.start == end) {
            class.sequential = true;
            other.class.sequential = true;
        }
        self.settle(WINDOW - 1);
        self.recent.push_back(Recent { start, end, class });
        let part = record.hint.pc as usize;
        if part >= self.parts.len() {
            self.parts.resize(part + 1, 0);
        }
        self.parts[part] += 1;
        for page in start / PAGE..end.div_ceil(PAGE) {
            let word = (page / 64) as usize;
            if word >= self.pages.len() {
                self.pages.resize(word + 1, 0);
            }
            self.pages[word] |= 1 << (page % 64);
        }
    }

    /// Whether the first of the sectors was written before; counts them all.
    fn write_sectors(&mut self, start: u64, end: u64) -> bool {
        let Some(sectors) = &mut self.sectors else { return false };
        let (first, after) = ((start / SECTOR_BYTES) as usize, (end / SECTOR_BYTES) as usize);
        if after > sectors.len() {
            sectors.resize(after, 0);
        }
        let before = sectors[first] > 0;
        for writes in &mut sectors[first..after] {
            *writes += 1;
        }
        before
    }

    /// Counts what is known of all but the last `keep` requests.
    fn settle(&mut self, keep: usize) {
        while self.recent.len() > keep {
            let Some(Recent { start, end, class }) = self.recent.pop_front() else { return };
            for (amount, _) in self.classes.iter_mut().zip(Class::ALL).filter(|(_, of)| *of == class) {
                amount.requests += 1;
                amount.bytes += end - start;
            }
        }
    }

    fn of(&self, which: impl Fn(Class) -> bool) -> Amount {
        let chosen = self.classes.iter().zip(Class::ALL).filter(|(_, class)| which(*class));
        chosen.fold(Amount::default(), |sum, (amount, _)| Amount {
            requests: sum.requests + amount.requests,
            bytes: sum.bytes + amount.bytes,
        })
    }

    fn value(&self, column: Characteristic) -> f64 {
        let ratio = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let (requests, bytes) = (self.reads.requests + self.writes.requests, self.reads.bytes + self.writes.bytes);
        let sequential = self.of(|class| class.sequential);
        match column {
            Characteristic::Requests => requests as f64,
            Characteristic::WritePercent => 100.0 * ratio(self.writes.requests, requests),
            Characteristic::ReadPercent => 100.0 * ratio(self.reads.requests, requests),
            Characteristic::MeanKib => ratio(bytes, requests) / 1024.0,
            Characteristic::MeanReadKib => ratio(self.reads.bytes, self.reads.requests) / 1024.0,
            Characteristic::MeanWriteKib => ratio(self.writes.bytes, self.writes.requests) / 1024.0,
            Characteristic::TotalMib => bytes as f64 / MIB,
            Characteristic::SequentialPercent => 100.0 * ratio(sequential.requests, requests),
            Characteristic::SequentialBytesPercent => 100.0 * ratio(sequential.bytes, bytes),
            Characteristic::PartPercent(part) => {
                100.0 * ratio(self.parts.get(part as usize).copied().unwrap_or(0), requests)
            }
            Characteristic::ClassRequests(class) => self.of(|other| other == class).requests as f64,
            Characteristic::ClassMib(class) => self.of(|other| other == class).bytes as f64 / MIB,
            Characteristic::SectorsWritten(low, high) => {
                let sectors = self.sectors.as_deref().unwrap_or_default();
                sectors.iter().filter(|writes| (low..=high).contains(writes)).count() as f64
            }
            Characteristic::FootprintMib => {
                let pages: u64 = self.pages.iter().map(|word| u64::from(word.count_ones())).sum();
                (pages * PAGE) as f64 / MIB
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(writes: &[(u64, u64)]) -> Counts {
        let mut counts = Counts { sectors: Some(Vec::new()), ..Counts::default() };
        for (sector, sectors) in writes {
            counts.add(&TraceRecord::plain(0, HostOp::Write, sector * SECTOR_BYTES, sectors * SECTOR_BYTES));
        }
        counts.settle(0);
        counts
    }

    fn requests(writes: &[(u64, u64)]) -> [u64; 4] {
        counts(writes).classes.map(|amount| amount.requests)
    }

    #[test]
    fn sequential_is_what_adjoins_one_of_ten_before_or_after() {
        // In the order of the table: new sequential and random, updates sequential and random.
        assert_eq!(requests(&[(0, 8), (8, 8)]), [2, 0, 0, 0]);
        assert_eq!(requests(&[(8, 8), (0, 8)]), [2, 0, 0, 0]);
        let apart = |others: u64| {
            let mut writes = vec![(0, 8)];
            writes.extend((1..=others).map(|i| (1000 * i, 8)));
            writes.push((8, 8));
            requests(&writes)
        };
        assert_eq!(apart(9), [2, 9, 0, 0]);
        assert_eq!(apart(10), [0, 12, 0, 0]);
    }

    #[test]
    fn updates_begin_where_a_write_was_and_sectors_are_counted_by_writes() {
        assert_eq!(requests(&[(0, 8), (100, 8), (0, 4), (4, 4)]), [0, 2, 2, 0]);
        // It begins on new ground and ends on old: new.
        assert_eq!(requests(&[(8, 8), (4, 8)]), [0, 2, 0, 0]);
        let counts = counts(&[(0, 8), (0, 4), (0, 1)]);
        let sectors = |low, high| counts.value(Characteristic::SectorsWritten(low, high));
        assert_eq!([sectors(1, 1), sectors(2, 2), sectors(3, u32::MAX), sectors(4, 9)], [4.0, 3.0, 1.0, 0.0]);
        let mib = |class| counts.value(Characteristic::ClassMib(class)) * MIB;
        assert_eq!(Class::ALL.map(mib), [0.0, 4096.0, 0.0, 2560.0]);
    }
}
