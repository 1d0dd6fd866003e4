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
//! The seed of the configuration and the number of requests (`--limit`, default 1,000,000).
//!
//! Every number comes from integers: the weights by integer division, the gaps from a table of logarithms computed
//! bit by bit. The same seed gives the same requests on every machine.

use nandlab::types::{HostOp, HostRequest, Nanos};

/// Name of the workload.
pub const NAME: &str = "oltp";
/// One line about it.
pub const TITLE: &str = "The built-in workload: a database under transactions";
/// Requests of a run that names no number.
pub const REQUESTS: u64 = 1_000_000;

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

/// See the module text.
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
    left: u64,
}

impl Oltp {
    /// The first `requests` requests for a device of `capacity_sectors`; nothing if it has less than [`SECTORS_MIN`].
    pub fn new(seed: u64, requests: u64, capacity_sectors: u64) -> Option<Self> {
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
            left: requests,
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
    type Item = HostRequest;

    fn next(&mut self) -> Option<HostRequest> {
        self.left = self.left.checked_sub(1)?;
        let (op, lba, sectors) = match self.random.below(100) {
            0..78 => self.table(),
            78..98 => self.log(),
            _ => self.scan(),
        };
        let request = HostRequest::new(Nanos(self.at), op, lba, sectors as u32);
        let gap = self.gaps[(self.random.next() >> 52) as usize];
        self.at = self.at.saturating_add(gap);
        Some(request)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        (left, Some(left))
    }
}

/// Its manual page.
pub fn manual() -> String {
    let lines = include_str!("oltp.rs").lines().map_while(|line| line.strip_prefix("//!"));
    lines.flat_map(|line| [line.strip_prefix(' ').unwrap_or(line), "\n"]).collect()
}

/// A bijection on the numbers below `2^bits`: odd multiples and shifted additions can be undone.
fn scatter(n: u64, bits: u32) -> u64 {
    let mask = (1u64 << bits) - 1;
    let half = bits.div_ceil(2);
    let n = n.wrapping_mul(0x9E37_79B1) & mask;
    let n = n ^ (n >> half);
    let n = n.wrapping_mul(0x85EB_CA77) & mask;
    n ^ (n >> half)
}

/// Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014).
#[derive(Clone, Debug)]
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// A number below `n`, each as likely as the next to `n / 2^64`.
    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
}

/// Draws an index with a probability in proportion to its weight, in constant time (Walker's alias method, in Vose's
/// form with integers: exact).
#[derive(Clone, Debug)]
struct Alias {
    /// Of `total` lots in a column, those below `keep` are the column's own; the rest are its alias's.
    columns: Vec<(u64, u32)>,
    total: u64,
}

impl Alias {
    fn new(weights: impl Iterator<Item = u64>) -> Self {
        let mut lots: Vec<u64> = weights.collect();
        let (n, total) = (lots.len() as u64, lots.iter().sum::<u64>());
        // Every column has `total` lots, and a weight is worth `weight * n` of them.
        for weight in &mut lots {
            *weight *= n;
        }
        let mut columns: Vec<(u64, u32)> = (0..n).map(|i| (total, i as u32)).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..lots.len()).partition(|i| lots[*i] < total);
        while let (Some(poor), Some(&rich)) = (small.pop(), large.last()) {
            columns[poor] = (lots[poor], rich as u32);
            lots[rich] -= total - lots[poor];
            if lots[rich] < total {
                large.pop();
                small.push(rich);
            }
        }
        Self { columns, total }
    }

    fn draw(&self, random: &mut SplitMix) -> u64 {
        let column = random.below(self.columns.len() as u64);
        let (keep, alias) = self.columns[column as usize];
        if random.below(self.total) < keep { column } else { u64::from(alias) }
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

/// Binary logarithm in units of 2^-32, rounded down, by repeated squaring.
fn log2(n: u64) -> u64 {
    let whole = n.ilog2();
    // n / 2^whole, between 1 and 2, in units of 2^-62.
    let mut x = (u128::from(n) << 62) >> whole;
    let mut log = u64::from(whole);
    for _ in 0..32 {
        x = (x * x) >> 62;
        log <<= 1;
        if x >> 63 != 0 {
            log |= 1;
            x >>= 1;
        }
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAB_SECTORS: u64 = 14 << 21;

    fn checksum(requests: impl Iterator<Item = HostRequest>) -> u64 {
        let mut hash = 0xCBF2_9CE4_8422_2325u64;
        for request in requests {
            let fields = [request.at.0, request.lba, u64::from(request.sectors), request.op as u64];
            for byte in fields.iter().flat_map(|field| field.to_le_bytes()) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
            }
        }
        hash
    }

    #[test]
    fn are_the_requests_the_same_on_every_machine() {
        assert_eq!(checksum(Oltp::new(1, 100_000, LAB_SECTORS).unwrap()), PINNED);
        assert_ne!(checksum(Oltp::new(2, 100_000, LAB_SECTORS).unwrap()), PINNED);
    }
    const PINNED: u64 = 546_465_449_281_694_173;

    #[test]
    fn is_the_mix_what_the_manual_says() {
        let requests: Vec<_> = Oltp::new(1, 200_000, LAB_SECTORS).unwrap().collect();
        let n = requests.len() as f64;
        let share = |which: &dyn Fn(&HostRequest) -> bool| requests.iter().filter(|r| which(r)).count() as f64 / n;
        let database = PAGE << 20;
        assert!((0.64..0.67).contains(&share(&|r| r.op == HostOp::Write)));
        assert!((0.19..0.21).contains(&share(&|r| r.lba >= database)));
        assert!((0.015..0.025).contains(&share(&|r| u64::from(r.sectors) == SCAN_SECTORS)));
        let rate = n / requests.last().unwrap().at.as_secs();
        assert!((975.0..1_025.0).contains(&rate), "{rate} requests a second");
        assert!(requests.windows(2).all(|w| w[0].at <= w[1].at), "times never fall");
    }

    #[test]
    fn do_all_requests_lie_inside_any_device() {
        assert!(Oltp::new(1, 1, SECTORS_MIN - 1).is_none());
        for capacity in [SECTORS_MIN, 100_000, 1 << 22, LAB_SECTORS, u64::MAX] {
            for request in Oltp::new(3, 20_000, capacity).unwrap() {
                assert!(request.sectors > 0 && request.lba + u64::from(request.sectors) <= capacity, "{request:?}");
            }
        }
    }

    #[test]
    fn is_the_scatter_a_bijection() {
        for bits in [5, 9, 17] {
            let mut seen = vec![false; 1 << bits];
            (0..1u64 << bits).for_each(|n| seen[scatter(n, bits) as usize] = true);
            assert!(seen.iter().all(|s| *s), "{bits} bits");
        }
    }

    #[test]
    fn does_the_alias_table_give_every_index_its_weight() {
        let alias = Alias::new([5u64, 1, 0, 2].into_iter());
        let mut lots = [0u64; 4];
        for (i, (keep, other)) in alias.columns.iter().enumerate() {
            lots[i] += keep;
            lots[*other as usize] += alias.total - keep;
        }
        assert_eq!(lots, [20, 4, 0, 8]);
    }

    #[test]
    fn are_the_logarithms_right_and_the_gaps_exponential() {
        assert_eq!(log2(1), 0);
        assert_eq!(log2(1 << 20), 20 << 32);
        assert_eq!(log2(3), (3f64.log2() * 4_294_967_296.0) as u64);
        let gaps = exponential_gaps();
        let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        assert!((mean / MEAN_GAP_NS as f64 - 1.0).abs() < 1e-3, "{mean}");
        assert!(
            (gaps[1506] as f64 / MEAN_GAP_NS as f64 - 1.0).abs() < 1e-3,
            "1/e of the gaps are longer than the mean"
        );
    }
}
