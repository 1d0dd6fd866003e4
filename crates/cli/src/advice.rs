//! Words for command lines that would work.

use nandlab::config::{Builder, Config, DEFAULT_DEVICE};
use nandlab::types::{Bytes, SECTOR_BYTES};
use nandlab_lab::{check_memory, shell_word};
use nandlab_trace::Finding;

use crate::reading::ReadingArgs;

/// An option and its value; without a value it is to be left out.
pub type Word = (&'static str, Option<String>);

/// Bytes that the host can address.
pub fn capacity(config: &Config) -> u64 {
    u64::from(config.logical_pages()) * u64::from(config.device.geometry.page_sectors()) * SECTOR_BYTES
}

fn default_device() -> Option<Config> {
    Builder::preset(DEFAULT_DEVICE).ok()?.finish().ok()
}

/// A device that has to grow beyond that many times its size takes long to fill, mostly for addresses that nobody uses.
const GROWTH_MOST: u64 = 16;

/// What makes room for that many bytes of addresses: a larger device if there can be one, and this machine can hold it.
pub fn room(config: &Config, needed: u64) -> Word {
    let is_near = needed / GROWTH_MOST <= capacity(config);
    let mut config = config.clone();
    if is_near && config.device.grow(Bytes(needed)).is_ok() && check_memory(&config).is_ok() {
        return ("--capacity", Some("fit".to_owned()));
    }
    ("--address", Some("compact".to_owned()))
}

/// The command that replays a trace that was measured, on the default device.
pub fn replay(traces: &str, reading: &ReadingArgs, format: &str, findings: &[Finding], top_bytes: u64) -> String {
    let mut line = vec!["nandlab".to_owned(), "run".to_owned(), shell_word(traces)];
    if reading.format.is_none() && reading.columns.is_none() && !matches!(format, "generator" | "columns") {
        line.extend(["--format".to_owned(), format.to_owned()]);
    }
    line.extend(reading.words().iter().map(|word| shell_word(word)));
    for finding in findings.iter().filter(|finding| finding.warning && finding.topic != "bad rows") {
        line.extend(finding.options.iter().map(|word| shell_word(word)));
    }
    if let Some(config) = default_device().filter(|config| top_bytes > capacity(config)) {
        let (option, value) = room(&config, top_bytes);
        line.extend([option.to_owned(), value.unwrap_or_default()]);
    }
    line.join(" ")
}
