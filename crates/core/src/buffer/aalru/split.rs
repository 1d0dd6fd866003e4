//! How AALRU divides the frames: equations 1 to 3 of its paper.
//!
//! Each side is worth what its hits of a period saved per page, and gets its share of the worth: RB `tau` pages, WB the
//! others.

/// Hits of a period.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hits {
    /// Reads in RB.
    pub rrh: u64,
    /// Writes in RB.
    pub rwh: u64,
    /// Reads in WB.
    pub wrh: u64,
    /// Writes in WB.
    pub wwh: u64,
}

impl Hits {
    /// What a page of RB and one of WB saved (equations 1 and 2); `d_read` and `d_write` in any one unit.
    pub fn benefits(self, tau: u32, frames: u32, d_read: f64, d_write: f64) -> (f64, f64) {
        let of = |reads: u64, writes: u64, pages: u32| {
            (writes as f64 * d_write + reads as f64 * d_read) / f64::from(pages.max(1))
        };
        (of(self.rrh, self.rwh, tau), of(self.wrh, self.wwh, frames.saturating_sub(tau)))
    }
    /// tau after a period (equation 3), pages of `frames`.
    pub fn next_tau(self, tau: u32, frames: u32, tau_min: f64, d_read: f64, d_write: f64) -> u32 {
        let (rr, wr) = self.benefits(tau, frames, d_read, d_write);
        if rr + wr > 0.0 { clamp_tau(rr / (wr + rr) * f64::from(frames), frames, tau_min) } else { tau }
    }
}

/// Whole pages; at least one page and the share `tau_min` on either side.
pub(super) fn clamp_tau(tau: f64, frames: u32, tau_min: f64) -> u32 {
    let all = f64::from(frames);
    let tau = tau.clamp(tau_min * all, (1.0 - tau_min) * all).round() as u32;
    tau.clamp(1, frames.saturating_sub(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn side_that_saves_more_grows() {
        let tau = |rrh, rwh, wrh, wwh| Hits { rrh, rwh, wrh, wwh }.next_tau(50, 100, 0.1, 1.0, 4.0);
        assert_eq!(tau(4, 0, 0, 1), 50, "a write saves as much as four reads here");
        assert_eq!((tau(3, 0, 1, 0), tau(0, 1, 0, 3)), (75, 25));
        assert_eq!((tau(9, 9, 0, 0), tau(0, 0, 9, 9)), (90, 10), "each side keeps its least share");
        assert_eq!(tau(0, 0, 0, 0), 50, "without hits nothing is known");
    }

    #[test]
    fn each_side_keeps_a_page() {
        assert_eq!((clamp_tau(0.0, 100, 0.0), clamp_tau(100.0, 100, 0.0)), (1, 99));
        assert_eq!((clamp_tau(0.0, 2, 0.1), clamp_tau(2.0, 2, 0.1), clamp_tau(0.4, 1, 0.1)), (1, 1, 1));
    }
}
