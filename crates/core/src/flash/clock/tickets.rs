//! What tickets promise in the event-driven models: joins, watches, timers, and what waits for what.

#![expect(clippy::inline_always, reason = "as Clock::issue_for: an operation is issued without a call in between")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::slab::{Kind, NONE, Node, Slab, index_of};
use super::{Resolved, Ticket};

/// Everything that waits. A model adds `X` to each node; time is the model's.
#[derive(Clone, Debug)]
pub(super) struct Tickets<X> {
    pub(super) slab: Slab<X>,
    /// Operations whose dependency was met at this instant.
    pub(super) arrivals: Vec<u32>,
    /// Lists of waiters yet to be released at this instant.
    cascade: Vec<u32>,
    /// What happens at a time: ticket bits of a node, or a number of the model's below [`super::PENDING`].
    timers: BinaryHeap<Reverse<(u64, u64)>>,
    pub(super) resolved: Resolved,
}

impl<X: Copy + Default> Tickets<X> {
    pub(super) fn new() -> Self {
        Self {
            slab: Slab::new(),
            arrivals: Vec::new(),
            cascade: Vec::new(),
            timers: BinaryHeap::new(),
            resolved: Resolved::default(),
        }
    }

    /// What is known already adds nothing to what is pending: that is most joins.
    #[inline(always)]
    pub(super) fn join(&mut self, now: u64, a: Ticket, b: Ticket) -> Ticket {
        self.join_earlier(now, a, b).unwrap_or_else(|| self.join_any(now, a, b))
    }

    /// The pending one of two tickets, if the other one is known already.
    #[inline(always)]
    pub(super) fn join_earlier(&self, now: u64, a: Ticket, b: Ticket) -> Option<Ticket> {
        let (earlier, later) = if a.is_time() { (a, b) } else { (b, a) };
        (earlier.0 <= now && self.slab.is_pending(later)).then_some(later)
    }

    #[inline(never)]
    pub(super) fn join_any(&mut self, now: u64, a: Ticket, b: Ticket) -> Ticket {
        match (self.slab.is_pending(a), self.slab.is_pending(b)) {
            (true, true) if a == b => a,
            (true, true) => self.join_nodes(a, b),
            (true, false) if b.is_time() && b.0 > now => self.join_nodes(a, b),
            (false, true) if a.is_time() && a.0 > now => self.join_nodes(b, a),
            (true, false) => a,
            (false, true) => b,
            // At least one resolved earlier, at a time that is forgotten.
            (false, false) => {
                let known = |t: Ticket| if t.is_time() { t.0 } else { now };
                Ticket(known(a).max(known(b)))
            }
        }
    }

    /// A node that waits for the pending ticket `first` and then for `second`.
    fn join_nodes(&mut self, first: Ticket, second: Ticket) -> Ticket {
        let (node, ticket) = self.slab.allocate(Kind::Join, NONE, second.0, false);
        self.slab.wait_for(first.0, node);
        Ticket(ticket)
    }

    /// A program was issued whose ticket, `loaded`, resolves at the end of its transfer: a ticket for its end.
    #[inline(never)]
    pub(super) fn end_of(&mut self, loaded: Ticket) -> Ticket {
        let (_, end) = self.slab.allocate(Kind::Join, NONE, 0, false);
        self.slab.get_mut(index_of(loaded.0)).data = end;
        Ticket(end)
    }

    /// A ticket of its own that resolves when the pending ticket `t` does.
    pub(super) fn follow(&mut self, t: u64) -> Ticket {
        self.join_nodes(Ticket(t), Ticket(0))
    }

    #[inline]
    pub(super) fn time(&self, now: u64, t: Ticket) -> Option<u64> {
        (!self.slab.is_pending(t)).then_some(now)
    }

    /// True if a timer was set for it.
    #[inline]
    pub(super) fn watch(&mut self, now: u64, t: Ticket, token: u64) -> bool {
        if self.slab.is_pending(t) {
            let watched = self.slab.get_mut(index_of(t.0));
            if !watched.watched && watched.kind.takes_token() {
                watched.watched = true;
                watched.data = token;
                return false;
            }
        }
        self.watch_node(now, t, token)
    }

    /// What is watched already, joins, transfers of programs, and times are watched by a node of their own.
    #[inline(never)]
    fn watch_node(&mut self, now: u64, t: Ticket, token: u64) -> bool {
        if self.slab.is_pending(t) {
            let (node, _) = self.slab.allocate(Kind::Watch, NONE, token, false);
            self.slab.wait_for(t.0, node);
        } else if t.is_time() && t.0 > now {
            let (_, ticket) = self.slab.allocate(Kind::Watch, NONE, token, false);
            self.set_timer(t.0, ticket);
            return true;
        } else {
            self.resolved.push(now, token);
        }
        false
    }

    /// The ticket of a node resolves now. True if a timer was set for something that waited.
    #[inline(always)]
    pub(super) fn resolve(&mut self, now: u64, index: u32) -> bool {
        let Node { watched, data, waiters, .. } = self.slab.release(index);
        if watched {
            self.resolved.push(now, data);
        }
        waiters != NONE && self.wake(now, waiters)
    }

    /// Lets a list of waiters go on, and those that wait for joins among them. Their order does not matter: operations
    /// join their queues in issue order later, tokens are put in order when they are taken. True if a timer was set.
    #[inline(never)]
    pub(super) fn wake(&mut self, now: u64, waiters: u32) -> bool {
        let timers = self.timers.len();
        self.cascade.push(waiters);
        while let Some(mut index) = self.cascade.pop() {
            while index != NONE {
                let next = self.slab.get(index).next;
                self.wake_one(now, index);
                index = next;
            }
        }
        self.timers.len() > timers
    }

    #[inline]
    fn wake_one(&mut self, now: u64, index: u32) {
        let Node { kind, data, ticket, .. } = *self.slab.get(index);
        match kind {
            Kind::Watch => {
                self.resolved.push(now, data);
                self.slab.release(index);
            }
            Kind::Join => {
                let other = Ticket(data);
                if self.slab.is_pending(other) {
                    self.slab.wait_for(data, index);
                } else if other.is_time() && data > now {
                    self.set_timer(data, ticket);
                } else {
                    let Node { waiters, .. } = self.slab.release(index);
                    self.cascade.push(waiters);
                }
            }
            _ => self.arrivals.push(index),
        }
    }

    /// Something happens at a time: `who` is the ticket of a node, or a number of the model's own.
    pub(super) fn set_timer(&mut self, time: u64, who: u64) {
        self.timers.push(Reverse((time, who)));
    }

    /// Time of the first timer.
    #[inline]
    pub(super) fn first_timer(&self) -> Option<u64> {
        self.timers.peek().map(|&Reverse((time, _))| time)
    }

    /// Removes the first timer; whose it is.
    pub(super) fn take_timer(&mut self) -> Option<u64> {
        self.timers.pop().map(|Reverse((_, who))| who)
    }

    /// The timer of a node fired: it, or what waits for it, goes on. True if a timer was set.
    pub(super) fn fire(&mut self, now: u64, ticket: u64) -> bool {
        let index = index_of(ticket);
        self.slab.get_mut(index).next = NONE;
        self.wake(now, index)
    }

    /// Operations whose dependency was met, the first issued last, so that they can be popped in issue order.
    #[inline(never)]
    pub(super) fn sort_arrivals(&mut self) {
        let slab = &self.slab;
        self.arrivals.sort_unstable_by_key(|&index| Reverse(slab.get(index).ticket));
    }
}
