//! The pending events of the scheduled model: a tournament over resources, each of which waits for one thing at a time.

/// Time of an event that never happens.
pub(super) const NEVER: u64 = u64::MAX;

/// The next event of every die and every channel. Changing one costs as many steps as the number of resources has bits,
/// whatever the times are.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// A power of two.
    leaves: usize,
    /// Node 1 is the root, the leaves are the second half; each inner node holds the earlier time of its two children.
    times: Vec<u64>,
}

impl Tournament {
    pub(super) fn new(resources: u32) -> Self {
        let leaves = resources.next_power_of_two() as usize;
        Self { leaves, times: vec![NEVER; 2 * leaves] }
    }

    /// The time of the next event of all.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.times[1]
    }

    /// Sets when the next event of a resource happens.
    #[inline]
    pub(super) fn set(&mut self, resource: u32, time: u64) {
        let mut at = self.leaves + resource as usize;
        self.times[at] = time;
        while at > 1 {
            at /= 2;
            let earlier = self.times[2 * at].min(self.times[2 * at + 1]);
            if self.times[at] == earlier {
                return;
            }
            self.times[at] = earlier;
        }
    }

    /// Removes the next event: whose it is. Of several at one time the one of the first resource.
    #[inline]
    pub(super) fn take(&mut self) -> u32 {
        let time = self.times[1];
        let mut at = 1;
        while at < self.leaves {
            at *= 2;
            at += usize::from(self.times[at] != time);
        }
        let resource = (at - self.leaves) as u32;
        self.set(resource, NEVER);
        resource
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tournament_gives_events_in_order_of_time() {
        for resources in [1, 2, 5, 8, 40] {
            let mut events = Tournament::new(resources);
            let mut plain = vec![NEVER; resources as usize];
            let mut state = 7_u64;
            for _ in 0..2_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let who = (state >> 33) as u32 % resources;
                let time = (state >> 40) % 50;
                events.set(who, time);
                plain[who as usize] = time;
                assert_eq!(events.next(), *plain.iter().min().expect("there are some"));
                if state >> 20 & 1 == 0 {
                    let first = plain.iter().position(|t| *t == events.next()).expect("it is one of them");
                    assert_eq!(events.take(), first as u32);
                    plain[first] = NEVER;
                }
            }
        }
    }
}
