//! The thesis of HitStat: groups, padding, log blocks.

use nandlab::report::Report;

use super::figures::{Figures, change, falls, is_greatest, is_least, list};
use super::verdict::{Judged, Judges};
use crate::error::Error;
use crate::experiment::Cells;

pub(super) const JUDGES: Judges = Judges::of(&[
    ("groups", judge_groups),
    ("intervals", intervals),
    ("large-groups", large_groups),
    ("sector-hits", sector_hits),
    ("block-throughput", block_throughput),
    ("bast-throughput", bast_throughput),
    ("bast-ram", bast_ram),
    ("fast-throughput", fast_throughput),
    ("fast-crossover", fast_crossover),
    ("fast-overhead", fast_overhead),
    ("bast-log-use", bast_log_use),
    ("bast-more-logs", bast_more_logs),
    ("fast-more-logs", fast_more_logs),
    ("fast-full-merges", fast_full_merges),
    ("fast-adj", fast_adj),
    ("bast-thresholds", |cells| thresholds(cells, "HitStat/BAST")),
    ("whole-thresholds", |cells| thresholds(cells, "HitStat-whole/BAST")),
    ("fast-thresholds", |cells| thresholds(cells, "adj/FAST")),
    ("model-for-others", model_for_others),
]);

const THREE: [&str; 3] = ["FAB", "BPLRU", "HitStat"];
/// Those on FAST.
const FOUR: [&str; 4] = ["FAB", "BPLRU", "HitStat", "adj"];
/// Buffer sizes of the thesis.
const SIZES: [&str; 5] = ["4MB", "16MB", "20MB", "32MB", "128MB"];
/// Fixed thresholds of tables 5 and 6; 1 never pads, 0 always.
const FIXED: [&str; 6] = ["1.0", "0.5", "0.33", "0.16", "0.06", "0.0"];

type Figure = fn(&Report) -> f64;

fn groups(report: &Report) -> f64 {
    report.flushes.groups as f64
}
/// Seconds of HitStat's time.
fn elapsed(report: &Report) -> f64 {
    report.elapsed.hitstat_ns as f64 / 1e9
}
fn seconds(cells: &Cells, cell: &str) -> Result<f64, Error> {
    cells.get(cell).map(elapsed)
}
fn throughput(report: &Report) -> f64 {
    report.elapsed.hitstat_bytes_per_second.unwrap_or(0.0) / 1e6
}
fn percent(value: Option<f64>) -> f64 {
    100.0 * value.unwrap_or(0.0)
}

/// A figure of FAB, BPLRU, HitStat and (FAST only) HitStat(adj).
fn of(cells: &Cells, ftl: &str, size: &str, figure: Figure) -> Result<Figures, Error> {
    let buffers: &[&str] = if ftl == "FAST" { &FOUR } else { &THREE };
    cells.across(&format!("thesis/{{}}/{ftl}/own/{size}"), buffers, figure)
}

/// The text of a size, as in `32 MB`.
fn spaced(size: &str) -> String {
    size.replace("MB", " MB")
}

/// Throughput on FAST of one buffer over that of another, at every size.
fn by_size(cells: &Cells, one: usize, other: usize) -> Result<Vec<(String, f64)>, Error> {
    let ratio = |size| {
        let rates = of(cells, "FAST", size, throughput)?;
        Ok((spaced(size), rates[one].1 / rates[other].1))
    };
    SIZES.into_iter().map(ratio).collect()
}

fn judge_groups(cells: &Cells) -> Judged {
    let (flushed, at_16) = (of(cells, "BAST", "32MB", groups)?, of(cells, "BAST", "16MB", groups)?);
    let ratio = |values: &Figures, other: usize| values[2].1 / values[other].1;
    let measured = format!(
        "{}; HitStat / FAB {:.3} and {:.3}, / BPLRU {:.3} and {:.3}",
        list(&flushed, 0),
        ratio(&flushed, 0),
        ratio(&at_16, 0),
        ratio(&flushed, 1),
        ratio(&at_16, 1)
    );
    let holds = [flushed, at_16].map(|values| [is_least(&values, "HitStat"), is_greatest(&values, "FAB")]);
    Ok((measured, holds.concat()))
}

fn intervals(cells: &Cells) -> Judged {
    let short = of(cells, "BAST", "32MB", |report| percent(report.flushes.share_of_interval(2000)))?;
    Ok((list(&short, 1), falls(&short)))
}

fn large_groups(cells: &Cells) -> Judged {
    let large = of(cells, "BAST", "32MB", |report| percent(report.flushes.share_of_size(40)))?;
    let large = [large[2], large[1], large[0]];
    Ok((list(&large, 1), falls(&large)))
}

fn sector_hits(cells: &Cells) -> Judged {
    let hits = of(cells, "BAST", "32MB", |report| percent(report.hits.sector.write))?;
    let hits = [hits[1], hits[2], hits[0]];
    Ok((list(&hits, 2), falls(&hits)))
}

fn block_throughput(cells: &Cells) -> Judged {
    let rates = of(cells, "block", "32MB", throughput)?;
    let rates = [rates[2], rates[1], rates[0]];
    Ok((format!("{} MB/s", list(&rates, 2)), falls(&rates)))
}

/// The rates, and that of one buffer in percent of FAB's and BPLRU's.
fn rates_with(rates: &Figures, one: usize) -> String {
    let of = |other: usize| 100.0 * rates[one].1 / rates[other].1;
    format!("{} MB/s: {:.1} % of FAB, {:.1} % of BPLRU", list(rates, 2), of(0), of(1))
}

fn bast_throughput(cells: &Cells) -> Judged {
    let rates = of(cells, "BAST", "32MB", throughput)?;
    Ok((rates_with(&rates, 2), vec![rates[2].1 > rates[0].1, rates[2].1 > rates[1].1]))
}

fn bast_ram(cells: &Cells) -> Judged {
    let (small, large) = (of(cells, "BAST", "4MB", throughput)?, of(cells, "BAST", "128MB", throughput)?);
    let gain: Figures = small.iter().zip(&large).map(|(small, large)| (small.0, change(small.1, large.1))).collect();
    Ok((format!("change of throughput: {} %", list(&gain, 1)), vec![is_least(&gain, "BPLRU")]))
}

fn fast_throughput(cells: &Cells) -> Judged {
    let rates = of(cells, "FAST", "32MB", throughput)?;
    Ok((rates_with(&rates, 3), rates[..3].iter().map(|(_, other)| rates[3].1 > *other).collect()))
}

fn fast_crossover(cells: &Cells) -> Judged {
    let lead = by_size(cells, 0, 1)?;
    let holds = vec![lead[0].1 < 1.0, lead[1].1 < 1.0, lead[3].1 > 1.0, lead[4].1 > 1.0];
    Ok((format!("FAB / BPLRU: {}", list(&lead, 3)), holds))
}

fn fast_overhead(cells: &Cells) -> Judged {
    let overhead = of(cells, "FAST", "32MB", |report| report.merges.overhead_pages as f64)?;
    let share = of(cells, "FAST", "32MB", |report| percent(report.merges.overhead_share))?;
    let measured = format!("{} pages; of the log pages {} %", list(&overhead, 0), list(&share, 1));
    Ok((measured, vec![is_least(&overhead, "adj")]))
}

fn bast_log_use(cells: &Cells) -> Judged {
    let used = of(cells, "BAST", "32MB", |report| percent(report.merges.log_utilisation))?;
    let is_low = used.iter().all(|(_, share)| *share < 45.0);
    Ok((format!("{} %", list(&used, 1)), vec![is_low, used[2].1 < used[0].1, used[1].1 < used[0].1]))
}

/// Speed-up by twice the log blocks, which need room of their own.
fn more_logs(cells: &Cells, buffer: &str, ftl: &str) -> Result<Vec<(String, f64)>, Error> {
    let speed_up = |size| {
        let plain = seconds(cells, &format!("thesis/{buffer}/{ftl}/own/{size}"))?;
        Ok((spaced(size), plain / seconds(cells, &format!("more-blocks/{buffer}/{ftl}-twice/own/{size}"))?))
    };
    ["4MB", "32MB"].into_iter().map(speed_up).collect()
}

fn bast_more_logs(cells: &Cells) -> Judged {
    let faster = more_logs(cells, "HitStat", "BAST")?;
    Ok((format!("speed-up {}", list(&faster, 3)), vec![faster[0].1 > 1.02, faster[1].1 < 1.02]))
}

fn fast_more_logs(cells: &Cells) -> Judged {
    let faster = more_logs(cells, "adj", "FAST")?;
    let time = cells.across("thesis/adj/FAST/own/{}", &["4MB", "32MB"], elapsed)?;
    let holds = vec![faster[0].1 > 1.02, faster[1].1 > 1.02, time[1].1 < time[0].1];
    Ok((format!("speed-up {}", list(&faster, 3)), holds))
}

fn fast_full_merges(cells: &Cells) -> Judged {
    let full = of(cells, "FAST", "32MB", |report| percent(report.merges.full_erase_share))?;
    let holds = vec![full[0].1 > full[1].1, full[1].1 > full[2].1, full[1].1 > full[3].1];
    Ok((format!("{} %", list(&full, 1)), holds))
}

fn fast_adj(cells: &Cells) -> Judged {
    let adj = by_size(cells, 3, 2)?;
    Ok((list(&adj, 3), vec![adj[0].1 <= 1.0, adj[1].1 <= 1.0, adj[3].1 > 1.0]))
}

/// Time over fixed thresholds, and by the model.
fn thresholds(cells: &Cells, setup: &str) -> Judged {
    let times = cells.across(&format!("thesis/{setup}/{{}}/32MB"), &FIXED, elapsed)?;
    let model = seconds(cells, &format!("thesis/{setup}/own/32MB"))?;
    let best = times.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
    let is_u = best < times[0].1 && best < times[FIXED.len() - 1].1;
    let measured = format!("{} s; model {model:.0} s, {:+.2} % from the best", list(&times, 0), change(best, model));
    Ok((measured, vec![is_u, model <= 1.01 * best]))
}

fn model_for_others(cells: &Cells) -> Judged {
    let speed_up = |buffer: &str, ftl: &str| {
        let time = |padding: &str| seconds(cells, &format!("thesis/{buffer}/{ftl}/{padding}/32MB"));
        Ok::<_, Error>(100.0 * time("own")? / time("model")? - 100.0)
    };
    let fab = [speed_up("FAB", "BAST")?, speed_up("FAB", "FAST")?];
    let bplru = [speed_up("BPLRU", "BAST")?, speed_up("BPLRU", "FAST")?];
    let measured =
        format!("speed-up FAB {:.1} and {:.1} %, BPLRU {:.1} and {:.1} %", fab[0], fab[1], bplru[0], bplru[1]);
    let holds = [fab.iter().all(|gain| (-1.0..10.0).contains(gain)), bplru.iter().all(|gain| *gain >= 0.0)];
    Ok((measured, holds.into()))
}
