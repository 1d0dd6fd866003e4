//! What a paper prints of its workload: figures, and how they were used.

/// The four classes of HitStat's table 4: does a write adjoin one of the ten before or after it, and did it begin where
/// one was before?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Class {
    /// It adjoins another.
    pub sequential: bool,
    /// It begins where one was.
    pub update: bool,
}

impl Class {
    /// In the order of the table.
    pub const ALL: [Self; 4] =
        [Self::of(true, false), Self::of(false, false), Self::of(true, true), Self::of(false, true)];

    const fn of(sequential: bool, update: bool) -> Self {
        Self { sequential, update }
    }
}

/// What is counted in the requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Characteristic {
    /// Number of requests.
    Requests,
    /// Writes in percent of the requests.
    WritePercent,
    /// Reads in percent of the requests.
    ReadPercent,
    /// Mean size of a request in KiB.
    MeanKib,
    /// Mean size of a read in KiB.
    MeanReadKib,
    /// Mean size of a write in KiB.
    MeanWriteKib,
    /// Bytes of all requests in MiB.
    TotalMib,
    /// Requests that adjoin one of the ten before or after them, in percent of the requests.
    SequentialPercent,
    /// Bytes of such requests in percent of all bytes.
    SequentialBytesPercent,
    /// Requests of this part of a mixture, counted from 1, in percent.
    PartPercent(u32),
    /// Distinct 4 KiB pages in MiB.
    FootprintMib,
    /// Requests of a class.
    ClassRequests(Class),
    /// Their bytes in MiB.
    ClassMib(Class),
    /// Sectors of 512 B that are written at least so often and at most so often.
    SectorsWritten(u32, u32),
}

impl Characteristic {
    /// With its unit.
    pub fn title(self) -> String {
        let class = |class: Class| {
            let kind = if class.update { "updates" } else { "new" };
            format!("{} {kind}", if class.sequential { "sequential" } else { "random" })
        };
        match self {
            Self::ClassRequests(which) => format!("{}, requests", class(which)),
            Self::ClassMib(which) => format!("{}, MiB", class(which)),
            Self::SectorsWritten(low, u32::MAX) => format!("sectors written {low} times or more"),
            Self::SectorsWritten(low, high) => format!("sectors written {low} to {high} times"),
            Self::PartPercent(part) => format!("requests of part {part}, %"),
            Self::Requests => "requests".to_owned(),
            Self::WritePercent => "writes, %".to_owned(),
            Self::ReadPercent => "reads, %".to_owned(),
            Self::MeanKib => "mean size, KiB".to_owned(),
            Self::MeanReadKib => "mean read, KiB".to_owned(),
            Self::MeanWriteKib => "mean write, KiB".to_owned(),
            Self::TotalMib => "volume, MiB".to_owned(),
            Self::SequentialPercent => "sequential requests, %".to_owned(),
            Self::SequentialBytesPercent => "sequential bytes, %".to_owned(),
            Self::FootprintMib => "footprint, MiB".to_owned(),
        }
    }
}

/// A figure that a paper prints.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Target {
    /// This.
    Is(f64),
    /// More than this.
    Above(f64),
    /// Less than this.
    Below(f64),
}

impl Target {
    /// How far a value is from it in percent of it; 0 within bounds.
    pub fn deviation_percent(self, value: f64) -> f64 {
        match self {
            Self::Above(target) if value > target => 0.0,
            Self::Below(target) if value < target => 0.0,
            Self::Is(target) | Self::Above(target) | Self::Below(target) => 100.0 * (value - target) / target,
        }
    }
}

/// What a write buffer makes of the whole workload: figures by which a preset is judged that was not fitted to them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Judged {
    /// Device preset.
    pub device: &'static str,
    /// Buffer in short form, and the one whose groups are divided by, if it is about a ratio.
    pub buffer: &'static str,
    /// The other buffer of a ratio of flushed groups.
    pub over: Option<&'static str>,
    /// RAM in MiB.
    pub dram_mib: u64,
    /// What is counted.
    pub what: FlushedUnit,
    /// What the paper prints.
    pub target: Target,
}

/// What is counted of a buffer's flushes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlushedUnit {
    /// Flushed groups (logical blocks).
    Groups,
    /// Pages of the requests for a flushed group, hits included.
    PagesWritten,
}

impl Judged {
    /// With its unit.
    pub fn title(&self) -> String {
        let name = |spec: &'static str| spec.split(':').next().unwrap_or(spec);
        let what = match (self.what, self.over) {
            (FlushedUnit::Groups, None) => "flushed groups".to_owned(),
            (FlushedUnit::Groups, Some(over)) => format!("flushed groups over those of {}", name(over)),
            (FlushedUnit::PagesWritten, _) => "pages written for a flush".to_owned(),
        };
        format!("{}, {} MiB: {what}", name(self.buffer), self.dram_mib)
    }
}

/// A workload of a paper.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// One line.
    pub title: &'static str,
    /// Paper and table, which figures are met and which not and why, what is not printed, and readings.
    pub source: &'static str,
    /// The generator with its parameters.
    pub spec: &'static str,
    /// Requests.
    pub requests: u64,
    /// The figures that are printed of the requests; the preset was fitted to them.
    pub targets: &'static [(Characteristic, Target)],
    /// Those that are printed of a buffer below them; the preset was not fitted to them.
    pub judged: &'static [Judged],
}
