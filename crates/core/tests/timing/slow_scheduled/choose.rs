//! Which operation a die takes.

use nandlab::flash::clock::{CLASSES, OpClass};

use super::{Slow, SlowOp, State};

impl Slow {
    /// The operation whose turn it is to be taken by a die, and whether that is because it has waited too long.
    pub(super) fn turn(&self, die: usize) -> Option<(usize, bool)> {
        let d = &self.dies[die];
        let rules = self.shape.scheduler;
        let waiting = |o: &SlowOp| o.state == State::Queued && o.die == die;
        // The first of each class.
        let mut heads: Vec<usize> = (0..self.ops.len()).filter(|id| waiting(&self.ops[*id])).collect();
        heads.sort_by_key(|id| self.ops[*id].order);
        let mut seen = [false; CLASSES];
        heads.retain(|id| !std::mem::replace(&mut seen[self.ops[*id].class as usize], true));
        // Only where several classes wait something could be put off for ever.
        let several = heads.len() > 1;
        // An erase that pages are still read from.
        if several {
            heads.retain(|id| self.reads_have_left(*id));
        }
        if let Some(&suspended) = d.suspended.first() {
            let urgent = heads.iter().filter(|id| self.ops[**id].class <= OpClass::HostRead);
            let first = urgent.min_by_key(|id| self.ops[**id].class).copied();
            let first = first.filter(|_| self.now - self.ops[suspended].started < rules.most_wait.0);
            return first.map(|id| (id, d.was_overdue));
        }
        let order = |id: &usize| self.ops[*id].order;
        let overdue =
            heads.iter().filter(|id| self.now - self.ops[**id].arrived >= rules.most_wait.0).min_by_key(|id| order(id));
        let is_overdue = overdue.filter(|_| several && !d.was_overdue).copied();
        let rank = |id: &usize| {
            let op = &self.ops[*id];
            if op.number <= self.urgent { op.class.min(OpClass::HostWrite) } else { op.class }
        };
        let chosen = match (is_overdue.as_ref(), rules.policy.name()) {
            (Some(overdue), _) => Some(overdue),
            (None, "fifo") => heads.iter().min_by_key(|id| order(id)),
            (None, "read_first") => heads.iter().min_by_key(|id| (rank(id), order(id))),
            (None, "fair_share") => heads.iter().min_by_key(|id| {
                let class = self.ops[**id].class;
                (d.work[class as usize], class)
            }),
            (None, other) => panic!("what does {other} do?"),
        };
        chosen.map(|id| (*id, is_overdue.is_some()))
    }

    pub(super) fn choose(&mut self, die: usize) {
        let d = &self.dies[die];
        if d.suspending.is_some() || !d.commands.is_empty() {
            return;
        }
        match self.turn(die) {
            Some((id, is_overdue)) => {
                self.dies[die].was_overdue = is_overdue;
                self.start(die, id);
            }
            None if !d.suspended.is_empty() => {
                self.resume(die);
                self.dies[die].looks = true;
            }
            // The end of a busy period: the virtual time is the greatest finish tag.
            None if !self.ops.iter().any(|o| o.state == State::Queued && o.die == die) => {
                let d = &mut self.dies[die];
                d.served = *d.work.iter().max().expect("there are classes");
            }
            None => {}
        }
    }
}
