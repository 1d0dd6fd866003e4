//! INTERIM clock.
use crate::ledger::Op;
use crate::types::Nanos;
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(pub(crate) u64);
impl Ticket {
    #[inline]
    pub const fn at(at: Nanos) -> Self {
        Self(at.0)
    }
}
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockTimes {
    pub page_read: Nanos,
    pub page_program: Nanos,
    pub block_erase: Nanos,
    pub page_transfer: Nanos,
    pub command: Nanos,
}
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimingModel {
    Serial,
    #[default]
    Parallel,
}
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Release {
    #[default]
    Done,
    Transfer,
}
#[derive(Debug)]
pub struct Clock {
    times: ClockTimes,
    now: Nanos,
    busy: Nanos,
    resolved: std::collections::VecDeque<(u64, Nanos)>,
}
impl Clock {
    pub fn new(_m: TimingModel, times: ClockTimes, _c: u32, _d: u32) -> Self {
        Self { times, now: Nanos(0), busy: Nanos(0), resolved: Default::default() }
    }
    pub const fn now(&self) -> Nanos {
        self.now
    }
    pub fn service(&self, op: Op) -> Nanos {
        let t = &self.times;
        match op {
            Op::Read => t.page_read + t.page_transfer + t.command,
            Op::Program => t.page_program + t.page_transfer + t.command,
            Op::Erase => t.block_erase + t.command,
        }
    }
    pub fn issue(&mut self, _die: u32, op: Op, after: Ticket, _r: Release) -> Ticket {
        self.busy = self.busy.max(Nanos(after.0)).max(self.now) + self.service(op);
        Ticket(self.busy.0)
    }
    pub fn join(&mut self, a: Ticket, b: Ticket) -> Ticket {
        Ticket(a.0.max(b.0))
    }
    pub fn delay(&mut self, a: Ticket, at_least: Nanos) -> Ticket {
        Ticket(a.0.max(at_least.0))
    }
    pub fn time(&self, t: Ticket) -> Option<Nanos> {
        Some(Nanos(t.0))
    }
    pub fn watch(&mut self, t: Ticket, token: u64) {
        self.resolved.push_back((token, Nanos(t.0)));
    }
    pub fn take_resolved(&mut self) -> Option<(u64, Nanos)> {
        self.resolved.pop_front()
    }
    pub fn step(&mut self) -> bool {
        false
    }
    pub fn next_event(&self) -> Option<Nanos> {
        None
    }
    pub fn advance(&mut self, to: Nanos) {
        self.now = self.now.max(to);
    }
    pub fn drain(&mut self) {
        self.now = self.now.max(self.busy);
    }
    pub fn channel_busy_until(&self, _c: u32) -> Nanos {
        self.busy
    }
    pub fn in_flight(&self) -> usize {
        0
    }
}
