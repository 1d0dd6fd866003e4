//! The pending events of the scheduled model: dies and channels, each of which waits for one thing at a time.
//!
//! Most phases of a kind take the same time, so that their ends come in the order in which they begin: they wait in the lanes of
//! the model `parallel`. What comes before the last one of its lane (other cell times, commands of several planes, what goes on
//! after it was suspended) is put into its place if that is near, else kept in a tournament.

#![expect(clippy::inline_always, reason = "as in run")]

use crate::flash::clock::lanes::{Lanes, NEVER, TIMER, lane_of, time_of};

/// What comes next.
#[derive(Clone, Debug)]
pub(super) struct Events {
    lanes: Lanes,
    others: Tournament,
    /// The next timer.
    timer: u64,
}

/// Whose an event is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Who {
    Timer,
    /// A die, or a channel: they are numbered after the dies.
    Resource(u32),
}

impl Events {
    pub(super) fn new(dies: u32, channels: u32) -> Self {
        Self { lanes: Lanes::new(dies, channels), others: Tournament::new(dies + channels), timer: NEVER }
    }

    /// The time of the next event of all, if there is one; else a time that is never reached.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        time_of(self.lanes.next())
    }

    /// True if there is no event.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.lanes.next() == NEVER
    }

    /// Sets when a resource, which has no event, is done with a phase of this kind.
    #[inline(always)]
    pub(super) fn set(&mut self, lane: usize, resource: u32, time: u64) {
        if !self.lanes.push_if_last(lane, time, resource, resource) {
            self.set_out_of_order(lane, resource, time);
        }
    }

    #[inline(never)]
    fn set_out_of_order(&mut self, lane: usize, resource: u32, time: u64) {
        if !self.lanes.insert(lane, time, resource, resource) {
            self.set_apart(resource, time);
        }
    }

    /// A resource will not be done with a phase of this kind.
    pub(super) fn cancel(&mut self, lane: usize, resource: u32) {
        if !self.lanes.remove(lane, resource) {
            self.set_apart(resource, NEVER);
        }
    }

    /// Sets the time of the next timer, or [`NEVER`].
    pub(super) fn set_timer(&mut self, time: u64) {
        self.timer = time;
        self.lanes.set_timer(time.min(self.others.next()));
    }

    /// Sets when a resource is done with something that follows no order.
    #[inline(never)]
    pub(super) fn set_apart(&mut self, resource: u32, time: u64) {
        self.others.set(resource, time);
        self.set_timer(self.timer);
    }

    /// Removes the next event; whose it is. A timer stays until the next one is set.
    #[inline]
    pub(super) fn take(&mut self) -> Who {
        match lane_of(self.lanes.next()) {
            TIMER => self.take_other(),
            lane => Who::Resource(self.lanes.pop(lane)),
        }
    }

    #[inline(never)]
    fn take_other(&mut self) -> Who {
        if self.timer < self.others.next() {
            return Who::Timer;
        }
        let resource = self.others.take();
        self.set_timer(self.timer);
        Who::Resource(resource)
    }
}

/// The next event of every die and every channel. Changing one costs as many steps as the number of resources has bits,
/// whatever the times are.
#[derive(Clone, Debug)]
struct Tournament {
    /// A power of two.
    leaves: usize,
    /// Node 1 is the root, the leaves are the second half; each inner node holds the earlier time of its two children.
    times: Vec<u64>,
}

impl Tournament {
    fn new(resources: u32) -> Self {
        let leaves = resources.next_power_of_two() as usize;
        Self { leaves, times: vec![NEVER; 2 * leaves] }
    }

    /// The time of the next event of all.
    #[inline]
    fn next(&self) -> u64 {
        self.times[1]
    }

    /// Sets when the next event of a resource happens.
    #[inline]
    fn set(&mut self, resource: u32, time: u64) {
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
    fn take(&mut self) -> u32 {
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

    /// Forty resources, of which most end out of order: places among the first few, and the tournament.
    #[test]
    fn events_come_in_order_of_time_whatever_was_set_and_cancelled() {
        let (dies, channels) = (32, 8);
        let mut events = Events::new(dies, channels);
        let mut plain = vec![None; (dies + channels) as usize];
        let (mut state, mut now) = (11_u64, 0);
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let who = (state >> 33) as u32 % (dies + channels);
            let lane = (state >> 60) as usize % TIMER;
            let time = now + (state >> 40) % 5_000;
            match plain[who as usize] {
                None => {
                    events.set(lane, who, time);
                    plain[who as usize] = Some((lane, time));
                }
                Some((lane, _)) if (state >> 20).is_multiple_of(4) => {
                    events.cancel(lane, who);
                    plain[who as usize] = None;
                }
                Some(_) => {
                    now = events.next();
                    let Who::Resource(first) = events.take() else { panic!("there is no timer") };
                    assert_eq!(plain[first as usize].take().map(|(_, time)| time), Some(now));
                }
            }
            assert_eq!(events.is_empty(), plain.iter().all(Option::is_none));
            if let Some((_, first)) = plain.iter().flatten().min_by_key(|(_, time)| *time) {
                assert_eq!(events.next(), *first);
            }
        }
    }
}
