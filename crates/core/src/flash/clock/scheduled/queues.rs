//! What waits for a die, by class.

#![expect(clippy::inline_always, reason = "as in run")]

use super::{Task, Waiting};
use crate::flash::clock::scheduler::{self, Head, classes_of};
use crate::flash::clock::slab::NONE;
use crate::flash::clock::{CLASSES, OpClass, SchedulerConfig, Waits};
use crate::types::Nanos;

/// Bits that the number of a class takes.
const CLASS_BITS: u32 = 3;

/// The queues of one die: linked through the nodes, first come first served.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    head: [u32; CLASSES],
    tail: [u32; CLASSES],
    len: [u64; CLASSES],
    /// One bit for each class that has something waiting.
    mask: u8,
    /// By class: the time that the die has worked for it, as fair queueing counts it.
    work: [u64; CLASSES],
    /// The operation taken last had waited too long.
    pub(super) was_overdue: bool,
    /// `work` of the class served last, before that.
    served: u64,
    /// Since when `len` is as it is.
    since: u64,
}

impl Queues {
    pub(super) const fn new() -> Self {
        Self {
            head: [NONE; CLASSES],
            tail: [NONE; CLASSES],
            len: [0; CLASSES],
            mask: 0,
            work: [0; CLASSES],
            was_overdue: false,
            served: 0,
            since: 0,
        }
    }

    /// True if nothing waits.
    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.mask == 0
    }
    /// True if a host read or map read is in a queue.
    #[inline]
    pub(super) const fn has_urgent(&self) -> bool {
        self.mask & ((1 << OpClass::HostWrite as u8) - 1) != 0
    }

    /// Counts the time that has passed for those who wait; the die worked for `busy` meanwhile.
    #[inline(always)]
    pub(super) fn pass(&mut self, now: u64, busy: OpClass, waits: &mut Waits) {
        let passed = now - std::mem::replace(&mut self.since, now);
        if passed == 0 || self.mask == 0 {
            return;
        }
        let mut mask = u32::from(self.mask);
        while mask != 0 {
            let class = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            let waited = &mut waits.of_number(class).die[busy as usize];
            *waited += Nanos(self.len[class] * passed);
        }
    }

    /// Appends an operation.
    #[inline(always)]
    pub(super) fn push(&mut self, tasks: &mut Waiting, index: u32, class: OpClass) {
        let class = class as usize;
        let last = std::mem::replace(&mut self.tail[class], index);
        if self.mask >> class & 1 == 0 {
            self.head[class] = index;
            self.mask |= 1 << class;
            self.work[class] = self.work[class].max(self.served);
        } else {
            tasks.slab.get_mut(last).next = index;
        }
        self.len[class] += 1;
    }

    /// The class whose turn it is, and whether that is because its first operation has waited too long.
    #[inline]
    pub(super) fn choose(&self, tasks: &Waiting, rules: &SchedulerConfig, now: u64, urgent: u64) -> (OpClass, bool) {
        if self.mask.is_power_of_two() {
            return (OpClass::ALL[self.mask.trailing_zeros() as usize], false);
        }
        self.choose_one(tasks, rules, now, urgent)
    }

    #[inline(never)]
    fn choose_one(&self, tasks: &Waiting, rules: &SchedulerConfig, now: u64, urgent: u64) -> (OpClass, bool) {
        // What is least goes first; the class is in the last bits.
        let (mut first, mut overdue) = (u64::MAX, u64::MAX);
        for class in classes_of(self.mask) {
            let node = tasks.slab.get(self.head[class]);
            let Task { class: name, order, arrived, reads, .. } = node.more;
            // An erase that pages are still read from.
            if reads > 0 {
                continue;
            }
            let rank = if node.ticket <= urgent { name.hurried() } else { name };
            let key = scheduler::key(rules.policy, &Head { order, rank, work: self.work[class] });
            first = first.min(key << CLASS_BITS | class as u64);
            if now - arrived >= rules.most_wait.0 {
                overdue = overdue.min(order << CLASS_BITS | class as u64);
            }
        }
        // Every other turn: what is late in a device that is overloaded must not turn its order into first come, first served.
        let is_overdue = overdue != u64::MAX && !self.was_overdue;
        let chosen = if is_overdue { overdue } else { first };
        (OpClass::ALL[(chosen & ((1 << CLASS_BITS) - 1)) as usize], is_overdue)
    }

    /// True if an operation, the first of its class, came before those of the other classes.
    pub(super) fn is_oldest(&self, tasks: &Waiting, index: u32) -> bool {
        let order = tasks.slab.get(index).more.order;
        classes_of(self.mask).map(|class| tasks.slab.get(self.head[class]).more.order).all(|other| order <= other)
    }

    /// The most urgent class that has something waiting.
    #[inline]
    pub(super) fn most_urgent(&self) -> OpClass {
        OpClass::ALL[self.mask.trailing_zeros() as usize]
    }

    /// Removes the first operation of a class, which will keep the die busy for this long; `next` is behind it.
    #[inline]
    pub(super) const fn pop(&mut self, class: OpClass, next: u32, service: u64) {
        let class = class as usize;
        self.served = self.work[class];
        self.head[class] = next;
        self.len[class] -= 1;
        if self.len[class] == 0 {
            self.mask &= !(1 << class);
        }
        self.work[class] += service;
    }

    /// The die is idle and nothing waits: what comes first is owed nothing and owes nothing. (Goyal, Vin and Cheng raise the
    /// virtual time to the greatest finish tag then; only differences of tags count.)
    #[inline(always)]
    pub(super) const fn rest(&mut self) {
        (self.work, self.served) = ([0; CLASSES], 0);
    }

    /// What was removed last keeps the die busy for this much longer.
    #[inline]
    pub(super) const fn works_longer(&mut self, class: OpClass, service: u64) {
        self.work[class as usize] += service;
    }

    /// Removes an operation of the class that was served last, the one behind `passed` (the first if that is none): it goes with
    /// those of a command, which keeps the die busy for this much longer.
    pub(super) fn take_along(
        &mut self,
        tasks: &mut Waiting,
        class: OpClass,
        (passed, index): (u32, u32),
        service: u64,
    ) {
        let class = class as usize;
        let next = tasks.slab.get(index).next;
        if passed == NONE {
            self.head[class] = next;
        } else {
            tasks.slab.get_mut(passed).next = next;
        }
        if self.tail[class] == index {
            self.tail[class] = passed;
        }
        self.len[class] -= 1;
        if self.len[class] == 0 {
            self.mask &= !(1 << class);
        }
        self.work[class] += service;
    }

    /// The first operation of a class, if there is one.
    #[inline]
    pub(super) const fn first_if_any(&self, class: OpClass) -> Option<u32> {
        if self.mask >> class as u8 & 1 == 0 { None } else { Some(self.first(class)) }
    }

    /// The first operation of a class.
    #[inline]
    pub(super) const fn first(&self, class: OpClass) -> u32 {
        self.head[class as usize]
    }
}
