//! The workloads of papers whose traces are not public, rebuilt from the columns that the papers print.
//!
//! A preset reproduces those columns and nothing else: places, popularity, times and everything that is not printed was
//! chosen here, so that results with it say more about a class of workload than about the paper's.

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Column {
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
    /// Requests that begin where one of the ten before ended, in percent of the requests.
    SequentialPercent,
    /// Bytes of such requests in percent of all bytes.
    SequentialBytesPercent,
    /// Requests of the first part of a mixture (fio, in URM's workloads) in percent.
    FirstPartPercent,
    /// Distinct 4 KiB pages in MiB.
    FootprintMib,
}

impl Column {
    /// With its unit.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::WritePercent => "writes, %",
            Self::ReadPercent => "reads, %",
            Self::MeanKib => "mean size, KiB",
            Self::MeanReadKib => "mean read, KiB",
            Self::MeanWriteKib => "mean write, KiB",
            Self::TotalMib => "volume, MiB",
            Self::SequentialPercent => "sequential requests, %",
            Self::SequentialBytesPercent => "sequential bytes, %",
            Self::FirstPartPercent => "fio requests, %",
            Self::FootprintMib => "footprint, MiB",
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

/// A workload of a paper.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// One line.
    pub title: &'static str,
    /// Paper and table, which columns are reproduced, what is not printed, and readings.
    pub source: &'static str,
    /// The generator with its parameters.
    pub spec: &'static str,
    /// Requests.
    pub requests: u64,
    /// The columns that are printed.
    pub targets: &'static [(Column, Target)],
}

/// Finds a preset; `-` and `_` are the same.
pub(super) fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name.replace('_', "-").to_lowercase())
}

const AALRU: &str = "AALRU, table 4: request count, write ratio and average request size. The unit of the size is not \
printed; read as KiB, because the mean of Financial1 fits after DiskSim's reader has widened requests to pages of 2 KiB. \
Chosen here: everything else.";
const WPA: &str = "WPA, table IV: the ratio of reads to writes. Request count, sizes, footprint and patterns of the \
synthetic traces are not known here; chosen: 1,000,000 requests, a few streams beside skewed accesses.";
const URM: &str = "URM, table 1: request count, share of reads, mean size, and the share of fio (synchronous direct \
random accesses of 4 KiB) where it is printed. KB is read as KiB. Chosen here: everything else; part 1 is fio.";

/// All presets, in the order in which they are listed.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "t1",
        title: "AALRU's synthetic trace T1: writes dominate, large requests",
        source: AALRU,
        spec: "disksim:span=4GiB:block=2KiB:sequential=0.3:local=0.2:reads=0.3602:size=exponential@0@23.503",
        requests: 750_000,
        targets: &[
            (Column::Requests, Target::Is(750_000.0)),
            (Column::WritePercent, Target::Is(63.98)),
            (Column::MeanKib, Target::Is(12.78)),
        ],
    },
    Preset {
        name: "t2",
        title: "AALRU's synthetic trace T2: reads dominate, large requests",
        source: AALRU,
        spec: "disksim:span=4GiB:block=2KiB:sequential=0.3:local=0.2:reads=0.7027:size=exponential@0@24.586",
        requests: 750_000,
        targets: &[
            (Column::Requests, Target::Is(750_000.0)),
            (Column::WritePercent, Target::Is(29.73)),
            (Column::MeanKib, Target::Is(13.32)),
        ],
    },
    Preset {
        name: "aalru-fin1",
        title: "The columns that AALRU prints of Financial1; it is not that trace",
        source: AALRU,
        spec: "zipf:span=2GiB:unit=2KiB:align=2KiB:writes=0.7684:size=2KiB@40000,4KiB@30000,8KiB@20000,16KiB@7473\
               :arrival=exponential@8ms",
        requests: 5_344_983,
        targets: &[
            (Column::Requests, Target::Is(5_344_983.0)),
            (Column::WritePercent, Target::Is(76.84)),
            (Column::MeanKib, Target::Is(4.92)),
        ],
    },
    Preset {
        name: "aalru-fin2",
        title: "The columns that AALRU prints of Financial2; it is not that trace",
        source: AALRU,
        spec: "zipf:span=2GiB:unit=2KiB:align=2KiB:writes=0.1765:size=2KiB@50000,4KiB@30000,8KiB@15000,16KiB@2440\
               :arrival=exponential@11ms",
        requests: 3_698_864,
        targets: &[
            (Column::Requests, Target::Is(3_698_864.0)),
            (Column::WritePercent, Target::Is(17.65)),
            (Column::MeanKib, Target::Is(3.89)),
        ],
    },
    Preset {
        name: "gaming-console",
        title: "WPA's gaming console: 65 % reads",
        source: WPA,
        spec: "mix:parts=(sequential:streams=4:span=2GiB:writes=0.35)@1,\
               (zipf:span=2GiB:base=2GiB:writes=0.35:size=4KiB@3,16KiB@1)@3",
        requests: 1_000_000,
        targets: &[(Column::ReadPercent, Target::Is(65.0))],
    },
    Preset {
        name: "smart-tv",
        title: "WPA's smart TV: 68 % reads",
        source: WPA,
        spec: "mix:parts=(sequential:streams=2:span=2GiB:writes=0.32)@1,\
               (zipf:span=2GiB:base=2GiB:writes=0.32:size=4KiB@3,16KiB@1)@1",
        requests: 1_000_000,
        targets: &[(Column::ReadPercent, Target::Is(68.0))],
    },
    Preset {
        name: "smart-home-hub",
        title: "WPA's smart home hub: 77 % writes",
        source: WPA,
        spec: "mix:parts=(sequential:streams=8:span=1GiB:size=4KiB:writes=0.77)@1,\
               (zipf:span=1GiB:base=1GiB:writes=0.77)@3",
        requests: 1_000_000,
        targets: &[(Column::ReadPercent, Target::Is(23.0))],
    },
    Preset {
        name: "camwebdev",
        title: "The columns that WPA prints of MSR's CAMWEBDEV: 92 % writes; it is not that trace",
        source: "WPA, table IV: the ratio of reads to writes and the mean sizes of reads and writes, 21 and 17 KB, read as \
                 KiB. The request count is not known here; chosen: 1,000,000, and everything else.",
        spec: "mix:parts=(zipf:span=4GiB:unit=16KiB:writes=0:size=4KiB@350000,16KiB@450000,64KiB@190698)@8,\
               (zipf:span=4GiB:unit=16KiB:writes=1:size=4KiB@350000,16KiB@450000,64KiB@106383)@92",
        requests: 1_000_000,
        targets: &[
            (Column::ReadPercent, Target::Is(8.0)),
            (Column::MeanReadKib, Target::Is(21.0)),
            (Column::MeanWriteKib, Target::Is(17.0)),
        ],
    },
    Preset {
        name: "xp-month",
        title: "HitStat's month of writes of a Windows XP computer",
        source: "HitStat, the description of its trace: writes, share of sequential writes (a write that continues one of \
                 the ten before), volume, share of sequential bytes. MB is read as MiB. The size classes and update counts of \
                 table 4 are not known here and are not reproduced. Chosen: one stream over 8 GiB of a disk of 20 GB beside \
                 skewed writes to the rest.",
        spec: "mix:parts=(sequential:span=8GiB:writes=1:size=4KiB@25000,16KiB@30000,64KiB@55226:arrival=exponential@1700ms)\
               @3015,(zipf:base=8GiB:span=10GiB:writes=1:size=4KiB@60000,8KiB@20000,16KiB@12000,64KiB@5275\
               :arrival=exponential@1700ms)@6985",
        requests: 1_509_409,
        targets: &[
            (Column::Requests, Target::Is(1_509_409.0)),
            (Column::WritePercent, Target::Is(100.0)),
            (Column::SequentialPercent, Target::Is(29.3)),
            (Column::TotalMib, Target::Is(26_429.0)),
            (Column::SequentialBytesPercent, Target::Is(61.0)),
        ],
    },
    Preset {
        name: "multi1",
        title: "URM's Multi1: 89 % reads, mostly fio",
        source: URM,
        spec: "mix:parts=(uniform:span=8GiB:writes=0.11)@65,\
               (loops:span=4GiB:base=8GiB:writes=0.11:size=4KiB@47619,16KiB@52381)@20,\
               (sequential:streams=2:span=4GiB:base=12GiB:writes=0.11:size=4KiB@47619,16KiB@52381)@15",
        requests: 304_109,
        targets: &[
            (Column::Requests, Target::Is(304_109.0)),
            (Column::ReadPercent, Target::Is(89.0)),
            (Column::MeanKib, Target::Is(6.2)),
            (Column::FirstPartPercent, Target::Above(60.0)),
        ],
    },
    Preset {
        name: "multi2",
        title: "URM's Multi2: 70 % reads, looping and sequential",
        source: URM,
        spec: "mix:parts=(uniform:span=8GiB:writes=0.3)@25,\
               (loops:span=4GiB:base=8GiB:writes=0.3:size=4KiB@84444,16KiB@15556)@45,\
               (sequential:streams=2:span=4GiB:base=12GiB:writes=0.3:size=4KiB@84444,16KiB@15556)@30",
        requests: 280_016,
        targets: &[
            (Column::Requests, Target::Is(280_016.0)),
            (Column::ReadPercent, Target::Is(70.0)),
            (Column::MeanKib, Target::Is(5.4)),
            (Column::FirstPartPercent, Target::Below(30.0)),
        ],
    },
    Preset {
        name: "multi3",
        title: "URM's Multi3: 68 % reads",
        source: URM,
        spec: "mix:parts=(uniform:span=8GiB:writes=0.32)@40,\
               (loops:span=4GiB:base=8GiB:writes=0.32:size=4KiB@75556,16KiB@24444)@20,\
               (hot-cold:span=4GiB:base=12GiB:writes=0.32:size=4KiB@75556,16KiB@24444)@40",
        requests: 603_321,
        targets: &[
            (Column::Requests, Target::Is(603_321.0)),
            (Column::ReadPercent, Target::Is(68.0)),
            (Column::MeanKib, Target::Is(5.76)),
        ],
    },
    Preset {
        name: "multi4",
        title: "URM's Multi4: 70 % writes, mostly sequential",
        source: URM,
        spec: "mix:parts=(uniform:span=8GiB:writes=0.4)@20,\
               (sequential:streams=2:span=4GiB:base=8GiB:writes=1:size=4KiB@65625,16KiB@34375)@50,\
               (hot-cold:span=4GiB:base=12GiB:writes=0.4:size=4KiB@65625,16KiB@34375)@30",
        requests: 582_321,
        targets: &[
            (Column::Requests, Target::Is(582_321.0)),
            (Column::ReadPercent, Target::Is(30.0)),
            (Column::MeanKib, Target::Is(7.3)),
        ],
    },
];
