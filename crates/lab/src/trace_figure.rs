//! The figure of a trace.

use nandlab_plot::{Axis, AxisUnit, Figure, HeatMap, Layer, Panel};
use nandlab_trace::{Distribution, HitPoint, Info, InfoReport, Slice};

use crate::text::{count, plural};

/// Columns and rows of a heat map at most.
const HEAT: (usize, usize) = (256, 96);

/// Slices of time of the rates at most, and requests in a slice at least, unless there are few slices.
const SLICES: usize = 256;
const SLICE_REQUESTS: u64 = 16;
const SLICES_FEW: u64 = 16;

/// The figure of a trace: requests over time and address, their rates over time, hit ratios of LRU, sizes and times.
pub fn trace_figure(info: &Info, report: &InfoReport) -> Figure {
    let name = info.name.rsplit(['/', '\\']).next().unwrap_or(&info.name);
    let seconds = report.duration_ns as f64 / 1e9;
    let mut subtitle = format!(
        "format {}: {}, {:.1} % writes, {seconds:.1} s, {}",
        info.format,
        plural(report.requests, "request"),
        report.write_percent,
        plural(report.devices.len() as u64, "device")
    );
    if report.sample_rate < 1.0 {
        subtitle += &format!("; pages estimated from {:.3} %", 100.0 * report.sample_rate);
    }
    let figure = Figure::new(&format!("Trace {name}"), &subtitle);
    let [reads, writes] = heat_maps(info);
    let [requests, bytes] = rates(info);
    figure
        .row(vec![reads])
        .row(vec![writes])
        .row(vec![requests, bytes])
        .row(vec![hits(report), sizes(info)])
        .row(vec![times(info), updates(info)])
}

/// Requests and bytes a second over time. The last slice of time is as long as the trace goes on; if that is less than half
/// of a slice, it counts with the one before.
fn rates(info: &Info) -> [Panel; 2] {
    let most = (info.stats.requests / SLICE_REQUESTS).max(SLICES_FEW);
    let mut slices = info.grid.slices(SLICES.min(most as usize));
    let end = info.stats.active_ns;
    if let [.., before, last] = &mut slices[..]
        && end.saturating_sub(last.start_ns) < last.length_ns / 2
    {
        before.reads += last.reads;
        before.writes += last.writes;
        before.read_bytes += last.read_bytes;
        before.written_bytes += last.written_bytes;
        before.length_ns += last.length_ns;
        slices.pop();
    }
    let close = |slice: &Slice| (slice.start_ns + slice.length_ns).min(end.max(slice.start_ns + 1));
    let x_end = slices.last().map_or(1, close) as f64;
    let steps = |value: fn(&Slice) -> u64| -> Vec<[f64; 2]> {
        let rate = |slice: &Slice| value(slice) as f64 * 1e9 / (close(slice) - slice.start_ns) as f64;
        let begin = |slice: &Slice| [slice.start_ns as f64, rate(slice)];
        let points = slices.iter().map(begin);
        points.chain(slices.last().map(|slice| [x_end, rate(slice)])).collect()
    };
    let panel = |title: &str, label: &str, unit: AxisUnit, [reads, writes]: [fn(&Slice) -> u64; 2]| {
        let series = [("reads", steps(reads)), ("writes", steps(writes))];
        let values: Vec<Vec<f64>> =
            series.iter().map(|(_, points)| points.iter().map(|point| point[1]).collect()).collect();
        let x = Axis::linear("active time, without gaps above 60 s", AxisUnit::Time, [0.0, x_end]);
        let mut panel = Panel::new(title, x).y(Axis::fit(label, unit, &values));
        for (name, points) in series {
            panel = panel.layer(Layer::steps(name, points));
        }
        if end == 0 { panel.note("all at one time") } else { panel }
    };
    [
        panel("Requests a second", "requests", AxisUnit::Count, [|s| s.reads, |s| s.writes]),
        panel("Data a second", "data", AxisUnit::Bytes, [|s| s.read_bytes, |s| s.written_bytes]),
    ]
}

fn heat_maps(info: &Info) -> [Panel; 2] {
    let heat = info.grid.heat(HEAT.0, HEAT.1);
    let (time, address) = heat.as_ref().map_or(([0, 1], [0, 1]), |heat| (heat.time_ns, heat.address));
    let most = heat.iter().flat_map(|heat| heat.reads.iter().chain(&heat.writes)).copied().max().unwrap_or(0);
    let panel = |name: &str, n: u64| {
        let x = Axis::linear("active time, without gaps above 60 s", AxisUnit::Time, time.map(|t| t as f64));
        let panel = Panel::new(&format!("{name} by time and address: {}", count(n)), x);
        let panel = panel.y(Axis::linear("address", AxisUnit::Bytes, address.map(|a| a as f64)).broken());
        if n == 0 { panel.note(&format!("no {}", name.to_lowercase())) } else { panel }
    };
    let [mut reads, mut writes] = [panel("Reads", info.stats.reads), panel("Writes", info.stats.writes)];
    if let Some(heat) = heat {
        let (columns, rows, of) = (heat.columns, heat.rows, "requests a cell");
        let map = |counts| Layer::Heat(HeatMap { columns, rows, counts, most, of: of.to_owned() });
        reads = reads.layer(map(heat.reads));
        writes = writes.layer(map(heat.writes));
    }
    [reads, writes]
}

fn hits(report: &InfoReport) -> Panel {
    let end = |point: Option<&HitPoint>| point.map_or(1.0, |point| point.cache_bytes as f64);
    let range = [end(report.lru_hits.first()), end(report.lru_hits.last())];
    let curve = |ratio: fn(&HitPoint) -> Option<f64>| {
        let points = report.lru_hits.iter().filter_map(|p| ratio(p).map(|y| [p.cache_bytes as f64, y]));
        points.collect::<Vec<_>>()
    };
    let kinds: [fn(&HitPoint) -> Option<f64>; 3] = [|p| p.reads, |p| p.writes, |p| p.all];
    let values = kinds.map(|kind| report.lru_hits.iter().filter_map(kind).collect());
    let panel =
        Panel::new("LRU hit ratio by size of the cache", Axis::log("size of the cache", AxisUnit::Bytes, range))
            .y(Axis::fit("page hits", AxisUnit::Percent, &values))
            .layer(Layer::line("reads", curve(|p| p.reads)))
            .layer(Layer::line("writes", curve(|p| p.writes)))
            .layer(Layer::line("all", curve(|p| p.all)).dashed());
    if report.reads + report.writes == 0 { panel.note("no page accesses") } else { panel }
}

/// Share of values up to each value, in percent. On a logarithmic axis a value of 0 lies at its beginning.
fn cumulative(distribution: &Distribution) -> Vec<[f64; 2]> {
    let (mut seen, total) = (0, distribution.count() as f64);
    let points = distribution.iter().map(|(value, count)| {
        seen += count;
        [value as f64, 100.0 * seen as f64 / total]
    });
    points.collect()
}

/// Shares of values up to each value.
fn shares(title: &str, label: &str, unit: AxisUnit, series: &[(&str, &Distribution)], none: &str) -> Panel {
    let values = || series.iter().flat_map(|(_, d)| d.iter()).map(|(value, _)| value).filter(|value| *value > 0);
    let (low, high) = (values().min().unwrap_or(1) as f64, values().max().unwrap_or(1) as f64);
    let range = if low < high { [low * 0.9, high * 1.1] } else { [low / 2.0, high * 2.0] };
    let panel = Panel::new(title, Axis::log(label, unit, range));
    let mut panel = panel.y(Axis::linear("share up to that", AxisUnit::Percent, [0.0, 100.0]));
    for (name, distribution) in series {
        let mut points = cumulative(distribution);
        if let (Some(first), Some(last)) = (points.first().copied(), points.last().copied()) {
            points.insert(0, [first[0], 0.0]);
            points.push([range[1], last[1]]);
        }
        let steps = Layer::steps(name, points);
        panel = panel.layer(if *name == "write to write" { steps.dashed() } else { steps });
    }
    if series.iter().all(|(_, d)| d.count() == 0) { panel.note(none) } else { panel }
}

fn sizes(info: &Info) -> Panel {
    let series = [("reads", &info.sizes[0]), ("writes", &info.sizes[1])];
    shares("Sizes of requests", "size", AxisUnit::Bytes, &series, "no reads and no writes")
}

fn times(info: &Info) -> Panel {
    let series = [("all requests", &info.inter_arrival_ns)];
    shares("Times between requests", "time", AxisUnit::Time, &series, "one request only")
}

fn updates(info: &Info) -> Panel {
    let [reads, writes] = &info.pages.reuse_time_ns;
    let series = [("reads", reads), ("writes", writes), ("write to write", &info.pages.update_interval_ns)];
    shares("Times until a page is accessed again", "time", AxisUnit::Time, &series, "no page is accessed twice")
}
