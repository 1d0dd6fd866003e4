//! A report at a glance: at most 100 columns.

use nandlab::config::{PluginConfig, Precondition, ReplayMode, Settle};
use nandlab::endurance::{Endurance, Projection};
use nandlab::flash::clock::OpClass;
use nandlab::histogram::Histogram;
use nandlab::registry::RECONSTRUCTION;
use nandlab::report::{
    ByCause, ClassOperations, FlushCost, Latency, Operations, Ratios, Recorded, Report, Settling, WayWork,
};
use nandlab::types::Bytes;
use nandlab_lab::{LatencySummary, TimesOfKind};

use crate::style::{Style, Table, count, factor, nanos, percent, plural, short, time, times};

/// The report as text.
pub fn report(report: &Report, style: Style) -> String {
    let mut sections =
        vec![head(report, style), requests(report, style), response(report, style), flash(report, style)];
    sections.extend(report.operations.as_ref().map(|by_class| operations(by_class, style)));
    sections.push(facts(report, style));
    let mut text = sections.join("\n");
    if report.load.overloaded {
        let share = 100.0 * report.load.backlog_requests as f64 / report.requests.total as f64;
        let warning = format!(
            "OVERLOADED: {share:.1} % of the requests were still waiting when the last one arrived. Response\n\
             times grow with the length of such a run: do not quote their mean. Use --mode closed or fast,\n\
             or slow the arrivals down (--set replay.time_scale=10)."
        );
        text += &format!("\n{}\n", style.warn(&warning));
    }
    text
}

fn head(report: &Report, style: Style) -> String {
    let config = &report.config;
    let device = &config.device;
    let logical = u64::from(config.logical_pages()) * u64::from(device.geometry.page_bytes);
    let mut ram = format!("{} DRAM", config.ram.dram);
    if config.ram.nvram.0 > 0 {
        ram += &format!(" + {} NVRAM", config.ram.nvram);
    }
    let arrival = match config.replay.mode {
        ReplayMode::Open if config.replay.time_scale == 1.0 => "open loop".to_owned(),
        ReplayMode::Open => format!("open loop, times x {}", config.replay.time_scale),
        ReplayMode::Closed => format!("closed loop, think time {}", config.replay.think_time),
        ReplayMode::Fast => "closed loop".to_owned(),
    };
    let precondition = match config.precondition {
        Precondition::None => "erased".to_owned(),
        Precondition::Full => "full".to_owned(),
        Precondition::Steady(n) => format!("full and {} overwritten", times(n)),
        Precondition::Trace => "after the writes of the trace".to_owned(),
    };
    let lines = [
        ("device", format!("{} of {}, {ram}, {precondition}", device.name, Bytes(logical))),
        ("buffer", plugin(report, &config.buffer)),
        ("FTL", plugin(report, &config.ftl)),
        ("replay", format!("{arrival}, queue depth {}, seed {}", config.replay.queue_depth, report.seed)),
        ("trace", trace(report)),
    ];
    let cut = report.trace.warm_up.as_ref().map(|cut| {
        let by = if cut.rule == "given" { String::new() } else { format!(", cut by {}", cut.rule.to_uppercase()) };
        ("warm-up", format!("the first {} requests are not measured{by}", count(cut.requests)))
    });
    let mut text = String::new();
    for (name, value) in lines.into_iter().chain(cut) {
        let mut first = true;
        for line in wrap(&value, 89) {
            text += &format!("{} {line}\n", style.bold(&format!("{:<8}", if first { name } else { "" })));
            first = false;
        }
    }
    text
}

fn plugin(report: &Report, plugin: &PluginConfig) -> String {
    let PluginConfig { name, params } = plugin;
    let is_reconstruction = report.reconstructions.contains(name);
    let name = if is_reconstruction { format!("{name} {RECONSTRUCTION}") } else { name.clone() };
    let set = params.iter().filter(|(_, value)| !value.is_null());
    let params: Vec<String> = set.map(|(key, value)| format!("{key}={}", PluginConfig::typed(value))).collect();
    if params.is_empty() { name } else { format!("{name} ({})", params.join(", ")) }
}

fn trace(report: &Report) -> String {
    let trace = &report.trace;
    let mut text = match trace.format.as_str() {
        "built-in" => format!("built-in workload {}", trace.name),
        format => format!("{}, read as {format} {}", trace.name, trace.reason),
    };
    if let Some(order) = &trace.files_order {
        text += &format!("; {} files, put together by {order}", trace.files.len());
    }
    if let Some(recorded) = &trace.recorded {
        text += &format!("; {}", self::recorded(recorded));
    }
    for (kind, n) in &trace.changed {
        text += &format!("; {}: {}", kind.replace('_', " "), count(*n));
    }
    if let Some(first) = &trace.first_bad {
        text += &format!("; first bad row: {first}");
    }
    if trace.address != "reject" {
        text += &format!("; address policy {}", trace.address);
    }
    text
}

/// A trace as recorded, in words.
pub fn recorded(recorded: &Recorded) -> String {
    let Recorded { requests, write_percent, pages_read_mib: read, pages_written_mib: written } = recorded;
    let requests = plural(*requests, "request");
    format!(
        "as recorded {requests}, {write_percent:.2} % writes, footprint {read:.1} MiB read and {written:.1} MiB written"
    )
}

/// Breaks at blanks.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            *line += word;
        }
    }
    lines
}

fn requests(report: &Report, style: Style) -> String {
    let (r, hits) = (&report.requests, &report.hits);
    let mut table = Table::new(1);
    table.row(["REQUESTS", "requests", "pages", "page hits", "request hits", "sector hits", "group hits"]);
    let mut row = |name: &str, n: u64, pages: u64, pick: fn(&Ratios) -> Option<f64>, group: Option<f64>| {
        let ratios = [pick(&hits.page), pick(&hits.request), pick(&hits.sector), group];
        table.row([name.to_owned(), count(n), count(pages)].into_iter().chain(ratios.map(percent)));
    };
    row("read", r.reads, r.pages_read, |r| r.read, None);
    row("write", r.writes, r.pages_written, |r| r.write, hits.group_write);
    row("both", r.reads + r.writes, r.pages_read + r.pages_written, |r| r.total, None);
    if r.trims + r.flushes > 0 {
        table.row(["trim".to_owned(), count(r.trims), count(r.pages_trimmed)]);
        table.row(["flush".to_owned(), count(r.flushes)]);
    }
    table.render(style)
}

fn response(report: &Report, style: Style) -> String {
    let mut table = Table::new(1);
    table.row(["TIMES", "mean", "p50", "p95", "p99", "p99.9", "max"]);
    let mark = if report.load.overloaded { "!" } else { "" };
    let mut row = |name: &str, l: &Latency| {
        if let Some(mean) = l.mean_ns {
            let times = [l.p50_ns, l.p95_ns, l.p99_ns, l.p999_ns, l.max_ns].into_iter().flatten().map(nanos);
            table.row([name.to_owned(), mark.to_owned() + &time(mean)].into_iter().chain(times));
        }
    };
    row("response, reads", &report.response.reads);
    row("response, writes", &report.response.writes);
    row("response, others", &report.response.others);
    row("response, all", &report.response.all);
    row("in the device, all", &report.device_time);
    table.render(style)
}

fn flash(report: &Report, style: Style) -> String {
    let flash = &report.flash;
    let rows = [("reads", &flash.reads), ("programs", &flash.programs), ("erases", &flash.erases)];
    let used = |i: usize| rows.iter().any(|(_, by_cause)| by_cause.causes()[i].1 > 0);
    let causes = flash.reads.causes();
    let shown: Vec<usize> = (0..causes.len()).filter(|i| used(*i)).collect();
    let mut table = Table::new(1);
    let names = shown.iter().map(|i| causes[*i].0.replace('_', " "));
    table.row(["FLASH".to_owned(), "total".to_owned()].into_iter().chain(names));
    let mut row = |name: &str, by_cause: &ByCause| {
        let parts = shown.iter().map(|i| short(by_cause.causes()[*i].1));
        table.row([name.to_owned(), short(by_cause.total)].into_iter().chain(parts));
    };
    for (name, by_cause) in rows {
        row(name, by_cause);
    }
    table.render(style)
}

/// Flash operations by class: how long they took, and the mean of what they waited for.
fn operations(operations: &Operations, style: Style) -> String {
    type Wait = (&'static str, fn(&ClassOperations) -> Option<f64>);
    const WAITS: [Wait; 4] = [
        ("waits: order", |class| class.dependency_mean_ns),
        ("channel", |class| class.channel_mean_ns),
        ("company", |class| class.company_mean_ns),
        ("suspended", |class| class.suspended_mean_ns),
    ];
    let classes = || OpClass::ALL.into_iter().map(|class| (class, operations.get(class)));
    let waited = |wait: &Wait| classes().any(|(_, class)| wait.1(class).is_some_and(|ns| ns > 0.0));
    // What most devices never wait for only makes rows too long.
    let waits: Vec<Wait> = WAITS.into_iter().enumerate().filter(|(n, w)| *n < 2 || waited(w)).map(|(_, w)| w).collect();
    let mut table = Table::new(1);
    let named = waits.iter().map(|wait| wait.0);
    table.row(["OPERATIONS", "count", "mean", "p99", "max"].into_iter().chain(named).chain(["die", "mostly for"]));
    for (class, of_class) in classes() {
        let ClassOperations { latency, die_mean_ns, .. } = of_class;
        let (Some(mean), Some(p99), Some(max)) = (latency.mean_ns, latency.p99_ns, latency.max_ns) else { continue };
        let of_die = |busy: &OpClass| die_mean_ns.get(*busy).unwrap_or(0.0);
        let most = OpClass::ALL.into_iter().max_by(|a, b| of_die(a).total_cmp(&of_die(b)));
        let most = most.filter(|busy| of_die(busy) > 0.0).map_or("-", OpClass::name);
        let in_queue = OpClass::ALL.iter().map(of_die).sum();
        let waits = waits.iter().map(|wait| wait.1(of_class)).chain([Some(in_queue)]);
        let took = [short(latency.count), time(mean), nanos(p99), nanos(max)];
        let waits = waits.map(|ns| time(ns.unwrap_or(0.0)));
        table.row([class.name().to_owned()].into_iter().chain(took).chain(waits).chain([most.to_owned()]));
    }
    table.render(style)
}

/// Recorded and simulated times of the requests whose latency the trace recorded; nothing if there are none.
pub fn latencies(summary: &LatencySummary, mode: ReplayMode, style: Style) -> String {
    let mut table = Table::new(2);
    table.row(["RECORDED", "", "requests", "mean", "p50", "p95", "p99"]);
    for (kind, TimesOfKind { recorded, response, device }) in summary.kinds() {
        let mut row = |name: &str, what: &str, times: &Histogram| {
            let percents = [50.0, 95.0, 99.0].map(|percent| nanos(times.percentile(percent).0));
            let facts = [name.to_owned(), what.to_owned(), count(times.count()), time(times.mean_ns())];
            table.row(facts.into_iter().chain(percents));
        };
        row(kind, "recorded", recorded);
        row("", "simulated, response", response);
        // In closed loop the two are the same.
        if mode == ReplayMode::Open {
            row("", "simulated, in the device", device);
        }
    }
    if summary.kinds().next().is_none() { String::new() } else { format!("\n{}", table.render(style)) }
}

type Fact = (&'static str, String);

fn facts(report: &Report, style: Style) -> String {
    let amplification = &report.write_amplification;
    let (host, sent) = (factor(amplification.host), factor(amplification.buffer));
    let mut text = format!("host {host} (programs per page the host wrote), buffer {sent} (per page sent down)");
    if amplification.dummy_pages > 0 {
        let (all, dummies) = (factor(amplification.host_with_dummies), count(amplification.dummy_pages));
        text += &format!("; host {all} with {dummies} dummy pages");
    }
    let mut facts = vec![("write amplification", text)];
    facts.extend(below(report));
    facts.extend(buffer(report));
    facts.extend(settling(&report.settling));
    facts.extend(link(report));
    facts.extend(controller(report));
    facts.extend(device(report));
    let line = |(name, value): &Fact| [style.bold(&format!("{name:<19}")), format!(" {value}\n")].concat();
    facts.iter().map(line).collect()
}

/// What the FTL did.
fn below(report: &Report) -> Vec<Fact> {
    let (merges, mapping, slc) = (&report.merges, &report.mapping, &report.slc);
    let mut facts = Vec::new();
    if merges.total() > 0 {
        let kinds = [
            ("switch", merges.switch),
            ("partial", merges.partial),
            ("full", merges.full),
            ("dead", merges.dead),
            ("replace", merges.replace),
        ];
        let done = kinds.iter().filter(|(_, n)| *n > 0);
        let kinds: Vec<String> = done.map(|(kind, n)| format!("{} {kind}", count(*n))).collect();
        facts.push(("merges", kinds.join(", ")));
    }
    if mapping.gc_runs > 0 {
        let copies = factor(mapping.gc_copies_per_run);
        facts.push(("garbage collection", format!("{} blocks, {copies} pages copied each", count(mapping.gc_runs))));
    }
    if slc.programs > 0 {
        let (taken, folded) = (percent(slc.share), count(slc.folded_pages));
        facts.push(("SLC cache", format!("took {taken} of the pages written, {folded} pages folded")));
    }
    if mapping.hit_ratio.is_some() {
        let (hits, reads, writes) = (percent(mapping.hit_ratio), count(mapping.map_reads), count(mapping.map_writes));
        facts.push(("map cache", format!("{hits} hits, {reads} map reads, {writes} map writes")));
    }
    facts
}

/// What crossed the link to the host, if there is one.
fn link(report: &Report) -> Option<Fact> {
    let link = &report.link;
    link.bytes_per_second?;
    let way = |way: &WayWork, end| format!("{} to {end} ({} busy)", Bytes(way.bytes), percent(way.utilisation));
    let (name, to_device, to_host) =
        (report.config.device.host.link, way(&link.to_device, "device"), way(&link.to_host, "host"));
    Some(("link", format!("{name}: {to_device}, {to_host}")))
}

/// How busy the controller was, if commands take it any time.
fn controller(report: &Report) -> Option<Fact> {
    let (work, cores) = (&report.controller, report.config.device.controller.cores);
    let cores = plural(u64::from(cores), "core");
    (work.busy_ns > 0).then(|| ("controller", format!("{cores}, {} busy", percent(work.utilisation))))
}

/// What the data buffer did.
fn buffer(report: &Report) -> Vec<Fact> {
    let (buffer, padding) = (&report.buffer, &report.padding);
    let mut facts = Vec::new();
    if buffer.write_backs + buffer.drops > 0 {
        let mut text = format!(
            "{} write-backs of {} pages, {} clean dropped",
            count(buffer.write_backs),
            buffer.pages_per_write_back.map_or_else(|| "-".to_owned(), |n| format!("{n:.2}")),
            count(buffer.drops)
        );
        if buffer.prefetched_pages > 0 {
            text += &format!(", {} prefetched", count(buffer.prefetched_pages));
        }
        facts.push(("data buffer", text));
        if buffer.prefetched_pages > 0 {
            let (later, own) = (count(buffer.prefetch_hits), count(buffer.own_prefetch_hits));
            let at_arrival = percent(report.hits.at_arrival);
            let text = format!("{later} hit later, {own} by their own request; page hits at arrival {at_arrival}");
            facts.push(("prefetched", text));
        }
        let ways = [buffer.pages_flushed_by_fill, buffer.pages_flushed_by_age, buffer.pages_flushed_gathered];
        if ways != [0; 3] {
            let [fill, age, gathered] = ways.map(count);
            facts.push(("flushed ahead", format!("{fill} pages by fill, {age} by age, {gathered} gathered")));
        }
    }
    if padding.padded_pages > 0 {
        let (pages, reads) = (count(padding.padded_pages), count(padding.flash_reads));
        facts.push(("padding", format!("{pages} pages added, {reads} pages read from flash for it")));
    }
    if buffer.nvram_reads + buffer.nvram_writes > 0 {
        let (reads, writes) = (count(buffer.nvram_reads), count(buffer.nvram_writes));
        facts.push(("NVRAM", format!("{reads} page reads, {writes} page writes")));
    }
    facts
}

/// What was left in the data buffer.
fn settling(settling: &Settling) -> Option<Fact> {
    let pages = count(settling.dirty_pages);
    let text = match settling.cost {
        None => format!("{pages} pages stay in the buffer, unpaid (--settle none)"),
        Some(FlushCost { programs, erases, elapsed_ns, .. }) => {
            let (time, programs, erases) = (nanos(elapsed_ns), short(programs), short(erases));
            let counted = if settling.mode == Settle::Flush { "counted" } else { "not counted" };
            format!("{pages} pages, flushed in {time}: {programs} programs, {erases} erases ({counted})")
        }
    };
    (settling.dirty_pages > 0).then_some(("dirty at the end", text))
}

/// RAM, wear and speed.
fn device(report: &Report) -> Vec<Fact> {
    let (ram, wear) = (&report.ram, &report.wear);
    let media = [("DRAM", ram.dram_frames), ("NVRAM", ram.nvram_frames)];
    let page_bytes = u64::from(report.config.device.geometry.page_bytes);
    let media: Vec<String> = media
        .iter()
        .filter(|(name, frames)| *frames > 0 || *name == "DRAM")
        .map(|(name, frames)| {
            let (bytes, pages) = (Bytes(u64::from(*frames) * page_bytes), count(u64::from(*frames)));
            format!("{bytes} {name} ({pages} pages)")
        })
        .collect();
    let used = format!("{} held, map {}", count(u64::from(ram.frames_used)), Bytes(ram.map_bytes));
    let rate = report.throughput.requests_per_second.map_or_else(|| "-".to_owned(), rate_text);
    let mut facts = vec![
        ("RAM", format!("{}; {used}", media.join(", "))),
        (
            "wear",
            format!(
                "{} to {} erases a block, mean {:.3}, standard deviation {:.3}, {} blocks",
                wear.min,
                wear.max,
                wear.mean,
                wear.stddev,
                count(u64::from(wear.blocks))
            ),
        ),
    ];
    facts.extend(endurance(&report.endurance, wear.mean >= 1.0));
    facts.push(("simulated", format!("{}, {rate} requests a second", nanos(report.elapsed.simulated_ns))));
    if let Some(wall) = &report.wall {
        let rate = short(wall.pages_per_second as u64);
        let (run, build) = (wall.run_seconds, wall.build_seconds);
        facts.push(("simulation", format!("{rate} pages a second ({run:.2} s; {build:.2} s to build the device)")));
    }
    facts
}

/// A rate: a whole number from 100 on, three digits below.
fn rate_text(rate: f64) -> String {
    if rate >= 100.0 || rate <= 0.0 {
        return count(rate as u64);
    }
    let decimals = (1..9).find(|decimals| rate * 10_f64.powi(*decimals) >= 100.0).unwrap_or(9) as usize;
    format!("{rate:.decimals$}")
}

/// What the wear means for the life of a drive; nothing if no page was programmed. Fewer erases than blocks say nothing
/// about levelling.
fn endurance(endurance: &Endurance, is_levelling_known: bool) -> Vec<Fact> {
    let Endurance { level, observed, .. } = endurance;
    if level.tbw_bytes.is_none() {
        return Vec::new();
    }
    let cell = format!("{:?}", endurance.cell).to_uppercase();
    let both = |what: fn(&Projection) -> Option<String>| {
        let value = |projection| what(projection).unwrap_or_else(|| "-".to_owned());
        let level = format!("{} if level", value(level));
        if is_levelling_known { format!("{level}, {} as levelled", value(observed)) } else { level }
    };
    let limit = format!("{} P/E cycles ({cell}) assumed", count(u64::from(endurance.pe_cycles)));
    vec![
        ("endurance", format!("TBW {}; {limit}", both(|p| p.tbw_bytes.map(terabytes)))),
        ("drive writes a day", format!("over 5 years {}", both(|p| p.dwpd.map(|n| format!("{n:.3}"))))),
        ("life at this rate", both(|p| p.lifetime_years.map(years))),
    ]
}

/// TBW is counted in powers of ten.
fn terabytes(bytes: f64) -> String {
    if bytes < 1e12 { format!("{:.2} GB", bytes / 1e9) } else { format!("{:.2} TB", bytes / 1e12) }
}

fn years(years: f64) -> String {
    if years < 1.0 { format!("{:.1} days", years * 365.0) } else { format!("{years:.1} years") }
}

#[cfg(test)]
mod tests {
    #[test]
    fn slow_rates_are_not_nothing() {
        let texts = [0.0, 0.041_23, 0.5, 12.34, 99.5, 100.0, 12_345.6].map(super::rate_text);
        assert_eq!(texts, ["0", "0.0412", "0.500", "12.3", "99.5", "100", "12,345"]);
    }
}
