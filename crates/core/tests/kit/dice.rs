//! Random choices that stay the same with every version of every crate.

use rand::Rng;
use rand_pcg::Pcg64Mcg;

/// Splitmix64 (Guy L. Steele, Doug Lea and Christine H. Flood, "Fast splittable pseudorandom number generators", OOPSLA
/// 2014).
#[derive(Clone)]
pub struct Dice(pub u64);

/// Its finaliser.
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Dice {
    /// The stream of one case among many: no two have a part in common, however near their numbers are.
    pub fn of_case(numbers: &[u64]) -> Self {
        Self(numbers.iter().fold(0, |state, number| mix(state ^ mix(*number))))
    }
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }
    /// Uniform below `n`.
    pub fn below(&mut self, n: u32) -> u32 {
        self.below64(u64::from(n)) as u32
    }
    /// Uniform below `n`.
    pub fn below64(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
    /// True once in `n` times on average.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
    /// True in that many cases of 100.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below64(choices.len() as u64) as usize].clone()
    }
    /// Below `n`, small numbers more often.
    pub fn skewed(&mut self, n: u64) -> u64 {
        let (a, b) = (self.below64(n), self.below64(n));
        if self.percent(50) { a.min(b) / 2 } else { a }
    }
    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// Exponentially distributed with mean 1.
    pub fn exponential(&mut self) -> f64 {
        let uniform = ((self.next() >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
        -uniform.ln()
    }
}

/// Uniform below `bound`.
pub fn below(rng: &mut Pcg64Mcg, bound: u32) -> u32 {
    ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as u32
}
