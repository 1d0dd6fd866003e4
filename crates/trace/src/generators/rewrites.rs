//! rewrites - Writes to new ground and to ground that was written before, alone or in runs
//!
//! # Source
//! Made here after table 4 of HitStat's thesis (NCTU, 2009), which divides the writes of a personal computer by two
//! questions: does a write begin where one was before, and does it adjoin another? A mixture of two of these generators,
//! one for runs and one for single requests, has the table's four classes.
//!
//! # What it does
//! All requests are writes of whole pages of 4 KiB. A run of requests, each beginning where the one before ended, goes to
//! new ground with chance `new`, else over old ground; a run of one is a single request.
//! - New ground is never written yet. With chance `near` the search for it begins where the last request on new ground
//!   ended, `gap` further on, else at a place drawn evenly; the first stretch with room for the request is taken, from the
//!   beginning again if there is none up to the end. A run that meets written ground goes on behind it.
//! - Old ground: the run begins at a page, drawn evenly, of an earlier request on new ground. How many of those requests
//!   ago it was is drawn so that every power of two up to `horizon` is as likely as the next: chances fall with age as
//!   1 / age. A request that would reach beyond written ground is drawn again, 16 times, and then cut short; a run ends
//!   with the ground.
//! - When no room is left, old ground is written. Memory: a bit for a page of the span, and 8 bytes for each of `horizon`
//!   requests.

use nandlab::error::ConfigError;
use nandlab::types::{Bytes, HostOp, Pattern};

use super::random::{Alias, Chance, SplitMix};
use super::shape::Clock;
use super::text::{SizeDraw, Sizes, weighted};
use super::{Context, RequestStream, within, wrong};
use crate::row::{ADDRESS_BYTES_MAX, REQUEST_BYTES_MAX, TraceRecord};

/// Bytes of a page.
const PAGE: u64 = 4096;
/// Draws of an old place for a request until one is taken that it does not fit.
const TRIES: u32 = 16;

nandlab::params! {
    pub struct Params {
        /// The first byte that is addressed, in whole pages of 4 KiB.
        base: Bytes = Bytes(0);
        /// Bytes from there that are addressed, in whole pages.
        span: Bytes = Bytes::mib(1024), in Bytes::kib(4)..=Bytes(1 << 40);
        /// Runs that go to new ground.
        new: f64 = 0.2, in 0.0..=1.0, "share of the runs";
        /// Runs on new ground that begin near the last.
        near: f64 = 0.5, in 0.0..=1.0, "share of the runs on new ground";
        /// Bytes left free before new ground near the last, in whole pages.
        gap: Bytes = Bytes(0);
        /// Bytes of requests on new ground, with weights: `size=4KiB@3,64KiB@1`.
        size: Sizes = Sizes("16KiB".to_owned());
        /// The same of requests on old ground.
        rewrite_size: Sizes = Sizes("8KiB".to_owned());
        /// Requests of a run, with weights: `length=2@50,5@16`.
        length: Sizes = Sizes("1".to_owned());
        /// Requests on new ground that are remembered.
        horizon: u64 = 4096, in 1..=1 << 20;
        /// As of other generators: `constant@GAP`, `exponential@GAP`, `bursty@GAP@N@PAUSE` or `closed`.
        arrival: String = "exponential@1ms".to_owned();
    }
}

/// Builds the generator.
///
/// # Errors
/// A parameter is out of range.
pub fn build(params: &Params, context: Context) -> Result<RequestStream, ConfigError> {
    let pages = |key: &str, value: Bytes, low: u64, high: u64| {
        if value.0.is_multiple_of(PAGE) && (low..=high).contains(&value.0) {
            return Ok(value.0 / PAGE);
        }
        let help = format!("use whole pages of 4 KiB, from {} to {}", Bytes(low), Bytes(high));
        Err(wrong(key, format!("{value} cannot be used"), help))
    };
    let span = pages("span", params.span, PAGE, 1 << 40)?;
    let base = pages("base", params.base, 0, ADDRESS_BYTES_MAX - params.span.0)?;
    let sizes = |key: &str, sizes: &Sizes| {
        let draw = SizeDraw::new(sizes, REQUEST_BYTES_MAX.min(params.span.0))?;
        if draw.all().all(|size| size.is_multiple_of(PAGE)) {
            return Ok(draw);
        }
        Err(wrong(key, format!("`{}` are not whole pages", sizes.0), "use multiples of 4 KiB"))
    };
    Ok(Box::new(Rewrites {
        random: SplitMix(context.seed),
        base,
        gap: pages("gap", params.gap, 0, params.span.0)?,
        ground: Ground { words: vec![0; span.div_ceil(64) as usize], pages: span },
        new: Chance::new(params.new),
        near: Chance::new(params.near),
        sizes: [sizes("rewrite_size", &params.rewrite_size)?, sizes("size", &params.size)?],
        lengths: lengths(&params.length.0)?,
        earlier: Ring { places: Vec::new(), next: 0, horizon: params.horizon as usize },
        run: Run { left: 0, fresh: true, new: true, at: 0 },
        head: None,
        clock: Clock::new(&params.arrival)?,
    }))
}

/// Requests of a run, by weight.
fn lengths(text: &str) -> Result<(Alias, Vec<u64>), ConfigError> {
    let (mut numbers, mut weights) = (Vec::new(), Vec::new());
    for (number, weight) in weighted("length", text)? {
        numbers.push(within("length", number.parse().unwrap_or(0), 1, 1 << 32)?);
        weights.push(weight);
    }
    Ok((Alias::new(weights.into_iter()), numbers))
}

struct Rewrites {
    random: SplitMix,
    /// First page.
    base: u64,
    /// Pages left free before new ground near the last.
    gap: u64,
    ground: Ground,
    new: Chance,
    near: Chance,
    /// On old and on new ground.
    sizes: [SizeDraw; 2],
    lengths: (Alias, Vec<u64>),
    earlier: Ring,
    run: Run,
    /// Where the last request on new ground ended.
    head: Option<u64>,
    clock: Clock,
}

/// The run at hand.
struct Run {
    /// Requests that follow.
    left: u64,
    /// None was made yet.
    fresh: bool,
    new: bool,
    /// Where it goes on.
    at: u64,
}

impl Rewrites {
    fn begin(&mut self) {
        let (weights, numbers) = &self.lengths;
        let left = numbers[weights.draw(&mut self.random) as usize];
        let new = self.random.chance(self.new) || self.earlier.places.is_empty();
        self.run = Run { left, fresh: true, new, at: 0 };
    }

    /// Place and pages of the next request if it goes to new ground and there is room.
    fn on_new_ground(&mut self) -> Option<(u64, u64)> {
        let count = self.sizes[1].draw(&mut self.random) / PAGE;
        let from = match self.head {
            _ if !self.run.fresh => self.run.at,
            Some(head) if self.random.chance(self.near) => head + self.gap,
            _ => self.random.below(self.ground.pages),
        };
        let at = self.ground.room(from, count)?;
        self.earlier.push((at as u32, count as u32));
        self.head = Some(at + count);
        Some((at, count))
    }

    /// The same on old ground; nothing where the ground ends.
    fn on_old_ground(&mut self) -> Option<(u64, u64)> {
        let count = self.sizes[0].draw(&mut self.random) / PAGE;
        if !self.run.fresh {
            let written = self.ground.first_free(self.run.at) - self.run.at;
            return (written > 0).then_some((self.run.at, count.min(written)));
        }
        let mut written = 0;
        for _ in 0..TRIES {
            let (start, pages) = self.earlier.draw(&mut self.random);
            self.run.at = u64::from(start) + self.random.below(pages.into());
            written = self.ground.first_free(self.run.at) - self.run.at;
            if written >= count {
                break;
            }
        }
        Some((self.run.at, count.min(written)))
    }
}

impl Iterator for Rewrites {
    type Item = TraceRecord;

    fn next(&mut self) -> Option<TraceRecord> {
        if self.run.left == 0 {
            self.begin();
        }
        let mut place = if self.run.new { self.on_new_ground() } else { self.on_old_ground() };
        while place.is_none() {
            // No room: over old ground instead. The ground ended: the next run.
            if self.run.new {
                (self.run.new, self.run.fresh) = (false, true);
            } else {
                self.begin();
            }
            place = if self.run.new { self.on_new_ground() } else { self.on_old_ground() };
        }
        let (at, count) = place?;
        self.ground.write(at, count);
        self.run = Run { left: self.run.left - 1, fresh: false, at: at + count, ..self.run };
        let mut record = TraceRecord::plain(self.clock.now, HostOp::Write, (self.base + at) * PAGE, count * PAGE);
        record.hint.pattern = if self.lengths.1 == [1] { Pattern::Random } else { Pattern::Sequential };
        self.clock.advance(&mut self.random);
        Some(record)
    }
}

/// The last requests on new ground: first page and pages.
struct Ring {
    places: Vec<(u32, u32)>,
    /// Where the next goes once all places are taken.
    next: usize,
    horizon: usize,
}

impl Ring {
    fn push(&mut self, place: (u32, u32)) {
        if self.places.len() < self.horizon {
            self.places.push(place);
        } else {
            self.places[self.next] = place;
            self.next = (self.next + 1) % self.horizon;
        }
    }

    /// One of them: a power of two drawn evenly, then an age from there to below the next.
    fn draw(&self, random: &mut SplitMix) -> (u32, u32) {
        let known = self.places.len() as u64;
        let octaves = u64::from(known.ilog2()) + 1;
        loop {
            let low = 1 << random.below(octaves);
            let age = low + random.below(low);
            if age <= known {
                return self.places[((self.next as u64 + known - age) % known) as usize];
            }
        }
    }
}

/// Which pages were written.
struct Ground {
    words: Vec<u64>,
    pages: u64,
}

impl Ground {
    /// The first page from `at` on whose bit is 1 after `flip`, or the end.
    fn first(&self, at: u64, flip: u64) -> u64 {
        let mut word = (at / 64) as usize;
        let mut mask = !0 << (at % 64);
        while let Some(bits) = self.words.get(word) {
            let found = (bits ^ flip) & mask;
            if found != 0 {
                return (word as u64 * 64 + u64::from(found.trailing_zeros())).min(self.pages);
            }
            (word, mask) = (word + 1, !0);
        }
        self.pages
    }
    fn first_free(&self, at: u64) -> u64 {
        self.first(at, !0)
    }
    fn first_written(&self, at: u64) -> u64 {
        self.first(at, 0)
    }

    /// The first stretch of `count` free pages at or after `from`, else from the beginning.
    fn room(&self, from: u64, count: u64) -> Option<u64> {
        let search = |from: u64| {
            let mut at = self.first_free(from);
            while at + count <= self.pages {
                let end = self.first_written(at);
                if end - at >= count {
                    return Some(at);
                }
                at = self.first_free(end);
            }
            None
        };
        search(from.min(self.pages)).or_else(|| search(0))
    }

    fn write(&mut self, at: u64, count: u64) {
        for page in at..at + count {
            self.words[(page / 64) as usize] |= 1 << (page % 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(params: &Params, n: usize) -> Vec<(u64, u64)> {
        let records = build(params, Context::new(1)).unwrap().take(n);
        records.map(|r| (r.offset / PAGE, u64::from(r.length) / PAGE)).collect()
    }

    #[test]
    fn requests_lie_wholly_on_new_or_wholly_on_old_ground() {
        let params = Params { size: Sizes("4KiB,32KiB".to_owned()), ..Params::default() };
        let mut written = vec![false; 1 << 18];
        let mut new = 0;
        for (at, count) in records(&params, 20_000) {
            let pages = &mut written[at as usize..(at + count) as usize];
            let old = pages.iter().filter(|page| **page).count() as u64;
            assert!(old == 0 || old == count, "{old} of {count} pages at {at} were written before");
            new += u64::from(old == 0);
            pages.fill(true);
        }
        assert!((3_850..4_150).contains(&new), "{new} of 20,000 on new ground");
    }

    #[test]
    fn runs_adjoin_and_have_their_lengths() {
        let params = Params { length: Sizes("4".to_owned()), span: Bytes::mib(16 << 10), ..Params::default() };
        let places = records(&params, 40_000);
        let adjoining = places.windows(2).filter(|pair| pair[0].0 + pair[0].1 == pair[1].0).count();
        // Three of four; a run over old ground may end with it, and a run may begin where the last one ended.
        assert!((26_000..33_000).contains(&adjoining), "{adjoining}");
    }

    #[test]
    fn full_span_is_written_again() {
        let params = Params { span: Bytes::kib(64), new: 1.0, gap: Bytes(PAGE), ..Params::default() };
        let places = records(&params, 1_000);
        assert!(places.iter().all(|(at, count)| *count > 0 && at + count <= 16));
    }

    #[test]
    fn ages_fall_off_as_one_over_age() {
        let ring = Ring { places: (0..100).map(|i| (i, 1)).collect(), next: 40, horizon: 100 };
        let (mut random, mut counts) = (SplitMix(3), [0u32; 100]);
        for _ in 0..70_000 {
            counts[ring.draw(&mut random).0 as usize] += 1;
        }
        // The youngest stands before the place that is taken next. Ages 1, 2 to 3, 4 to 7 and so on are equally likely
        // except for the last octave, of which 64 to 100 exist.
        let of = |ages: std::ops::RangeInclusive<usize>| ages.map(|age| counts[(140 - age) % 100]).sum::<u32>();
        let octave = f64::from(of(1..=1));
        for ages in [2..=3, 4..=7, 8..=15, 16..=31, 32..=63] {
            assert!((f64::from(of(ages)) / octave - 1.0).abs() < 0.05);
        }
        assert!((f64::from(of(64..=100)) / octave - 37.0 / 64.0).abs() < 0.05);
    }
}
