//! Doubly linked lists over dense ids, in one arena: the shared tool of everything that keeps an order.

use prefetch_index::prefetch_index;

use crate::types::Slot;

/// Links of ids `0..n`; every id is in at most one [`List`] of the arena at a time.
#[derive(Clone, Debug, Default)]
pub struct Links {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    prev: u32,
    next: u32,
}

const NIL: u32 = u32::MAX;
/// Value of `prev` and `next` of an id that is in no list.
const OUT: u32 = u32::MAX - 1;

/// Head (most recently inserted at the front), tail and length of one list.
#[derive(Clone, Copy, Debug)]
pub struct List {
    head: u32,
    tail: u32,
    len: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { head: NIL, tail: NIL, len: 0 }
    }
}

impl List {
    /// Ids in the list.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.len
    }
    /// True without ids.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The id at the front (most recent).
    #[inline]
    pub const fn front(&self) -> Option<u32> {
        if self.head == NIL { None } else { Some(self.head) }
    }
    /// The id at the back (least recent).
    #[inline]
    pub const fn back(&self) -> Option<u32> {
        if self.tail == NIL { None } else { Some(self.tail) }
    }
}

impl Links {
    /// Makes room for ids below `count`.
    #[inline]
    pub fn reserve_ids(&mut self, count: usize) {
        if self.nodes.len() < count {
            self.grow(count);
        }
    }
    #[cold]
    fn grow(&mut self, count: usize) {
        self.nodes.resize(count.max(2 * self.nodes.len()), Node { prev: OUT, next: OUT });
    }
    /// True if the id is in some list.
    #[inline]
    pub fn is_linked(&self, id: u32) -> bool {
        self.nodes.get(id as usize).is_some_and(|n| n.prev != OUT)
    }
    /// Puts an id that is in no list at the front; grows the arena if needed.
    #[inline]
    pub fn push_front(&mut self, list: &mut List, id: u32) {
        self.reserve_ids(id as usize + 1);
        debug_assert!(!self.is_linked(id));
        self.nodes[id as usize] = Node { prev: NIL, next: list.head };
        if list.head == NIL {
            list.tail = id;
        } else {
            self.nodes[list.head as usize].prev = id;
        }
        list.head = id;
        list.len += 1;
    }
    /// Puts an id that is in no list at the back.
    #[inline]
    pub fn push_back(&mut self, list: &mut List, id: u32) {
        self.reserve_ids(id as usize + 1);
        debug_assert!(!self.is_linked(id));
        self.nodes[id as usize] = Node { prev: list.tail, next: NIL };
        if list.tail == NIL {
            list.head = id;
        } else {
            self.nodes[list.tail as usize].next = id;
        }
        list.tail = id;
        list.len += 1;
    }
    /// Puts an id that is in no list behind `newer`, or at the front.
    pub fn insert_after(&mut self, list: &mut List, newer: Option<u32>, id: u32) {
        let Some(prev) = newer else { return self.push_front(list, id) };
        let Some(next) = self.older(prev) else { return self.push_back(list, id) };
        self.reserve_ids(id as usize + 1);
        debug_assert!(!self.is_linked(id));
        self.nodes[id as usize] = Node { prev, next };
        self.nodes[prev as usize].next = id;
        self.nodes[next as usize].prev = id;
        list.len += 1;
    }
    /// Takes an id out of its list.
    #[inline]
    pub fn remove(&mut self, list: &mut List, id: u32) {
        let Node { prev, next } = self.nodes[id as usize];
        debug_assert!(prev != OUT);
        if prev == NIL {
            list.head = next;
        } else {
            self.nodes[prev as usize].next = next;
        }
        if next == NIL {
            list.tail = prev;
        } else {
            self.nodes[next as usize].prev = prev;
        }
        self.nodes[id as usize] = Node { prev: OUT, next: OUT };
        list.len -= 1;
    }
    /// Moves an id of the list to its front.
    #[inline]
    pub fn move_front(&mut self, list: &mut List, id: u32) {
        if list.head == id {
            return;
        }
        let Node { prev, next } = self.nodes[id as usize];
        self.nodes[prev as usize].next = next;
        if next == NIL {
            list.tail = prev;
        } else {
            self.nodes[next as usize].prev = prev;
        }
        self.nodes[id as usize] = Node { prev: NIL, next: list.head };
        self.nodes[list.head as usize].prev = id;
        list.head = id;
    }
    /// Moves an id of the list to its back.
    #[inline]
    pub fn move_back(&mut self, list: &mut List, id: u32) {
        self.remove(list, id);
        self.push_back(list, id);
    }
    /// Prefetches the links of an id.
    #[inline]
    pub fn look_ahead(&self, id: u32) {
        prefetch_index(&self.nodes, id as usize);
    }
    /// Prefetches the links of the neighbours of an id.
    #[inline]
    pub fn look_closer(&self, id: u32) {
        let Some(Node { prev, next }) = self.nodes.get(id as usize) else { return };
        prefetch_index(&self.nodes, *prev as usize);
        prefetch_index(&self.nodes, *next as usize);
    }
    /// Takes the id at the back out.
    #[inline]
    pub fn pop_back(&mut self, list: &mut List) -> Option<u32> {
        let id = list.back()?;
        self.remove(list, id);
        Some(id)
    }
    /// For lists of slots: the one at the back and the one before it; [`Slot::NONE`] where there is none.
    #[inline]
    pub fn last_two(&self, list: &List) -> [Slot; 2] {
        // The numbers that stand for 'none' are the same.
        [Slot(list.tail), Slot(self.nodes.get(list.tail as usize).map_or(NIL, |node| node.prev))]
    }
    /// The id nearer to the front.
    #[inline]
    pub fn newer(&self, id: u32) -> Option<u32> {
        let prev = self.nodes[id as usize].prev;
        (prev != NIL).then_some(prev)
    }
    /// The id nearer to the back.
    #[inline]
    pub fn older(&self, id: u32) -> Option<u32> {
        let next = self.nodes[id as usize].next;
        (next != NIL).then_some(next)
    }
    /// Ids from front to back.
    pub fn iter<'a>(&'a self, list: &List) -> impl Iterator<Item = u32> + 'a {
        std::iter::successors(list.front(), |id| self.older(*id))
    }
    /// Ids from back to front.
    pub fn iter_back<'a>(&'a self, list: &List) -> impl Iterator<Item = u32> + 'a {
        std::iter::successors(list.back(), |id| self.newer(*id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_order_like_a_deque() {
        let mut links = Links::default();
        let (mut a, mut b) = (List::default(), List::default());
        let mut model = std::collections::VecDeque::new();
        let mut x = 88_172_645_463_325_252_u64;
        for _ in 0..20_000 {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            let id = (x >> 8) as u32 % 50;
            let linked = model.contains(&id);
            match x % 7 {
                0 if !linked => (links.push_front(&mut a, id), model.push_front(id)).1,
                1 if !linked => (links.push_back(&mut a, id), model.push_back(id)).1,
                2 if linked => {
                    links.remove(&mut a, id);
                    model.retain(|m| *m != id);
                    links.push_back(&mut b, id);
                    links.remove(&mut b, id);
                }
                3 if linked => {
                    links.move_front(&mut a, id);
                    model.retain(|m| *m != id);
                    model.push_front(id);
                }
                4 if linked => {
                    links.move_back(&mut a, id);
                    model.retain(|m| *m != id);
                    model.push_back(id);
                }
                5 if !linked => {
                    let at = (x >> 40) as usize % (model.len() + 1);
                    links.insert_after(&mut a, at.checked_sub(1).map(|newer| model[newer]), id);
                    model.insert(at, id);
                }
                _ => assert_eq!(links.is_linked(id), linked),
            }
            assert!(b.is_empty());
            assert_eq!(a.len() as usize, model.len());
            assert_eq!(a.back(), model.back().copied());
        }
        assert_eq!(links.iter(&a).collect::<Vec<_>>(), model.into_iter().collect::<Vec<_>>());
    }
}
