//! Axes chosen from the data: where they begin, and whether they are logarithmic.

use crate::axis::{Axis, AxisUnit};

/// A line whose peak is that many times that of the usual line presses the others flat.
const FLATTENS: f64 = 4.0;
/// So do peaks of the data: then half of the values lie below this part of the greatest.
const LOW_PART: f64 = 1.0 / 20.0;
/// An axis that begins at 0 leaves at most this part of itself empty below the data.
const EMPTY_BELOW: f64 = 0.5;

impl Axis {
    /// An axis for the values of some lines, by rule:
    ///
    /// - logarithmic, if it would else show little: the peak of one line is more than 4 times the usual (the median of the
    ///   others), or half of the values above 0 lie below a twentieth of the greatest;
    /// - else from 0, if the least value lies in the lower half of that;
    /// - else from a round number below the least value, which the label then says, and a break of the axis shows.
    ///
    /// Percentages end at 100 at most, and are never logarithmic: what is small among them matters little.
    pub fn fit(label: &str, unit: AxisUnit, lines: &[Vec<f64>]) -> Self {
        let values = || lines.iter().flatten().copied().filter(|value| value.is_finite());
        let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            return Self::linear(label, unit, [0.0, 1.0]);
        }
        let least_above = values().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        if unit != AxisUnit::Percent && low >= 0.0 && is_flattened(lines) {
            return Self::log(label, unit, [least_above / 1.25, high * 1.25]).with_zero_at_foot(low == 0.0);
        }
        let top = if unit == AxisUnit::Percent { (high * 1.05).min(100.0) } else { high * 1.05 };
        if low < high * EMPTY_BELOW || high <= 0.0 {
            return Self::linear(label, unit, [low.min(0.0), top]);
        }
        // Differences of less than a twentieth are not blown up to the whole height.
        let room = (high - low).max(high / 20.0);
        let step = crate::axis::nice_step(room / 4.0).0;
        let foot = ((low - room / 4.0) / step).floor() * step;
        Self::linear(label, unit, [foot.max(0.0), top.max(low + room)]).broken()
    }
}

/// On a linear axis most of the data would lie at its foot.
fn is_flattened(lines: &[Vec<f64>]) -> bool {
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len().saturating_sub(1) / 2).copied()
    };
    let mut peaks: Vec<f64> = lines.iter().filter_map(|line| line.iter().copied().reduce(f64::max)).collect();
    peaks.sort_by(f64::total_cmp);
    let highest = peaks.pop().unwrap_or(0.0);
    let mut above: Vec<f64> = lines.iter().flatten().copied().filter(|value| *value > 0.0).collect();
    let one_line = median(&mut peaks).is_some_and(|usual| usual > 0.0 && highest > FLATTENS * usual);
    one_line || median(&mut above).is_some_and(|value| value < LOW_PART * highest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(lines: &[&[f64]]) -> Axis {
        Axis::fit("y", AxisUnit::Count, &lines.iter().map(|line| line.to_vec()).collect::<Vec<_>>())
    }

    #[test]
    fn axis_begins_at_zero_unless_that_wastes_half_of_it() {
        assert_eq!(fit(&[&[1.0, 3.0]]).label(), "y");
        assert!(fit(&[&[1.0, 3.0]]).place(0.0) == 0.0 && fit(&[&[1.0, 3.0]]).place(1.0) > 0.3);
        let broken = fit(&[&[90.0, 100.0], &[95.0, 97.0]]);
        assert!(broken.label().starts_with("y (from ") && broken.is_broken(), "{}", broken.label());
        assert!(broken.place(90.0) > 0.0 && broken.place(90.0) < 0.35, "{broken:?}");
        let close = fit(&[&[100.0, 100.01]]);
        assert!(close.place(100.01) - close.place(100.0) < 0.01, "noise is not blown up: {close:?}");
        let percent = Axis::fit("hits", AxisUnit::Percent, &[vec![40.0, 99.0]]);
        assert!(percent.place(100.0) == 1.0 && percent.place(99.0) < 1.0);
        let low_hits = Axis::fit("hits", AxisUnit::Percent, &[vec![0.01], vec![50.0], vec![0.02]]);
        assert_eq!(low_hits.label(), "hits (%)");
        assert_eq!(Axis::fit("y", AxisUnit::Count, &[]).label(), "y");
    }

    #[test]
    fn axis_is_logarithmic_when_one_line_presses_the_others_flat() {
        let lines: [&[f64]; 3] = [&[1.5, 1.1, 1.0], &[1.4, 1.2, 1.0], &[49.0, 30.0, 20.0]];
        let log = fit(&lines);
        assert_eq!(log.label(), "y (log)");
        assert!(log.place(1.5) - log.place(1.0) > 0.05);
        assert!(!fit(&lines[..2]).label().contains("log"), "no line is far from the others");
        let bursts: Vec<f64> = (0..100).map(|i| if i == 50 { 10_000.0 } else { f64::from(i % 7) }).collect();
        let log = fit(&[&bursts]);
        assert_eq!(log.label(), "y (log, 0 at its foot)");
        assert_eq!(log.place(0.0), 0.0);
        assert!(log.place(1.0) > 0.0);
    }
}
