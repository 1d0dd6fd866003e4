//! hot-cold - Two regions: a share r of the requests goes to a share f of the space
//!
//! # Source
//! Rosenblum and Ousterhout, The design and implementation of a log-structured file system (1992), section 3.5
//! ("hot-and-cold"); the model of most analyses of garbage collection.
//!
//! # What it does
//! With chance `r` a request goes to the hot region, the first share `f` of the span, else to the rest; inside a region
//! every place is as likely as the next.

use nandlab::error::ConfigError;
use nandlab::types::{Bytes, Pattern};

use super::random::{Chance, SplitMix};
use super::shape::{Bounds, Place, Shape};
use super::{Context, RequestStream, wrong};

nandlab::params! {
    pub struct Params {
        /// Requests that go to the hot region.
        r: f64 = 0.9, in 0.0..=1.0, "share of the requests";
        /// Size of the hot region. Both regions must have room for the largest request.
        f: f64 = 0.1, in 0.0..=1.0, "share of the span";
        ..shape: Shape = Shape::new("4KiB", 0.5);
    }
}

struct HotCold {
    hot: Chance,
    hot_region: Bounds,
    cold_region: Bounds,
}

/// Builds the generator.
///
/// # Errors
/// A parameter is out of range.
pub fn build(params: &Params, context: Context) -> Result<RequestStream, ConfigError> {
    let bounds = params.shape.bounds()?;
    let hot = Chance::new(params.r);
    let slots = bounds.span / bounds.align;
    let hot_bytes = (slots as f64 * params.f) as u64 * bounds.align;
    let cold_bytes = slots * bounds.align - hot_bytes;
    if hot_bytes.min(cold_bytes) < bounds.size_max {
        let problem = format!(
            "regions of {} and {} have no room for requests of {}",
            Bytes(hot_bytes),
            Bytes(cold_bytes),
            Bytes(bounds.size_max)
        );
        return Err(wrong("f", problem, "use another f, a larger span or smaller requests"));
    }
    let region = |span| Bounds { span, ..bounds };
    let place = HotCold { hot, hot_region: region(hot_bytes), cold_region: region(cold_bytes) };
    Ok(Box::new(params.shape.at(place, context)?))
}

impl Place for HotCold {
    const HINT: Pattern = Pattern::ClusteredHot;
    #[inline]
    fn place(&mut self, random: &mut SplitMix, length: u64) -> u64 {
        if random.chance(self.hot) {
            self.hot_region.anywhere(random, length)
        } else {
            self.hot_region.span + self.cold_region.anywhere(random, length)
        }
    }
}
