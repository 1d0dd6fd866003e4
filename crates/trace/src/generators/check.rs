//! Does a preset have the figures that its paper prints?

use std::collections::VecDeque;

use nandlab::error::ConfigError;
use nandlab::types::HostOp;

use super::presets::{Column, Preset, Target};
use super::{Context, make};
use crate::row::TraceRecord;

/// Requests within which a request must follow its predecessor to be sequential.
const WINDOW: usize = 10;
/// Bytes of a page in which footprints are counted.
const PAGE: u64 = 4096;
const MIB: f64 = (1 << 20) as f64;

/// A figure of a preset.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckRow {
    /// What is counted, with its unit.
    pub column: &'static str,
    /// The figure of the paper; nothing where the paper prints none.
    pub target: Option<Target>,
    /// What the requests have.
    pub achieved: f64,
}

impl CheckRow {
    /// How far from the target in percent of it; 0 within bounds, nothing without a target.
    pub fn deviation_percent(&self) -> Option<f64> {
        match self.target? {
            Target::Above(target) if self.achieved > target => Some(0.0),
            Target::Below(target) if self.achieved < target => Some(0.0),
            Target::Is(target) | Target::Above(target) | Target::Below(target) => {
                Some(100.0 * (self.achieved - target) / target)
            }
        }
    }
}

/// Makes the requests of a preset and counts them.
///
/// # Errors
/// None, for the presets that are tested.
pub fn check(preset: &Preset, seed: u64) -> Result<Vec<CheckRow>, ConfigError> {
    let made = make(preset.name, Context::new(seed))?;
    let mut counts = Counts::default();
    for record in made.records.take(made.requests as usize) {
        counts.add(&record);
    }
    let printed = preset.targets.iter().map(|(column, target)| (*column, Some(*target)));
    let context = [Column::MeanKib, Column::WritePercent, Column::SequentialPercent, Column::FootprintMib];
    let others = context.iter().filter(|column| preset.targets.iter().all(|(known, _)| known != *column));
    let row = |(column, target): (Column, Option<Target>)| CheckRow {
        column: column.title(),
        target,
        achieved: counts.value(column),
    };
    Ok(printed.chain(others.map(|column| (*column, None))).map(row).collect())
}

#[derive(Default)]
struct Counts {
    requests: u64,
    writes: u64,
    read_bytes: u64,
    write_bytes: u64,
    sequential: u64,
    sequential_bytes: u64,
    first_part: u64,
    /// Ends of the last requests.
    ends: VecDeque<u64>,
    /// One bit for every page touched.
    pages: Vec<u64>,
}

impl Counts {
    fn add(&mut self, record: &TraceRecord) {
        let (length, end) = (u64::from(record.length), record.offset + u64::from(record.length));
        self.requests += 1;
        if record.op == HostOp::Write {
            self.writes += 1;
            self.write_bytes += length;
        } else {
            self.read_bytes += length;
        }
        if self.ends.contains(&record.offset) {
            self.sequential += 1;
            self.sequential_bytes += length;
        }
        if self.ends.len() == WINDOW {
            self.ends.pop_front();
        }
        self.ends.push_back(end);
        self.first_part += u64::from(record.hint.pc == 1);
        for page in record.offset / PAGE..end.div_ceil(PAGE) {
            let word = (page / 64) as usize;
            if word >= self.pages.len() {
                self.pages.resize(word + 1, 0);
            }
            self.pages[word] |= 1 << (page % 64);
        }
    }

    fn value(&self, column: Column) -> f64 {
        let ratio = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let bytes = self.read_bytes + self.write_bytes;
        match column {
            Column::Requests => self.requests as f64,
            Column::WritePercent => 100.0 * ratio(self.writes, self.requests),
            Column::ReadPercent => 100.0 * ratio(self.requests - self.writes, self.requests),
            Column::MeanKib => ratio(bytes, self.requests) / 1024.0,
            Column::MeanReadKib => ratio(self.read_bytes, self.requests - self.writes) / 1024.0,
            Column::MeanWriteKib => ratio(self.write_bytes, self.writes) / 1024.0,
            Column::TotalMib => bytes as f64 / MIB,
            Column::SequentialPercent => 100.0 * ratio(self.sequential, self.requests),
            Column::SequentialBytesPercent => 100.0 * ratio(self.sequential_bytes, bytes),
            Column::FirstPartPercent => 100.0 * ratio(self.first_part, self.requests),
            Column::FootprintMib => {
                let pages: u64 = self.pages.iter().map(|word| u64::from(word.count_ones())).sum();
                (pages * PAGE) as f64 / MIB
            }
        }
    }
}
