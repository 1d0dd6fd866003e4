//! Settings that a run did nothing with: the user who gave them should know.

use nandlab::buffer::Bypass;
use nandlab::config::{Budget, Config, ReplayMode};
use nandlab::report::Report;
use nandlab::types::{Hint, HostRequest, Nanos};

/// Whether one of these requests has a hint.
pub(crate) fn is_hinted(batch: &[HostRequest]) -> bool {
    batch.iter().any(|request| request.hint != Hint::default())
}

/// What to know about a result of `ram.bypass`: without hints nothing is known to be sequential. Reads are known without.
pub(crate) fn bypass(bypass: Bypass, is_hinted: bool) -> Option<String> {
    (matches!(bypass, Bypass::SequentialReads | Bypass::Sequential) && !is_hinted).then(|| {
        "ram.bypass did nothing: no request has a hint, so none is known to be sequential; nandlab trace hint works hints out for \
         traces with program locations"
            .to_owned()
    })
}

/// What to know about other settings, if they were asked for by themselves (`--set`, as in [`Device::set`]). A preset or a file
/// says what a device has, whatever run uses it, so that there they are not amiss.
///
/// [`Device::set`]: crate::Device::set
pub(crate) fn settings(set: &[String], config: &Config, report: &Report) -> Vec<String> {
    let (ram, buffer) = (&config.ram, &report.buffer);
    let has_dram = ram.dram.0 > 0 && ram.budget == Budget::Fixed && buffer.dram_reads + buffer.dram_writes == 0;
    let has_nvram = ram.nvram.0 > 0 && buffer.nvram_reads + buffer.nvram_writes == 0;
    let has_none = report.config.buffer.name == "none";
    let why_none = "the buffer `none` keeps no pages";
    let of_ram = [
        (has_dram, "ram.dram", "no request that was measured touched it"),
        (has_nvram, "ram.nvram", "no request that was measured touched it, and most buffers use DRAM only"),
        (has_none && ram.bypass != Bypass::None, "ram.bypass", why_none),
        (has_none, "ram.evict_wait", why_none),
        (has_none, "ram.partial_write", why_none),
        (has_none, "ram.write_miss_fetch", why_none),
        (buffer.dram_reads == 0, "ram.dram_read", "no request that was measured read DRAM"),
        (buffer.dram_writes == 0, "ram.dram_write", "no request that was measured wrote DRAM"),
        (buffer.nvram_reads == 0, "ram.nvram_read", "no request that was measured read NVRAM"),
        (buffer.nvram_writes == 0, "ram.nvram_write", "no request that was measured wrote NVRAM"),
    ];
    [replay(set, config), told(set, &of_ram)].concat()
}

/// The same of the replay alone, which is one for several buffers; NVRAM that one does not use is there for the others.
pub(crate) fn replay(set: &[String], config: &Config) -> Vec<String> {
    let replay = &config.replay;
    let thinks = replay.think_time > Nanos::ZERO && replay.mode != ReplayMode::Closed;
    let scales = replay.time_scale != 1.0 && replay.mode != ReplayMode::Open;
    told(
        set,
        &[
            (thinks, "replay.think_time", "hosts think in a closed loop only (--mode closed)"),
            (scales, "replay.time_scale", "the times of the trace count in an open loop only (--mode open)"),
        ],
    )
}

/// Of keys that did nothing those that were asked for.
fn told(set: &[String], idle: &[(bool, &str, &str)]) -> Vec<String> {
    let asked = idle.iter().filter(|(is_idle, key, _)| *is_idle && set.iter().any(|assignment| names(assignment, key)));
    asked.map(|(_, key, why)| format!("{key} did nothing: {why}")).collect()
}

/// Whether an assignment sets this key: `table.key=...` or `table={key=...}`.
fn names(assignment: &str, key: &str) -> bool {
    let Some((name, value)) = assignment.split_once('=') else { return false };
    let (table, leaf) = key.split_once('.').unwrap_or((key, key));
    name.trim() == key || (name.trim() == table && value.contains(leaf))
}
