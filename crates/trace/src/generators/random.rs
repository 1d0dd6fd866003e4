//! Random numbers and the functions on them, in integers: the same on every machine.

/// Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014).
#[derive(Clone, Debug)]
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    /// 64 random bits.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// A number below `n`, each as likely as the next to `n / 2^64`.
    #[inline]
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
    /// True with this chance.
    #[inline]
    pub(crate) fn chance(&mut self, chance: Chance) -> bool {
        self.next() >> 1 < chance.0
    }
    /// A number between 0 and 1, below 1, of 53 bits.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A probability in units of 2^-63.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    /// From a number between 0 and 1.
    pub(crate) fn new(share: f64) -> Self {
        Self((share * (1u64 << 63) as f64) as u64)
    }
}

/// A bijection on the numbers below `2^bits`: odd multiples and shifted additions can be undone.
#[inline]
pub(crate) fn scatter(n: u64, bits: u32) -> u64 {
    let mask = (1u64 << bits) - 1;
    let half = bits.div_ceil(2);
    let n = n.wrapping_mul(0x9E37_79B1) & mask;
    let n = n ^ (n >> half);
    let n = n.wrapping_mul(0x85EB_CA77) & mask;
    n ^ (n >> half)
}

/// A bijection on the numbers below `n`: [`scatter`] on the next power of two, repeated while it leads outside. It ends,
/// because a bijection leads every number back to itself.
#[inline]
pub(crate) fn scatter_below(mut i: u64, n: u64) -> u64 {
    let bits = (n - 1).checked_ilog2().map_or(0, |log| log + 1);
    loop {
        i = scatter(i, bits);
        if i < n {
            return i;
        }
    }
}

/// Draws an index with a probability in proportion to its weight, in constant time (Walker's alias method, in Vose's
/// form with integers: exact).
///
/// A column is its own index for random numbers below `keep / 2^64`, else its alias. The upper half of `keep` lies next
/// to the alias, so that a draw touches 8 bytes; the lower half is looked at once in 2^32 draws.
#[derive(Clone, Debug)]
pub(crate) struct Alias {
    columns: Vec<(u32, u32)>,
    lower: Vec<u32>,
}

impl Alias {
    /// At least one weight, not all zero; the largest weight times their number is below 2^63, their sum below 2^64.
    pub(crate) fn new(weights: impl Iterator<Item = u64>) -> Self {
        let mut lots: Vec<u64> = weights.collect();
        let (n, total) = (lots.len() as u64, lots.iter().sum::<u64>());
        // Every column has `total` lots, and a weight is worth `weight * n` of them.
        for weight in &mut lots {
            *weight *= n;
        }
        let mut columns: Vec<(u64, u32)> = (0..n).map(|i| (total, i as u32)).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..lots.len()).partition(|i| lots[*i] < total);
        while let (Some(poor), Some(&rich)) = (small.pop(), large.last()) {
            columns[poor] = (lots[poor], rich as u32);
            lots[rich] -= total - lots[poor];
            if lots[rich] < total {
                large.pop();
                small.push(rich);
            }
        }
        // `below(total) < lots` is the same as `next() < keep`. A column with all its lots is its own alias.
        let keep = |lots: u64| (u128::from(lots) << 64).div_ceil(u128::from(total)).min(u128::from(u64::MAX)) as u64;
        let lower = columns.iter().map(|(lots, _)| keep(*lots) as u32).collect();
        let columns = columns.iter().map(|(lots, alias)| ((keep(*lots) >> 32) as u32, *alias)).collect();
        Self { columns, lower }
    }

    /// An index.
    #[inline]
    pub(crate) fn draw(&self, random: &mut SplitMix) -> u64 {
        let column = random.below(self.columns.len() as u64);
        let (keep, alias) = self.columns[column as usize];
        let lot = random.next();
        let upper = (lot >> 32) as u32;
        if upper == keep {
            return if (lot as u32) < self.lower[column as usize] { column } else { u64::from(alias) };
        }
        // No branch: half of the guesses would be wrong.
        let own = u64::from(upper < keep).wrapping_neg();
        u64::from(alias) ^ ((u64::from(alias) ^ column) & own)
    }

    /// The share of every index in units of 2^-64 of a column, as drawn.
    #[cfg(test)]
    fn shares(&self) -> Vec<u128> {
        let mut shares = vec![0; self.columns.len()];
        for (i, ((upper, alias), lower)) in self.columns.iter().zip(&self.lower).enumerate() {
            let keep = u128::from(*upper) << 32 | u128::from(*lower);
            shares[i] += keep;
            shares[*alias as usize] += (1 << 64) - keep;
        }
        shares
    }
}

/// Most items of a [`zipf`] table: 12 bytes each.
pub(crate) const ZIPF_ITEMS_MAX: u64 = 1 << 24;

/// Draws a rank below `n` with a probability in proportion to `1 / (rank + 1)^theta`. The weights are rounded down to
/// `2^-s` of the largest, `s = 62 - log2 n` rounded up to whole bits; theta is taken in units of 2^-32.
pub(crate) fn zipf(n: u64, theta: f64) -> Alias {
    let theta = (theta * (1u64 << 32) as f64) as u64;
    let scale = 62 - n.next_power_of_two().ilog2();
    let roots = roots();
    Alias::new((1..=n).map(|k| {
        let exponent = (u128::from(theta) * u128::from(log2(k))) >> 32;
        exp2_minus(exponent, scale, &roots)
    }))
}

/// Binary logarithm in units of 2^-32, rounded down, by repeated squaring.
pub(crate) fn log2(n: u64) -> u64 {
    let whole = n.ilog2();
    // n / 2^whole, between 1 and 2, in units of 2^-62.
    let mut x = (u128::from(n) << 62) >> whole;
    let mut log = u64::from(whole);
    for _ in 0..32 {
        x = (x * x) >> 62;
        log <<= 1;
        if x >> 63 != 0 {
            log |= 1;
            x >>= 1;
        }
    }
    log
}

/// `2^-(1/2), 2^-(1/4), ...` in units of 2^-63, by square roots.
fn roots() -> [u64; 32] {
    let mut root = 1u128 << 62;
    std::array::from_fn(|_| {
        root = (root << 63).isqrt();
        root as u64
    })
}

/// `2^-x` in units of `2^-scale`, rounded down; x in units of 2^-32.
fn exp2_minus(x: u128, scale: u32, roots: &[u64; 32]) -> u64 {
    let (whole, part) = ((x >> 32) as u64, x as u32);
    let mut value = 1u64 << 63;
    for (bit, root) in roots.iter().enumerate() {
        if part >> (31 - bit) & 1 != 0 {
            value = ((u128::from(value) * u128::from(*root)) >> 63) as u64;
        }
    }
    value.checked_shr(63 - scale + whole.min(64) as u32).unwrap_or(0)
}

/// Pieces between two powers of two in the table of [`Exponential`].
const PIECES_LOG2: u32 = 10;
/// ln 2 in units of 2^-32.
const LN_2: u64 = 2_977_044_472;

/// Draws from the exponential distribution with mean 1: minus the natural logarithm of a random number, from a table
/// with linear interpolation (relative error below 10^-6).
#[derive(Clone, Debug)]
pub(crate) struct Exponential {
    /// `ln(1 + i / 1024)` in units of 2^-32.
    logs: Vec<u64>,
}

impl Exponential {
    pub(crate) fn new() -> Self {
        let log = |i: u64| {
            let log2 = log2((1 << PIECES_LOG2) + i) - (u64::from(PIECES_LOG2) << 32);
            ((u128::from(log2) * u128::from(LN_2)) >> 32) as u64
        };
        Self { logs: (0..=1 << PIECES_LOG2).map(log).collect() }
    }

    /// In units of 2^-32.
    #[inline]
    pub(crate) fn draw(&self, random: &mut SplitMix) -> u64 {
        self.minus_ln(random.next() | 1)
    }
    /// The same as a number.
    #[inline]
    pub(crate) fn draw_real(&self, random: &mut SplitMix) -> f64 {
        self.draw(random) as f64 / (1u64 << 32) as f64
    }

    /// `-ln(n / 2^64)` in units of 2^-32; n is at least 1.
    #[inline]
    fn minus_ln(&self, n: u64) -> u64 {
        let zeros = n.leading_zeros();
        // n = 2^(63 - zeros) * (1 + fraction / 2^64)
        let fraction = (n << zeros) << 1;
        let piece = (fraction >> (64 - PIECES_LOG2)) as usize;
        let inside = (fraction << PIECES_LOG2) >> 32;
        let (low, high) = (self.logs[piece], self.logs[piece + 1]);
        let ln = low + (((high - low) * inside) >> 32);
        (u64::from(zeros) + 1) * LN_2 - ln
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scatter_is_a_bijection() {
        for bits in [5, 9, 17] {
            let mut seen = vec![false; 1 << bits];
            (0..1u64 << bits).for_each(|n| seen[scatter(n, bits) as usize] = true);
            assert!(seen.iter().all(|s| *s), "{bits} bits");
        }
        for n in [1, 2, 3, 1000, 1025] {
            let mut seen: Vec<u64> = (0..n).map(|i| scatter_below(i, n)).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn alias_table_gives_every_index_its_weight() {
        let alias = Alias::new([5u64, 1, 0, 2].into_iter());
        // Four columns of 2^64 are 8 lots of 2^63. A column is rounded by less than one unit.
        for (share, weight) in alias.shares().into_iter().zip([5u128, 1, 0, 2]) {
            assert!(share.abs_diff(weight << 63) <= 4, "{weight}: {share}");
        }
    }

    #[test]
    fn logarithms_and_powers_are_right() {
        assert_eq!((log2(1), log2(1 << 20)), (0, 20 << 32));
        assert_eq!(log2(3), (3f64.log2() * 4_294_967_296.0) as u64);
        let unit = (1u64 << 40) as f64;
        for x in [0.0, 0.25, 1.0, 1.7, 12.34, 39.0, 60.0, 200.0f64] {
            let got = exp2_minus((x * 4_294_967_296.0) as u128, 40, &roots()) as f64 / unit;
            assert!((got - (-x).exp2()).abs() < 1e-9 * (-x).exp2() + 1.0 / unit, "{x}: {got}");
        }
        let exponential = Exponential::new();
        for n in [1, 3, 1 << 40, (1 << 63) + 12_345_678_901, u64::MAX / 3, u64::MAX] {
            let (got, wanted) = (exponential.minus_ln(n) as f64 / 4_294_967_296.0, -(n as f64 / 2f64.powi(64)).ln());
            assert!((got - wanted).abs() < 3e-7, "{n}: {got} {wanted}");
        }
    }

    #[test]
    fn zipf_weights_are_the_powers_of_the_ranks() {
        for theta in [0.0, 0.5, 0.99, 1.0, 2.5] {
            let n = 1000;
            let alias = zipf(n, theta);
            let shares = alias.shares();
            for rank in [1u64, 2, 3, 10, 999, 1000] {
                let (got, wanted) = (shares[rank as usize - 1] as f64 / shares[0] as f64, (rank as f64).powf(-theta));
                assert!((got / wanted - 1.0).abs() < 1e-7, "{theta}, rank {rank}: {got} {wanted}");
            }
        }
    }
}
