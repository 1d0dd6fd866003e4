//! Cache registers: what a die can do for a second command while it executes a first one.

use nandlab::flash::clock::OpClass;
use nandlab::ledger::Op;

use super::{Command, Phase, Slow, State};

impl Command {
    pub(super) fn has_cells_to_do(&self) -> bool {
        self.phases.iter().any(|phase| matches!(phase, Phase::Cells(_)))
    }
}

impl Slow {
    /// The die of an operation that executes, and the number of its command there.
    pub(super) fn command_of(&self, id: usize) -> (usize, usize) {
        let die = self.ops[id].die;
        let n = self.dies[die].commands.iter().position(|command| command.ops.contains(&id));
        (die, n.expect("it executes"))
    }

    /// A die uses its channel, or waits for it.
    fn is_at_channel(&self, die: usize) -> bool {
        let channel = self.channel(die);
        let of_die = |id: usize| self.ops[id].die == die;
        self.wants_bus[channel].iter().any(|(_, id)| of_die(*id))
            || self.on_bus[channel].is_some_and(|(_, id)| of_die(id))
    }

    /// What a command does is over.
    pub(super) fn end_of_phase(&mut self, die: usize, n: usize) {
        self.dies[die].looks = true;
        let command = &mut self.dies[die].commands[n];
        let was_bus = matches!(command.phases.remove(0), Phase::Bus(..));
        command.ready = self.now;
        let (class, first) = (command.class, command.ops[0]);
        // A read was told its page while the pages of the read before were ready to go out.
        if n == 1 && was_bus && self.ops[first].op == Op::Read && self.dies[die].commands[n].has_cells_to_do() {
            self.hold(die, 0, class, self.ops[first].started);
        }
    }

    /// A command has waited on its die for another one, since then.
    fn hold(&mut self, die: usize, n: usize, other: OpClass, since: u64) {
        for id in self.dies[die].commands[n].ops.clone() {
            if self.ops[id].finished.is_none() {
                self.ops[id].held[other as usize] += self.now - since;
            }
        }
    }

    /// Commands without anything left to do end; the others go on, except for pages that were read: what the die takes next comes
    /// before those.
    pub(super) fn go_on_with(&mut self, die: usize) {
        while let Some(n) = self.dies[die].commands.iter().position(|command| command.phases.is_empty()) {
            assert_eq!(n, 0, "commands end in the order in which they were taken");
            let Command { ops, class, .. } = self.dies[die].commands.remove(n);
            for id in ops {
                if self.ops[id].finished.is_none() {
                    self.finish(id);
                }
            }
            // Its successor is at the channel, in the cells, or waits for this.
            if let Some(Command { ready, phases, .. }) = self.dies[die].commands.first() {
                let in_cells = matches!(phases[0], Phase::Cells(_)) && self.dies[die].cells_until.is_some();
                let since = *ready;
                if !in_cells && !self.is_at_channel(die) {
                    self.hold(die, 0, class, since);
                }
            }
        }
        for n in 0..self.dies[die].commands.len() {
            let Command { ops, phases, .. } = self.dies[die].commands[n].clone();
            let earlier_has_cells = self.dies[die].commands[..n].iter().any(Command::has_cells_to_do);
            match phases[0] {
                Phase::Cells(ns) if !earlier_has_cells && self.dies[die].cells_until.is_none() => {
                    self.dies[die].cells_until = Some(self.now + ns);
                    for id in ops {
                        self.ops[id].worked = self.now;
                    }
                    let urgent = |o: &super::SlowOp| o.state == State::Queued && o.class <= OpClass::HostRead;
                    if self.ops.iter().any(|o| o.die == die && urgent(o)) {
                        self.suspend(die);
                        return;
                    }
                }
                Phase::Bus(id, _)
                    if phases.iter().any(|p| matches!(p, Phase::Cells(_))) && !self.is_at_channel(die) =>
                {
                    let channel = self.channel(die);
                    self.wants_bus[channel].push((self.now, id));
                }
                _ => {}
            }
        }
    }

    /// A die that looks takes a command besides the one that it executes, if the next in turn is of that kind and asks for
    /// nothing that is not over.
    pub(super) fn choose_second(&mut self, die: usize) {
        let looks = std::mem::take(&mut self.dies[die].looks);
        let d = &self.dies[die];
        let [Command { ops, phases, .. }] = &d.commands[..] else { return };
        let kind = self.ops[ops[0]].op;
        let rules = self.shape.commands;
        let has_room = match kind {
            // A register is free once the cells have taken over what it held.
            Op::Program => rules.cache_program && d.cells_until.is_some(),
            // The cells are free once a register has what they read.
            Op::Read => {
                let is_sent = phases.iter().all(|phase| matches!(phase, Phase::Bus(..)));
                rules.cache_read && is_sent && (self.shape.times.command.0 == 0 || !self.is_at_channel(die))
            }
            Op::Erase => false,
        };
        if !looks || !has_room || self.ops[ops[0]].inside || !d.suspended.is_empty() {
            return;
        }
        if let Some((id, is_overdue)) = self.turn(die)
            && self.ops[id].op == kind
            && !self.ops[id].inside
            && self.is_resolved(&self.ops[id].after)
        {
            self.dies[die].was_overdue = is_overdue;
            self.start(die, id);
        }
    }

    /// Pages that were read go out, unless the die is about to be told what to read next.
    pub(super) fn send(&mut self, die: usize) {
        if let Some(Command { phases, .. }) = self.dies[die].commands.first()
            && let Phase::Bus(id, _) = phases[0]
            && phases.iter().all(|phase| matches!(phase, Phase::Bus(..)))
            && !self.is_at_channel(die)
        {
            let channel = self.channel(die);
            self.wants_bus[channel].push((self.now, id));
        }
    }
}
