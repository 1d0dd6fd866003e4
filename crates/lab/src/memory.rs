//! Whether a device fits into this machine: an error is kinder than being killed.

use nandlab::config::{Config, Precondition};
use nandlab::flash::Media;
use nandlab::types::Bytes;

use crate::error::Error;

/// Bytes that every erase block takes, written or not: its state, its place among the free ones. Measured over the FTLs
/// with devices of 1 TiB; docs/traces.md has the figures.
const BLOCK_BYTES: u64 = 32;
/// Bytes that a page takes once it was written: what the OOB says, and where the map says it is.
const PAGE_BYTES: u64 = 8;

/// Refuses a device that needs more memory than this machine can give.
///
/// # Errors
/// It needs more than the system says is available.
pub fn check(config: &Config) -> Result<(), Error> {
    available().map_or(Ok(()), |available| check_against(config, available))
}

fn check_against(config: &Config, available: u64) -> Result<(), Error> {
    let needed = at_least(config);
    if needed <= available {
        return Ok(());
    }
    let (needed, available) = (rounded(needed), rounded(available));
    let problem =
        format!("device.geometry: the device needs at least {needed} of memory, and {available} are available");
    let help = "--precondition none uses memory for what the trace writes only; else use fewer blocks, or device.media = \
                \"none\" if it is \"memory\"";
    Err(Error::Memory { problem, help: help.to_owned() })
}

/// Bytes that the device takes before the first request. Tables by page grow with what is written.
fn at_least(config: &Config) -> u64 {
    let geometry = &config.device.geometry;
    let contents = match config.device.media {
        Media::None => 0,
        Media::Memory => u64::from(geometry.page_bytes) + 16,
    };
    let written = match config.precondition {
        Precondition::None | Precondition::Trace => 0,
        Precondition::Full | Precondition::Steady(_) => u64::from(config.logical_pages()),
    };
    u64::from(geometry.blocks()) * BLOCK_BYTES + written.saturating_mul(PAGE_BYTES + contents)
}

fn rounded(bytes: u64) -> Bytes {
    Bytes(bytes >> 20 << 20)
}

/// What the system says it can still give; unknown on systems that say it in another way.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use nandlab::config::Builder;

    use super::*;

    #[test]
    fn memory_is_counted_for_what_is_written() {
        let mut builder = Builder::preset("lab").unwrap();
        let plain = builder.finish().unwrap();
        builder.set_value("device.media", "memory".into()).unwrap();
        let with_bytes = builder.finish().unwrap();
        assert!(check_against(&plain, 1 << 30).is_ok());
        assert!(check_against(&plain, 1 << 20).is_err());
        assert!(check_against(&with_bytes, 1 << 33).is_err());
        assert!(check_against(&with_bytes, 1 << 35).is_ok());
        builder.set_value("precondition", "none".into()).unwrap();
        builder.grow(Bytes(4 << 40));
        let empty = builder.finish().unwrap();
        assert!(check_against(&empty, 1 << 30).is_ok());
        assert!(check_against(&empty, 1 << 26).is_err());
    }
}
