//! How time passes: phases, channels, and what happens at an instant.

use nandlab::flash::clock::{ChannelOrder, Release};
use nandlab::ledger::Op;

use super::{Command, Phase, Slow, State};

impl Slow {
    fn grant(&mut self) {
        for channel in 0..self.on_bus.len() {
            if self.on_bus[channel].is_none() && !self.wants_bus[channel].is_empty() {
                let mut wants = std::mem::take(&mut self.wants_bus[channel]);
                wants.sort_by_key(|(at, id)| (self.yields(*id), *at, self.ops[*id].number));
                let (requested, id) = wants.remove(0);
                self.wants_bus[channel] = wants;
                let (die, n) = self.command_of(id);
                let Phase::Bus(_, ns) = self.dies[die].commands[n].phases[0] else { panic!("it wants the channel") };
                self.on_bus[channel] = Some((self.now + ns, id));
                self.ops[id].channel_wait += self.now - requested;
            }
        }
    }

    /// Others go before what a die wants its channel for next.
    fn yields(&self, id: usize) -> bool {
        let (die, n) = self.command_of(id);
        let op = &self.ops[id];
        let is_command_alone = match op.op {
            Op::Read => self.dies[die].commands[n].has_cells_to_do(),
            Op::Program => op.inside,
            Op::Erase => true,
        };
        match self.shape.scheduler.channel {
            ChannelOrder::AsAsked => false,
            ChannelOrder::CommandsFirst => !is_command_alone,
            ChannelOrder::DataFirst => op.op != Op::Read || is_command_alone,
        }
    }

    fn next_instant(&self) -> Option<u64> {
        let times = self.ops.iter().filter(|o| o.state == State::Waiting && o.after.at > self.now).map(|o| o.after.at);
        let cells = self.dies.iter().flat_map(|d| [d.cells_until, d.suspending]).flatten();
        times.chain(cells).chain(self.on_bus.iter().flatten().map(|(end, _)| *end)).min()
    }

    /// One completion at this instant, if there is one.
    fn complete(&mut self) -> bool {
        for channel in 0..self.on_bus.len() {
            if let Some((_, id)) = self.on_bus[channel].filter(|(end, _)| *end == self.now) {
                self.on_bus[channel] = None;
                let (die, n) = self.command_of(id);
                self.end_of_phase(die, n);
                if self.ops[id].op == Op::Program && self.ops[id].release == Release::Transfer {
                    self.ops[id].resolved = Some(self.now);
                }
                if self.ops[id].op == Op::Read && !self.dies[die].commands[n].has_cells_to_do() {
                    self.finish(id);
                }
                self.go_on_with(die);
                return true;
            }
        }
        for die in 0..self.dies.len() {
            let d = &mut self.dies[die];
            if d.suspending == Some(self.now) {
                (d.suspending, d.looks) = (None, true);
                return true;
            }
            if d.cells_until == Some(self.now) {
                d.cells_until = None;
                let begun = |c: &Command| matches!(c.phases[0], Phase::Cells(_));
                let n = d.commands.iter().position(begun).expect("its cells work for something");
                self.end_of_phase(die, n);
                let first = &self.ops[self.dies[die].commands[n].ops[0]];
                if first.inside && first.op == Op::Read {
                    self.go_on_inside(die);
                }
                self.go_on_with(die);
                return true;
            }
        }
        false
    }

    /// What was released joins its queue, idle dies choose, idle channels are granted.
    pub(super) fn without_completions(&mut self) {
        loop {
            let may_go_on = |s: &Self, id: usize| {
                let op = &s.ops[id];
                match op.state {
                    State::Waiting => s.is_resolved(&op.after),
                    State::Behind => op.before.is_none_or(|before| {
                        let in_queue = op.op != Op::Read && s.is_ahead(before, id);
                        s.ops[before].finished.is_some() || in_queue
                    }),
                    State::AwaitingReads => s.reads_have_left(id),
                    _ => false,
                }
            };
            let arrivals: Vec<usize> = (0..self.ops.len()).filter(|id| may_go_on(self, *id)).collect();
            if arrivals.is_empty() {
                break;
            }
            for id in arrivals {
                if self.ops[id].state == State::Waiting { self.go_on(id) } else { self.await_reads(id) }
            }
        }
        for die in 0..self.dies.len() {
            self.choose(die);
            self.choose_second(die);
            self.send(die);
        }
        self.grant();
    }

    fn process_instant(&mut self) {
        while self.next_instant() == Some(self.now) {
            while self.complete() {}
            self.without_completions();
        }
        self.without_completions();
    }

    pub fn advance(&mut self, to: u64) {
        self.without_completions();
        while let Some(t) = self.next_instant().filter(|&t| t <= to) {
            self.now = t;
            self.process_instant();
        }
        self.now = self.now.max(to);
    }

    pub fn drain(&mut self) {
        self.without_completions();
        while let Some(t) = self.next_instant() {
            self.advance(t);
        }
    }
}
