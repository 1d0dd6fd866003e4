//! Axes: where a value lies, and which values get a tick.

use serde_json::{Value, json};

use crate::log::log2;

/// What values on an axis are, which decides how ticks are spaced and named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AxisUnit {
    /// A number of things, or a number without a unit.
    Count,
    /// Percent.
    Percent,
    /// Bytes, shown in powers of 1,024.
    Bytes,
    /// Nanoseconds, shown from ns to days.
    Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scale {
    Linear,
    Log,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    label: String,
    unit: AxisUnit,
    scale: Scale,
    low: f64,
    high: f64,
    foot: Foot,
    /// Of an axis of names: the k-th lies at k + 1/2.
    names: Vec<String>,
    /// Where its ticks are; at round values if empty.
    tick_values: Vec<f64>,
}

/// What the label says about the beginning of an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Foot {
    /// Nothing.
    Plain,
    /// The axis is linear and does not begin at 0, where one would expect it.
    Broken,
    /// The axis is logarithmic, and values of 0 lie at its beginning.
    Zero,
}

/// A tick.
#[derive(Clone, PartialEq, Debug)]
pub struct Tick {
    /// Place on the axis, 0 to 1.
    pub place: f64,
    /// Its name.
    pub text: String,
}

const TIMES: [(f64, &str); 7] =
    [(1.0, "ns"), (1e3, "us"), (1e6, "ms"), (1e9, "s"), (60e9, "min"), (3_600e9, "h"), (86_400e9, "d")];
const SIZES: [(f64, &str); 6] = [
    (1.0, "B"),
    (1024.0, "KiB"),
    (1_048_576.0, "MiB"),
    (1_073_741_824.0, "GiB"),
    (1_099_511_627_776.0, "TiB"),
    (1_125_899_906_842_624.0, "PiB"),
];

/// The ends of an axis lie within this, so that ticks are few and finite.
const LARGEST: f64 = 1e24;

/// The value within the bounds of an axis; what is not a number is 0, or the least value.
fn tame(value: f64, least: f64) -> f64 {
    if value.is_nan() { least.max(0.0) } else { value.clamp(least, LARGEST) }
}

impl Axis {
    /// Equal distances for equal differences. A range without extent is widened.
    pub fn linear(label: &str, unit: AxisUnit, [low, high]: [f64; 2]) -> Self {
        let (low, high) = (tame(low, -LARGEST), tame(high, -LARGEST));
        // A sixteenth of a huge number, so that the sum is another one.
        let high = if high > low { high } else { low + (low.abs() / 16.0).max(1.0) };
        Self::plain(label, unit, Scale::Linear, [low, high])
    }
    /// Equal distances for equal ratios. A range that does not begin above 0, or has no extent, is corrected.
    pub fn log(label: &str, unit: AxisUnit, [low, high]: [f64; 2]) -> Self {
        let low = if low > 0.0 { tame(low, 1.0 / LARGEST) } else { 1.0 };
        let high = tame(high, 1.0 / LARGEST);
        let high = if high > low { high } else { low * 2.0 };
        Self::plain(label, unit, Scale::Log, [low, high])
    }
    fn plain(label: &str, unit: AxisUnit, scale: Scale, [low, high]: [f64; 2]) -> Self {
        let (label, foot) = (label.to_owned(), Foot::Plain);
        Self { label, unit, scale, low, high, foot, names: Vec::new(), tick_values: Vec::new() }
    }
    /// Names side by side, the k-th (from 0) around k + 1/2, for groups of [bars](crate::Layer::bars).
    pub fn names(label: &str, names: Vec<String>) -> Self {
        let axis = Self::linear(label, AxisUnit::Count, [0.0, names.len().max(1) as f64]);
        Self { names, ..axis }
    }

    /// The same with its ticks at these values, in ascending order, instead of at round ones: where something was measured.
    #[must_use]
    pub fn ticks_at(mut self, values: &[f64]) -> Self {
        self.tick_values = values.iter().copied().filter(|value| (self.low..=self.high).contains(value)).collect();
        self
    }
    /// The same, whose label says where it begins, because one would expect 0.
    #[must_use]
    pub fn broken(mut self) -> Self {
        if self.low != 0.0 {
            self.foot = Foot::Broken;
        }
        self
    }
    /// The same, on which values of 0 are to be shown at its beginning.
    pub(crate) fn with_zero_at_foot(mut self, zero: bool) -> Self {
        if zero {
            self.foot = Foot::Zero;
        }
        self
    }
    /// What it says and where it ends, as JSON.
    pub(crate) fn data(&self) -> Value {
        let unit = match self.unit {
            AxisUnit::Count => "count",
            AxisUnit::Percent => "percent",
            AxisUnit::Bytes => "bytes",
            AxisUnit::Time => "time",
        };
        let (is_log, ends) = (self.scale == Scale::Log, [self.low, self.high]);
        json!({ "label": self.label, "unit": unit, "log": is_log, "ends": ends, "names": self.names })
    }
    /// How many names it has, if it is one of names.
    pub(crate) fn name_count(&self) -> Option<usize> {
        (!self.names.is_empty()).then_some(self.names.len())
    }
    /// It begins elsewhere than at 0 and says so.
    pub(crate) fn is_broken(&self) -> bool {
        self.foot == Foot::Broken
    }

    /// Where a value lies: 0 at the beginning, 1 at the end; values outside lie at the nearer end.
    pub fn place(&self, value: f64) -> f64 {
        let place = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (log2(value) - log2(self.low)) / (log2(self.high) - log2(self.low)),
        };
        place.clamp(0.0, 1.0)
    }

    /// The label, with the unit of the ticks if they do not name it themselves, and what is unusual about the axis.
    pub fn label(&self) -> String {
        let unit = match (self.scale, self.unit) {
            (_, AxisUnit::Percent) => Some("%".to_owned()),
            (Scale::Linear, AxisUnit::Bytes | AxisUnit::Time) => Some(self.linear_unit().1.to_owned()),
            _ => None,
        };
        let log = (self.scale == Scale::Log).then(|| "log".to_owned());
        let foot = match self.foot {
            Foot::Plain => None,
            Foot::Broken => {
                let low = self.low / self.linear_unit().0;
                Some(format!("from {}", (low * 1000.0).round() / 1000.0))
            }
            Foot::Zero => Some("0 at its foot".to_owned()),
        };
        let said: Vec<String> = unit.into_iter().chain(log).chain(foot).collect();
        if said.is_empty() { self.label.clone() } else { format!("{} ({})", self.label, said.join(", ")) }
    }

    /// At most that many ticks (at least 2).
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        let most = most.max(2);
        if !self.names.is_empty() {
            let every = self.names.len().div_ceil(most);
            let tick =
                |(number, name): (usize, &String)| Tick { place: self.place(number as f64 + 0.5), text: name.clone() };
            return self.names.iter().enumerate().step_by(every).map(tick).collect();
        }
        if !self.tick_values.is_empty() {
            let every = self.tick_values.len().div_ceil(most);
            let tick = |value: &f64| Tick { place: self.place(*value), text: self.measured(*value) };
            return self.tick_values.iter().step_by(every).map(tick).collect();
        }
        match self.scale {
            Scale::Linear => self.linear_ticks(most),
            Scale::Log => self.log_ticks(most),
        }
    }

    /// The greatest unit of which the end of the axis holds at least two, so that ticks are not all fractions.
    fn linear_unit(&self) -> (f64, &'static str) {
        let units: &[(f64, &str)] = match self.unit {
            AxisUnit::Time => &TIMES,
            AxisUnit::Bytes => &SIZES,
            AxisUnit::Count | AxisUnit::Percent => return (1.0, ""),
        };
        let reach = self.high.abs().max(self.low.abs());
        *units.iter().rev().find(|(size, _)| reach >= 2.0 * size).unwrap_or(&units[0])
    }

    fn linear_ticks(&self, most: usize) -> Vec<Tick> {
        let (unit, _) = self.linear_unit();
        let (low, high) = (self.low / unit, self.high / unit);
        let multiples = |least: f64| {
            let (step, decimals) = nice_step(least);
            let first = (low / step - 1e-6).ceil();
            let values = (0..most).map(|i| (first + i as f64) * step).filter(|value| *value <= high + step * 1e-6);
            values.map(|value| Tick { place: self.place(value * unit), text: grouped(value, decimals) }).collect()
        };
        let least = (high - low) / (most - 1) as f64;
        let ticks: Vec<Tick> = multiples(least);
        // A step that is longer than the axis may miss it: then the next shorter one does not.
        if ticks.is_empty() { multiples(nice_step(least).0 * 0.39) } else { ticks }
    }

    /// Powers of 10, with 3 or with 2 and 5 times these if there is room for them; powers of 2 for bytes. Too many are thinned
    /// out evenly, and if there are fewer than two, the ends are ticks.
    fn log_ticks(&self, most: usize) -> Vec<Tick> {
        let richer: &[&[f64]] = if self.unit == AxisUnit::Bytes { &[] } else { &[&[1.0, 2.0, 5.0], &[1.0, 3.0]] };
        let fits = |factors: &&[f64]| Some(self.powers(factors)).filter(|values| (2..=most).contains(&values.len()));
        let mut values = richer.iter().find_map(fits).unwrap_or_else(|| self.powers(&[1.0]));
        if values.len() < 2 {
            values = vec![self.low, self.high];
        }
        let every = values.len().div_ceil(most);
        let kept = values.into_iter().step_by(every);
        kept.map(|value| Tick { place: self.place(value), text: self.named(value) }).collect()
    }

    /// The powers on the axis, times each of `factors`, which are less than the base.
    fn powers(&self, factors: &[f64]) -> Vec<f64> {
        let base = if self.unit == AxisUnit::Bytes { 2.0 } else { 10.0 };
        let mut power = 1.0;
        while power > self.low {
            power /= base;
        }
        let mut values = Vec::new();
        while power <= self.high * 1.000_001 {
            let multiples = factors.iter().map(|factor| power * factor);
            values.extend(multiples.filter(|value| (self.low * 0.999_999..=self.high * 1.000_001).contains(value)));
            power *= base;
        }
        values
    }

    /// A value that need not be round, in the unit of the axis or with its own, to three places after the point at most.
    fn measured(&self, value: f64) -> String {
        if self.scale == Scale::Log {
            return self.named(value);
        }
        let value = value / self.linear_unit().0;
        let is_exact = |power: &f64| (value * power - (value * power).round()).abs() < 1e-6;
        grouped(value, [1.0, 10.0, 100.0].iter().position(is_exact).unwrap_or(3))
    }

    /// A value with its unit.
    fn named(&self, value: f64) -> String {
        let units: &[(f64, &str)] = match self.unit {
            AxisUnit::Time => &TIMES[..4],
            AxisUnit::Bytes => &SIZES,
            AxisUnit::Count | AxisUnit::Percent => &[(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")],
        };
        let fits = |(size, _): &&(f64, &str)| value >= size * 0.999_999;
        let largest = units.iter().filter(fits).max_by(|a, b| a.0.total_cmp(&b.0));
        let least = units.iter().find(|(size, _)| *size == 1.0);
        let (size, name) = largest.or(least).copied().unwrap_or((1.0, ""));
        let value = value / size;
        let number = if value < 0.1 { value } else { (value * 100.0).round() / 100.0 };
        let blank = if matches!(self.unit, AxisUnit::Time | AxisUnit::Bytes) { " " } else { "" };
        format!("{number}{blank}{name}")
    }
}

/// The least of 1, 2, 5 times a power of ten that is not less than `least`, and its decimals.
pub(crate) fn nice_step(least: f64) -> (f64, usize) {
    let mut power = 1.0;
    let mut decimals = 0;
    while power * 10.0 <= least {
        power *= 10.0;
    }
    while power > least && decimals < 12 {
        power /= 10.0;
        decimals += 1;
    }
    for factor in [1.0, 2.0, 5.0] {
        if power * factor >= least * 0.999_999 {
            return (power * factor, decimals);
        }
    }
    (power * 10.0, decimals.saturating_sub(1))
}

/// `12,345.5`.
fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", if value == 0.0 { 0.0 } else { value });
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) && digit.is_ascii_digit() && !out.ends_with('-') {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis, most: usize) -> Vec<String> {
        axis.ticks(most).into_iter().map(|tick| tick.text).collect()
    }

    #[test]
    fn ticks_are_round_numbers_in_a_fitting_unit() {
        let time = Axis::linear("time", AxisUnit::Time, [0.0, 7_200e9]);
        assert_eq!(
            (time.label(), texts(&time, 5)),
            ("time (h)".into(), vec!["0.0", "0.5", "1.0", "1.5", "2.0"].into_iter().map(str::to_owned).collect())
        );
        let size = Axis::log("size", AxisUnit::Bytes, [4096.0, 1_048_576.0]);
        assert_eq!(texts(&size, 5), ["4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"]);
        let gap = Axis::log("gap", AxisUnit::Time, [200.0, 3e10]);
        assert_eq!(texts(&gap, 9), ["1 us", "10 us", "100 us", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]);
        assert_eq!(
            texts(&Axis::linear("n", AxisUnit::Count, [0.0, 40_000.0]), 5),
            ["0", "10,000", "20,000", "30,000", "40,000"]
        );
        assert_eq!(texts(&Axis::log("n", AxisUnit::Count, [0.0, 0.0]), 5), ["1", "2"]);
    }

    #[test]
    fn ticks_stand_where_they_are_wanted() {
        let ram = Axis::linear("ram", AxisUnit::Bytes, [8_388_608.0, 33_554_432.0]);
        let ram = ram.ticks_at(&[8_388_608.0, 16_777_216.0, 33_554_432.0, 1e12]);
        assert_eq!(
            (ram.label(), texts(&ram, 9)),
            ("ram (MiB)".to_owned(), ["8", "16", "32"].map(str::to_owned).to_vec())
        );
        assert_eq!(texts(&ram, 2), ["8", "32"]);
        let share = Axis::linear("share", AxisUnit::Count, [0.25, 2.0]).ticks_at(&[0.25, 0.5, 2.0]);
        assert_eq!(texts(&share, 9), ["0.25", "0.5", "2"]);
        let sizes =
            Axis::log("size", AxisUnit::Bytes, [4096.0, 1_048_576.0]).ticks_at(&[4096.0, 24_576.0, 1_048_576.0]);
        assert_eq!(texts(&sizes, 9), ["4 KiB", "24 KiB", "1 MiB"]);
    }

    #[test]
    fn every_axis_has_at_least_one_tick_and_no_more_than_wanted() {
        for power in 0..60 {
            for most in 2..12 {
                let [low, high] = [(1u64 << power) as f64, (1u64 << power) as f64 * 1.5 + 1.0];
                for axis in
                    [Axis::linear("a", AxisUnit::Bytes, [low, high]), Axis::log("a", AxisUnit::Time, [low, high])]
                {
                    let ticks = axis.ticks(most);
                    assert!(!ticks.is_empty() && ticks.len() <= most, "{low} {most} {ticks:?}");
                    assert!(ticks.iter().all(|tick| (0.0..=1.0).contains(&tick.place)));
                }
            }
        }
    }
}
