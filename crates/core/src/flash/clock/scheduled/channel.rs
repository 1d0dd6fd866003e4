//! Channels: a die that wants its channel waits until its turn comes: the die that asked first is served first, unless
//! `channel` says otherwise.

#![expect(
    clippy::inline_always,
    reason = "measured: calls between the steps of one event cost a tenth of the model's time"
)]

use super::die::{Cells, Die, Registers};
use super::{Channel, Scheduled};
use crate::flash::clock::lanes::{CELL, COMMAND, LOAD, TRANSFER};
use crate::flash::clock::slab::NONE;
use crate::flash::clock::{ChannelOrder, DIES_PER_CHANNEL};
use crate::types::Nanos;

impl<const PLAIN: bool> Scheduled<PLAIN> {
    /// A die that wants its channel lets those go first that do not yield, whenever they asked.
    #[inline]
    fn yields(&self, die: &Die) -> bool {
        let commands = die.cells == Cells::Command;
        match self.rules.channel {
            ChannelOrder::AsAsked => false,
            ChannelOrder::CommandsFirst => !commands,
            ChannelOrder::DataFirst => commands || die.registers != Registers::Transfer,
        }
    }

    /// A die wants its channel from now on, for this operation.
    #[inline(always)]
    pub(super) fn request(&mut self, die: u32, turn: u32) {
        let d = &mut self.dies[die as usize];
        d.turn = turn;
        let channel = d.channel;
        let c = &self.channels[channel as usize];
        // What waits for an idle channel is among the ungranted.
        if !c.busy && c.free_at <= self.now && self.is_over() {
            self.occupy(die, channel);
        } else {
            self.wait_for_channel(die, channel);
        }
    }

    #[inline(never)]
    pub(super) fn wait_for_channel(&mut self, die: u32, channel: u32) {
        let d = &mut self.dies[die as usize];
        d.requested = self.now;
        let (turn, local) = (d.turn, d.local);
        let ticket = self.tickets.slab.get(turn).ticket;
        let yields = self.yields(&self.dies[die as usize]);
        let Channel { head, tail: mut place, .. } = self.channels[channel as usize];
        // Requests that yield alike come in the order of time; those of one instant are put in issue order.
        while place != head {
            let c = &self.channels[channel as usize];
            let before = c.waiting[place.wrapping_sub(1) as usize % DIES_PER_CHANNEL];
            let b = &self.dies[(u32::from(before) * self.channel_count + channel) as usize];
            let is_older = b.requested != self.now || self.tickets.slab.get(b.turn).ticket < ticket;
            let goes_first = if self.yields(b) == yields { is_older } else { yields };
            if goes_first {
                break;
            }
            let c = &mut self.channels[channel as usize];
            c.waiting[place as usize % DIES_PER_CHANNEL] = before;
            place = place.wrapping_sub(1);
        }
        let c = &mut self.channels[channel as usize];
        c.tail = c.tail.wrapping_add(1);
        c.waiting[place as usize % DIES_PER_CHANNEL] = local;
        if c.busy {
            return;
        }
        if c.free_at <= self.now {
            self.ungranted.push(channel);
        } else {
            // From now on something must be told.
            (c.busy, c.user) = (true, NONE);
            self.events.set(LOAD, self.dies.len() as u32 + channel, c.free_at);
        }
    }

    /// An idle channel serves the first die of those that wait for it, if there is one.
    #[inline(never)]
    pub(super) fn grant(&mut self, channel: u32) {
        let c = &mut self.channels[channel as usize];
        if c.busy || c.head == c.tail {
            return;
        }
        let die = u32::from(c.waiting[c.head as usize % DIES_PER_CHANNEL]) * self.channel_count + channel;
        c.head = c.head.wrapping_add(1);
        let Die { requested, turn, .. } = self.dies[die as usize];
        let waited = self.now - requested;
        let task = &mut self.tickets.slab.get_mut(turn).more;
        task.on_die += waited;
        self.waits.of_mut(task.class).channel += Nanos(waited);
        self.occupy(die, channel);
    }

    /// A die gets its channel. If it needs it for nothing else before its cells work, their end is known.
    #[inline(always)]
    fn occupy(&mut self, die: u32, channel: u32) {
        let (d, c) = (&mut self.dies[die as usize], &mut self.channels[channel as usize]);
        let turn = self.tickets.slab.get_mut(d.turn);
        let (lane, length) = if d.cells == Cells::Command {
            (COMMAND, self.command * u64::from(d.array.planes))
        } else if d.registers == Registers::Load {
            c.loaded = std::mem::replace(&mut turn.more.loaded, NONE);
            (LOAD, self.transfer + if PLAIN || turn.more.opens { self.command } else { 0 })
        } else {
            (TRANSFER, self.transfer)
        };
        let end = self.now + length;
        c.user = die;
        if (PLAIN || self.foresees) && (lane == COMMAND || lane == LOAD && turn.next == NONE) {
            (d.registers, d.cells) = (Registers::Empty, Cells::Work);
            (d.telling, d.end) = (length, end + d.array.cells);
            self.events.set(CELL + d.array.kind.op(), die, d.end);
            if c.head == c.tail && c.loaded == NONE {
                c.free_at = end;
                return;
            }
            c.user = NONE;
        }
        c.busy = true;
        self.events.set(lane, self.dies.len() as u32 + channel, end);
    }

    /// The use of a channel ends.
    #[inline(always)]
    pub(super) fn leave_bus(&mut self, channel: u32) {
        let c = &mut self.channels[channel as usize];
        c.busy = false;
        if c.head != c.tail {
            self.ungranted.push(channel);
        }
        let (die, loaded) = (c.user, std::mem::replace(&mut c.loaded, NONE));
        if loaded != NONE {
            self.resolve(loaded);
        }
        if die == NONE {
            return;
        }
        let Die { cells, registers, turn, .. } = self.dies[die as usize];
        if cells == Cells::Command {
            self.command_is_told(die);
            return;
        }
        let next = self.tickets.slab.get(turn).next;
        if registers == Registers::Transfer {
            self.dies[die as usize].cache.first = next;
            self.finish(die, turn, 0);
            self.page_has_left(die);
            return;
        }
        if next == NONE {
            self.all_is_loaded(die);
        } else {
            self.load_next(die, next);
        }
    }

    #[inline(never)]
    fn load_next(&mut self, die: u32, page: u32) {
        self.request(die, page);
    }
}
