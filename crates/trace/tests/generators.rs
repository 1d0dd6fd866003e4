//! Are generators what their manuals say, the same on every machine, and strict with their parameters?

use std::collections::BTreeMap;

use nandlab::registry::Plugin;
use nandlab::types::{HostOp, Pattern};
use nandlab_trace::generators::{Context, GENERATORS, PRESETS, make, parameters_of, shared_manual};
use nandlab_trace::{Options, Trace, TraceRecord};

fn made(spec: &str, seed: u64, n: usize) -> Vec<TraceRecord> {
    let made = make(spec, Context::new(seed)).unwrap_or_else(|error| panic!("{spec}: {error}"));
    made.records.take(n).collect()
}

fn checksum(records: &[TraceRecord]) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325u64;
    for record in records {
        let op = match record.op {
            HostOp::Read => 0,
            HostOp::Write => 1,
            HostOp::Trim => 2,
            HostOp::Flush => 3,
        };
        let fields = [record.at.0, record.offset, u64::from(record.length), op, u64::from(record.hint.pc)];
        for byte in fields.iter().flat_map(|field| field.to_le_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
    hash
}

/// Checksums of the first 10,000 requests with default parameters and seed 1.
const PINNED: &[(&str, u64)] = &[
    ("uniform", 11_754_964_390_475_057_434),
    ("zipf", 2_032_405_521_900_399_471),
    ("hot-cold", 11_820_959_743_207_638_110),
    ("sequential", 9_863_906_218_274_095_390),
    ("loops", 3_450_593_808_153_818_012),
    ("mix", 8_403_953_813_320_120_482),
    ("phases", 45_799_659_545_809_952),
    ("rewrites", 15_565_051_938_091_677_747),
    ("disksim", 13_620_427_807_223_777_025),
    ("oltp", 15_137_752_663_897_005_971),
    ("ycsb", 570_224_657_207_657_405),
];

#[test]
fn requests_are_the_same_on_every_machine() {
    let names = GENERATORS.iter().map(Plugin::name);
    let found: Vec<(String, u64)> = names.map(|name| (name.clone(), checksum(&made(&name, 1, 10_000)))).collect();
    let pinned: Vec<(String, u64)> = PINNED.iter().map(|(name, sum)| ((*name).to_owned(), *sum)).collect();
    assert_eq!(found, pinned);
    for (name, sum) in found {
        // A walk over fixed places with fixed directions differs in its times.
        assert_ne!(checksum(&made(&name, 2, 10_000)), sum, "{name} does not depend on the seed");
    }
}

#[test]
fn every_generator_explains_its_parameters() {
    for plugin in GENERATORS {
        let (manual, (own, shared)) = (plugin.manual(), parameters_of(plugin));
        let mut at = 0;
        for heading in ["# Source", "# What it does", "# Parameters"] {
            at += manual[at..].find(heading).unwrap_or_else(|| panic!("{}: `{heading}` is missing", plugin.name()));
        }
        assert!(manual.starts_with(&format!("{} - ", plugin.name())));
        let all = manual + &shared_manual(plugin);
        for key in own.keys().chain(shared.keys()) {
            assert!(all.contains(&format!("`{key}`")), "{}: `{key}` is not explained", plugin.name());
        }
    }
}

#[test]
fn wrong_parameters_are_refused_with_what_to_do() {
    for (spec, key, help) in [
        ("zip", "generator", "did you mean `zipf`?"),
        ("zipf:thta=1", "generator.thta", "did you mean `theta`?"),
        ("zipf:writs=1", "generator.writs", "did you mean `writes`?"),
        ("zipf:theta=-1", "generator.theta", "use 0 to 8"),
        ("zipf:theta=nan", "generator.theta", "explains every parameter"),
        ("zipf:unit=6KiB", "generator.unit", "a multiple of align"),
        ("zipf:span=1TiB", "generator.unit", "unit=64KiB or more"),
        ("uniform:writes=1.5", "generator.writes", "use 0 to 1"),
        ("uniform:size=1000", "generator.size", "whole sectors"),
        ("uniform:size=4KiB@0", "generator.size", "with numbers from 1"),
        ("uniform:span=4KiB:size=8KiB", "generator.size", "to 4KiB"),
        ("uniform:span=1000", "generator.span", "whole sectors"),
        ("uniform:span=0", "generator.span", "use 512B to 1048576TiB"),
        ("uniform:base=9EiB", "generator.base", "explains every parameter"),
        ("uniform:align=3", "generator.align", "whole sectors"),
        ("uniform:arrival=often", "generator.arrival", "constant@GAP"),
        ("uniform:arrival=constant@1", "generator.arrival", "exponential@1ms"),
        ("uniform:arrival=bursty@1ms@0@1s", "generator.arrival", "from 1"),
        ("hot-cold:f=0", "generator.f", "another f"),
        ("hot-cold:r=2", "generator.r", "use 0 to 1"),
        ("sequential:streams=0", "generator.streams", "use 1 to 65536"),
        ("sequential:stride=1", "generator.stride", "multiple of align"),
        ("sequential:streams=60000", "generator.streams", "fewer streams"),
        ("loops:length=2GiB", "generator.length", "multiple of align"),
        ("loops:passes=0", "generator.passes", "use 1 to 4294967296"),
        ("mix:parts=", "generator", "use one of"),
        ("mix:parts=(zipf:theta=9)@1", "generator.theta", "use 0 to 8"),
        ("mix:parts=(zipf)@x", "generator.parts", "ITEM@N"),
        ("phases:parts=(nothing)@1", "generator", "use one of"),
        ("rewrites:size=6KiB", "generator.size", "multiples of 4 KiB"),
        ("rewrites:rewrite-size=1KiB", "generator.rewrite_size", "multiples of 4 KiB"),
        ("rewrites:length=0", "generator.length", "from 1"),
        ("rewrites:length=2@0", "generator.length", "with numbers from 1"),
        ("rewrites:gap=100", "generator.gap", "whole pages"),
        ("rewrites:span=2TiB", "generator.span", "use 4KiB to 1TiB"),
        ("rewrites:new=2", "generator.new", "use 0 to 1"),
        ("rewrites:horizon=0", "generator.horizon", "use 1 to 1048576"),
        ("disksim:size=normal@1", "generator.size", "uniform@MIN@MAX"),
        ("disksim:size=uniform@-5@-1", "generator.size", "distribution"),
        ("disksim:local=0.8", "generator.local", "at most 1"),
        ("disksim:poisson=1", "generator.poisson", "use one of"),
        ("oltp:size=1", "generator.size", "leave it out"),
        ("ycsb:workload=g", "generator.workload", "a, b, c, d, e or f"),
        ("ycsb:engine=hash", "generator.engine", "lsm or btree"),
        ("ycsb:engine=btree:ratio=4", "generator.ratio", "leave it out"),
        ("ycsb:records=10", "generator.records", "use 1000 to "),
        ("t1:bolck=1", "generator.bolck", "did you mean `block`?"),
        ("zipf:theta", "generator", "name:key=value"),
    ] {
        let error = make(spec, Context::new(1)).err().unwrap_or_else(|| panic!("{spec} was accepted"));
        assert_eq!(error.key, key, "{spec}: {error}");
        assert!(error.to_string().contains(help), "{spec}: {error}");
    }
    let deep = (0..9).fold("zipf".to_owned(), |spec, _| format!("mix:parts=({spec})@1"));
    assert!(make(&deep, Context::new(1)).err().expect("too deep").to_string().contains("8 deep"));
}

/// Pearson's statistic of counts against expected shares.
fn chi_square(counts: &[u64], shares: &[f64]) -> f64 {
    let n: f64 = counts.iter().sum::<u64>() as f64;
    counts.iter().zip(shares).map(|(count, share)| (*count as f64 - n * share).powi(2) / (n * share)).sum()
}

/// The 0.999 quantile for this many degrees of freedom (Wilson and Hilferty 1931).
fn limit(freedom: f64) -> f64 {
    let part = 2.0 / (9.0 * freedom);
    freedom * (1.0 - part + 3.0902 * part.sqrt()).powi(3)
}

#[test]
fn zipf_is_the_distribution_that_it_claims() {
    for theta in [0.5, 0.99, 1.2] {
        let counts = |scattered: bool| {
            let mut counts = vec![0u64; 256];
            for record in made(&format!("zipf:theta={theta}:span=1MiB:scattered={scattered}"), 11, 400_000) {
                counts[(record.offset / 4096) as usize] += 1;
            }
            counts
        };
        let (counts, mut moved) = (counts(false), counts(true));
        let mut same = counts.clone();
        assert_ne!(same, moved);
        same.sort_unstable();
        moved.sort_unstable();
        assert_eq!(same, moved, "the same popularities lie elsewhere");
        let weights: Vec<f64> = (1..=256).map(|rank| f64::from(rank).powf(-theta)).collect();
        let total: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let statistic = chi_square(&counts, &shares);
        assert!(statistic < limit(255.0), "theta {theta}: {statistic}");
    }
}

#[test]
fn addresses_are_uniform_where_they_should_be() {
    let counts = |spec: &str, pages: usize| {
        let mut counts = vec![0u64; pages];
        for record in made(spec, 3, 100_000) {
            counts[(record.offset / 4096) as usize] += 1;
        }
        counts
    };
    let uniform = counts("uniform:span=256KiB", 64);
    assert!(chi_square(&uniform, &[1.0 / 64.0; 64]) < limit(63.0));
    let counts = counts("hot-cold:span=400KiB:r=0.8:f=0.2", 100);
    let shares: Vec<f64> = (0..100).map(|page| if page < 20 { 0.8 / 20.0 } else { 0.2 / 80.0 }).collect();
    assert!(chi_square(&counts, &shares) < limit(99.0));
}

#[test]
fn directions_and_sizes_follow_their_parameters() {
    let records = made("uniform:writes=0.3:persistence=0.6:size=4KiB@1,8KiB@2,64KiB@5", 7, 200_000);
    let n = records.len() as f64;
    let writes = records.iter().filter(|record| record.op == HostOp::Write).count() as f64 / n;
    // Five standard errors of a chain with correlation 0.6: 5 sqrt(0.21 / n * 1.6 / 0.4) = 0.0102.
    assert!((writes - 0.3).abs() < 0.0102, "{writes}");
    let stays = records.windows(2).filter(|pair| pair[0].op == pair[1].op).count() as f64 / (n - 1.0);
    assert!((stays - (0.6 + 0.4 * (0.3 * 0.3 + 0.7 * 0.7))).abs() < 0.006, "{stays}");
    let mut sizes = BTreeMap::new();
    for record in &records {
        *sizes.entry(record.length).or_insert(0u64) += 1;
    }
    let counts: Vec<u64> = sizes.values().copied().collect();
    assert_eq!(sizes.keys().copied().collect::<Vec<_>>(), [4096, 8192, 65_536]);
    assert!(chi_square(&counts, &[0.125, 0.25, 0.625]) < limit(2.0));
}

#[test]
fn flushes_come_with_every_nth_write_and_change_nothing_else() {
    for generator in ["zipf:writes=0.4:arrival=exponential@1ms", "sequential:writes=1:arrival=closed"] {
        let without = made(generator, 8, 3_000);
        for every in [1, 7] {
            let records = made(&format!("{generator}:flush_every={every}"), 8, 3_000);
            let requests: Vec<_> = records.iter().filter(|record| record.op != HostOp::Flush).copied().collect();
            assert_eq!(requests, without[..requests.len()]);
            let mut writes = 0;
            for (n, record) in records.iter().enumerate() {
                if record.op == HostOp::Flush {
                    assert_eq!((writes, records[n - 1].op, record.at), (every, HostOp::Write, records[n - 1].at));
                    writes = 0;
                }
                writes += u32::from(record.op == HostOp::Write);
                assert!(writes <= every);
            }
            assert!(requests.len() < 2_900, "{}", requests.len());
        }
    }
}

#[test]
fn requests_arrive_as_asked() {
    let gaps = |arrival: &str| -> Vec<u64> {
        let records = made(&format!("uniform:arrival={arrival}"), 5, 100_001);
        records.windows(2).map(|pair| pair[1].at.0 - pair[0].at.0).collect()
    };
    assert!(gaps("constant@250us").iter().all(|gap| *gap == 250_000));
    assert!(gaps("closed").iter().all(|gap| *gap == 0));
    // Ten classes of equal chance: their bounds are -ln(1 - i/10).
    let mut counts = vec![0u64; 10];
    for gap in gaps("exponential@1ms") {
        counts[((1.0 - (-(gap as f64) / 1e6).exp()) * 10.0) as usize] += 1;
    }
    assert!(chi_square(&counts, &[0.1; 10]) < limit(9.0), "{counts:?}");
    // Of 20 gaps one is a pause.
    let gaps = gaps("bursty@10us@20@10ms");
    let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
    let wanted = 0.95 * 10_000.0 + 0.05 * 10_000_000.0;
    assert!((mean / wanted - 1.0).abs() < 0.1, "{mean}");
}

#[test]
fn streams_loops_and_phases_go_where_they_should() {
    let offsets = |spec: &str, n| made(spec, 1, n).iter().map(|record| record.offset >> 10).collect::<Vec<_>>();
    assert_eq!(
        offsets("sequential:streams=2:span=64KiB:size=12KiB:base=1MiB", 6),
        [1024, 1056, 1036, 1068, 1024, 1056],
        "two regions of 32 KiB, two requests each"
    );
    assert_eq!(offsets("sequential:span=64KiB:size=4KiB:stride=24KiB", 4), [0, 24, 48, 0]);
    let loops = offsets("loops:span=1GiB:length=16KiB:passes=2", 16);
    assert_eq!(loops[0..4], loops[4..8]);
    assert_eq!(loops[8..12], loops[12..16]);
    assert_ne!(loops[0], loops[8]);
    let phases = made("phases:parts=(sequential:arrival=constant@1ms)@3,(uniform:arrival=closed)@2", 1, 10);
    assert_eq!(phases.iter().map(|record| record.hint.pc).collect::<Vec<_>>(), [1, 1, 1, 2, 2, 1, 1, 1, 2, 2]);
    let times: Vec<u64> = phases.iter().map(|record| record.at.0 / 1_000_000).collect();
    assert_eq!(times, [0, 1, 2, 2, 2, 3, 4, 5, 5, 5]);
    assert_eq!(phases[5].offset, 3 * 65_536, "a phase goes on where it was");
    let mix = made("mix:parts=(sequential)@1,(uniform)@3", 1, 40_000);
    let first: Vec<_> = mix.iter().filter(|record| record.hint.pc == 1).collect();
    // Five standard errors: 5 sqrt(40,000 * 0.25 * 0.75) = 433.
    assert!((9_567..10_433).contains(&first.len()), "{}", first.len());
    assert!(first.iter().all(|record| record.hint.pattern == Pattern::Sequential));
    assert!(first.windows(2).all(|pair| pair[1].offset == (pair[0].offset + 65_536) % (1 << 30)));
}

#[test]
fn requests_all_lie_in_their_span_at_times_that_never_fall() {
    for spec in [
        "uniform:span=100KiB:size=512@1,48KiB@1:align=512",
        "zipf:span=100KiB:unit=8KiB:size=20KiB",
        "hot-cold:span=200KiB:f=0.5:size=40KiB",
        "sequential:span=100KiB:size=28KiB:streams=3",
        "loops:span=100KiB:length=40KiB:size=12KiB",
    ] {
        let span = if spec.starts_with("hot") { 200 << 10 } else { 100 << 10 };
        let records = made(spec, 9, 20_000);
        assert!(records.iter().all(|record| record.offset + u64::from(record.length) <= span), "{spec}");
        assert!(records.windows(2).all(|pair| pair[0].at <= pair[1].at), "{spec}");
    }
    for name in GENERATORS.iter().map(Plugin::name) {
        assert!(made(&name, 4, 20_000).windows(2).all(|pair| pair[0].at <= pair[1].at), "{name}");
    }
}

#[test]
fn workloads_and_engines_make_the_requests_of_their_kind() {
    for engine in ["lsm", "btree"] {
        for workload in ["a", "b", "c", "d", "e", "f"] {
            let spec = format!("ycsb:workload={workload}:engine={engine}:records=50000:record=8KiB:memory=1MiB");
            let records = made(&spec, 1, 20_000);
            let bytes = |op| records.iter().filter(|r| r.op == op).map(|r| u64::from(r.length)).sum::<u64>();
            assert_eq!(records.len(), 20_000, "{spec}");
            assert_eq!(bytes(HostOp::Write) == 0, workload == "c", "{spec}");
            // Updates write the log and their place in the store.
            let at_home = records.iter().filter(|r| r.op == HostOp::Write && r.offset >= 2 << 20).count();
            assert_eq!(at_home > 0, workload != "c", "{spec}");
        }
    }
}

#[test]
fn requests_of_a_device_are_those_of_the_generator() {
    let options = Options { limit: Some(1000), seed: 3, ..Options::default() };
    let replayed: Vec<_> = Trace::open("make:zipf:span=64MiB", &options).unwrap().map(Result::unwrap).collect();
    let direct = made("zipf:span=64MiB", 3, 1000);
    assert_eq!(replayed.len(), 1000);
    for (request, record) in replayed.iter().zip(&direct) {
        assert_eq!((request.at, request.lba, request.op), (record.at, record.lba(), record.op));
    }
    let preset = Trace::open("make:multi2", &Options::default()).unwrap();
    assert_eq!(preset.records().requests_total(), Some(280_016));
    let named = Options { format: Some("spc".to_owned()), ..Options::default() };
    assert!(Trace::open("make:zipf", &named).is_err());
}

#[test]
fn every_preset_says_where_it_is_from() {
    for preset in PRESETS {
        assert!(preset.source.len() > 40 && !preset.targets.is_empty(), "{}", preset.name);
        assert!(make(preset.name, Context::new(1)).is_ok(), "{}", preset.name);
    }
}
