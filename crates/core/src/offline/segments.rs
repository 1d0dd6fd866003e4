//! The history by page: what keeping each page from one access to the next would save, and what it is worth at a price.

use super::Costs;
use super::history::{History, Kind};

/// What an event is to its page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Role(u8);

impl Role {
    /// The first access, or the first after a trim: nothing was kept until here.
    const FIRST: u8 = 1;
    const WRITE: u8 = 2;
    const TRIM: u8 = 4;
    /// The host flushed since the last event of the page.
    const FLUSHED: u8 = 8;

    #[inline]
    const fn is(self, what: u8) -> bool {
        self.0 & what != 0
    }
}

/// Bits behind the point of prices and values.
const FRACTION: u32 = 32;
/// The sum of all prices stays below this, so that no sum of values overflows.
const PRICES_MAX: i64 = 1 << 61;

/// Worth of a frame whose page is not needed any more.
pub(super) const WORTHLESS: i64 = i64::MIN;

/// Prices of a frame, for one step of time each (from an event to the next): constant within a window. Whole numbers
/// of 2^-32, so that a bound is exact.
#[derive(Debug)]
pub(super) struct Prices {
    shift: u32,
    /// Price of a step, by window.
    pub steps: Vec<i64>,
    /// Sum of the prices of all steps before the window; one more entry for the end.
    sums: Vec<i64>,
    events: usize,
}

impl Prices {
    /// No price anywhere, in windows of `2^shift` steps.
    pub fn new(events: usize, shift: u32) -> Self {
        let windows = (events >> shift) + 1;
        Self { shift, steps: vec![0; windows], sums: vec![0; windows + 1], events }
    }
    /// Steps in a window.
    pub fn len(&self, window: usize) -> u32 {
        (self.events.min((window + 1) << self.shift) - self.events.min(window << self.shift)) as u32
    }
    /// Sums up the prices that were changed. A price that would lift the sum beyond all reason becomes 0.
    pub fn settle(&mut self) {
        for window in 0..self.steps.len() {
            let cost = i128::from(self.steps[window]) * i128::from(self.len(window)) + i128::from(self.sums[window]);
            if cost > i128::from(PRICES_MAX) {
                self.steps[window] = 0;
            }
            self.sums[window + 1] = self.sums[window] + self.steps[window] * i64::from(self.len(window));
        }
    }
    /// Sum of the prices of all steps before a time.
    #[inline]
    pub fn before(&self, time: u32) -> i64 {
        let window = (time >> self.shift) as usize;
        let into = time & ((1 << self.shift) - 1);
        self.sums[window] + self.steps[window] * i64::from(into)
    }
    /// Sum of the prices of all steps.
    pub fn total(&self) -> i64 {
        self.sums.last().copied().unwrap_or(0)
    }
}

/// Frames that are in use, by window: a sum of steps.
pub(super) struct Usage {
    shift: u32,
    /// Steps within the window, of pages that come or go there.
    within: Vec<i64>,
    /// Pages that came before the window and did not go, as differences from window to window.
    across: Vec<i64>,
}

impl Usage {
    fn new(prices: &Prices) -> Self {
        Self { shift: prices.shift, within: vec![0; prices.steps.len()], across: vec![0; prices.steps.len() + 1] }
    }
    /// From this time on a frame more (`sign` 1) or less (-1) is in use.
    #[inline]
    fn change(&mut self, time: u32, sign: i64) {
        let window = (time >> self.shift) as usize;
        let left = (1 << self.shift) - i64::from(time & ((1 << self.shift) - 1));
        self.within[window] += sign * left;
        self.across[window + 1] += sign;
    }
    /// The sum of used frames over the steps of each window.
    pub fn frames(&self) -> impl Iterator<Item = i64> {
        let across = self.across.iter().scan(0, |pages, change| {
            *pages += change;
            Some(*pages)
        });
        self.within.iter().zip(across).map(|(within, pages)| within + (pages << self.shift))
    }
}

/// A history sorted by pages, and what each access would cost.
#[derive(Debug)]
pub struct Segments {
    costs: Costs,
    /// Times of the events of the first page, then of the second, and so on, each in their order.
    times: Vec<u32>,
    roles: Vec<Role>,
    events: usize,
    /// What it costs when nothing is ever kept.
    uncached: u64,
}

impl Segments {
    /// Sorts a history by pages. 5 bytes an event.
    pub fn new(history: &History, costs: Costs) -> Self {
        let events = history.events();
        let paged = || events.iter().enumerate().filter(|(_, event)| event.kind() != Kind::Flush);
        let mut places = vec![0; history.pages() + 1];
        for (_, event) in paged() {
            places[event.page() as usize + 1] += 1;
        }
        for page in 1..places.len() {
            places[page] += places[page - 1];
        }
        let mut times = vec![0; places[history.pages()]];
        for (time, event) in paged() {
            let place = &mut places[event.page() as usize];
            times[*place] = time as u32;
            *place += 1;
        }
        let uncached = costs.read * history.reads() + costs.write * history.writes();
        let roles = roles(history, &times);
        Self { costs, times, roles, events: events.len(), uncached }
    }

    /// What pages cost.
    pub const fn costs(&self) -> Costs {
        self.costs
    }
    /// What it costs when nothing is ever kept.
    pub(super) const fn uncached(&self) -> u64 {
        self.uncached
    }
    /// Events, those of no page included.
    pub(super) const fn events(&self) -> usize {
        self.events
    }
    const fn read(&self) -> i64 {
        self.costs.read.cast_signed() << FRACTION
    }
    const fn write(&self) -> i64 {
        self.costs.write.cast_signed() << FRACTION
    }
    /// A value in units of cost, rounded down.
    pub(super) const fn floor(value: i128) -> i128 {
        value >> FRACTION
    }
    /// The price at which `frames` frames over `steps` steps cost as much as all that could be saved.
    pub(super) fn mean_price(&self, frames: u32) -> i64 {
        let steps = (self.events as i128 * i128::from(frames.max(1))).max(1);
        ((i128::from(self.uncached) << FRACTION) / steps) as i64
    }

    /// What the best choices would save beyond their prices, and the frames that they use. Each segment chooses for
    /// itself: all of it or, of the intervals that end in a read, those that are worth their price.
    pub(super) fn savings(&self, prices: &Prices) -> (i128, Usage) {
        let (read, write) = (self.read(), self.write());
        let mut usage = Usage::new(prices);
        let mut sum = 0;
        // Of the segment so far: its first event, whether it holds a dirty page since then, all of it, the best parts.
        let (mut first, mut dirty, mut whole, mut parts) = (0, false, 0, 0);
        // Sum of the prices before the last event.
        let mut before = 0;
        for (place, (time, role)) in self.times.iter().zip(&self.roles).enumerate() {
            let now = prices.before(*time);
            let price = now - before;
            before = now;
            dirty &= !role.is(Role::FLUSHED);
            let ends = role.is(Role::FIRST | Role::WRITE | Role::TRIM);
            if !ends {
                let gain = read - price;
                whole += gain;
                parts += gain.max(0);
                continue;
            }
            let (all, starts) = (write + whole - price, role.is(Role::WRITE));
            if !role.is(Role::FIRST) && dirty && all > parts {
                sum += i128::from(all);
                usage.change(self.times[first], 1);
                usage.change(*time, -1);
            } else if parts > 0 {
                sum += i128::from(parts);
                self.use_parts(first..place, prices, &mut usage);
            }
            (first, dirty, whole, parts) = (place, starts, 0, 0);
        }
        if parts > 0 {
            sum += i128::from(parts);
            self.use_parts(first..self.times.len(), prices, &mut usage);
        }
        (sum, usage)
    }

    /// The intervals of a segment that are worth their price: neighbours are one.
    fn use_parts(&self, places: std::ops::Range<usize>, prices: &Prices, usage: &mut Usage) {
        let times = &self.times[places];
        for pair in times.windows(2) {
            if self.read() > prices.before(pair[1]) - prices.before(pair[0]) {
                usage.change(pair[0], 1);
                usage.change(pair[1], -1);
            }
        }
    }

    /// For every event by its time: what a frame that holds its page from there on is worth, clean and dirty, less the
    /// price of all steps before it. Frames of greater worth should stay: the prices since then are the same for all.
    /// [`WORTHLESS`] when nothing happens to the page any more.
    pub(super) fn worths(&self, prices: &Prices) -> Vec<[i64; 2]> {
        let mut worths = vec![[WORTHLESS; 2]; self.events];
        // Of the event that follows: its time's prices and role, and what a dirty page is worth after it.
        let mut next: Option<(i64, Role, i64)> = None;
        for (time, role) in self.times.iter().zip(&self.roles).rev() {
            let before = prices.before(*time);
            let mut dirty_worth = 0;
            if let Some((then, what, later)) = next {
                let is_read = !what.is(Role::WRITE | Role::TRIM);
                let clean = if is_read { self.read() } else { 0 };
                let dirty = match () {
                    () if what.is(Role::FLUSHED) => clean,
                    () if is_read => self.read() + later.max(0),
                    () => self.write(),
                };
                worths[*time as usize] = [clean - then, dirty - then];
                dirty_worth = dirty - (then - before);
            }
            next = (!role.is(Role::FIRST)).then_some((before, *role, dirty_worth));
        }
        worths
    }
}

fn roles(history: &History, times: &[u32]) -> Vec<Role> {
    let events = history.events();
    let flushes: Vec<u32> =
        (0u32..).zip(events).filter(|(_, event)| event.kind() == Kind::Flush).map(|(time, _)| time).collect();
    let mut before: Option<u32> = None;
    let role = |time: &u32| {
        let event = events[*time as usize];
        let last = before.filter(|last| {
            let last = events[*last as usize];
            last.page() == event.page() && last.kind() != Kind::Trim
        });
        let of_kind = match event.kind() {
            Kind::Write => Role::WRITE,
            Kind::Trim => Role::TRIM,
            _ => 0,
        };
        let of_past = match last {
            None => Role::FIRST,
            Some(last) => {
                let next = flushes.partition_point(|flush| *flush < last);
                if flushes.get(next).is_some_and(|flush| flush < time) { Role::FLUSHED } else { 0 }
            }
        };
        before = Some(*time);
        Role(of_kind | of_past)
    };
    times.iter().map(role).collect()
}
