//! Requests between admission and completion: queue depth, arrival, and their times.

mod interface;

use interface::Outgoing;

use super::Settings;
use super::controller::Controller;
use super::link::{Link, LinkUse};
use super::sleep::Sleep;
use crate::flash::{Clock, Ticket};
use crate::histogram::Histogram;
use crate::types::Nanos;

/// When the host sends the next request.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Arrival {
    /// At the time in the request (open loop).
    Open,
    /// When a place in the queue is free, after the host has thought for this long (closed loop).
    Closed {
        /// Pause of the host between a completion and the next request of that place.
        think: Nanos,
    },
}

/// Response times by kind of request.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// Completion minus arrival, reads.
    pub read_response: Histogram,
    /// Completion minus arrival, writes.
    pub write_response: Histogram,
    /// Completion minus arrival, trims and flushes.
    pub other_response: Histogram,
    /// Completion minus admission, all requests: filled in open loop only, see [`Times::device`].
    device: Histogram,
    /// Latest completion.
    pub last_completion: Nanos,
    /// What crossed the link between host and device; nothing without one.
    pub link: LinkUse,
    /// Time that cores of the controller were busy, all together.
    pub controller_busy: Nanos,
}

/// Kind of request for [`Times`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestKind {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A trim or a flush.
    Other,
}

impl Times {
    #[expect(
        clippy::inline_always,
        reason = "the kind is known where it is called: a tenth of the instructions of a hit"
    )]
    #[inline(always)]
    fn record(&mut self, open: bool, kind: RequestKind, arrival: Nanos, admitted: Nanos, finished: Nanos) {
        let response = match kind {
            RequestKind::Read => &mut self.read_response,
            RequestKind::Write => &mut self.write_response,
            RequestKind::Other => &mut self.other_response,
        };
        response.record(finished - arrival);
        if open {
            self.device.record(finished - admitted);
        }
        self.last_completion = self.last_completion.max(finished);
    }
    /// Completion minus admission by the device, all requests. In closed loop a request arrives when it is admitted,
    /// so this is the response.
    pub fn device(&self) -> Histogram {
        if self.device.count() == 0 { self.response() } else { self.device.clone() }
    }
    /// All responses in one histogram.
    pub fn response(&self) -> Histogram {
        let mut all = self.read_response.clone();
        all.merge(&self.write_response);
        all.merge(&self.other_response);
        all
    }
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    kind: RequestKind,
    arrival: Nanos,
    admitted: Nanos,
    outgoing: Outgoing,
}

/// The end of a request whose end was not known when it was carried out ([`Completion::finished`](super::Completion)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LateCompletion {
    /// Which of these requests it is, in the order in which they were admitted, from 0.
    pub nth: u64,
    /// When it completed, ns of simulated time.
    pub finished: Nanos,
}

/// What is remembered of requests that complete late.
#[derive(Debug)]
struct Late {
    /// Requests watched before.
    from: u64,
    completed: Vec<LateCompletion>,
}

/// At most as many times as the queue is deep, in ascending order: a ring that never grows.
#[derive(Debug)]
struct Ascending {
    /// A power of two of places.
    ring: Box<[Nanos]>,
    head: u32,
    len: u32,
    /// The greatest time ever inserted; if there are times at all, the last of them.
    last: Nanos,
}

impl Ascending {
    fn new(depth: u32) -> Self {
        let ring = vec![Nanos::ZERO; depth.next_power_of_two() as usize].into_boxed_slice();
        Self { ring, head: 0, len: 0, last: Nanos::ZERO }
    }
    #[inline]
    fn place(&self, nth: u32) -> usize {
        self.head.wrapping_add(nth) as usize & (self.ring.len() - 1)
    }
    #[inline]
    fn first(&self) -> Option<Nanos> {
        (self.len > 0).then(|| self.ring[self.place(0)])
    }
    #[inline]
    fn remove_first(&mut self) {
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
    }
    #[inline]
    fn insert(&mut self, time: Nanos) {
        debug_assert!((self.len as usize) < self.ring.len(), "more requests than the queue is deep");
        let mut place = self.place(self.len);
        if time < self.last {
            place = self.make_gap(time);
        }
        self.ring[place] = time;
        self.last = self.last.max(time);
        self.len += 1;
    }
    /// Moves the later times up by one place and returns the free place behind the equal ones.
    #[inline(never)]
    fn make_gap(&mut self, time: Nanos) -> usize {
        let mut at = self.len;
        while at > 0 && self.ring[self.place(at - 1)] > time {
            let place = self.place(at);
            self.ring[place] = self.ring[self.place(at - 1)];
            at -= 1;
        }
        self.place(at)
    }
}

/// Token kinds given to the clock. The token of a request is its number among those that are watched, then its index: of
/// equal times the older request comes first.
const WRITE_BACK: u64 = 1 << 63;
const READ_BACK: u64 = 1 << 62;
const FLUSHED: u64 = 1 << 61;
const INDEX_BITS: u32 = 17;

/// The requests in the device and those that wait for a place in the queue, with their times.
#[derive(Debug)]
pub struct Inflight {
    depth: usize,
    /// Requests in the device.
    len: usize,
    /// Requests come at their own times; else when a place is free and the host has thought for `think`.
    open: bool,
    think: Nanos,
    /// Times at which a place in the queue becomes free: known and still ahead.
    known: Ascending,
    pending: Vec<Pending>,
    free: Vec<u32>,
    /// Requests watched so far.
    watched: u64,
    link: Option<Link>,
    controller: Option<Controller>,
    sleep: Option<Sleep>,
    /// Times of completed requests.
    pub times: Times,
    /// Only if a caller follows single requests.
    late: Option<Late>,
    /// Nanoseconds of resolved buffer reads and writes since they were last taken.
    pub buffer_ns: (u64, u64),
    /// Pages flushed ahead whose writes have ended since it was last taken.
    pub flushed: u64,
}

impl Inflight {
    pub fn new(settings: &Settings) -> Self {
        let depth = settings.queue_depth;
        let (open, think) = match settings.arrival {
            Arrival::Open => (true, Nanos::ZERO),
            Arrival::Closed { think } => (false, think),
        };
        Self {
            depth: depth as usize,
            len: 0,
            open,
            think,
            known: Ascending::new(depth),
            pending: Vec::new(),
            free: Vec::new(),
            watched: 0,
            link: settings.host.link.map(Link::new),
            controller: settings.host.controller.map(Controller::new),
            sleep: settings.host.sleep.map(Sleep::new),
            times: Times::default(),
            late: None,
            buffer_ns: (0, 0),
            flushed: 0,
        }
    }

    /// From now on remembers when requests complete late. No request may be under way.
    pub fn remember_late(&mut self) {
        assert!(self.waits_for_nothing(), "a request is under way that nobody follows");
        self.late = Some(Late { from: self.watched, completed: Vec::new() });
    }

    /// Moves what was remembered since the last call to the end of `into`, in the order of completion.
    pub fn take_late(&mut self, into: &mut Vec<LateCompletion>) {
        if let Some(late) = &mut self.late {
            into.append(&mut late.completed);
        }
    }

    /// Lets time pass until the device admits the next request; returns its arrival and its admission, which is now.
    #[expect(clippy::inline_always, reason = "small, and saves a tenth of the instructions of a buffer hit")]
    #[inline(always)]
    pub fn admit(&mut self, clock: &mut Clock, at: Nanos) -> (Nanos, Nanos) {
        if self.open {
            self.arrive(clock, at);
        }
        while self.len >= self.depth {
            // The common case of a buffer hit: the next thing to happen is a completion that is known already.
            match self.known.first() {
                Some(known) if clock.next_event().is_none_or(|event| known < event) => {
                    if known > clock.now() {
                        clock.advance(known);
                    }
                    self.leave_due(clock.now());
                }
                _ => self.wait_for_event(clock),
            }
        }
        let now = clock.now();
        (if self.open { at } else { now }, now)
    }

    /// Every place that is due is free, so that the requests that take them are there before a die chooses.
    #[inline]
    fn leave_due(&mut self, now: Nanos) {
        while self.known.first().is_some_and(|due| due <= now) {
            self.known.remove_first();
            self.len -= 1;
        }
    }

    /// Lets what is under way end, as far as the next request does not come before. Then, if the flash is idle and stays
    /// so until a later time, that time.
    pub fn idle_until(&mut self, clock: &mut Clock, at: Nanos) -> Option<Nanos> {
        loop {
            self.settle(clock);
            if !self.open && self.len < self.depth {
                return None;
            }
            let next = if self.open { Some(at) } else { self.known.first() };
            match clock.next_event() {
                Some(event) if next.is_none_or(|next| event <= next) => _ = clock.step(),
                None => return next.filter(|next| *next > clock.now()),
                Some(_) => return None,
            }
        }
    }

    /// True if a request that comes at that time is admitted now.
    pub fn admits(&self, clock: &Clock, at: Nanos) -> bool {
        (!self.open || at <= clock.now()) && self.len < self.depth
    }
    /// When it may be admitted, as far as that is known.
    pub fn may_admit(&self, clock: &Clock, at: Nanos) -> Option<Nanos> {
        if self.open && at > clock.now() { Some(at) } else { self.next_known() }
    }
    /// The next time at which a place in the queue becomes free, as far as that is known.
    pub fn next_known(&self) -> Option<Nanos> {
        self.known.first()
    }

    /// Open loop: the next request arrives.
    #[inline(never)]
    fn arrive(&mut self, clock: &mut Clock, at: Nanos) {
        if at > clock.now() {
            clock.advance(at);
        }
        self.settle(clock);
    }

    /// Lets events happen until a request completes, or up to the next completion that is known. Many of them, such as
    /// those of garbage collection, complete none.
    #[inline(never)]
    fn wait_for_event(&mut self, clock: &mut Clock) {
        loop {
            let happened = clock.wait(self.known.first());
            self.book(clock);
            if self.len < self.depth || self.known.len > 0 {
                return;
            }
            assert!(happened, "the queue is full of requests that wait for nothing");
        }
    }

    /// A request finished: its place is free after the host has thought.
    #[inline]
    fn hold_place(&mut self, now: Nanos, finished: Nanos) {
        let until = finished + self.think;
        if until > now {
            self.known.insert(until);
            self.len += 1;
        }
    }

    /// Books what has completed up to now.
    #[inline(never)]
    pub fn settle(&mut self, clock: &mut Clock) {
        self.book(clock);
    }

    /// [`settle`](Self::settle), compiled into who calls it most.
    #[expect(clippy::inline_always, reason = "a wait of every other request: two calls fewer")]
    #[inline(always)]
    fn book(&mut self, clock: &mut Clock) {
        let now = clock.now();
        for (at, token) in clock.take_all_resolved().iter().map(|&(at, token)| (Nanos(at), token)) {
            if token & WRITE_BACK != 0 {
                self.buffer_ns.1 += at.0 - (token & !WRITE_BACK);
            } else if token & READ_BACK != 0 {
                self.buffer_ns.0 += at.0 - (token & !READ_BACK);
            } else if token & FLUSHED != 0 {
                self.flushed += token & !FLUSHED;
            } else {
                let index = token as u32 & ((1 << INDEX_BITS) - 1);
                let Pending { kind, arrival, admitted, outgoing } = self.pending[index as usize];
                let finished = self.leave_link(outgoing, at);
                self.times.record(self.open, kind, arrival, admitted, finished);
                if let Some(late) = &mut self.late {
                    late.completed.push(LateCompletion { nth: (token >> INDEX_BITS) - 1 - late.from, finished });
                }
                self.free.push(index);
                self.len -= 1;
                self.hold_place(now, finished);
            }
        }
        self.leave_due(now);
    }

    /// A request was carried out in state; it completes when `done` resolves. Returns the time if it is known.
    #[expect(clippy::inline_always, reason = "small, and saves a tenth of the instructions of a buffer hit")]
    #[inline(always)]
    pub fn finish(
        &mut self,
        clock: &mut Clock,
        kind: RequestKind,
        arrival: Nanos,
        admitted: Nanos,
        done: Ticket,
    ) -> Option<Nanos> {
        // What it waits for was joined at this instant: a time, or a ticket of what is not over.
        let finished = done.as_time();
        match finished {
            Some(at) => {
                self.times.record(self.open, kind, arrival, admitted, at);
                self.hold_place(admitted, at);
            }
            None => self.watch(clock, Pending { kind, arrival, admitted, outgoing: Outgoing::Nothing }, done),
        }
        finished
    }

    /// Remembers a request until the clock tells that it is done.
    #[inline(never)]
    fn watch(&mut self, clock: &mut Clock, pending: Pending, done: Ticket) {
        let index = match self.free.pop() {
            Some(index) => index,
            None => self.new_place(pending),
        };
        self.pending[index as usize] = pending;
        self.len += 1;
        self.watched += 1;
        clock.watch(done, self.watched << INDEX_BITS | u64::from(index));
    }

    #[cold]
    #[inline(never)]
    fn new_place(&mut self, pending: Pending) -> u32 {
        self.pending.push(pending);
        self.pending.len() as u32 - 1
    }

    /// The buffer sent a write to the FTL at `issued`; count its time when it resolves.
    pub fn time_buffer_write(&mut self, clock: &mut Clock, issued: Nanos, done: Ticket) {
        match clock.time(done) {
            Some(at) => self.buffer_ns.1 += at.saturating_sub(issued).0,
            None => clock.watch(done, WRITE_BACK | issued.0),
        }
    }
    /// The same for a read.
    pub fn time_buffer_read(&mut self, clock: &mut Clock, issued: Nanos, done: Ticket) {
        match clock.time(done) {
            Some(at) => self.buffer_ns.0 += at.saturating_sub(issued).0,
            None => clock.watch(done, READ_BACK | issued.0),
        }
    }

    /// That many pages are flushed ahead: they count as [`Self::flushed`] when `done`, which is pending, resolves.
    pub fn watch_flushed(clock: &mut Clock, done: Ticket, pages: u64) {
        clock.watch(done, FLUSHED | pages);
    }

    /// Lets everything complete.
    pub fn drain(&mut self, clock: &mut Clock) {
        clock.drain();
        self.settle(clock);
        if let Some(last) = self.last_known(clock.now()) {
            clock.advance(last);
            self.settle(clock);
        }
        // Hosts may still think, which takes no time of the device.
        self.len -= std::mem::take(&mut self.known.len) as usize;
        assert_eq!(self.len, 0, "every request completes");
    }
}
