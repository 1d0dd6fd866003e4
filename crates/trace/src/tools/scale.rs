//! scale - The same requests faster or slower
//!
//! A time `t` becomes `first + (t - first) x factor`, rounded down, in exact whole-number arithmetic; the first request
//! stays where it is. Bursts stay bursts: only the unit of time changes. A target rate is reached by the factor that
//! makes the mean rate (requests after the first, divided by the time between the first and the last) the wanted one;
//! it is known after one pass over the trace.

use super::{Counts, Flow, Tool};
use crate::row::{TIME_NS_MAX, TraceRecord};
use nandlab::types::Nanos;

/// An exact fraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ratio {
    /// Above the line.
    pub numerator: u64,
    /// Below the line, not 0.
    pub denominator: u64,
}

impl Ratio {
    /// Parses a decimal (`0.25`) or a fraction (`1/3`) without sign and exponent.
    ///
    /// # Errors
    /// A sentence that says what is accepted.
    pub fn parse(text: &str) -> Result<Self, String> {
        let said = || format!("`{text}` is not a number such as 0.25 or 1/3, with at most 18 digits and above 0");
        let digits = |part: &str| {
            let good = !part.is_empty() && part.len() <= 18 && part.bytes().all(|b| b.is_ascii_digit());
            part.parse::<u64>().ok().filter(|_| good)
        };
        let ratio = if let Some((above, below)) = text.split_once('/') {
            digits(above).zip(digits(below))
        } else {
            let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
            let all = digits(&format!("{whole}{fraction}"));
            all.zip(10u64.checked_pow(fraction.len() as u32))
        };
        match ratio {
            Some((numerator, denominator)) if numerator > 0 && denominator > 0 => Ok(Self { numerator, denominator }),
            _ => Err(said()),
        }
    }
}

/// First and last time and the number of requests, for a target rate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    first_ns: Option<u64>,
    last_ns: u64,
    requests: u64,
}

impl Span {
    /// Accounts for a request.
    pub fn add(&mut self, record: &TraceRecord) {
        self.first_ns.get_or_insert(record.at.0);
        self.last_ns = self.last_ns.max(record.at.0);
        self.requests += 1;
    }
    /// The factor that makes the mean rate this many requests per second.
    ///
    /// # Errors
    /// All requests have the same time, or there are less than two, or the numbers are too large.
    pub fn factor(&self, per_second: u64) -> Result<(u128, u128), String> {
        let duration = self.last_ns.saturating_sub(self.first_ns.unwrap_or(0));
        if self.requests < 2 || duration == 0 {
            return Err("the trace has no rate: all its requests have the same time".to_owned());
        }
        let above = u128::from(self.requests - 1) * 1_000_000_000;
        let below = u128::from(duration) * u128::from(per_second);
        let divisor = gcd(above, below);
        Ok((above / divisor, below / divisor))
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The `scale` tool: multiplies the times of a trace by an exact ratio.
#[derive(Clone, Debug)]
pub struct Scale {
    numerator: u128,
    denominator: u128,
    first_ns: Option<u64>,
}

impl Scale {
    /// Multiplies the time between requests.
    pub fn time(factor: Ratio) -> Self {
        Self::exactly(factor.numerator.into(), factor.denominator.into())
    }
    /// The same with larger numbers; the denominator is not 0.
    pub fn exactly(numerator: u128, denominator: u128) -> Self {
        Self { numerator, denominator, first_ns: None }
    }
}

impl Tool for Scale {
    fn feed(&mut self, record: &TraceRecord, out: &mut Vec<TraceRecord>) -> Result<Flow, String> {
        let now = record.at.0;
        let first = *self.first_ns.get_or_insert(now);
        let scaled = u128::from(now.abs_diff(first)).checked_mul(self.numerator).map(|t| t / self.denominator);
        let first = u128::from(first);
        // A row recorded before the first one moves the other way.
        let moved = scaled
            .and_then(|gap| if u128::from(now) >= first { first.checked_add(gap) } else { first.checked_sub(gap) });
        match moved {
            Some(at) if at <= u128::from(TIME_NS_MAX) => {
                out.push(TraceRecord { at: Nanos(at as u64), ..*record });
                Ok(Flow::More)
            }
            _ => Err(format!(
                "the time {now} ns, scaled by {}/{}, is outside 0 to {TIME_NS_MAX} ns; use a smaller factor",
                self.numerator, self.denominator
            )),
        }
    }
    fn counts(&self) -> Counts {
        Counts::new()
    }
}
