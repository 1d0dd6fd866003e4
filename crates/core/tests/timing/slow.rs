//! The parallel model word by word (docs/models.md): lists that are searched, nothing clever.

use nandlab::flash::clock::{ClockTimes, Release};
use nandlab::ledger::Op;

/// A ticket: all of some operations and a time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct After {
    pub ops: Vec<usize>,
    pub at: u64,
    /// The ends of these programs, whose tickets resolve earlier.
    pub ends: Vec<usize>,
    /// It is the ticket of one operation, not a combination.
    pub own: bool,
}

impl After {
    pub fn op(id: usize) -> Self {
        Self { ops: vec![id], own: true, ..Self::default() }
    }

    pub fn end(id: usize) -> Self {
        Self { ends: vec![id], ..Self::default() }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum State {
    Waiting,
    Queued,
    Executing,
    Done,
}

#[derive(Clone, Debug)]
pub struct SlowOp {
    pub die: usize,
    pub op: Op,
    pub release: Release,
    pub after: After,
    pub state: State,
    /// What it still has to do: (on the channel?, ns).
    pub phases: Vec<(bool, u64)>,
    pub left_queue: u64,
    pub finished: u64,
    pub resolved: Option<u64>,
}

/// The parallel model as plain lists that are searched, to compare the fast one with.
pub struct Slow {
    pub times: ClockTimes,
    pub channels: usize,
    pub now: u64,
    pub ops: Vec<SlowOp>,
    pub queue: Vec<Vec<usize>>,
    pub executing: Vec<Option<usize>>,
    /// (time of the request, operation).
    pub wants_bus: Vec<Vec<(u64, usize)>>,
    pub on_bus: Vec<Option<usize>>,
    /// (end, operation): the end of its current phase.
    pub events: Vec<(u64, usize)>,
    /// Intervals of use, for the invariants: (begin, end).
    pub die_use: Vec<Vec<(u64, u64)>>,
    pub bus_use: Vec<Vec<(u64, u64)>>,
    /// (channel, request, grant).
    pub bus_waits: Vec<(usize, u64, u64)>,
    /// The ends of all programs whose tickets resolve earlier, since they were last taken.
    pub programmed: After,
}

impl Slow {
    pub fn new(times: ClockTimes, channels: usize, dies: usize) -> Self {
        Self {
            times,
            channels,
            now: 0,
            ops: vec![],
            queue: vec![vec![]; dies],
            executing: vec![None; dies],
            wants_bus: vec![vec![]; channels],
            on_bus: vec![None; channels],
            events: vec![],
            die_use: vec![vec![]; dies],
            bus_use: vec![vec![]; channels],
            bus_waits: vec![],
            programmed: After::default(),
        }
    }

    pub fn issue(&mut self, die: usize, op: Op, after: After, release: Release) -> usize {
        let t = self.times;
        let data = t.command.0 + t.page_transfer.0;
        let command = (true, t.command.0);
        let mut phases = match op {
            Op::Read => vec![command, (false, t.page_read.0), (true, t.page_transfer.0)],
            Op::Program => vec![(true, data), (false, t.page_program.0)],
            Op::Erase => vec![command, (false, t.block_erase.0)],
        };
        if op != Op::Program && t.command.0 == 0 {
            phases.remove(0);
        }
        let id = self.ops.len();
        let on_this_die = after.own && {
            let before = &self.ops[after.ops[0]];
            before.die == die && matches!(before.state, State::Queued | State::Executing)
        };
        let state = State::Waiting;
        self.ops.push(SlowOp { die, op, release, after, state, phases, left_queue: 0, finished: 0, resolved: None });
        if on_this_die || self.may_arrive(id) {
            self.arrive(id);
            self.start_heads();
            self.grant();
        }
        if op == Op::Program && release == Release::Transfer {
            self.programmed = self.join(self.programmed.clone(), After::end(id));
        }
        id
    }

    fn may_arrive(&self, id: usize) -> bool {
        self.is_resolved(&self.ops[id].after)
    }

    /// Whoever joins something with what has resolved gets that something.
    pub fn join(&self, a: After, b: After) -> After {
        if a == b || self.is_resolved(&b) {
            return a;
        }
        if self.is_resolved(&a) {
            return b;
        }
        let mut ops = [a.ops, b.ops].concat();
        ops.retain(|&id| self.ops[id].resolved.is_none());
        let mut ends = [a.ends, b.ends].concat();
        ends.retain(|&id| self.ops[id].state != State::Done);
        After { ops, at: a.at.max(b.at), ends, own: false }
    }

    fn is_resolved(&self, after: &After) -> bool {
        let is_over = |id: &usize| self.ops[*id].state == State::Done;
        after.at <= self.now
            && after.ops.iter().all(|&o| self.ops[o].resolved.is_some())
            && after.ends.iter().all(is_over)
    }

    fn arrive(&mut self, id: usize) {
        self.ops[id].state = State::Queued;
        self.queue[self.ops[id].die].push(id);
    }

    fn start_heads(&mut self) {
        for die in 0..self.queue.len() {
            if self.executing[die].is_none() && !self.queue[die].is_empty() {
                let id = self.queue[die].remove(0);
                self.executing[die] = Some(id);
                self.ops[id].state = State::Executing;
                self.ops[id].left_queue = self.now;
                self.next_phase(id);
            }
        }
    }

    fn next_phase(&mut self, id: usize) {
        let die = self.ops[id].die;
        match self.ops[id].phases.first() {
            None => {
                self.ops[id].state = State::Done;
                self.ops[id].finished = self.now;
                self.ops[id].resolved.get_or_insert(self.now);
                self.executing[die] = None;
                self.die_use[die].push((self.ops[id].left_queue, self.now));
            }
            Some(&(true, _)) => self.wants_bus[die % self.channels].push((self.now, id)),
            Some(&(false, ns)) => self.events.push((self.now + ns, id)),
        }
    }

    fn grant(&mut self) {
        for channel in 0..self.channels {
            if self.on_bus[channel].is_none() && !self.wants_bus[channel].is_empty() {
                self.wants_bus[channel].sort_unstable();
                let (requested, id) = self.wants_bus[channel].remove(0);
                let end = self.now + self.ops[id].phases[0].1;
                self.on_bus[channel] = Some(id);
                self.events.push((end, id));
                self.bus_use[channel].push((self.now, end));
                self.bus_waits.push((channel, requested, self.now));
            }
        }
    }

    fn complete(&mut self, id: usize) {
        let (bus, _) = self.ops[id].phases.remove(0);
        if bus {
            self.on_bus[self.ops[id].die % self.channels] = None;
            if self.ops[id].op == Op::Program && self.ops[id].release == Release::Transfer {
                self.ops[id].resolved = Some(self.now);
            }
        }
        self.next_phase(id);
        self.start_heads();
    }

    fn next_instant(&self) -> Option<u64> {
        let arrivals = self.ops.iter().filter(|o| o.state == State::Waiting && o.after.at > self.now);
        self.events.iter().map(|e| e.0).chain(arrivals.map(|o| o.after.at)).min()
    }

    fn process_instant(&mut self) {
        loop {
            if let Some(at) = self.events.iter().position(|e| e.0 == self.now) {
                let (_, id) = self.events.remove(at);
                self.complete(id);
                continue;
            }
            let free = |s: &Self, id: &usize| s.ops[*id].state == State::Waiting && s.may_arrive(*id);
            let arrivals: Vec<usize> = (0..self.ops.len()).filter(|id| free(self, id)).collect();
            if !arrivals.is_empty() {
                for id in arrivals {
                    self.arrive(id);
                }
                self.start_heads();
                continue;
            }
            self.grant();
            if self.events.iter().all(|e| e.0 != self.now) {
                return;
            }
        }
    }

    pub fn advance(&mut self, to: u64) {
        while let Some(t) = self.next_instant().filter(|&t| t <= to) {
            self.now = t;
            self.process_instant();
        }
        self.now = self.now.max(to);
    }

    pub fn drain(&mut self) {
        while let Some(t) = self.next_instant() {
            self.advance(t);
        }
    }

    pub fn check_invariants(&self) {
        for uses in self.die_use.iter().chain(&self.bus_use) {
            for pair in uses.windows(2) {
                assert!(pair[0].1 <= pair[1].0, "two at a time: {pair:?}");
            }
        }
        // Work-conserving: as long as somebody waits for a channel it is in use without a gap.
        for &(channel, requested, granted) in &self.bus_waits {
            let (busy, mut reached) = (&self.bus_use[channel], requested);
            for &(begin, end) in busy.iter().filter(|u| u.0 < granted && u.1 > requested) {
                assert!(begin <= reached, "channel {channel} idle from {reached} to {begin}");
                reached = reached.max(end);
            }
            assert!(reached >= granted, "channel {channel} idle from {reached} to {granted}");
        }
        for op in &self.ops {
            assert_eq!(op.state, State::Done);
            assert!(op.resolved.is_some());
        }
    }
}
