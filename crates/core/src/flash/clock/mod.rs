//! Time of the flash array: tickets and the timing models.
//!
//! STATE FIRST, TIME AFTER: contents and mappings change at once, in program order. Each flash operation returns a
//! [`Ticket`], the promise of a time, and the [`Clock`] turns tickets into times as simulated time advances. Code that
//! moves data therefore reads straight down, without callbacks, and its timing is still exact.
//!
//! A timing model (`model::Timing`) says when an operation starts and what it waits for: one file and one line each.

mod class;
mod commands;
mod done;
mod lanes;
mod model;
mod record;
mod scheduler;
mod slab;
mod tickets;
mod waits;

pub use self::class::{CLASSES, OpClass};
pub use self::commands::{CommandConfig, Planes};
use self::done::{Finished, Resolved};
use self::model::{Apart, Model, Timing, either, least_work};
use self::parallel::Parallel;
pub use self::record::{Call, Operation, RecordedCall};
use self::scheduled::Scheduled;
pub use self::scheduler::{ChannelOrder, SCHEDULERS, Scheduler, SchedulerConfig, SchedulerRule, Suspend};
pub use self::waits::{ClassWaits, Waits};
use crate::ledger::{Cause, Op};
use crate::registry::Plugin;
use crate::registry::rules::{self, Choice};
use crate::types::{Nanos, Ppn};

rules::rules! {
    /// All timing models; the first is the default.
    TIMINGS: TimingRule, ".";
    serial,
    parallel,
    scheduled,
}

/// A timing model: when an operation starts, and what it waits for.
#[derive(Clone, Copy, Debug)]
pub struct TimingRule {
    /// A model at time zero.
    build: fn(&ClockShape) -> Model,
    /// It has a scheduler: [`SchedulerConfig`] is of use.
    pub schedules: bool,
}

impl rules::Rule for TimingRule {
    const KIND: &'static str = "timing";
    const ALL: &'static [Plugin<Self>] = TIMINGS;
    const KEY: &'static str = "device.timing.model";
    const CHOSEN_BY: &'static str = "devices";
}

/// A timing model, as a configuration names it.
pub type TimingModel = Choice<TimingRule>;

/// Marks a ticket that is not a time. The rest of its bits are a sequence number (issue order, hence also the
/// generation of the node) and the index of a node.
const PENDING: u64 = 1 << 63;

/// First time that is too late, 2^60 ns (36 years): some bits are needed for the kind of an event.
const END_OF_TIME: u64 = 1 << 60;

/// Places in tables by operation: a power of two, so that an index can be masked instead of checked.
const ROWS: usize = 4;

/// Most dies on one channel, a power of two.
const DIES_PER_CHANNEL: usize = 64;

/// Promise of a time: the end of a flash operation, a combination of such ends, or a time that is already known.
///
/// Tickets never expire: one that resolved long ago means 'at or before now'.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Ticket(u64);

impl Ticket {
    /// A ticket that is already resolved: time `at` (below 2^60 ns, 36 years).
    #[inline]
    pub const fn at(at: Nanos) -> Self {
        assert!(at.0 < END_OF_TIME, "times end at 2^60 ns");
        Self(at.0)
    }

    /// The same for a time that a clock has reached.
    #[inline]
    pub(crate) const fn reached(at: Nanos) -> Self {
        Self(at.0)
    }

    /// The time, if the ticket is one; a ticket of an operation or a combination must be asked for at its clock.
    pub const fn as_time(self) -> Option<Nanos> {
        if self.is_time() { Some(Nanos(self.0)) } else { None }
    }

    #[inline]
    const fn is_time(self) -> bool {
        self.0 < PENDING
    }
}

/// Timing parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockTimes {
    /// `t_R`.
    pub page_read: Nanos,
    /// `t_PROG`.
    pub page_program: Nanos,
    /// `t_BERS`.
    pub block_erase: Nanos,
    /// One page over the channel.
    pub page_transfer: Nanos,
    /// Command phase on the channel (0 = none).
    pub command: Nanos,
}

impl ClockTimes {
    /// What the cells take, with channels that take no time.
    pub const fn cells(page_read: Nanos, page_program: Nanos, block_erase: Nanos) -> Self {
        Self { page_read, page_program, block_erase, page_transfer: Nanos::ZERO, command: Nanos::ZERO }
    }
    /// Time on the die without the channel, by operation, ns.
    const fn cell_ns(&self) -> [u64; ROWS] {
        [self.page_read.0, self.page_program.0, self.block_erase.0, 0]
    }

    /// Time on the channel, by operation, ns.
    const fn bus_ns(&self) -> [u64; ROWS] {
        let data = self.command.0 + self.page_transfer.0;
        [data, data, self.command.0, 0]
    }

    /// Duration without any waiting, by operation, ns.
    fn service_ns(&self) -> [u64; ROWS] {
        std::array::from_fn(|op| self.cell_ns()[op] + self.bus_ns()[op])
    }
}

/// What a clock is made for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClockShape {
    /// Times of the flash.
    pub times: ClockTimes,
    /// Channels.
    pub channels: u32,
    /// Dies in total; die `d` sits on channel `d % channels`.
    pub dies: u32,
    /// Erase blocks of the array, 0 if the operations name no pages.
    pub blocks: u32,
    /// Pages of each.
    pub pages_per_block: u32,
    /// Planes of a die: block `b` of an array lies on plane `b / dies % planes`.
    pub planes: u32,
    /// What one command does.
    pub commands: CommandConfig,
    /// In which order a die takes what waits for it.
    pub scheduler: SchedulerConfig,
}

/// What an operation on an array is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpTarget {
    /// The page; for an erase, the first page of the block; [`Ppn::NONE`] if the clock is not that of an array.
    pub page: Ppn,
    /// Why.
    pub cause: Cause,
    /// What its cells take, if that is not the time of [`ClockTimes`]; else zero. Only models with a scheduler know it.
    pub cells: Nanos,
    /// It is the read, or the program that is issued next and waits for it, of a page that is moved inside its plane without
    /// being transferred (copy-back). Both are of one class. Only models with a scheduler know it.
    pub inside: bool,
}

/// When the ticket of an operation resolves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Release {
    /// When the operation is finished.
    Done,
    /// When the data of a program has left the RAM, at the end of its transfer. Reads and erases: as [`Self::Done`].
    Transfer,
}

/// Simulated time of one device: flash operations in, times out.
///
/// All times are integer nanoseconds. The same calls give the same times on every machine.
#[derive(Debug)]
pub struct Clock {
    model: Model,
    /// The current time, ns: that of the model.
    now: u64,
    /// Duration of each operation without any waiting, and of that on the channel, ns.
    service: [u64; ROWS],
    bus: [u64; ROWS],
}

impl Clock {
    /// A clock at time zero for a device of `dies` dies in total on `channels` channels, whose operations name no pages.
    ///
    /// # Panics
    /// As [`Clock::of`].
    pub fn new(model: TimingModel, times: ClockTimes, channels: u32, dies: u32) -> Self {
        let (commands, scheduler) = (CommandConfig::default(), SchedulerConfig::default());
        let (blocks, pages_per_block, planes) = (0, 1, 1);
        Self::of(model, &ClockShape { times, channels, dies, blocks, pages_per_block, planes, commands, scheduler })
    }

    /// A clock at time zero.
    ///
    /// # Panics
    /// Without a channel, if the dies do not spread evenly over the channels, with more than 64 dies on a channel, or
    /// with a time of more than 18 minutes.
    pub fn of(model: TimingModel, shape: &ClockShape) -> Self {
        let ClockShape { times, channels, dies, .. } = *shape;
        assert!(channels >= 1, "a device has at least one channel");
        assert!(dies >= channels, "{dies} dies cannot serve {channels} channels: each needs at least one");
        assert!(dies.is_multiple_of(channels), "{dies} dies do not spread evenly over {channels} channels");
        assert!(dies / channels <= 64, "{} dies per channel: at most 64 are supported", dies / channels);
        let ClockTimes { page_read, page_program, block_erase, page_transfer, command } = times;
        let longest = page_read.max(page_program).max(block_erase).max(page_transfer).max(command);
        assert!(longest.0 < 1 << 40, "{longest} is not the time of a flash operation (at most 2^40 ns, 18 minutes)");
        Self { model: (model.rule().build)(shape), now: 0, service: times.service_ns(), bus: times.bus_ns() }
    }

    /// Current simulated time.
    #[inline]
    pub fn now(&self) -> Nanos {
        Nanos(self.now)
    }

    /// Hands an operation on die `die` to the flash, at the current time, not to start before `after` has resolved.
    ///
    /// Every event up to now must have been processed, as it is after [`Self::advance`] and [`Self::step`].
    #[inline]
    pub fn issue(&mut self, die: u32, op: Op, after: Ticket, release: Release) -> Ticket {
        self.issue_for(
            OpTarget { page: Ppn::NONE, cause: Cause::Host, cells: Nanos::ZERO, inside: false },
            die,
            op,
            after,
            release,
        )
    }

    /// The same for what is known of an operation on an array: a scheduler needs it, and the record tells it.
    #[expect(
        clippy::inline_always,
        reason = "every operation passes here: three calls fewer, a tenth of W1's instructions"
    )]
    #[inline(always)]
    pub fn issue_for(&mut self, target: OpTarget, die: u32, op: Op, after: Ticket, release: Release) -> Ticket {
        either!(&mut self.model, m => m.issue(target, die, op, after, release))
    }

    /// A ticket that resolves when all programs are over that were issued with [`Release::Transfer`] since the last call: their
    /// own tickets tell when their data has left the RAM.
    #[inline]
    pub fn take_programmed(&mut self) -> Ticket {
        either!(&mut self.model, m => m.take_programmed())
    }

    /// Duration of `op` when nothing is in its way: command, cell and transfer.
    #[inline]
    pub fn service(&self, op: Op) -> Nanos {
        Nanos(self.service[op as usize])
    }

    /// What an operation takes of its channel.
    #[inline]
    pub fn channel_time(&self, op: Op) -> Nanos {
        Nanos(self.bus[op as usize])
    }

    /// A ticket that resolves when both have: at the later of the two times.
    #[expect(clippy::inline_always, reason = "a buffer hit joins times: as issue_for")]
    #[inline(always)]
    pub fn join(&mut self, a: Ticket, b: Ticket) -> Ticket {
        if a.is_time() && b.is_time() { Ticket(a.0.max(b.0)) } else { self.join_pending(a, b) }
    }

    /// The same where an operation is under way.
    #[inline(never)]
    fn join_pending(&mut self, a: Ticket, b: Ticket) -> Ticket {
        match &mut self.model {
            Model::Inline(m) => m.join(a, b),
            Model::Apart(m) => m.join(a, b),
        }
    }

    /// A ticket that resolves when `a` has, but not before time `at_least`.
    #[inline]
    pub fn delay(&mut self, a: Ticket, at_least: Nanos) -> Ticket {
        self.join(a, Ticket::at(at_least))
    }

    /// The time of `t` if it is known, and `None` while it is not. A ticket made by [`Ticket::at`] gives its time, past
    /// or future; one that resolved earlier and is otherwise forgotten gives the current time.
    #[inline]
    pub fn time(&self, t: Ticket) -> Option<Nanos> {
        if t.is_time() {
            return Some(Nanos(t.0));
        }
        either!(&self.model, m => m.time(t)).map(Nanos)
    }

    /// Puts `(token, x)` on the list of [`Self::take_resolved`] when `t` resolves, at time `x`.
    ///
    /// If `t` resolved before or resolves now, this happens at once with the current time, because nothing can be told
    /// of anything earlier than that: ask [`Self::time`] first where the difference matters.
    #[expect(clippy::inline_always, reason = "as issue_for: every request that waits for flash")]
    #[inline(always)]
    pub fn watch(&mut self, t: Ticket, token: u64) {
        match &mut self.model {
            Model::Inline(m) => m.watch(t, token),
            Model::Apart(m) => m.watch(t, token),
        }
    }

    /// Takes the next watched ticket that has resolved, as its token and its time: by time, then by token.
    #[inline]
    pub fn take_resolved(&mut self) -> Option<(u64, Nanos)> {
        either!(&mut self.model, m => m.resolved().take())
    }

    /// Takes all of them, as (ns, token).
    #[inline]
    pub(crate) fn take_all_resolved(&mut self) -> &[(u64, u64)] {
        either!(&mut self.model, m => m.resolved().take_all())
    }

    /// Advances to the next instant at which something happens and processes it. False when nothing is pending.
    #[inline]
    pub fn step(&mut self) -> bool {
        let was_pending;
        (was_pending, self.now) = either!(&mut self.model, m => (m.step(), m.now()));
        was_pending
    }

    /// Processes instants, at most up to `to`, but none after the first at which a watched ticket resolves. False when
    /// nothing was pending.
    #[inline]
    pub fn wait(&mut self, to: Option<Nanos>) -> bool {
        let to = to.map_or(END_OF_TIME, |to| to.0);
        let was_pending;
        (was_pending, self.now) = either!(&mut self.model, m => (m.wait(to), m.now()));
        was_pending
    }

    /// The next instant at which something happens.
    #[inline]
    pub fn next_event(&self) -> Option<Nanos> {
        either!(&self.model, m => m.next_event()).map(Nanos)
    }

    /// Processes every instant up to `to`, which then is the current time (time never goes back).
    #[inline]
    pub fn advance(&mut self, to: Nanos) {
        assert!(to.0 < END_OF_TIME, "times end at 2^60 ns");
        self.now = either!(&mut self.model, m => {
            m.advance(to.0);
            m.now()
        });
    }

    /// Advances until nothing is pending and the flash is idle.
    pub fn drain(&mut self) {
        self.now = either!(&mut self.model, m => {
            m.drain();
            m.now()
        });
    }

    /// When `channel` is expected to be free: the current time if no die on it executes or has queued anything, else a
    /// later time.
    ///
    /// It is an estimate: the current time plus the remaining service time of what the most loaded die of the channel
    /// executes and has queued. Waiting for the channel in the future is not in it, nor are operations that still wait for
    /// their dependency. In the serial model it is the time at which the device is free.
    pub fn channel_busy_until(&self, channel: u32) -> Nanos {
        let finished = either!(&self.model, m => m.finished());
        let dies = finished.dies_of(channel).map(|die| either!(&self.model, m => m.die_busy_until(die)));
        Nanos(dies.max().unwrap_or(0))
    }

    /// True if the die has begun all programs and erases that were asked of a page's block, so that what is asked now is none of
    /// their commands. Only models with a scheduler tell: with others it is false.
    pub fn has_begun_writes(&self, page: Ppn) -> bool {
        either!(&self.model, m => m.has_begun_writes(page))
    }

    /// When `die` is expected to be done with all that was asked of it, as [`Clock::channel_busy_until`]; with a scheduler,
    /// operations that still wait for their dependency are in it.
    #[inline]
    pub fn die_work_until(&self, die: u32) -> Nanos {
        Nanos(either!(&self.model, m => m.die_work_until(die)))
    }

    /// Of positions, each with its die, the first of those that `may` be taken whose die has the least
    /// [`Clock::die_work_until`].
    #[inline]
    pub fn least_work(&self, dies: impl Iterator<Item = (u32, u32)>, may: impl Fn(u32) -> bool) -> Option<u32> {
        match &self.model {
            Model::Inline(model) => least_work(model, dies, may),
            Model::Apart(model) => model.least_work(dies, may),
        }
    }

    /// Operations issued and not finished (waiting for a dependency, queued or executing). Always zero in the serial
    /// model, where the end of every operation is known when it is issued.
    #[inline]
    pub fn in_flight(&self) -> usize {
        match &self.model {
            Model::Inline(m) => m.in_flight(),
            Model::Apart(m) => m.in_flight(),
        }
    }

    /// Time that die `die` has spent on the operations that are finished: command, cell and transfer, without waiting
    /// for the channel; what cache registers let overlap counts twice. (Serial: on all operations issued.) The sum over
    /// all dies is the sum of all service times.
    pub fn die_busy_ns(&self, die: u32) -> Nanos {
        either!(&self.model, m => m.finished().die_ns(die, &self.service))
    }

    /// Time that `channel` has spent on commands and transfers of the operations that are finished. (Serial: of all
    /// operations issued.)
    pub fn channel_busy_ns(&self, channel: u32) -> Nanos {
        either!(&self.model, m => m.finished().channel_ns(channel, &self.bus))
    }

    /// How long operations waited and for what, by class, if the model has a scheduler.
    pub fn waits(&self) -> Option<&Waits> {
        either!(&self.model, m => m.waits())
    }

    /// Forgets what [`Clock::waits`] tells.
    pub fn forget_waits(&mut self) {
        either!(&mut self.model, m => m.forget_waits());
    }

    /// Places for operations, joins and watches that have been allocated. It grows with what is in flight at a time,
    /// never with what has been issued.
    #[doc(hidden)]
    pub fn slab_len(&self) -> usize {
        either!(&self.model, m => m.slab_len())
    }
}
