//! The workloads of papers whose traces are not public, rebuilt from the columns that the papers print.
//!
//! A preset reproduces those columns and nothing else: places, popularity, times and everything that is not printed was
//! chosen here, so that results with it say more about a class of workload than about the paper's.

use super::figures::{Characteristic, Class, FlushedUnit, Judged, Preset, Target};

/// Finds a preset; `-` and `_` are the same.
pub(super) fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name.replace('_', "-").to_lowercase())
}

const AALRU: &str = "AALRU, table 4: request count, write ratio and average request size; all are met. The unit of \
the size is not printed; read as KiB, because the mean of Financial1 fits after DiskSim's reader has widened \
requests to pages of 2 KiB. The printed counts of Financial1 and 2 are not those of the public traces (5,334,987 \
and 3,699,194, whose shares of writes are the printed ones); the printed counts are made. Not printed, and chosen \
here: everything else. Figure 1's changes of the share of reads, and figure 2's hottest blocks (1 to 3 hot and 50 \
to 60 cold pages of 64), are not met: shares are constant here and popular pages are scattered.";
const WPA: &str = "WPA, table IV: the ratio of reads to writes, the mean sizes of reads and writes, and the trace \
size, which is read as the volume in MB: in KB, as its head says, a trace would have some 700 to 2,600 requests \
where the text speaks of many, and write fewer than 130 erase blocks; the size of a trace file would say nothing. \
Read so, table IV is met. The gaming console's 66.396 is read as 66,396. KB and MB are read as KiB and MiB. Not \
printed: request counts (here: volume over mean size), footprints, times and patterns. Chosen: sequential streams \
next to skewed accesses, reads and writes of the skewed part in the same places.";
const URM: &str = "URM, table 1: request count, share of reads and mean size; section 5.1: how much of a workload \
is fio (synchronous direct random accesses of 4 KiB; part 1 here), read as a share of the requests, and what the \
rest is made of. All that is printed is met. KB is read as KiB. Not printed: footprints, times, lengths of loops \
and runs, and the reads of each program; chosen here.";

const XP: &str = "HitStat, table 4: requests and volumes of the four classes, and the sectors by how often they are \
written; all of it is met. MB is read as MiB; a sector written 0 times is one that the trace does not touch, which \
leaves a footprint of 15,296,137. Sequential is what adjoins one of the ten writes before or after. Not printed: \
where on the disk writes go, lengths of runs, how soon a write is repeated, times. Those follow four public \
DiskMon logs of Windows PCs (10,664 to 50,455 writes): the share of the requests of each kind whose erase block was \
written within the last 10, 100, 1,000 and 10,000 requests, the runs (3.6 to 4.6 requests on average, half of \
their bytes in runs of 512 KiB or more), and the growth of the number of \
blocks, which in the largest log is that of the power 0.55 of its writes: some 17,200 blocks in a month, so that \
ground lies dense. That what is repeated within 50,000 writes is as much of a month is our assumption. Part 1 is \
runs, part 2 single requests, parts 3 to 6 are the spots written most. The flushes of the buffers are judged: \
nothing was fitted to them, though two choices were made after a first look at them, from the logs alone: whole \
disk instead of dense ground, and repetition from the whole past, had HitStat flush some 300,000 groups, dense \
ground alone some 280,000. FAB is furthest from print: it keeps what is small, and the groups that it \
flushes here are smaller than those of the thesis.";

/// At the end of a run: 32 MiB as the thesis's tables 5 and 6 infer, chapters 1 and 6 for the ratios.
const XP_JUDGED: &[Judged] = &[
    judged(XP_HITSTAT, None, 32, FlushedUnit::Groups, 131_960.0),
    judged(XP_HITSTAT, None, 32, FlushedUnit::PagesWritten, 26_429.0 * 256.0 / 131_960.0),
    judged(XP_HITSTAT, Some(XP_FAB), 32, FlushedUnit::Groups, 0.581),
    judged(XP_HITSTAT, Some(XP_BPLRU), 32, FlushedUnit::Groups, 0.713),
    judged(XP_HITSTAT, Some(XP_FAB), 16, FlushedUnit::Groups, 0.544),
    judged(XP_HITSTAT, Some(XP_BPLRU), 16, FlushedUnit::Groups, 0.702),
];
const XP_HITSTAT: &str = "hitstat";
const XP_FAB: &str = "fab";
const XP_BPLRU: &str = "bplru:padding=0.5:compensation=full_first";

const fn judged(
    buffer: &'static str,
    over: Option<&'static str>,
    dram_mib: u64,
    what: FlushedUnit,
    printed: f64,
) -> Judged {
    Judged { device: "hitstat", buffer, over, dram_mib, what, target: Target::Is(printed) }
}

const RFTL: &str = "RFTL, section 5.1: the shares of reads and writes and the size of requests, which are met. Not \
printed: addresses, request count, queue depth. The misses of table 6 fall about evenly with the size of the map \
cache, from 0.9 at 32 KB to none at 512 KB, as those of evenly drawn pages do whose mappings take 340 KB: the span \
is that of 43,520 mappings of 8 bytes. Chosen: requests that wait for answers.";

/// All presets, in the order in which they are listed.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "t1",
        title: "AALRU's synthetic trace T1: writes dominate, large requests",
        source: AALRU,
        spec: "disksim:span=4GiB:block=2KiB:sequential=0.3:local=0.2:reads=0.3602:size=exponential@0@23.503",
        requests: 750_000,
        targets: &[
            (Characteristic::Requests, Target::Is(750_000.0)),
            (Characteristic::WritePercent, Target::Is(63.98)),
            (Characteristic::MeanKib, Target::Is(12.78)),
        ],
        judged: &[],
    },
    Preset {
        name: "t2",
        title: "AALRU's synthetic trace T2: reads dominate, large requests",
        source: AALRU,
        spec: "disksim:span=4GiB:block=2KiB:sequential=0.3:local=0.2:reads=0.7027:size=exponential@0@24.586",
        requests: 750_000,
        targets: &[
            (Characteristic::Requests, Target::Is(750_000.0)),
            (Characteristic::WritePercent, Target::Is(29.73)),
            (Characteristic::MeanKib, Target::Is(13.32)),
        ],
        judged: &[],
    },
    Preset {
        name: "aalru-fin1",
        title: "The columns that AALRU prints of Financial1; it is not that trace",
        source: AALRU,
        spec: "zipf:span=2GiB:unit=2KiB:align=2KiB:writes=0.7684:size=2KiB@40000,4KiB@30000,8KiB@20000,16KiB@7473\
               :arrival=exponential@8ms",
        requests: 5_344_983,
        targets: &[
            (Characteristic::Requests, Target::Is(5_344_983.0)),
            (Characteristic::WritePercent, Target::Is(76.84)),
            (Characteristic::MeanKib, Target::Is(4.92)),
        ],
        judged: &[],
    },
    Preset {
        name: "aalru-fin2",
        title: "The columns that AALRU prints of Financial2; it is not that trace",
        source: AALRU,
        spec: "zipf:span=2GiB:unit=2KiB:align=2KiB:writes=0.1765:size=2KiB@50000,4KiB@30000,8KiB@15000,16KiB@2440\
               :arrival=exponential@11ms",
        requests: 3_698_864,
        targets: &[
            (Characteristic::Requests, Target::Is(3_698_864.0)),
            (Characteristic::WritePercent, Target::Is(17.65)),
            (Characteristic::MeanKib, Target::Is(3.89)),
        ],
        judged: &[],
    },
    Preset {
        name: "gaming-console",
        title: "WPA's gaming console: 65 % reads, mean read 34 KiB, mean write 10 KiB",
        source: WPA,
        spec: "mix:parts=(sequential:streams=4:span=2GiB:writes=0:size=64KiB)@25,\
               (zipf:base=2GiB:span=2GiB:writes=0:size=4KiB@500000,16KiB@390625,64KiB@109375)@40,\
               (zipf:base=2GiB:span=2GiB:writes=1:size=4KiB@1,16KiB@1)@35",
        requests: 2_655_840,
        targets: &[
            (Characteristic::ReadPercent, Target::Is(65.0)),
            (Characteristic::MeanReadKib, Target::Is(34.0)),
            (Characteristic::MeanWriteKib, Target::Is(10.0)),
            (Characteristic::TotalMib, Target::Is(66_396.0)),
        ],
        judged: &[],
    },
    Preset {
        name: "smart-tv",
        title: "WPA's smart TV: 68 % reads, mean read 28 KiB, mean write 8 KiB",
        source: WPA,
        spec: "mix:parts=(sequential:streams=2:span=2GiB:writes=0:size=64KiB)@20,\
               (zipf:base=2GiB:span=2GiB:writes=0:size=4KiB@8,16KiB@7,64KiB@1)@48,\
               (zipf:base=2GiB:span=2GiB:writes=1:size=4KiB@2,16KiB@1)@32",
        requests: 679_633,
        targets: &[
            (Characteristic::ReadPercent, Target::Is(68.0)),
            (Characteristic::MeanReadKib, Target::Is(28.0)),
            (Characteristic::MeanWriteKib, Target::Is(8.0)),
            (Characteristic::TotalMib, Target::Is(14_336.0)),
        ],
        judged: &[],
    },
    Preset {
        name: "smart-home-hub",
        title: "WPA's smart home hub: 77 % writes, mean read 32 KiB, mean write 16 KiB",
        source: WPA,
        spec: "mix:parts=(sequential:streams=8:span=1GiB:writes=1:size=16KiB)@25,\
               (sequential:span=1GiB:writes=0:size=64KiB)@8,\
               (zipf:base=1GiB:span=1GiB:writes=0:size=4KiB@1800,16KiB@1430,64KiB@370)@15,\
               (zipf:base=1GiB:span=1GiB:writes=1:size=4KiB@4,16KiB@3,64KiB@1)@52",
        requests: 927_636,
        targets: &[
            (Characteristic::ReadPercent, Target::Is(23.0)),
            (Characteristic::MeanReadKib, Target::Is(32.0)),
            (Characteristic::MeanWriteKib, Target::Is(16.0)),
            (Characteristic::TotalMib, Target::Is(17_828.0)),
        ],
        judged: &[],
    },
    Preset {
        name: "camwebdev",
        title: "The figures that WPA prints of MSR's CAMWEBDEV: 92 % writes; it is not that trace",
        source: WPA,
        spec: "mix:parts=(zipf:span=4GiB:unit=16KiB:writes=0:size=4KiB@350000,16KiB@450000,64KiB@190698)@8,\
               (zipf:span=4GiB:unit=16KiB:writes=1:size=4KiB@350000,16KiB@450000,64KiB@106383)@92",
        requests: 2_157_436,
        targets: &[
            (Characteristic::ReadPercent, Target::Is(8.0)),
            (Characteristic::MeanReadKib, Target::Is(21.0)),
            (Characteristic::MeanWriteKib, Target::Is(17.0)),
            (Characteristic::TotalMib, Target::Is(36_491.0)),
        ],
        judged: &[],
    },
    Preset {
        name: "xp-month",
        title: "HitStat's month of writes of a Windows XP computer",
        source: XP,
        spec: "mix:parts=(rewrites:span=5GiB:new=0.135:size=4KiB@5,32KiB@10,64KiB@66:rewrite_size=4KiB@35,16KiB@22,64KiB@65\
               :length=2@500,3@200,5@160,9@80,20@40,60@16,200@4:arrival=exponential@1700ms)@421,\
               (rewrites:base=5GiB:span=3840MiB:new=0.156:near=0.6:gap=4KiB:size=4KiB@34,16KiB@28,64KiB@38\
               :rewrite_size=4KiB@560,8KiB@200,16KiB@200,64KiB@78:arrival=exponential@1700ms)@633,\
               (uniform:base=8960MiB:span=8KiB:align=8KiB:size=8KiB:writes=1:arrival=exponential@1700ms)@40,\
               (uniform:base=8961MiB:span=10752:align=3584:size=3584:writes=1:arrival=exponential@1700ms)@45,\
               (uniform:base=8962MiB:span=208KiB:writes=1:arrival=exponential@1700ms)@125,\
               (uniform:base=8963MiB:span=17572KiB:align=16KiB:writes=1:arrival=exponential@1700ms)@250",
        requests: 1_509_409,
        targets: &[
            (Characteristic::Requests, Target::Is(1_509_409.0)),
            (Characteristic::WritePercent, Target::Is(100.0)),
            (Characteristic::SequentialPercent, Target::Is(29.3)),
            (Characteristic::ClassRequests(Class::ALL[0]), Target::Is(82_648.0)),
            (Characteristic::ClassRequests(Class::ALL[1]), Target::Is(102_174.0)),
            (Characteristic::ClassRequests(Class::ALL[2]), Target::Is(359_161.0)),
            (Characteristic::ClassRequests(Class::ALL[3]), Target::Is(965_426.0)),
            (Characteristic::ClassMib(Class::ALL[0]), Target::Is(4_545.0)),
            (Characteristic::ClassMib(Class::ALL[1]), Target::Is(3_022.0)),
            (Characteristic::ClassMib(Class::ALL[2]), Target::Is(11_686.0)),
            (Characteristic::ClassMib(Class::ALL[3]), Target::Is(7_176.0)),
            (Characteristic::SectorsWritten(1, 100), Target::Is(15_286_890.0)),
            (Characteristic::SectorsWritten(101, 1_000), Target::Is(8_791.0)),
            (Characteristic::SectorsWritten(1_001, 10_000), Target::Is(419.0)),
            (Characteristic::SectorsWritten(10_001, 30_000), Target::Is(21.0)),
            (Characteristic::SectorsWritten(30_001, u32::MAX), Target::Is(16.0)),
        ],
        judged: XP_JUDGED,
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
            (Characteristic::Requests, Target::Is(304_109.0)),
            (Characteristic::ReadPercent, Target::Is(89.0)),
            (Characteristic::MeanKib, Target::Is(6.2)),
            (Characteristic::PartPercent(1), Target::Above(60.0)),
        ],
        judged: &[],
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
            (Characteristic::Requests, Target::Is(280_016.0)),
            (Characteristic::ReadPercent, Target::Is(70.0)),
            (Characteristic::MeanKib, Target::Is(5.4)),
            (Characteristic::PartPercent(1), Target::Below(30.0)),
        ],
        judged: &[],
    },
    Preset {
        name: "multi3",
        title: "URM's Multi3: 68 % reads, four patterns in balance",
        source: URM,
        spec: "mix:parts=(uniform:span=8GiB:writes=0.32)@1,\
               (loops:span=2GiB:base=8GiB:writes=0.32:size=4KiB@80445,16KiB@19555)@1,\
               (sequential:streams=2:span=2GiB:base=10GiB:writes=0.32:size=4KiB@80445,16KiB@19555)@1,\
               (hot-cold:span=4GiB:base=12GiB:writes=0.32:size=4KiB@80445,16KiB@19555)@1",
        requests: 603_321,
        targets: &[
            (Characteristic::Requests, Target::Is(603_321.0)),
            (Characteristic::ReadPercent, Target::Is(68.0)),
            (Characteristic::MeanKib, Target::Is(5.76)),
            (Characteristic::PartPercent(1), Target::Is(25.0)),
            (Characteristic::PartPercent(2), Target::Is(25.0)),
            (Characteristic::PartPercent(3), Target::Is(25.0)),
            (Characteristic::PartPercent(4), Target::Is(25.0)),
        ],
        judged: &[],
    },
    Preset {
        name: "multi4",
        title: "URM's Multi4: 70 % writes, mostly sequential",
        source: URM,
        spec: "mix:parts=(uniform:span=8GiB:writes=0.25)@20,\
               (sequential:streams=2:span=4GiB:base=8GiB:writes=1:size=4KiB@65625,16KiB@34375)@60,\
               (hot-cold:span=4GiB:base=12GiB:writes=0.25:size=4KiB@65625,16KiB@34375)@20",
        requests: 582_321,
        targets: &[
            (Characteristic::Requests, Target::Is(582_321.0)),
            (Characteristic::ReadPercent, Target::Is(30.0)),
            (Characteristic::MeanKib, Target::Is(7.3)),
            (Characteristic::PartPercent(2), Target::Above(50.0)),
        ],
        judged: &[],
    },
    Preset {
        name: "rftl-reads",
        title: "RFTL's read-dominant workload: 80 % reads of 4 KiB",
        source: RFTL,
        spec: "uniform:span=170MiB:writes=0.2:arrival=closed",
        requests: 1_000_000,
        targets: &[(Characteristic::ReadPercent, Target::Is(80.0)), (Characteristic::MeanKib, Target::Is(4.0))],
        judged: &[],
    },
    Preset {
        name: "rftl-writes",
        title: "RFTL's write-dominant workload: 80 % writes of 4 KiB",
        source: RFTL,
        spec: "uniform:span=170MiB:writes=0.8:arrival=closed",
        requests: 1_000_000,
        targets: &[(Characteristic::WritePercent, Target::Is(80.0)), (Characteristic::MeanKib, Target::Is(4.0))],
        judged: &[],
    },
];
