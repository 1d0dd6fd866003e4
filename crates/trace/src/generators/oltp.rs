//! oltp - The built-in workload: a database under transactions
//!
//! # Source
//! Made here, so that nandlab can be tried and compared without a trace. It resembles OLTP traces in what RAM policies
//! and FTLs feel (write share, skew, small sectors-grained log writes, scans that must not flush the buffer); it is no
//! substitute for one, and results with it should say so.
//!
//! # What it does
//! A database of 8 KiB pages, by default 2^20 of them (8 GiB), followed by a circular log of an eighth of that size. On
//! smaller devices the database has the largest power of two of pages that fits with its log.
//!
//! - 78 % of the requests touch the tables: 4 KiB (1 in 4: half a page), 8 KiB (2 in 4) or 16 KiB (1 in 4: two pages),
//!   58 % of them writes. The page is drawn by a flattened Zipf law, weight `1 / (rank + n / 8192)` for `n` pages; runs of
//!   eight ranks are neighbours, and the runs lie scattered over the database.
//! - 20 % append 512 B to 16 KiB to the log, sector by sector: the last page is written again and again.
//! - 2 % belong to scans: 64 consecutive reads of 64 KiB from a random place, interleaved with the rest.
//! - About 65 % of the requests are writes. Gaps between arrivals are exponential with a mean of 1 ms (1,000 requests a
//!   second).
//!
//! # Parameters
//! None but the seed and the number of requests.
//!
//! Every number comes from integers: the weights by integer division, the gaps from a table of logarithms computed
//! bit by bit. The same seed gives the same requests on every machine.

use nandlab::error::ConfigError;
use nandlab::types::{HostOp, SECTOR_BYTES};

use super::random::{Alias, SplitMix, log2, scatter};
use super::{Context, RequestStream};
use crate::row::TraceRecord;

nandlab::params! { pub struct Params {} }

/// Builds the generator.
///
/// # Errors
/// The device has less than [`SECTORS_MIN`].
pub fn build(_: &Params, context: Context) -> Result<RequestStream, ConfigError> {
    let capacity = context.capacity_sectors;
    let Some(oltp) = Oltp::new(context.seed, capacity) else {
        let problem = format!(
            "the device has {capacity} sectors of 512 B, but the built-in workload needs at least {SECTORS_MIN}"
        );
        return Err(ConfigError::new("generator.oltp", problem, "use a larger device, or name a trace"));
    };
    Ok(Box::new(oltp))
}

/// Sectors of a database page.
const PAGE: u64 = 16;
/// Largest database: 2^20 pages.
const PAGES_LOG2_MAX: u32 = 20;
/// Smallest database: 2^8 pages (2 MiB).
const PAGES_LOG2_MIN: u32 = 8;
const SCAN_REQUESTS: u32 = 64;
const SCAN_SECTORS: u64 = 128;
const MEAN_GAP_NS: u64 = 1_000_000;

/// Sectors the smallest database takes with its log.
pub const SECTORS_MIN: u64 = (1 << PAGES_LOG2_MIN) * PAGE / 8 * 9;

/// The state of `oltp`: an endless stream of requests of a database under transactions.
#[derive(Clone, Debug)]
pub struct Oltp {
    random: SplitMix,
    pages: Alias,
    gaps: Vec<u64>,
    pages_log2: u32,
    at: u64,
    log_head: u64,
    scan_at: u64,
    scan_left: u32,
}

impl Oltp {
    /// Requests for a device of `capacity_sectors`; nothing if it has less than [`SECTORS_MIN`].
    pub fn new(seed: u64, capacity_sectors: u64) -> Option<Self> {
        let fits = |log2: &u32| (PAGE << log2) / 8 * 9 <= capacity_sectors;
        let pages_log2 = (PAGES_LOG2_MIN..=PAGES_LOG2_MAX).rev().find(fits)?;
        let (n, flat) = (1u64 << pages_log2, (1u64 << pages_log2) / 8192 + 1);
        Some(Self {
            random: SplitMix(seed),
            pages: Alias::new((0..n).map(|rank| (1 << 32) / (rank + flat))),
            gaps: exponential_gaps(),
            pages_log2,
            at: 0,
            log_head: 0,
            scan_at: 0,
            scan_left: 0,
        })
    }

    /// Sectors of the database; its log follows.
    const fn database_sectors(&self) -> u64 {
        PAGE << self.pages_log2
    }

    /// First sector of a page drawn by popularity.
    fn table_page(&mut self) -> u64 {
        let rank = self.pages.draw(&mut self.random);
        scatter(rank / 8, self.pages_log2 - 3) * 8 * PAGE + rank % 8 * PAGE
    }

    fn table(&mut self) -> (HostOp, u64, u64) {
        let page = self.table_page();
        let op = if self.random.below(100) < 58 { HostOp::Write } else { HostOp::Read };
        match self.random.below(4) {
            0 => (op, page + self.random.below(2) * PAGE / 2, PAGE / 2),
            1 => (op, page.min(self.database_sectors() - 2 * PAGE), 2 * PAGE),
            _ => (op, page, PAGE),
        }
    }

    fn log(&mut self) -> (HostOp, u64, u64) {
        let log_sectors = self.database_sectors() / 8;
        let sectors = (1 + self.random.below(32)).min(log_sectors - self.log_head);
        let lba = self.database_sectors() + self.log_head;
        self.log_head = (self.log_head + sectors) % log_sectors;
        (HostOp::Write, lba, sectors)
    }

    fn scan(&mut self) -> (HostOp, u64, u64) {
        let units = self.database_sectors() / SCAN_SECTORS;
        if self.scan_left == 0 {
            self.scan_left = SCAN_REQUESTS;
            self.scan_at = self.random.below(units);
        }
        let lba = self.scan_at * SCAN_SECTORS;
        self.scan_left -= 1;
        self.scan_at = (self.scan_at + 1) % units;
        (HostOp::Read, lba, SCAN_SECTORS)
    }
}

impl Iterator for Oltp {
    type Item = TraceRecord;

    #[inline]
    fn next(&mut self) -> Option<TraceRecord> {
        let (op, lba, sectors) = match self.random.below(100) {
            0..78 => self.table(),
            78..98 => self.log(),
            _ => self.scan(),
        };
        let record = TraceRecord::plain(self.at, op, lba * SECTOR_BYTES, sectors * SECTOR_BYTES);
        let gap = self.gaps[(self.random.next() >> 52) as usize];
        self.at = self.at.saturating_add(gap);
        Some(record)
    }
}

/// Gaps of an exponential distribution at 4,096 equally likely points: `-ln((2 i + 1) / 8192)` times the mean.
fn exponential_gaps() -> Vec<u64> {
    /// ln 2 in units of 2^-32.
    const LN_2: u64 = 2_977_044_472;
    let gap = |i: u64| {
        let minus_log2 = (13 << 32) - log2(2 * i + 1);
        ((u128::from(MEAN_GAP_NS) * u128::from(minus_log2) * u128::from(LN_2)) >> 64) as u64
    };
    (0..4096).map(gap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAB_SECTORS: u64 = 14 << 21;

    fn checksum(requests: impl Iterator<Item = TraceRecord>) -> u64 {
        let mut hash = 0xCBF2_9CE4_8422_2325u64;
        for request in requests.take(100_000) {
            let fields = [request.at.0, request.lba(), u64::from(request.sectors()), request.op as u64];
            for byte in fields.iter().flat_map(|field| field.to_le_bytes()) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
            }
        }
        hash
    }

    #[test]
    fn requests_are_the_same_on_every_machine() {
        assert_eq!(checksum(Oltp::new(1, LAB_SECTORS).unwrap()), PINNED);
        assert_ne!(checksum(Oltp::new(2, LAB_SECTORS).unwrap()), PINNED);
    }
    const PINNED: u64 = 546_465_449_281_694_173;

    #[test]
    fn mix_is_what_the_manual_says() {
        let requests: Vec<_> = Oltp::new(1, LAB_SECTORS).unwrap().take(200_000).collect();
        let n = requests.len() as f64;
        let share = |which: &dyn Fn(&TraceRecord) -> bool| requests.iter().filter(|r| which(r)).count() as f64 / n;
        let database = PAGE << 20;
        assert!((0.64..0.67).contains(&share(&|r| r.op == HostOp::Write)));
        assert!((0.19..0.21).contains(&share(&|r| r.lba() >= database)));
        assert!((0.015..0.025).contains(&share(&|r| u64::from(r.sectors()) == SCAN_SECTORS)));
        let rate = n / requests.last().unwrap().at.as_secs();
        assert!((975.0..1_025.0).contains(&rate), "{rate} requests a second");
        assert!(requests.windows(2).all(|w| w[0].at <= w[1].at), "times never fall");
    }

    #[test]
    fn requests_all_lie_inside_any_device() {
        assert!(Oltp::new(1, SECTORS_MIN - 1).is_none());
        for capacity in [SECTORS_MIN, 100_000, 1 << 22, LAB_SECTORS, u64::MAX] {
            for request in Oltp::new(3, capacity).unwrap().take(20_000) {
                assert!(request.length > 0 && request.end_lba() <= capacity, "{request:?}");
            }
        }
    }

    #[test]
    fn gaps_are_exponential() {
        let gaps = exponential_gaps();
        let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        assert!((mean / MEAN_GAP_NS as f64 - 1.0).abs() < 1e-3, "{mean}");
        assert!(
            (gaps[1506] as f64 / MEAN_GAP_NS as f64 - 1.0).abs() < 1e-3,
            "1/e of the gaps are longer than the mean"
        );
    }
}
