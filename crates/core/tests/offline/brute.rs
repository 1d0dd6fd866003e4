//! The least cost there is, by trying everything: dynamic programming over all states of five pages.

use nandlab::offline::Costs;
use nandlab::types::{HostOp, HostRequest};

const PAGES: usize = 5;
/// Three states of a page each: absent, clean, dirty.
const STATES: usize = 3_usize.pow(PAGES as u32);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Page {
    Absent,
    Clean,
    Dirty,
}

fn unpack(mut state: usize) -> [Page; PAGES] {
    std::array::from_fn(|_| {
        let page = [Page::Absent, Page::Clean, Page::Dirty][state % 3];
        state /= 3;
        page
    })
}

fn pack(pages: [Page; PAGES]) -> usize {
    pages.iter().rev().fold(0, |state, page| state * 3 + *page as usize)
}

/// The least that serving the requests can cost; a write that misses costs `write_miss` besides.
pub fn least(requests: &[HostRequest], frames: u32, costs: Costs, write_miss: u64) -> u64 {
    let mut least = vec![u64::MAX; STATES];
    least[0] = 0;
    for request in requests {
        if request.op == HostOp::Flush {
            least = step(&least, frames, costs, |pages| {
                let dirty = pages.iter().filter(|page| **page == Page::Dirty).count() as u64;
                pages.iter_mut().filter(|page| **page == Page::Dirty).for_each(|page| *page = Page::Clean);
                dirty * costs.write
            });
        }
        for at in request.lba / 8..(request.lba + u64::from(request.sectors)) / 8 {
            least = step(&least, frames, costs, |pages| {
                let page = &mut pages[at as usize];
                let missed = *page == Page::Absent;
                match request.op {
                    HostOp::Read if missed => {
                        *page = Page::Clean;
                        return costs.read;
                    }
                    HostOp::Write => {
                        *page = Page::Dirty;
                        return if missed { write_miss } else { 0 };
                    }
                    HostOp::Trim => *page = Page::Absent,
                    _ => {}
                }
                0
            });
        }
    }
    let last = |(state, cost): (usize, &u64)| {
        let dirty = unpack(state).iter().filter(|page| **page == Page::Dirty).count() as u64;
        cost.saturating_add(dirty * costs.write)
    };
    least.iter().enumerate().map(last).min().unwrap()
}

/// One event, after which any pages may leave, so that no more than the frames stay.
fn step(least: &[u64], frames: u32, costs: Costs, event: impl Fn(&mut [Page; PAGES]) -> u64) -> Vec<u64> {
    let mut after = vec![u64::MAX; STATES];
    for (state, cost) in least.iter().enumerate().filter(|(_, cost)| **cost < u64::MAX) {
        let mut pages = unpack(state);
        let cost = cost + event(&mut pages);
        for leaving in 0..1_u32 << PAGES {
            let (mut stay, mut cost) = (pages, cost);
            for (_, page) in stay.iter_mut().enumerate().filter(|(at, _)| leaving >> at & 1 == 1) {
                cost += if *page == Page::Dirty { costs.write } else { 0 };
                *page = Page::Absent;
            }
            if stay.iter().filter(|page| **page != Page::Absent).count() <= frames as usize {
                let to = &mut after[pack(stay)];
                *to = cost.min(*to);
            }
        }
    }
    after
}
