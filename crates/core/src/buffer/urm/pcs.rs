//! The program locations (PCs) that have pages in URM's buffer: their periods, and their own lists in the clustered and in
//! the looping zone.

use crate::list::List;

/// A PC with pages in the clustered or the looping zone.
#[derive(Clone, Debug)]
pub(super) struct Pc {
    number: u32,
    /// Accesses between two repetitions, as the host told last; 0 if unknown.
    pub period: u32,
    /// Its pages by zone, most recently used first.
    pub zones: [List; 2],
}

/// The program locations (PCs) that have pages in the buffer, each with its period and its lists of pages. A PC keeps
/// its index while it has pages.
#[derive(Debug, Default)]
pub(super) struct Pcs {
    /// Those without pages are in `unused`.
    by_index: Vec<Pc>,
    unused: Vec<u32>,
    /// Indexes of the PCs with pages, ascending by number.
    by_number: Vec<u32>,
}

impl Pcs {
    /// Where the PC stands in `by_number`, or where it would.
    fn find(&self, number: u32) -> Result<usize, usize> {
        self.by_number.binary_search_by_key(&number, |index| self.by_index[*index as usize].number)
    }
    /// Index of a PC that is about to get a page; a new one has this period.
    pub fn enter(&mut self, number: u32, period: u32) -> u32 {
        match self.find(number) {
            Ok(at) => self.by_number[at],
            Err(at) => {
                let pc = Pc { number, period, zones: [List::default(); 2] };
                let index = self.unused.pop().unwrap_or(self.by_index.len() as u32);
                if index as usize == self.by_index.len() {
                    self.by_index.push(pc);
                } else {
                    self.by_index[index as usize] = pc;
                }
                self.by_number.insert(at, index);
                index
            }
        }
    }
    /// A page left a list of this PC: it is forgotten with its last page.
    pub fn leave(&mut self, index: u32) {
        let Pc { number, zones, .. } = &self.by_index[index as usize];
        if zones.iter().all(List::is_empty)
            && let Ok(at) = self.find(*number)
        {
            self.by_number.remove(at);
            self.unused.push(index);
        }
    }
    /// Renews the period of a PC with pages.
    pub fn learn_period(&mut self, number: u32, period: u32) {
        if let Ok(at) = self.find(number) {
            self.by_index[self.by_number[at] as usize].period = period;
        }
    }
    /// The list of a PC in a zone.
    pub fn list(&mut self, index: u32, zone: usize) -> &mut List {
        &mut self.by_index[index as usize].zones[zone]
    }
    /// PCs with pages, ascending by number.
    pub fn iter(&self) -> impl Iterator<Item = &Pc> + '_ {
        self.by_number.iter().map(|index| &self.by_index[*index as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::Links;

    #[test]
    fn pc_is_forgotten_with_its_last_page() {
        let (mut pcs, mut links) = (Pcs::default(), Links::default());
        let numbers = |pcs: &Pcs| pcs.iter().map(|pc| (pc.number, pc.period)).collect::<Vec<_>>();
        let nine = pcs.enter(9, 5);
        links.push_front(pcs.list(nine, 0), 0);
        links.push_front(pcs.list(nine, 1), 1);
        let four = pcs.enter(4, 6);
        links.push_front(pcs.list(four, 0), 2);
        assert_eq!((pcs.enter(9, 7), numbers(&pcs)), (nine, vec![(4, 6), (9, 5)]));
        pcs.learn_period(9, 8);
        pcs.learn_period(1, 8);
        links.remove(pcs.list(nine, 0), 0);
        pcs.leave(nine);
        assert_eq!(numbers(&pcs), [(4, 6), (9, 8)], "one zone still has a page");
        links.remove(pcs.list(nine, 1), 1);
        pcs.leave(nine);
        assert_eq!(numbers(&pcs), [(4, 6)]);
        assert_eq!((pcs.enter(2, 0), numbers(&pcs)), (nine, vec![(2, 0), (4, 6)]), "its index is used again");
    }
}
