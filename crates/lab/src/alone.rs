//! Buffers without a device below: what their page accesses are, what they do with them, and the sizes to ask for.

use std::collections::BTreeSet;

use nandlab::config::{Config, OverProvisioning};
use nandlab::offline::{AccessCounts, EVENTS_MAX, History, HistoryError};
use nandlab::types::Bytes;
use nandlab_trace::AddressPolicy;

use crate::address::{self, Address};
use crate::error::{Error, ROOM};
use crate::idle::{self, is_hinted};
use crate::source::{BATCH, Source};
use crate::watch::{Event, Watch};
use crate::word::Word;
use crate::workload::Workload;

/// Refuses settings of what is not there when buffers are simulated alone: an FTL, and a replay in time.
pub(crate) fn check(set: &[String]) -> Result<(), Error> {
    let table = |setting: &str| setting.split(['.', '=']).next().unwrap_or_default().trim().to_owned();
    match set.iter().find(|setting| ["ftl", "replay"].contains(&&*table(setting))) {
        Some(setting) => {
            let problem = format!("--set {setting} says how a device works, but here buffers are simulated alone");
            Err(Error::input(problem, "leave it out; nandlab curve --ftl and nandlab compare --bound simulate devices"))
        }
        None => Ok(()),
    }
}

/// The page accesses of a trace, and whether a request has a hint.
pub(crate) fn history(source: &mut Source, config: &Config, with_flushes: bool) -> Result<(History, bool), Error> {
    let mut has_hints = false;
    let mut history = History::new(config.logical_pages(), config.device.geometry.page_sectors(), with_flushes);
    let mut batch = Vec::with_capacity(BATCH);
    while source.fill(&mut batch)? {
        has_hints = has_hints || is_hinted(&batch);
        history.extend(&batch).map_err(|error| {
            let help = match error {
                HistoryError::OutOfRange(_) => ROOM.to_owned(),
                HistoryError::TooLong => format!("--limit N leaves fewer than {EVENTS_MAX}"),
            };
            Error::input(error, help)
        })?;
    }
    if history.accesses() == 0 {
        let name = source.describe().name;
        return Err(Error::input(format!("{name}: there is no read and no write in it"), "is this the right file?"));
    }
    Ok((history, has_hints))
}

/// What the buffer of a configuration does with a trace, in the hit-ratio-only mode.
pub(crate) fn counts(mut source: Source, config: &Config) -> Result<AccessCounts, Error> {
    let mut hits = config.build_hits()?;
    let mut batch = Vec::with_capacity(BATCH);
    while source.fill(&mut batch)? {
        hits.run(&batch).map_err(|error| Error::input(error, ROOM))?;
    }
    Ok(AccessCounts::of(&hits.ledger(), hits.dirty_pages()))
}

/// The trace for buffers without a device: no address is beyond anything, unless another policy was named.
pub(crate) fn kept(workload: &Workload) -> Workload {
    let address = if workload.address == Address::Reject { Address::Keep } else { workload.address };
    Workload { address, ..workload.clone() }
}

/// Logical pages that a trace needs: those of the device or, if it reaches beyond them, as far as it reaches.
pub(crate) struct Room(u32);

impl Room {
    /// Of the device, whatever the trace.
    pub(crate) fn of_device(config: &Config) -> Self {
        Self(config.logical_pages())
    }

    /// Reads a trace to its end.
    pub(crate) fn new(source: Source, config: &Config) -> Result<Self, Error> {
        let name = source.describe().name;
        let end = source.reach()?;
        let pages = end.div_ceil(config.device.geometry.page_sectors().into());
        if let Some(pages) = u32::try_from(pages).ok().filter(|pages| *pages <= PAGES_MAX) {
            return Ok(Self(pages.max(config.logical_pages())));
        }
        let most = Bytes(u64::from(PAGES_MAX) * u64::from(config.device.geometry.page_bytes));
        let problem = format!("{name}: it reaches to {}, and pages have numbers up to {most}", Bytes(end * 512));
        Err(Error::input(problem, "--address compact numbers the erase blocks that are used"))
    }

    /// A configuration with at least that many logical pages. It has no pages to spare, which only an FTL needs.
    pub(crate) fn give(&self, mut config: Config) -> Config {
        if self.0 > config.logical_pages() {
            let geometry = &mut config.device.geometry;
            let planes = geometry.blocks() / geometry.blocks_per_plane;
            geometry.blocks_per_plane = self.0.div_ceil(geometry.pages_per_block).div_ceil(planes);
            config.device.over_provisioning = OverProvisioning::LogicalPages(self.0);
        }
        config
    }
}

/// Most pages: what a device can have, less a stripe of blocks up to which they are rounded.
const PAGES_MAX: u32 = (1 << 31) - (1 << 28);

/// What is to be known about the results of these buffers on what was read; the watcher is told too.
pub(crate) fn warn(
    policy: AddressPolicy,
    has_hints: bool,
    configs: impl Iterator<Item = Result<Config, Error>>,
    watch: &Watch<'_>,
) -> Vec<String> {
    let about = |config: Config| {
        let sees_neighbours = config.build_hits().is_ok_and(|hits| hits.sees_neighbours());
        let neighbours = address::warning(policy, &config.device.geometry, sees_neighbours);
        neighbours.into_iter().chain(idle::bypass(config.ram.bypass, has_hints))
    };
    let warnings: BTreeSet<String> = configs.filter_map(Result::ok).flat_map(about).collect();
    for warning in &warnings {
        (watch.tell)(Event::Warning(warning));
    }
    warnings.into_iter().collect()
}

/// Sizes of a buffer: single ones, and ranges.
#[derive(Clone, Debug)]
pub struct Sizes(Vec<(u64, u64)>);

impl Word for Sizes {
    fn read(text: &str) -> Result<Self, String> {
        let item = |item: &str| {
            let (low, high) = item.split_once("..").unwrap_or((item, item));
            let (low, high) = (Bytes::parse(low)?.0, Bytes::parse(high)?.0);
            if low > high {
                return Err(format!("`{item}` ends before it begins: write the smaller size first"));
            }
            Ok((low, high))
        };
        text.split(',').map(item).collect::<Result<_, _>>().map(Self)
    }
    fn word(&self) -> String {
        let item = |(low, high): &(u64, u64)| if low == high { format!("{low}B") } else { format!("{low}B..{high}B") };
        self.0.iter().map(item).collect::<Vec<_>>().join(",")
    }
}

impl Sizes {
    /// Frames of these sizes, ascending and each once. A range becomes `points` sizes, evenly spaced by factor.
    ///
    /// # Errors
    /// A size has no whole page, or too many.
    pub fn frames(&self, page_bytes: u32, points: u64) -> Result<Vec<u32>, Error> {
        let whole = |bytes: u64| {
            let frames = u32::try_from(bytes / u64::from(page_bytes)).ok().filter(|frames| *frames > 0);
            frames.ok_or_else(|| {
                let (size, page) = (Bytes(bytes), Bytes(u64::from(page_bytes)));
                Error::input(
                    format!("--ram {size}: a buffer has 1 to {} pages of {page}", u32::MAX),
                    format!("give at least {page}, or several sizes as in 1MiB,8MiB or a range as in 1MiB..256MiB"),
                )
            })
        };
        let mut frames = Vec::new();
        for (low, high) in &self.0 {
            let (low, high) = (whole(*low)?, whole(*high)?);
            frames.push(low);
            let factor = root(f64::from(high) / f64::from(low), points - 1);
            let mut size = f64::from(low);
            for _ in 2..points {
                size *= factor;
                frames.push((size.round() as u32).clamp(low, high));
            }
            frames.push(high);
        }
        frames.sort_unstable();
        frames.dedup();
        Ok(frames)
    }
}

/// The number from 1 on whose `n`-th power is `value`: by bisection, so that it is the same on every machine.
pub(crate) fn root(value: f64, n: u64) -> f64 {
    let (mut low, mut high) = (1.0, value);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        let power = (0..n).fold(1.0, |power: f64, _| power * middle);
        *(if power < value { &mut low } else { &mut high }) = middle;
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_evenly_spaced_and_unique() {
        let frames = |text: &str, points| Sizes::read(text).unwrap().frames(4096, points).unwrap();
        assert_eq!(frames("1MiB..256MiB", 9), [256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536]);
        assert_eq!(frames("8MiB,4KiB,8MiB", 9), [1, 2048]);
        assert_eq!(frames("4KiB..12KiB", 9), [1, 2, 3]);
        assert_eq!(frames("4KiB..1MiB", 2), [1, 256]);
        assert!(Sizes::read("8MiB..4MiB").unwrap_err().contains("smaller size first"));
        assert!(Sizes::read("8MB").unwrap_err().contains("8MiB"));
        assert!(Sizes::read("1MiB").unwrap().frames(4 << 20, 2).is_err());
    }
}
