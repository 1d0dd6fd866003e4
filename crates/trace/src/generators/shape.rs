//! The parameters that the generators of access patterns share: all but *where* a request goes.

use nandlab::error::ConfigError;
use nandlab::types::{Bytes, HostOp, Nanos, Pattern};

use super::random::{Chance, Exponential, SplitMix};
use super::text::{SizeDraw, Sizes};
use super::{Context, within, wrong};
use crate::row::{ADDRESS_BYTES_MAX, REQUEST_BYTES_MAX, TraceRecord};

nandlab::params! {
    pub struct Shape {
        /// The first byte that is addressed.
        base: Bytes = Bytes(0);
        /// Bytes from there that are addressed, whole sectors.
        span: Bytes = Bytes::mib(1024), in Bytes(512)..=Bytes(1 << 60);
        /// Bytes of a request, or sizes with weights: `size=4KiB@3,64KiB@1` is one request of 64 KiB to three of 4 KiB. Whole
        /// sectors up to 1 GiB.
        size: Sizes = Sizes("4KiB".to_owned());
        /// Requests begin at multiples of this, counted from `base`: whole sectors up to the span.
        align: Bytes = Bytes::kib(4);
        /// Writes among the requests.
        writes: f64 = 0.5, in 0.0..=1.0, "share of the requests";
        /// How much reads and writes come in runs. With this chance a request does what the one before did, else its direction
        /// is drawn again: a chain of two states whose share of writes is `writes` for every persistence below 1, and
        /// in which the correlation of neighbours is `persistence`.
        persistence: f64 = 0.0, in 0.0..=1.0;
        /// After every how many writes a flush of the whole device comes, at the time of the last of them, as from a host that
        /// waits until its data is safe (`fsync`); 0: none come. A flush is a request too.
        flush_every: u32 = 0, "writes";
        /// `constant@GAP`; `exponential@GAP` with this mean (a Poisson process); `bursty@GAP@N@PAUSE`, which is bursts of N
        /// requests on average (geometric) with exponential gaps of mean GAP, and between bursts exponential pauses of mean
        /// PAUSE; or `closed`: every request at time 0, for hosts that wait for answers (`--mode closed`).
        arrival: String = "exponential@1ms".to_owned();
    }
}

impl Shape {
    /// The defaults, except for the size of requests and the share of writes.
    pub(crate) fn new(size: &str, writes: f64) -> Self {
        Self { size: Sizes(size.to_owned()), writes, ..Self::default() }
    }

    /// Span, alignment and largest request, for patterns.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub(crate) fn bounds(&self) -> Result<Bounds, ConfigError> {
        let (span, align) = (self.span.0, self.align.0);
        if !span.is_multiple_of(512) {
            return Err(wrong("span", format!("{} cannot be addressed", self.span), "use whole sectors of 512 B"));
        }
        if self.base.0 > ADDRESS_BYTES_MAX - span {
            return Err(wrong("base", format!("{} is too far", self.base), "base and span end below 2^63 bytes"));
        }
        if !align.is_multiple_of(512) || !(512..=span).contains(&align) {
            let help = format!("use whole sectors, from 512 B to the span of {}", self.span);
            return Err(wrong("align", format!("{} cannot be the alignment", self.align), help));
        }
        let sizes = SizeDraw::new(&self.size, REQUEST_BYTES_MAX.min(span))?;
        Ok(Bounds { span, align, size_max: sizes.max() })
    }

    /// Requests at the places of a pattern.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub(crate) fn at<P: Place>(&self, place: P, context: Context) -> Result<Shaped<P>, ConfigError> {
        let bounds = self.bounds()?;
        let writes = Chance::new(self.writes);
        let mut random = SplitMix(context.seed);
        Ok(Shaped {
            place,
            base: self.base.0,
            bounds,
            sizes: SizeDraw::new(&self.size, bounds.span)?,
            writes,
            persistence: Chance::new(self.persistence),
            writing: random.chance(writes),
            flush_every: self.flush_every,
            unflushed: 0,
            clock: Clock::new(&self.arrival)?,
            random,
        })
    }
}

/// Where requests may lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Bytes that are addressed.
    pub(crate) span: u64,
    /// Bytes.
    pub(crate) align: u64,
    /// Bytes of the largest request.
    pub(crate) size_max: u64,
}

impl Bounds {
    /// An aligned place in bytes, moved forward if the request would leave the span.
    #[inline]
    pub(crate) const fn fit(&self, place: u64, length: u64) -> u64 {
        let last = self.span - length;
        if place <= last { place } else { last - last % self.align }
    }
    /// A place drawn evenly from all that fit.
    #[inline]
    pub(crate) fn anywhere(&self, random: &mut SplitMix, length: u64) -> u64 {
        random.below((self.span - length) / self.align + 1) * self.align
    }
}

/// Where requests go.
pub(crate) trait Place: Send {
    /// What a host would say about the pattern.
    const HINT: Pattern;
    /// The first byte of a request of this length, counted from the base: a multiple of the alignment. A request that would
    /// leave the span is moved forward afterwards.
    fn place(&mut self, random: &mut SplitMix, length: u64) -> u64;
}

/// A pattern with sizes, directions and times.
pub(crate) struct Shaped<P> {
    place: P,
    base: u64,
    bounds: Bounds,
    sizes: SizeDraw,
    writes: Chance,
    persistence: Chance,
    writing: bool,
    flush_every: u32,
    /// Writes since the last flush.
    unflushed: u32,
    clock: Clock,
    random: SplitMix,
}

impl<P> Shaped<P> {
    #[inline]
    const fn is_flush_due(&self) -> bool {
        self.flush_every > 0 && self.unflushed == self.flush_every
    }
}

impl<P: Place> Iterator for Shaped<P> {
    type Item = TraceRecord;

    #[inline]
    fn next(&mut self) -> Option<TraceRecord> {
        if self.is_flush_due() {
            self.unflushed = 0;
            let flush = TraceRecord::plain(self.clock.now, HostOp::Flush, 0, 0);
            self.clock.advance(&mut self.random);
            return Some(flush);
        }
        let length = self.sizes.draw(&mut self.random);
        let place = self.place.place(&mut self.random, length);
        let offset = self.base + self.bounds.fit(place, length);
        let op = if self.writing { HostOp::Write } else { HostOp::Read };
        let mut record = TraceRecord::plain(self.clock.now, op, offset, length);
        record.hint.pattern = P::HINT;
        self.unflushed += u32::from(self.writing && self.flush_every > 0);
        if !self.random.chance(self.persistence) {
            self.writing = self.random.chance(self.writes);
        }
        // The flush comes with the write before it.
        if !self.is_flush_due() {
            self.clock.advance(&mut self.random);
        }
        Some(record)
    }
}

/// Longest gap or pause between requests, in ns.
const GAP_NS_MAX: u64 = 1 << 50;

/// When requests arrive.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// Time of the next request in ns.
    pub(crate) now: u64,
    arrival: Arrival,
    exponential: Exponential,
}

#[derive(Clone, Copy, Debug)]
enum Arrival {
    Constant(u64),
    Exponential(u64),
    /// Gap, chance that a burst ends, pause.
    Bursty(u64, Chance, u64),
    Closed,
}

impl Clock {
    /// Reads the text of the parameter `arrival`.
    pub(crate) fn new(text: &str) -> Result<Self, ConfigError> {
        let time = |text: &str| match Nanos::parse(text) {
            Ok(time) if time.0 <= GAP_NS_MAX => Ok(time.0),
            Ok(_) => {
                Err(wrong("arrival", format!("{text} is out of range"), "use a time from 0ns to 1125899.9s (13 days)"))
            }
            Err(problem) => Err(wrong("arrival", problem, "as in exponential@1ms")),
        };
        let arrival = match text.split('@').collect::<Vec<_>>()[..] {
            ["closed"] => Arrival::Closed,
            ["constant", gap] => Arrival::Constant(time(gap)?),
            ["exponential", gap] => Arrival::Exponential(time(gap)?),
            ["bursty", gap, requests, pause] => {
                let requests = within("arrival", requests.parse().unwrap_or(0), 1, 1 << 32)?;
                Arrival::Bursty(time(gap)?, Chance::new(1.0 / requests as f64), time(pause)?)
            }
            _ => {
                let help = "use constant@GAP, exponential@GAP, bursty@GAP@N@PAUSE or closed, as in bursty@50us@32@20ms";
                return Err(wrong("arrival", format!("`{text}` is not an arrival process"), help));
            }
        };
        Ok(Self { now: 0, arrival, exponential: Exponential::new() })
    }

    /// On to the next request.
    #[inline]
    pub(crate) fn advance(&mut self, random: &mut SplitMix) {
        let mean = match self.arrival {
            Arrival::Closed => return,
            Arrival::Constant(gap) => {
                self.now = self.now.saturating_add(gap);
                return;
            }
            Arrival::Bursty(_, end, pause) if random.chance(end) => pause,
            Arrival::Exponential(gap) | Arrival::Bursty(gap, ..) => gap,
        };
        let gap = (u128::from(mean) * u128::from(self.exponential.draw(random))) >> 32;
        self.now = self.now.saturating_add(gap as u64);
    }
}
