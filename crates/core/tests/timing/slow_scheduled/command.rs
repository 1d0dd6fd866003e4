//! What a die does at one time: an operation, and those that go with it.

use nandlab::flash::clock::Planes;
use nandlab::ledger::Op;

use super::{Command, Phase, Slow, State};

impl Slow {
    /// What an operation takes by itself.
    pub fn alone(&self, id: usize) -> u64 {
        let (t, op) = (self.shape.times, &self.ops[id]);
        t.command.0 + op.cells + if op.op == Op::Erase || op.inside { 0 } else { t.page_transfer.0 }
    }

    /// True if an operation may be part of a command.
    fn goes_with(&self, command: &[usize], id: usize) -> bool {
        let (first, op) = (&self.ops[command[0]], &self.ops[id]);
        let rules = self.shape.commands;
        let planes = if rules.planes == Planes::One { 1 } else { self.shape.planes as usize };
        if op.inside
            || first.inside
            || op.op != first.op
            || command.len() >= planes * rules.unit_pages as usize
            || !self.reads_have_left(id)
        {
            return false;
        }
        if let Some(same) = command.iter().find(|other| self.ops[**other].plane == op.plane) {
            let same = &self.ops[*same];
            return op.op != Op::Erase && (same.block, same.unit) == (op.block, op.unit);
        }
        match rules.planes {
            Planes::One => false,
            Planes::SamePage => op.op == Op::Erase || op.unit == first.unit,
            Planes::AnyPage => true,
        }
    }

    pub(super) fn start(&mut self, die: usize, first: usize) {
        let class = self.ops[first].class;
        let mut queue: Vec<usize> = (0..self.ops.len())
            .filter(|id| {
                let op = &self.ops[*id];
                let of_queue = self.keeps_order() || op.class == class;
                op.state == State::Queued && op.die == die && of_queue && *id != first
            })
            .collect();
        queue.sort_by_key(|id| self.ops[*id].order);
        let mut command = vec![first];
        let rules = self.shape.commands;
        let most = rules.unit_pages * if rules.planes == Planes::One { 1 } else { self.shape.planes };
        let mut passed = false;
        let follows = !self.dies[die].commands.is_empty();
        for id in queue.into_iter().take(4 * most as usize) {
            let may_pass = !passed || !self.ops[id].leans;
            let may_follow = !follows || self.is_resolved(&self.ops[id].after);
            if self.ops[id].class == class && may_pass && may_follow && self.goes_with(&command, id) {
                command.push(id);
            } else if self.ops[first].op == Op::Read && !self.keeps_order() {
                passed = true;
            } else {
                break;
            }
        }
        let t = self.shape.times;
        let mut planes = vec![];
        let mut opens = |plane| {
            let is_new = !planes.contains(&plane);
            planes.push(plane);
            is_new
        };
        let opens: Vec<bool> = command.iter().map(|id| opens(self.ops[*id].plane)).collect();
        let commands = t.command.0 * opens.iter().filter(|opens| **opens).count() as u64;
        let cells = Phase::Cells(command.iter().map(|id| self.ops[*id].cells).max().expect("there is one"));
        let transfers = command.iter().map(|id| Phase::Bus(*id, t.page_transfer.0));
        let load =
            |(id, opens): (&usize, &bool)| Phase::Bus(*id, t.page_transfer.0 + if *opens { t.command.0 } else { 0 });
        let begin = (commands > 0).then_some(Phase::Bus(first, commands));
        let phases: Vec<Phase> = match self.ops[first].op {
            Op::Read => begin.into_iter().chain([cells]).chain(transfers).collect(),
            Op::Program => command.iter().zip(&opens).map(load).chain([cells]).collect(),
            Op::Erase => begin.into_iter().chain([cells]).collect(),
        };
        let along: u64 = command[1..]
            .iter()
            .zip(&opens[1..])
            .map(|(id, opens)| {
                let data = if self.ops[*id].op == Op::Erase { 0 } else { t.page_transfer.0 };
                data + if *opens { t.command.0 } else { 0 }
            })
            .sum();
        let half = self.ops[first].half;
        let phases = half.map_or(phases, |program| self.phases_inside(first, program));
        let service = self.alone(first) + along + half.map_or(0, |program| self.alone(program));
        for id in &command {
            (self.ops[*id].state, self.ops[*id].started) = (State::Executing, self.now);
        }
        if follows {
            self.beside[self.ops[first].op as usize] += command.len() as u64;
        }
        let d = &mut self.dies[die];
        d.log.push((self.now, class));
        d.commands.push(Command { ops: command, class, phases, ready: self.now });
        d.served = d.work[class as usize];
        d.work[class as usize] += service;
        self.go_on_with(die);
    }

    /// What is read inside a plane is programmed at once.
    fn phases_inside(&self, read: usize, program: usize) -> Vec<Phase> {
        let command = self.shape.times.command.0;
        let half = |id: usize| {
            let told = (command > 0).then_some(Phase::Bus(id, command));
            told.into_iter().chain([Phase::Cells(self.ops[id].cells)])
        };
        half(read).chain(half(program)).collect()
    }

    pub(super) fn resume(&mut self, die: usize) {
        let d = &mut self.dies[die];
        let time = self.shape.scheduler.resume_time.0;
        let ops = std::mem::take(&mut d.suspended);
        let (rest, class) = (self.ops[ops[0]].rest, self.ops[ops[0]].class);
        d.cells_until = Some(self.now + time + rest);
        d.log.push((self.now, class));
        d.commands.push(Command { ops: ops.clone(), class, phases: vec![Phase::Cells(rest)], ready: self.now });
        for id in ops {
            let op = &mut self.ops[id];
            op.state = State::Executing;
            op.suspensions += 1;
            op.suspended += self.now - op.suspended_at + time;
        }
    }

    /// The cells have read a page inside its plane: the command goes on as that of the program.
    pub(super) fn go_on_inside(&mut self, die: usize) {
        let read = self.dies[die].commands[0].ops[0];
        let program = self.ops[read].half.expect("it is half of a copy");
        self.finish(read);
        let op = &mut self.ops[program];
        (op.state, op.arrived, op.started) = (State::Executing, self.now, self.now);
        self.dies[die].commands[0].ops = vec![program];
    }

    /// An operation is over.
    pub(super) fn finish(&mut self, id: usize) {
        let alone = self.alone(id);
        let (now, op) = (self.now, &mut self.ops[id]);
        op.state = State::Done;
        op.finished = Some(now);
        op.resolved.get_or_insert(now);
        let held: u64 = op.held.iter().sum();
        op.company = now - op.started - alone - op.channel_wait - op.suspended - held;
    }
}
