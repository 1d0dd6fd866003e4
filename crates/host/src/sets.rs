//! A table of a fixed size in sets of a few places: the least recently used of a set gives way.

/// Places of a set.
const WAYS: usize = 8;

#[derive(Clone, Debug)]
struct Place<T> {
    key: u32,
    /// When it was used last, in uses of the table.
    used: u32,
    value: T,
}

/// A set-associative table, as bounded memory in a kernel is.
#[derive(Clone, Debug)]
pub(crate) struct Sets<T> {
    places: Vec<Option<Place<T>>>,
    uses: u32,
}

/// Spreads the bits of a key.
pub(crate) fn spread(key: u64) -> u64 {
    let key = (key ^ (key >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    key ^ (key >> 29)
}

impl<T> Sets<T> {
    /// Bytes of a table with this many places.
    pub const fn bytes(places: usize) -> usize {
        places * size_of::<Option<Place<T>>>()
    }
    /// An empty table; `places` is a power of two and not below a set.
    pub fn new(places: usize) -> Self {
        debug_assert!(places.is_power_of_two() && places >= WAYS);
        Self { places: std::iter::repeat_with(|| None).take(places).collect(), uses: 0 }
    }

    fn set(&self, key: u32) -> std::ops::Range<usize> {
        let first = spread(u64::from(key)) as usize % (self.places.len() / WAYS) * WAYS;
        first..first + WAYS
    }
    /// The most recent entry with this key that `fits`; it counts as used.
    pub fn find(&mut self, key: u32, fits: impl Fn(&T) -> bool) -> Option<&mut T> {
        let set = self.set(key);
        self.uses = self.uses.wrapping_add(1);
        let uses = self.uses;
        let places = self.places[set].iter_mut().flatten();
        let fitting = places.filter(|place| place.key == key && fits(&place.value));
        let place = fitting.min_by_key(|place| uses.wrapping_sub(place.used))?;
        place.used = uses;
        Some(&mut place.value)
    }
    /// Adds an entry in place of the one of its set that was not used for the longest time.
    pub fn add(&mut self, key: u32, value: T) {
        let set = self.set(key);
        self.uses = self.uses.wrapping_add(1);
        let age = |place: &Option<Place<T>>| place.as_ref().map_or(u32::MAX, |p| self.uses.wrapping_sub(p.used));
        let oldest = set.max_by_key(|index| age(&self.places[*index])).unwrap_or(0);
        self.places[oldest] = Some(Place { key, used: self.uses, value });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_recently_used_of_a_set_gives_way() {
        let mut sets = Sets::new(WAYS);
        (0..8).for_each(|key| sets.add(key, key * 10));
        assert_eq!(sets.find(0, |_| true), Some(&mut 0));
        sets.add(8, 80);
        let found = [1, 0, 8].map(|key| sets.find(key, |_| true).copied());
        assert_eq!(found, [None, Some(0), Some(80)]);
        assert_eq!(sets.find(8, |value| *value == 81), None);
    }

    #[test]
    fn latest_of_several_with_one_key_is_found() {
        let mut sets = Sets::new(WAYS);
        (0..3).for_each(|value| sets.add(5, value));
        assert_eq!(sets.find(5, |_| true), Some(&mut 2));
        assert_eq!(sets.find(5, |value| *value < 2), Some(&mut 1));
        assert_eq!(sets.find(5, |_| true), Some(&mut 1));
    }
}
