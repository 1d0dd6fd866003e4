//! The unit of recorded times, where a format does not fix it.

use crate::row::Field;

/// Unit of recorded times.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TimeUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// 100 ns, the unit of the file times of Windows.
    FileTime,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
}

impl TimeUnit {
    /// All, the shortest first.
    pub const ALL: [Self; 5] =
        [Self::Nanoseconds, Self::FileTime, Self::Microseconds, Self::Milliseconds, Self::Seconds];

    /// The word for it on the command line.
    pub const fn name(self) -> &'static str {
        ["ns", "filetime", "us", "ms", "s"][self as usize]
    }
    /// What it is, in words.
    pub const fn title(self) -> &'static str {
        ["nanoseconds", "units of 100 ns", "microseconds", "milliseconds", "seconds"][self as usize]
    }
    /// The power of ten of nanoseconds.
    pub(crate) const fn scale(self) -> u32 {
        [0, 2, 3, 6, 9][self as usize]
    }
    /// Nanoseconds of one.
    pub const fn nanoseconds(self) -> u64 {
        10u64.pow(self.scale())
    }

    /// The unit of a word: `ns`, `filetime` (or `100ns`), `us`, `ms` or `s`.
    ///
    /// # Errors
    /// It is none of these words.
    pub fn parse(word: &str) -> Result<Self, String> {
        let found =
            Self::ALL.into_iter().find(|unit| unit.name() == word || *unit == Self::FileTime && word == "100ns");
        found.ok_or_else(|| format!("`{word}`: allowed is ns, us, ms, s or filetime (units of 100 ns)"))
    }

    /// A column with times in this unit.
    pub(crate) const fn field(self, name: &'static str) -> Field {
        let allowed = [
            "nanoseconds, 0 to 18446744073709551615",
            "units of 100 ns, 0 to 184467440737095516",
            "microseconds, 0 to 18446744073709551",
            "milliseconds, 0 to 18446744073709",
            "seconds, 0 to 18446744073",
        ];
        Field::time(name, allowed[self as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::TimeUnit;

    #[test]
    fn unit_has_a_word_and_a_length() {
        for unit in TimeUnit::ALL {
            assert_eq!(TimeUnit::parse(unit.name()), Ok(unit));
        }
        assert_eq!(TimeUnit::parse("100ns"), Ok(TimeUnit::FileTime));
        assert_eq!(TimeUnit::ALL.map(TimeUnit::nanoseconds), [1, 100, 1_000, 1_000_000, 1_000_000_000]);
        assert!(TimeUnit::parse("min").unwrap_err().contains("filetime"));
    }
}
