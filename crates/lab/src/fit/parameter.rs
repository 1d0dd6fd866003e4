//! What is searched: keys of a configuration with the values that are physically possible.

use nandlab::config::{Config, DeviceMode, HostLink, PluginConfig};
use nandlab::flash::clock::{SCHEDULERS, Scheduler, SchedulerConfig, Suspend};
use nandlab::types::{Bytes, Nanos};
use serde_json::{Value, json};

use crate::error::Error;

/// Keys of the host interface.
const HOST: [&str; 3] = ["device.host.link", "device.host.read_overhead", "device.host.write_overhead"];

/// A key of the configuration that is searched, with the values that it may have.
#[derive(Clone, PartialEq, Debug)]
pub struct FitParameter {
    /// The key, as in `device.timing.page_read`.
    pub key: String,
    /// Its values.
    pub range: FitRange,
}

/// The values that a searched key may have.
#[derive(Clone, PartialEq, Debug)]
pub enum FitRange {
    /// All between two, by factors; by differences if the low one is 0.
    Between {
        /// The least.
        low: f64,
        /// The greatest.
        high: f64,
        /// What they are.
        unit: FitUnit,
    },
    /// One of these, as they are typed.
    Choice(Vec<String>),
}

/// What the values of a searched key are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FitUnit {
    /// Nanoseconds.
    Time,
    /// Bytes.
    Size,
    /// Bytes a second.
    Rate,
    /// Bytes a second of a link that carries data one way at a time.
    HalfDuplexRate,
    /// A whole number.
    Whole,
    /// Any number.
    Number,
}

/// The scheduler of a device with another policy and what that suspends; times are kept where they are of use.
fn scheduler_choice(config: &Config, policy: &str, suspend: Suspend) -> String {
    let (base, policy) = (config.device.scheduler, Scheduler::named(policy));
    let none = SchedulerConfig::default();
    let suspends = suspend != Suspend::None;
    let time = |given: Nanos| if suspends { given } else { Nanos::ZERO };
    let scheduler = SchedulerConfig {
        policy,
        most_wait: if policy.rule().keeps_order { none.most_wait } else { base.most_wait },
        suspend,
        suspend_time: time(base.suspend_time),
        resume_time: time(base.resume_time),
        channel: base.channel,
    };
    PluginConfig::typed(&serde_json::to_value(scheduler).expect("it is plain data"))
}

impl FitUnit {
    /// Reads a value with its unit.
    fn read(text: &str) -> Option<(f64, Self)> {
        if text.ends_with("/s") {
            return Bytes::parse_rate(text).ok().map(|rate| (rate.0 as f64, Self::Rate));
        }
        if let Ok(number) = text.parse::<f64>() {
            let unit = if text.contains(['.', 'e']) { Self::Number } else { Self::Whole };
            return number.is_finite().then_some((number, unit));
        }
        let time = Nanos::parse(text).ok().map(|time| (time.0 as f64, Self::Time));
        let size = || Bytes::parse(text).ok().map(|size| (size.0 as f64, Self::Size));
        let link = || {
            let speed = HostLink::parse(text).ok()?.speed()?;
            Some((speed.bytes_per_second as f64, Self::of_link(speed.half_duplex)))
        };
        time.or_else(size).or_else(link)
    }

    const fn of_link(half_duplex: bool) -> Self {
        if half_duplex { Self::HalfDuplexRate } else { Self::Rate }
    }

    /// The text that a configuration takes.
    fn typed(self, value: f64) -> String {
        match self {
            Self::Time => format!("{}ns", value.round()),
            Self::Size | Self::Whole => format!("{}", value.round()),
            Self::Rate => format!("{}B/s", value.round()),
            Self::HalfDuplexRate => format!("{}B/s half-duplex", value.round()),
            Self::Number => format!("{value:?}"),
        }
    }

    /// The text for people.
    fn shown(self, value: f64) -> String {
        match self {
            Self::Time => Nanos(value.round() as u64).to_string(),
            Self::Size => Bytes(value.round() as u64).to_string(),
            Self::Rate => format!("{:.0} MB/s", value / 1e6),
            Self::HalfDuplexRate => format!("{:.0} MB/s half-duplex", value / 1e6),
            Self::Whole => format!("{}", value.round()),
            Self::Number => format!("{value:.4}"),
        }
    }
}

impl FitParameter {
    /// Reads `KEY=LOW..HIGH` (`device.timing.page_read=30us..90us`) or `KEY=A|B|C`, the choices as they are typed.
    ///
    /// # Errors
    /// Says what is wrong and what helps.
    pub fn read(text: &str) -> Result<Self, Error> {
        let refuse = |problem: &str| {
            let help = "for example --parameter device.timing.page_read=30us..90us, or device.geometry.channels=4|8";
            Error::input(format!("--parameter {text}: {problem}"), help)
        };
        let (key, values) = text.split_once('=').ok_or_else(|| refuse("it is not KEY=LOW..HIGH or KEY=A|B"))?;
        let key = key.trim().to_owned();
        if key.is_empty() || values.contains('|') && values.split('|').any(|value| value.trim().is_empty()) {
            return Err(refuse("the key or a choice is empty"));
        }
        let range = match values.split_once("..") {
            None if values.contains('|') => {
                FitRange::Choice(values.split('|').map(|value| value.trim().to_owned()).collect())
            }
            None => return Err(refuse("it has one value; --set KEY=VALUE fixes a key")),
            Some((low, high)) => {
                let read = |end: &str| FitUnit::read(end.trim());
                let (Some((low, unit)), Some((high, other))) = (read(low), read(high)) else {
                    return Err(refuse("an end is neither a number, a time, a size nor a rate"));
                };
                let unit = match (unit, other) {
                    (FitUnit::Whole, FitUnit::Number) | (FitUnit::Number, FitUnit::Whole) => FitUnit::Number,
                    (one, other) if one == other => one,
                    (FitUnit::Rate, FitUnit::HalfDuplexRate) | (FitUnit::HalfDuplexRate, FitUnit::Rate) => {
                        return Err(refuse(
                            "one end is a link that carries data one way at a time, the other both ways",
                        ));
                    }
                    _ => return Err(refuse("its ends have different units")),
                };
                if low < 0.0 || low >= high {
                    return Err(refuse("the low end comes first, from 0 on, and is less than the high one"));
                }
                FitRange::Between { low, high, unit }
            }
        };
        Ok(Self { key, range })
    }

    fn between(key: &str, low: f64, high: f64, unit: FitUnit) -> Self {
        Self { key: key.to_owned(), range: FitRange::Between { low, high, unit } }
    }

    fn choice(key: &str, values: impl IntoIterator<Item = impl ToString>) -> Self {
        Self { key: key.to_owned(), range: FitRange::Choice(values.into_iter().map(|v| v.to_string()).collect()) }
    }

    /// What is searched if nothing else is said, of a drive that is configured so. The bounds keep values physical: data
    /// sheets and measured drives, docs/fit.md, 'Parameters'. What the drive has itself is within them.
    pub fn physical(config: &Config) -> Vec<Self> {
        let page = f64::from(config.device.geometry.page_bytes);
        let link = FitUnit::of_link(config.device.host.link.speed().is_some_and(|speed| speed.half_duplex));
        let time = |key: &str, low: f64, high: f64| Self::between(key, low * 1e3, high * 1e3, FitUnit::Time);
        let mut all = vec![
            time("device.timing.page_read", 20.0, 200.0),
            time("device.timing.page_program", 100.0, 5_000.0),
            time("device.timing.block_erase", 1_000.0, 20_000.0),
            // 50 MB/s (ONFI 1.0, SDR mode 5) to 3,600 MB/s (ONFI 5.1, NV-LPDDR4).
            time("device.timing.page_transfer", page / 3_600.0, page / 50.0),
            Self::choice("device.geometry.channels", [1, 2, 4, 8, 16]),
            Self::choice("device.geometry.dies_per_chip", [1, 2, 4, 8]),
            // SATA I to PCI Express 5.0 with four lanes. A link that carries data one way at a time remains one.
            Self::between(HOST[0], 150e6, 14.4e9, link),
            time(HOST[1], 1.0, 100.0),
            time(HOST[2], 1.0, 100.0),
        ];
        if config.buffer.name != "none" {
            all.push(Self::between("ram.dram", f64::from(1 << 20), f64::from(1 << 30), FitUnit::Size));
        }
        if config.device.timing.model.rule().schedules {
            let choices = SCHEDULERS.iter().flat_map(|scheduler| {
                let policy = scheduler.module;
                let suspends: &[Suspend] = if scheduler.build.prefers_reads {
                    &[Suspend::None, Suspend::Erase, Suspend::EraseAndProgram]
                } else {
                    &[Suspend::None]
                };
                suspends.iter().map(move |suspend| scheduler_choice(config, policy, *suspend))
            });
            all.push(Self::choice("device.scheduler", choices));
        }
        let not_searched = Self::not_searched(config);
        all.retain(|parameter| not_searched.iter().all(|(key, _)| parameter.key != *key));
        let known = json!(config);
        for parameter in &mut all {
            let number = parameter.number_in(&known).filter(|number| *number > 0.0);
            if let (FitRange::Between { low, high, .. }, Some(number)) = (&mut parameter.range, number) {
                (*low, *high) = (low.min(number), high.max(number));
            }
        }
        all
    }

    /// Keys that can have one value only, and why: means of the times of types of pages, and what only a drive has.
    pub(super) fn not_searched(config: &Config) -> Vec<(&'static str, String)> {
        let cells = &config.device.cells;
        let by_type = [
            ("device.timing.page_read", "device.cells.read_by_type", &cells.read_by_type),
            ("device.timing.page_program", "device.cells.program_by_type", &cells.program_by_type),
        ];
        let given = by_type.into_iter().filter(|(.., times)| times.mean().is_some());
        let means = given.map(|(mean, types, _)| (mean, format!("{mean} is the mean of {types}")));
        let of_drives = HOST.into_iter().filter(|_| config.device.mode == DeviceMode::Paper);
        means.chain(of_drives.map(|key| (key, format!("{key} needs device.mode = \"drive\"")))).collect()
    }

    /// Its value in a configuration; `None` as for [`Self::number`].
    pub(super) fn number_in(&self, known: &Value) -> Option<f64> {
        let value = self.key.split('.').fold(known, |at, part| &at[part]);
        self.number(&PluginConfig::typed(value))
    }

    /// How many values it has, if it is a choice.
    pub(super) fn choices(&self) -> Option<usize> {
        match &self.range {
            FitRange::Choice(values) => Some(values.len()),
            FitRange::Between { .. } => None,
        }
    }

    /// A setting of this key fixes the parameter: the same key, one above it or one below.
    pub(super) fn is_fixed_by(&self, setting: &str) -> bool {
        let key = setting.split('=').next().unwrap_or_default().trim();
        let is_above = |above: &str, below: &str| below.strip_prefix(above).is_some_and(|rest| rest.starts_with('.'));
        key == self.key || is_above(key, &self.key) || is_above(&self.key, key)
    }

    /// Its value at a coordinate from 0 to 1: of choices the number.
    pub(super) fn value(&self, coordinate: f64) -> f64 {
        match &self.range {
            FitRange::Choice(values) => (coordinate * values.len() as f64).floor().min(values.len() as f64 - 1.0),
            FitRange::Between { low, high, unit } => {
                let value =
                    if *low > 0.0 { low * (high / low).powf(coordinate) } else { low + (high - low) * coordinate };
                if *unit == FitUnit::Number { value } else { value.round() }
            }
        }
    }

    /// The nearest possible value.
    pub(super) fn within(&self, value: f64) -> f64 {
        match &self.range {
            FitRange::Choice(values) => value.clamp(0.0, values.len() as f64 - 1.0),
            FitRange::Between { low, high, .. } => value.clamp(*low, *high),
        }
    }

    /// The coordinate of a value, within the bounds.
    pub(super) fn coordinate(&self, value: f64) -> f64 {
        let coordinate = match &self.range {
            FitRange::Choice(values) => (value + 0.5) / values.len() as f64,
            FitRange::Between { low, high, .. } if *low > 0.0 => (value / low).ln() / (high / low).ln(),
            FitRange::Between { low, high, .. } => (value - low) / (high - low),
        };
        coordinate.clamp(0.0, 1.0)
    }

    /// The number of a choice, the number of a value as it stands in a configuration; `None` if it is none of the
    /// possible ones.
    pub(super) fn number(&self, text: &str) -> Option<f64> {
        match &self.range {
            FitRange::Choice(values) => values.iter().position(|value| value == text).map(|index| index as f64),
            FitRange::Between { .. } => FitUnit::read(text).map(|(value, _)| value),
        }
    }

    /// The setting of a value.
    pub(super) fn setting(&self, value: f64) -> String {
        match &self.range {
            FitRange::Choice(values) => format!("{}={}", self.key, values[value as usize]),
            FitRange::Between { unit, .. } => format!("{}={}", self.key, unit.typed(value)),
        }
    }

    /// The settings of all choices; of a range those of its ends.
    pub(super) fn settings(&self) -> Vec<String> {
        match &self.range {
            FitRange::Choice(values) => (0..values.len()).map(|number| self.setting(number as f64)).collect(),
            FitRange::Between { low, high, .. } => vec![self.setting(*low), self.setting(*high)],
        }
    }

    /// A value for people.
    pub(super) fn shown(&self, value: f64) -> String {
        match &self.range {
            FitRange::Choice(values) => values[value as usize].clone(),
            FitRange::Between { unit, .. } => unit.shown(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use nandlab::config::Builder;

    use super::*;

    #[test]
    fn parameter_is_read_with_its_unit_and_refused_with_a_reason() {
        let read = |text: &str| FitParameter::read(text).map_err(|error| error.to_string());
        let between = |low, high, unit| FitRange::Between { low, high, unit };
        assert_eq!(read("a.b=20us..1ms").unwrap().range, between(2e4, 1e6, FitUnit::Time));
        assert_eq!(read("a=1MiB..2MiB").unwrap().range, between(1_048_576.0, 2_097_152.0, FitUnit::Size));
        assert_eq!(read("a=1MiB/s..2MiB/s").unwrap().range, between(1_048_576.0, 2_097_152.0, FitUnit::Rate));
        assert_eq!(read("a=150MB/s..14400 MB/s").unwrap().range, between(150e6, 14.4e9, FitUnit::Rate));
        let half = |low, high| between(low, high, FitUnit::HalfDuplexRate);
        assert_eq!(read("a=150MB/s half-duplex..600MB/s half-duplex").unwrap().range, half(150e6, 600e6));
        assert!(matches!(
            read("a=sata1..sata3").unwrap().range,
            FitRange::Between { unit: FitUnit::HalfDuplexRate, .. }
        ));
        assert_eq!(read("a=1..8").unwrap().range, between(1.0, 8.0, FitUnit::Whole));
        assert_eq!(read("a=0..0.5").unwrap().range, between(0.0, 0.5, FitUnit::Number));
        assert_eq!(read("a=x|y").unwrap().range, FitRange::Choice(vec!["x".into(), "y".into()]));
        for (text, reason) in [
            ("a", "not KEY=LOW..HIGH"),
            ("a=5us", "--set"),
            ("a=90us..30us", "low end comes first"),
            ("a=1us..2MiB", "different units"),
            ("a=sata1..2GB/s", "one way at a time"),
            ("a=few..many", "neither a number"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(reason) && error.contains(text), "{error}");
        }
    }

    #[test]
    fn value_and_coordinate_are_inverse() {
        for text in ["a=20us..200us", "a=0..100", "a=150MiB/s..14GiB/s"] {
            let parameter = FitParameter::read(text).unwrap();
            for coordinate in [0.0, 0.3, 0.99, 1.0] {
                let there = parameter.coordinate(parameter.value(coordinate));
                assert!((there - coordinate).abs() < 0.01, "{text} {coordinate} {there}");
            }
        }
        let choice = FitParameter::read("a=x|y|z").unwrap();
        for number in [0.0, 1.0, 2.0] {
            assert_eq!(choice.value(choice.coordinate(number)), number);
        }
        assert_eq!(choice.value(1.0), 2.0);
    }

    #[test]
    fn searched_link_stays_of_the_kind_of_the_base() {
        for (link, half_duplex) in [("sata3", true), ("560MB/s half-duplex", true), ("pcie3x4", false), ("none", false)]
        {
            let base = Builder::preset("lab").unwrap();
            let of = |link: &str| base.clone().set(&format!("device.host.link={link}")).unwrap().finish().unwrap();
            let searched = FitParameter::physical(&of(link));
            let searched = searched.iter().find(|parameter| parameter.key == "device.host.link").unwrap();
            let set = base.clone().set(&searched.setting(300e6)).unwrap().finish().unwrap();
            let speed = set.device.host.link.speed().unwrap();
            assert_eq!((speed.bytes_per_second, speed.half_duplex), (300_000_000, half_duplex), "{link}");
            // What is shown can be typed.
            let shown = HostLink::parse(&searched.shown(300e6)).unwrap();
            assert_eq!(shown.speed(), Some(speed), "{link}");
        }
    }

    #[test]
    fn values_of_the_base_are_within_the_range() {
        // Reads in 10 us, and none of what only a drive has; erases in 117 us; programs in 3.28 ms.
        for (preset, key, low, high) in [
            ("wpa", "device.timing.page_read", 10e3, 200e3),
            ("nvme-enterprise", "device.timing.block_erase", 117e3, 20e6),
            ("sata-qlc", "device.timing.page_program", 100e3, 5e6),
        ] {
            let config = Builder::preset(preset).unwrap().finish().unwrap();
            let (known, searched) = (json!(config), FitParameter::physical(&config));
            let range = &searched.iter().find(|parameter| parameter.key == key).unwrap().range;
            assert_eq!(*range, FitRange::Between { low, high, unit: FitUnit::Time }, "{preset}");
            for parameter in &searched {
                let number = parameter.number_in(&known).filter(|number| *number > 0.0);
                assert_eq!(number.map(|number| parameter.within(number)), number, "{preset}: {}", parameter.key);
            }
            let of_host = searched.iter().filter(|parameter| HOST.contains(&&*parameter.key)).count();
            assert_eq!(of_host, if preset == "wpa" { 0 } else { 3 }, "{preset}");
        }
    }

    #[test]
    fn mean_of_types_of_pages_is_not_searched() {
        let base = Builder::preset("lab").unwrap().set("device.timing.model=scheduled").unwrap();
        let keys = |cells: &[(&str, &str)]| -> Vec<String> {
            let set = cells.iter().flat_map(|(types, mean)| [types, mean]);
            let config = set.fold(base.clone(), |base, set| base.set(set).unwrap()).finish().unwrap();
            FitParameter::physical(&config).into_iter().map(|parameter| parameter.key).collect()
        };
        let read = (r#"device.cells.read_by_type=["40us", "80us"]"#, "device.timing.page_read=60us");
        let program = (r#"device.cells.program_by_type=["300us", "900us"]"#, "device.timing.page_program=600us");
        let times = ["device.timing.page_read", "device.timing.page_program"].map(str::to_owned);
        for (cells, searched) in
            [(&[][..], &times[..]), (&[read], &times[1..]), (&[program], &times[..1]), (&[read, program], &[])]
        {
            let keys = keys(cells);
            let known: Vec<String> = keys.into_iter().filter(|key| times.contains(key)).collect();
            assert_eq!(known, searched, "{cells:?}");
        }
    }

    #[test]
    fn setting_above_or_below_fixes_a_parameter() {
        let parameter = FitParameter::choice("device.scheduler", ["x"]);
        for setting in ["device.scheduler=1", "device.scheduler.policy=fifo", "device = 3"] {
            assert!(parameter.is_fixed_by(setting), "{setting}");
        }
        assert!(!parameter.is_fixed_by("device.schedule=1") && !parameter.is_fixed_by("device.timing.model=serial"));
    }
}
