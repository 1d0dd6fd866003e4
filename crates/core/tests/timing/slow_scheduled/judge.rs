//! What the slow simulator tells when all is over.

use nandlab::flash::clock::OpClass;
use nandlab::ledger::Op;

use super::Slow;

impl Slow {
    /// By class: waits for dependencies, and for the channel, ns.
    pub fn waited(&self, class: OpClass) -> (u64, u64) {
        let of_class = self.ops.iter().filter(|o| o.class == class);
        of_class.fold((0, 0), |(dependency, bus), o| (dependency + o.arrived - o.issued, bus + o.channel_wait))
    }

    /// When an operation left its queue, and when it ended.
    pub fn executed(&self, id: usize) -> (u64, u64) {
        (self.ops[id].started, self.ops[id].finished.expect("everything finishes"))
    }

    /// What the operations of a class would take by themselves.
    pub fn alone_all(&self, class: OpClass) -> u64 {
        (0..self.ops.len()).filter(|id| self.ops[*id].class == class).map(|id| self.alone(id)).sum()
    }

    /// Time that operations of one class waited for a die that worked for another.
    pub fn waited_for_die(&self, class: OpClass, busy: OpClass) -> u64 {
        let mut sum = 0;
        for op in self.ops.iter().filter(|o| o.class == class) {
            let log = &self.dies[op.die].log;
            for (n, &(from, what)) in log.iter().enumerate() {
                let to = log.get(n + 1).map_or(u64::MAX, |next| next.0);
                let (from, to) = (from.max(op.arrived), to.min(op.started));
                if what == busy && from < to {
                    sum += to - from;
                }
            }
            sum += op.held[busy as usize];
        }
        sum
    }

    /// The laws of NAND in time: what was done on one block, as (begin, end, operation, page).
    pub fn check_order(&self) {
        for (id, op) in self.ops.iter().enumerate() {
            if let Some(erase) = op.erased_by {
                let end = op.finished.expect("everything finishes");
                assert!(end <= self.ops[erase].started, "{op:?} reads what {:?} erases", self.ops[erase]);
            }
            for (earlier_id, earlier) in self.ops[..id].iter().enumerate().filter(|(_, e)| e.block == op.block) {
                // A page that is being moved is read in its old place: before what was asked for later.
                if op.moved {
                    continue;
                }
                let same_page = self.pages[earlier_id] == self.pages[id];
                let together = earlier.started == op.started && earlier.op == op.op;
                let ordered = !together
                    && match (earlier.op, op.op) {
                        (Op::Read, Op::Read | Op::Program) | (Op::Erase, Op::Read) => false,
                        (Op::Program, Op::Read) => same_page,
                        _ => true,
                    };
                let done = earlier.finished.expect("everything finishes");
                // The pages of a program may be in the registers while the cells still do the one before.
                let begun = if (earlier.op, op.op) == (Op::Program, Op::Program) { op.worked } else { op.started };
                assert!(!ordered || done <= begun, "{earlier:?} is over at {done}, {op:?} begins before");
            }
        }
    }
}
