//! Random choices. Every stream begins at its own point: seeds are mixed before use.

use crate::kit::mix;

#[derive(Clone)]
pub struct Dice(u64);

impl Dice {
    /// The stream of a seed for one purpose.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let start = purpose.bytes().fold(mix(seed), |state, byte| mix(state ^ u64::from(byte)));
        Self(start)
    }
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.word()) * n as u128) >> 64) as usize
    }
    pub fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}
