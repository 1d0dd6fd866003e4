//! How far two traces are apart.

use serde::Serialize;

use super::Stats;
use super::distribution::Distribution;
use super::info::Info;
use super::pages::Reuse;
use super::sequence::WINDOWS;

/// How a difference is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// An amount: the difference is in percent of that of the first trace.
    Relative,
    /// A share in percent: the difference is in percentage points.
    Points,
    /// A distribution: the difference is the Kolmogorov-Smirnov distance, times 100.
    Distance,
}

/// One statistic of two traces.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Difference {
    /// What is compared, with its unit.
    pub statistic: String,
    /// How the difference is measured.
    pub kind: DifferenceKind,
    /// Of the first trace (of a distribution: its mean); `None` if it does not exist.
    pub a: Option<f64>,
    /// Of the second trace.
    pub b: Option<f64>,
    /// The difference, see [`DifferenceKind`]; not negative for a distance. `None` if it has no bounds: there is nothing in the
    /// first trace but something in the second, or a distribution is empty in one of them.
    pub difference: Option<f64>,
}

impl Difference {
    /// At most `tolerance` apart.
    pub fn is_within(&self, tolerance: f64) -> bool {
        self.difference.is_some_and(|difference| difference.abs() <= tolerance)
    }
}

fn relative(a: f64, b: f64) -> Option<f64> {
    if a == b { Some(0.0) } else { (a != 0.0).then(|| 100.0 * (b - a) / a) }
}

fn of(statistic: &str, kind: DifferenceKind, a: Option<f64>, b: Option<f64>) -> Difference {
    let difference = match (a, b) {
        (None, None) => Some(0.0),
        (Some(a), Some(b)) if kind == DifferenceKind::Relative => relative(a, b),
        (Some(a), Some(b)) => Some(b - a),
        _ => None,
    };
    Difference { statistic: statistic.to_owned(), kind, a, b, difference }
}

fn distance(statistic: &str, a: &Distribution, b: &Distribution) -> Difference {
    let difference = a.distance(b).map(|distance| 100.0 * distance);
    Difference { statistic: statistic.to_owned(), kind: DifferenceKind::Distance, a: a.mean(), b: b.mean(), difference }
}

/// All differences from `a` to `b`: amounts, then shares, then distributions.
pub fn compare(a: &Info, b: &Info) -> Vec<Difference> {
    let mut all = amounts(a, b);
    all.extend(shares(a, b));
    let pairs = [
        ("sizes of reads, bytes", &a.sizes[0], &b.sizes[0]),
        ("sizes of writes, bytes", &a.sizes[1], &b.sizes[1]),
        ("inter-arrival times, ns", &a.inter_arrival_ns, &b.inter_arrival_ns),
        ("reuse distances of reads, pages", &a.pages.together[0].distances, &b.pages.together[0].distances),
        ("reuse distances of writes, pages", &a.pages.together[1].distances, &b.pages.together[1].distances),
        ("reuse times of reads, ns", &a.pages.reuse_time_ns[0], &b.pages.reuse_time_ns[0]),
        ("reuse times of writes, ns", &a.pages.reuse_time_ns[1], &b.pages.reuse_time_ns[1]),
        ("update intervals, ns", &a.pages.update_interval_ns, &b.pages.update_interval_ns),
    ];
    all.extend(pairs.map(|(name, a, b)| distance(name, a, b)));
    all
}

fn amounts(a: &Info, b: &Info) -> Vec<Difference> {
    let (x, y) = (&a.stats, &b.stats);
    let mib = |bytes: u64| bytes as f64 / 1_048_576.0;
    let pages = |pages: u64| pages as f64 * super::PAGE_BYTES as f64 / 1_048_576.0;
    let overwrites = |s: &Stats| {
        (s.pages_written > 0).then(|| s.written_bytes as f64 / (s.pages_written * super::PAGE_BYTES) as f64)
    };
    let both = |info: &Info| pages(info.pages.footprint.both);
    let pairs = [
        ("requests", x.requests as f64, y.requests as f64),
        ("trims", x.trims as f64, y.trims as f64),
        ("flushes", x.flushes as f64, y.flushes as f64),
        ("devices", x.devices as f64, y.devices as f64),
        ("mean size of reads, KiB", x.mean_read_kib(), y.mean_read_kib()),
        ("mean size of writes, KiB", x.mean_write_kib(), y.mean_write_kib()),
        ("read, MiB", mib(x.read_bytes), mib(y.read_bytes)),
        ("written, MiB", mib(x.written_bytes), mib(y.written_bytes)),
        ("unique pages read, MiB", pages(x.pages_read), pages(y.pages_read)),
        ("unique pages written, MiB", pages(x.pages_written), pages(y.pages_written)),
        ("unique pages read and written, MiB", both(a), both(b)),
        ("top address, MiB", mib(x.top_bytes), mib(y.top_bytes)),
        ("duration, s", x.duration_ns as f64 / 1e9, y.duration_ns as f64 / 1e9),
        ("active time, s", x.active_ns as f64 / 1e9, y.active_ns as f64 / 1e9),
    ];
    let mut all: Vec<_> = pairs.map(|(name, a, b)| of(name, DifferenceKind::Relative, Some(a), Some(b))).into();
    all.push(of("written / unique written", DifferenceKind::Relative, overwrites(x), overwrites(y)));
    all
}

fn shares(a: &Info, b: &Info) -> Vec<Difference> {
    let (x, y) = (&a.stats, &b.stats);
    let points = |name: &str, a, b| of(name, DifferenceKind::Points, a, b);
    let disorder = |s: &Stats| Stats::share(s.out_of_order, s.requests);
    let mut all = vec![
        points("writes, %", Some(x.write_percent()), Some(y.write_percent())),
        points("not 4K-aligned, %", Some(x.unaligned_percent()), Some(y.unaligned_percent())),
        points("out of order, %", Some(disorder(x)), Some(disorder(y))),
    ];
    for (i, window) in WINDOWS.iter().enumerate() {
        let share = |info: &Info| Some(Stats::share(info.sequential[i], info.stats.requests));
        all.push(points(&format!("sequential within {window}, %"), share(a), share(b)));
    }
    let cold = |reuse: &Reuse| reuse.cold_ratio().map(|ratio| 100.0 * ratio);
    for (name, kind) in [("first accesses of reads, %", 0), ("first accesses of writes, %", 1)] {
        all.push(points(name, cold(&a.pages.together[kind]), cold(&b.pages.together[kind])));
    }
    all
}
