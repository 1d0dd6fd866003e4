//! zipf - Popularity by rank: the k-th most popular unit is drawn in proportion to 1 / k^theta
//!
//! # Source
//! Textbook. Drawn with Walker's alias method in integers ("An efficient method for generating discrete random variables
//! with general distributions", 1977): constant time, and exact for its weights, which are `1 / k^theta` rounded down to
//! at least 2^-38 of the largest.
//!
//! # What it does
//! The span is divided into units. A request draws a unit by popularity; if the unit is larger than the alignment, an
//! even place inside.
//!
//! # Deviations and chosen readings
//! A request longer than a unit touches its neighbours, which then are more popular than their rank. Near the end of
//! the span such requests are moved forward until they fit.

use nandlab::error::ConfigError;
use nandlab::types::{Bytes, Pattern};

use super::random::{Alias, SplitMix, ZIPF_ITEMS_MAX, scatter_below, zipf};
use super::shape::{Place, Shape};
use super::{Context, RequestStream, wrong};

nandlab::params! {
    pub struct Params {
        /// The exponent; 0 is uniform.
        theta: f64 = 0.99, in 0.0..=8.0;
        /// Bytes of a unit of popularity, a multiple of `align`. At most 2^24 units: a larger span needs larger units. A table
        /// of 12 bytes for each unit is kept.
        unit: Bytes = Bytes::kib(4);
        /// Whether ranks lie scattered over the span by a fixed bijection, or in order from its beginning.
        scattered: bool = true;
        ..shape: Shape = Shape::new("4KiB", 0.5);
    }
}

struct Zipf {
    ranks: Alias,
    units: u64,
    unit: u64,
    align: u64,
    scattered: bool,
}

/// Builds the generator.
///
/// # Errors
/// A parameter is out of range.
pub fn build(params: &Params, context: Context) -> Result<RequestStream, ConfigError> {
    let (bounds, unit) = (params.shape.bounds()?, params.unit.0);
    if unit == 0 || !unit.is_multiple_of(bounds.align) || unit > bounds.span {
        let help = format!("use a multiple of align, which is {}, up to the span", Bytes(bounds.align));
        return Err(wrong("unit", format!("{} cannot be a unit", params.unit), help));
    }
    let units = bounds.span / unit;
    if units > ZIPF_ITEMS_MAX {
        let help = format!("use unit={} or more, or a smaller span", Bytes((bounds.span >> 24).next_power_of_two()));
        return Err(wrong("unit", format!("{units} units are more than {ZIPF_ITEMS_MAX}"), help));
    }
    let ranks = zipf(units, params.theta);
    let place = Zipf { ranks, units, unit, align: bounds.align, scattered: params.scattered };
    Ok(Box::new(params.shape.at(place, context)?))
}

impl Place for Zipf {
    const HINT: Pattern = Pattern::Random;
    #[inline]
    fn place(&mut self, random: &mut SplitMix, _: u64) -> u64 {
        let rank = self.ranks.draw(random);
        let unit = if self.scattered { scatter_below(rank, self.units) } else { rank };
        let inside = if self.unit > self.align { random.below(self.unit / self.align) * self.align } else { 0 };
        unit * self.unit + inside
    }
}
