//! Division by a number that stays the same, without a division: dies, groups and blocks need not be a power of two.

/// A divisor that is known long before the numbers it divides.
///
/// After D. Lemire, O. Kaser, N. Kurz, "Faster remainder by direct computation", Softw. Pract. Exp. 49(6), 2019. Theirs is
/// the upper half of `n * inverse` with the inverse `2^64 / d` rounded up, which leaves out `d = 1`. Here the inverse is
/// rounded down and `n` raised by one: `n / d <= (n + 1) * inverse / 2^64 < (n + 1) / d` for all numbers of 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct Divisor {
    divisor: u32,
    inverse: u64,
}

impl Divisor {
    /// To divide by `divisor`, which is not 0.
    pub const fn new(divisor: u32) -> Self {
        Self { divisor, inverse: u64::MAX / divisor as u64 }
    }
    /// `number / divisor`.
    #[inline]
    pub const fn quotient(self, number: u32) -> u32 {
        ((self.inverse as u128 * (number as u64 + 1) as u128) >> 64) as u32
    }
    /// Both: `number / divisor` and `number % divisor`.
    #[inline]
    pub const fn parts(self, number: u32) -> (u32, u32) {
        let quotient = self.quotient(number);
        (quotient, number - quotient * self.divisor)
    }
    /// `number % divisor`.
    #[inline]
    pub const fn remainder(self, number: u32) -> u32 {
        number - self.quotient(number) * self.divisor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisor_divides_like_a_division() {
        let large = [u32::MAX / 2, u32::MAX - 1, u32::MAX];
        for divisor in [1, 2, 3, 5, 7, 64, 100, 127, 128, 1_000, 16_383, 16_384, 65_537].into_iter().chain(large) {
            let by = Divisor::new(divisor);
            let last = u32::MAX / divisor;
            for quotient in [0, 1, 2, 3, 1_000, last / 2, last.saturating_sub(1), last] {
                let first = u64::from(quotient) * u64::from(divisor);
                for number in (first.saturating_sub(2)..=first + 2).chain([u64::from(u32::MAX)]) {
                    let Ok(number) = u32::try_from(number) else { continue };
                    assert_eq!(by.quotient(number), number / divisor, "{number} / {divisor}");
                    assert_eq!(by.remainder(number), number % divisor, "{number} % {divisor}");
                }
            }
        }
    }
}
