//! scheduled - Dies work at the same time and take what is most urgent
//!
//! # Source
//! Dies and channels as in `parallel`; the order of operations, and what must not be reordered, as controllers with a
//! transaction scheduler do it: A. Tavakkol, J. Gomez-Luna, M. Sadrosadati, S. Ghose, O. Mutlu, "MQSim: A Framework for
//! Enabling Realistic Studies of Modern Multi-Queue SSD Devices", FAST 2018, section 4; suspension after G. Wu and X. He,
//! "Reducing SSD Read Latency via NAND Flash Program and Erase Suspension", FAST 2012, section 3; cache registers after Micron
//! Technology, "2Gb, 4Gb, 8Gb: x8/x16 Multiplexed NAND Flash Memory", data sheet rev. C, 2005, "PROGRAM PAGE CACHE MODE 80h-15h",
//! and the commands that ONFI lists as optional: page cache program (15h), read cache (31h, 3Fh); copy-back after the same
//! maker's "2Gb x8, x16: NAND Flash Memory" (MT29F2G16AAD), "Internal Data Move" (00h-35h, 85h-10h).
//!
//! # What it does
//! Phases of operations, dies and channels are those of `parallel`. Each die has a queue for every class of operation: map
//! read, host read, host write, map write, collection, background; within a class the first that comes is the first that
//! goes. When a die becomes idle, the scheduler (`device.scheduler.policy`) chooses among the classes. At one instant all
//! completions come first, then what they released joins its queue, then idle dies choose, then idle channels are granted. What
//! the device asks for after that comes one after the other, also at one instant: an idle die begins with the first.
//!
//! Operations overtake each other, on one die and among dies, but not where that would change what the flash holds: a page is
//! read after it was programmed, the programs of a block keep their order, a block is erased after all reads and programs of
//! its pages and programmed again after that. Whatever a read or write of the host waits for in this way, or by its own
//! dependencies, is hurried: like everything that was asked for before it, it is as urgent as a host write as soon as it is the
//! first of its queue. So collection yields to the host until the host
//! needs the space. If operations have waited for `most_wait` when a die chooses among several classes, it takes the one of them
//! that came first, but not twice in a row: what it takes in between follows the scheduler.
//!
//! A page that is being moved is read where it still is: as long as its copy is not programmed, a read by or for the host that
//! waits for nothing else goes to the page that it is copied from, if that is not erased yet; the erase waits for it. With `fifo`
//! the read waits for the copy.
//!
//! With `suspend` a die that erases (or programs) stops for a host read or map read: the read can begin after
//! `suspend_time`; when no such read waits any more, the operation goes on and takes `resume_time` longer (stopped before that
//! is over, it starts to resume again). It does not stop when it would be over sooner, nor once it was begun `most_wait` ago.
//!
//! One command may serve several operations (`[device.commands]`): when a die takes one, those behind it in the queue of its
//! class go with it (with `fifo`, those that came next), as long as they are of the same kind and lie in the same unit of
//! `unit_pages` consecutive pages of a block, or on another plane of the die, as `planes` allows. A read may pass what does not
//! go along, if nothing in the queue must come before it (not with `fifo`); as many operations are looked at as four commands can
//! have. Here all that is asked for at an instant is there before a die chooses. The pages of a command cross the channel one
//! after the other, each by itself, with a command phase for each plane; the cells work once, as long as the slowest takes. A
//! program resolves when all are programmed, a read when its page is transferred. `fair_share` counts for what goes along its
//! time on the channel only.
//!
//! With `cache_program` and `cache_read` each plane has a cache register next to its data register, and a die can do two commands
//! of one kind at a time. While its cells are programmed, the pages of the next program cross the channel into the cache
//! registers; its cells begin when those of the first are done and all pages are there. When its cells have read, the pages go
//! into the cache registers as soon as those before have left them; then they cross the channel while the cells read for the
//! next command, the command phase of which goes over the channel first, or between two pages. A die looks for the second command
//! whenever something on it ends or joins its queues: the scheduler chooses as for an idle die, and what it chooses is taken if
//! it is of the same kind and was asked to wait for nothing that is not over. What is taken is done next, whatever comes. Nothing
//! is taken while anything is suspended, and a die that has a second program is not suspended: the read would find no free
//! register. What a command waits for because of the other one counts as a wait for the die, by the class of the other; what
//! waits in a queue waits for the class of the command that was taken last.
//!
//! With `copy_back` a page that is moved to a block of its plane is not transferred: it is read into the data register and
//! programmed from there, each with a command phase. Read and program are one piece of work: they join the queue when nothing
//! holds back either, and when its cells have read, the die goes on with the program whatever waits; that can be suspended as
//! others can. Nothing goes along with them or overlaps with them. What the program waits for its read counts as a dependency.
//!
//! # Deviations and chosen readings
//! - What is moved inside a plane is not checked by ECC, so that bit errors would add up from move to move and a page that is
//!   hard to read is not read again. Neither errors nor a limit of such moves are modelled, nor parts that only move between
//!   pages of equal parity (Eon EN27LN1G08, data sheet, "Copy-Back Program").
//! - Any program of a die may be a cache program, and any read a cache read, whatever the blocks: the random form of cache read
//!   is for that. Of cache program older parts say that it works within one block only (Hynix H27UCG8T2M, data sheet rev. 1.0,
//!   2010, section 4.11).
//! - What waits for operations and for a time hurries what was asked for before, as long as one of them is not over.
//! - The times in which a register is copied into the other (tCBSY, tRCBSY) are zero.
//! - Nothing waits for company: a die that is idle begins with what there is. So a unit may be programmed by several commands,
//!   each of which takes the whole time, where a drive would wait or pad.
//! - Channels serve the oldest request, whatever its class: a transfer is short, and until a die has delivered its data it can
//!   do nothing else. With `channel` command phases without data go first (`commands_first`), or pages that were read
//!   (`data_first`).

// Everything that waits is linked through the slab, as in `parallel`.

mod channel;
mod command;
mod copy_back;
mod die;
mod events;
mod issue;
mod order;
mod plain;
mod queues;
mod registers;
mod run;
mod task;

use self::command::Commands;
use self::die::{Cells, Die, Registers};
use self::events::Events;
use self::order::Order;
use self::task::{NOT_BEGUN, Task, Waiting};
use super::lanes::NEVER;
use super::slab::NONE;
use super::tickets::Tickets;
use super::{
    Apart, ClockShape, DIES_PER_CHANNEL, END_OF_TIME, Finished, Model, OpClass, OpTarget, ROWS, Release, Resolved,
    SchedulerConfig, Suspend, Ticket, Timing, TimingRule, Waits,
};
use crate::ledger::Op;
use crate::types::Ppn;

pub(super) const RULE: TimingRule = TimingRule { build, schedules: true };

fn build(shape: &ClockShape) -> Model {
    if is_plain(shape) {
        Model::Apart(Apart::Plain(Box::new(Scheduled::new(shape))))
    } else {
        Model::boxed(shape, Scheduled::<false>::new)
    }
}

/// True if a die does one command of one page at a time, and nothing is suspended or moved inside a plane.
fn is_plain(shape: &ClockShape) -> bool {
    let commands = Commands::new(shape);
    shape.scheduler.suspend == Suspend::None
        && !shape.commands.copy_back
        && !commands.has_cache()
        && commands.are_single()
}

#[derive(Clone, Debug)]
struct Channel {
    /// It is in use, and an event tells when that ends.
    busy: bool,
    /// End of its last use, of which no event tells because nothing waits for it.
    free_at: u64,
    /// The die that uses it, which must go on when that ends; [`NONE`]: it does so by itself.
    user: u32,
    /// Node whose ticket resolves then.
    loaded: u32,
    /// Ring of the dies that wait for it (their numbers on this channel), first come first.
    head: u32,
    tail: u32,
    waiting: [u8; DIES_PER_CHANNEL],
}

/// The scheduled model. It is compiled once more for dies of the plain kind ([`is_plain`]), which most devices have: these need
/// not be asked for what they cannot do.
#[derive(Debug)]
pub(super) struct Scheduled<const PLAIN: bool> {
    pub(super) now: u64,
    rules: SchedulerConfig,
    /// The scheduler takes operations in the order in which they come.
    keeps_order: bool,
    /// Nothing is suspended, and a die does one command at a time: when it gets its channel for the last time before its cells
    /// work, their end is known.
    foresees: bool,
    events: Events,
    channel_count: u32,
    commands: Commands,
    command: u64,
    transfer: u64,
    cell: [u64; ROWS],
    bus: [u64; ROWS],
    tickets: Waiting,
    order: Order,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    /// Dies to choose for and channels to grant at the end of this instant.
    idle: Vec<u32>,
    ungranted: Vec<u32>,
    /// Operations that joined a queue so far.
    joined: u64,
    /// What was issued no later than this ticket is waited for by the host.
    urgent: u64,
    /// Resolves when all programs whose tickets resolve earlier are over.
    programmed: Ticket,
    in_flight: usize,
    finished: Finished,
    waits: Waits,
}

impl<const PLAIN: bool> Scheduled<PLAIN> {
    #[inline]
    const fn foresees(&self) -> bool {
        PLAIN || self.foresees
    }

    /// What the cells of a die do when the last page is loaded.
    #[inline]
    const fn cells_after_load(&self, die: &Die) -> u64 {
        if self.foresees() { die.array.cells } else { die.cache.cells }
    }

    /// What the cells of a die that work, or are about to be suspended, still do. What is told or loaded counts as a whole.
    #[inline]
    fn work_of_cells(&self, die: &Die) -> u64 {
        let is_ahead = self.foresees() && die.cells == Cells::Work && self.now + die.array.cells < die.end;
        if is_ahead { die.telling + die.array.cells } else { die.end.saturating_sub(self.now) }
    }

    /// True if a die can do two commands of one kind at a time.
    #[inline]
    const fn has_cache(&self) -> bool {
        !PLAIN && self.commands.has_cache()
    }

    pub(super) fn new(shape: &ClockShape) -> Self {
        let ClockShape { times, channels, dies, blocks, pages_per_block, scheduler, .. } = *shape;
        let commands = Commands::new(shape);
        let channel = Channel {
            busy: false,
            free_at: 0,
            user: NONE,
            loaded: NONE,
            head: 0,
            tail: 0,
            waiting: [0; DIES_PER_CHANNEL],
        };
        Self {
            now: 0,
            rules: scheduler,
            keeps_order: scheduler.policy.rule().keeps_order,
            foresees: scheduler.suspend == Suspend::None && !commands.has_cache(),
            events: Events::new(dies, channels),
            channel_count: channels,
            commands,
            command: times.command.0,
            transfer: times.page_transfer.0,
            cell: times.cell_ns(),
            bus: times.bus_ns(),
            tickets: Tickets::new(),
            order: Order::new(blocks, pages_per_block),
            dies: (0..dies).map(|die| Die::new(die, channels)).collect(),
            channels: vec![channel; channels as usize],
            idle: Vec::new(),
            ungranted: Vec::new(),
            joined: 0,
            urgent: 0,
            programmed: Ticket(0),
            in_flight: 0,
            finished: Finished::new(channels, dies),
            waits: Waits::default(),
        }
    }

    /// The ticket of a node resolves now.
    #[inline]
    fn resolve(&mut self, index: u32) {
        if self.tickets.resolve(self.now, index) {
            self.next_timer();
        }
    }

    #[inline(never)]
    fn next_timer(&mut self) {
        self.events.set_timer(self.tickets.first_timer().unwrap_or(NEVER));
    }
}

impl<const PLAIN: bool> Timing for Scheduled<PLAIN> {
    #[inline]
    fn issue(&mut self, target: OpTarget, die: u32, op: Op, after: Ticket, release: Release) -> Ticket {
        if PLAIN
            && release == Release::Done
            && let Some(ticket) = self.plain_issue(target, die, op, after)
        {
            return ticket;
        }
        self.issue_any(target, die, op, after, release)
    }

    fn take_programmed(&mut self) -> Ticket {
        std::mem::replace(&mut self.programmed, Ticket(0))
    }

    #[inline]
    fn join(&mut self, a: Ticket, b: Ticket) -> Ticket {
        self.tickets.join_earlier(self.now, a, b).unwrap_or_else(|| self.join_any(a, b))
    }

    #[inline]
    fn time(&self, t: Ticket) -> Option<u64> {
        self.tickets.time(self.now, t)
    }

    /// What watches waits for the host.
    #[inline]
    fn watch(&mut self, t: Ticket, token: u64) {
        if self.tickets.slab.is_pending(t) {
            self.hurry(OpClass::HostWrite, t);
        }
        if self.tickets.watch(self.now, t, token) {
            self.next_timer();
        }
    }

    #[inline]
    fn resolved(&mut self) -> &mut Resolved {
        &mut self.tickets.resolved
    }

    #[inline]
    fn next_event(&self) -> Option<u64> {
        if self.is_to_settle() {
            return Some(self.now);
        }
        (!self.events.is_empty()).then_some(self.events.next())
    }

    #[inline]
    fn step(&mut self) -> bool {
        let next = self.next_event();
        if let Some(next) = next {
            self.run(next, false);
        }
        next.is_some()
    }

    #[inline]
    fn wait(&mut self, to: u64) -> bool {
        let is_pending = self.next_event().is_some();
        self.run(to, true);
        is_pending
    }

    #[inline]
    fn advance(&mut self, to: u64) {
        self.run(to, false);
        self.now = self.now.max(to);
    }

    fn drain(&mut self) {
        self.run(END_OF_TIME, false);
        assert!(self.in_flight == 0, "{} operations wait for something that never happens", self.in_flight);
    }

    fn has_begun_writes(&self, page: Ppn) -> bool {
        self.order.last_write(&self.tickets, page).is_none_or(|write| write.more.begun != NOT_BEGUN)
    }

    fn die_work_until(&self, die: u32) -> u64 {
        let Die { backlog, asked, .. } = self.dies[die as usize];
        self.die_busy_until(die) - backlog + asked
    }

    /// All that waits, and of what is under way the work of the cells, or one page that is loaded and the cells after it.
    #[inline]
    fn die_work_from(&self, die: u32) -> u64 {
        let die = &self.dies[die as usize];
        let begun = match (die.cells, die.registers) {
            (Cells::Work, _) => self.work_of_cells(die),
            (_, Registers::Load) => self.load(die.turn) + self.cells_after_load(die),
            _ => 0,
        };
        self.now + begun + die.asked
    }

    fn die_busy_until(&self, die: u32) -> u64 {
        let die = &self.dies[die as usize];
        if die.is_idle() && !die.is_suspended() {
            return self.now + die.backlog;
        }
        let cells = match die.cells {
            Cells::Idle | Cells::Done => 0,
            Cells::Command => self.command * u64::from(die.array.planes) + die.array.cells,
            Cells::Work | Cells::Suspending => self.work_of_cells(die),
        };
        let (registers, cells_after) = match die.registers {
            Registers::Empty => (0, 0),
            Registers::Load => (self.loads_left(die.turn), self.cells_after_load(die)),
            Registers::Loaded => (0, die.cache.cells),
            Registers::Read | Registers::Transfer => (self.after_cells(&die.cache), 0),
        };
        let executing = cells.max(registers) + cells_after + self.after_cells(&die.array);
        let suspended = if die.is_suspended() { die.rest } else { 0 };
        self.now + (executing + suspended).max(1) + die.backlog
    }

    #[inline]
    fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn slab_len(&self) -> usize {
        self.tickets.slab.len()
    }

    fn waits(&self) -> Option<&Waits> {
        Some(&self.waits)
    }

    /// Counts start over. Nothing is in flight then.
    fn forget_waits(&mut self) {
        debug_assert_eq!(self.in_flight, 0, "what waits would be counted by halves");
        self.waits = Waits::default();
    }

    #[inline]
    fn now(&self) -> u64 {
        self.now
    }

    fn finished(&self) -> &Finished {
        &self.finished
    }
}
