//! On which die a page of the host goes when every die has a frontier of its own: the placements of FTLs that map pages, one
//! file and one line each.
//!
//! A placement tells a position in the order of the dies ([`Dies`]). A file has its facts (`RULE`) and the choice
//! (`position`), which is compiled into the path of a write.

use crate::divisor::Divisor;
use crate::flash::Clock;
use crate::registry::Plugin;
use crate::registry::rules::{self, Choice};
use crate::types::Lpn;

macro_rules! placements {
    ($($name:ident,)+) => {
        rules::rules! {
            /// All placements; the first is the default and goes by the number of the page.
            PLACEMENTS: PlacementRule, "placement";
            $($name,)+
        }

        /// What the placement says for a page.
        #[inline(always)]
        fn position(placement: Placement, dies: &Dies, page: PageToPlace, clock: &Clock) -> u32 {
            #[expect(non_camel_case_types, reason = "they are names of modules")]
            enum Index { $($name,)+ }
            $(if placement.index() == Index::$name as u8 {
                return $name::position(dies, page, clock);
            })+
            unreachable!("every placement is in the list")
        }
    };
}

placements! {
    lpn,
    round_robin,
    least_busy,
}

/// What is known of a placement beforehand.
#[derive(Clone, Copy, Debug)]
pub struct PlacementRule {
    /// The number of a page alone tells its die, each time it is written: no group of blocks ever has more than its share of
    /// the pages. Else the die is chosen again at every write, and one whose group is full is left out.
    pub by_number: bool,
}

impl rules::Rule for PlacementRule {
    const KIND: &'static str = "placement";
    const ALL: &'static [Plugin<Self>] = PLACEMENTS;
    const KEY: &'static str = "ftl.placement";
    const CHOSEN_BY: &'static str = "FTLs that map pages, with `frontiers = \"die\"`";
}

/// A placement, as a configuration names it.
pub type Placement = Choice<PlacementRule>;

/// A page that a die is wanted for.
#[derive(Clone, Copy, Debug)]
pub struct PageToPlace {
    /// Its address.
    pub lpn: Lpn,
    /// Its stream by update frequency: 0 is the coldest.
    pub stream: u32,
}

/// A die or a plane with a frontier of its own.
#[derive(Clone, Copy, Debug)]
struct Lane {
    number: u32,
    die: u32,
    /// Of its blocks.
    group: u32,
}

/// The dies, or their planes, with frontiers of their own, as a placement sees them: by position in the order of the parameter
/// `stripe`.
#[derive(Debug)]
pub struct Dies {
    placement: Placement,
    /// By position.
    order: Vec<Lane>,
    by_count: Divisor,
    /// Position of the page placed last.
    last: u32,
    /// By group of blocks: valid pages, if they can become too many for it, and how many fill it. Else empty.
    valid: Vec<u32>,
    most_valid: u32,
}

impl Dies {
    /// The lanes of this many `dies` in this order, their blocks in `groups` (those of die `d` in group `d % groups`), each of
    /// which has room for `most_valid` pages. No page lies there yet.
    pub fn new(placement: Placement, dies: u32, order: Vec<u32>, groups: u32, most_valid: u32) -> Self {
        let uneven = !placement.rule().by_number && order.len() > 1;
        let lane = |number| Lane { number, die: number % dies, group: number % groups };
        Self {
            placement,
            by_count: Divisor::new(order.len() as u32),
            order: order.into_iter().map(lane).collect(),
            last: 0,
            valid: vec![0; if uneven { groups as usize } else { 0 }],
            most_valid,
        }
    }
    /// Forgets what was placed.
    pub fn forget(&mut self) {
        self.valid.fill(0);
        self.last = 0;
    }

    /// How many there are.
    #[inline]
    pub const fn count(&self) -> u32 {
        self.order.len() as u32
    }
    /// `number % count`.
    #[inline]
    pub const fn wrap(&self, number: u32) -> u32 {
        self.by_count.remainder(number)
    }
    /// Number of the lane at a position: that of its die as in [`Geometry`](crate::flash::Geometry), or of its plane
    /// ([`Frontiers::lanes`](crate::ftl::frame::space::Frontiers::lanes)).
    #[inline]
    pub fn lane(&self, position: u32) -> u32 {
        self.order[position as usize].number
    }
    /// All positions from one on, around the end, each with the number of its die.
    #[inline]
    pub fn positions_from(&self, first: u32) -> impl Iterator<Item = (u32, u32)> {
        let (before, after) = self.order.split_at(first as usize);
        after.iter().zip(first..).chain(before.iter().zip(0..)).map(|(lane, position)| (position, lane.die))
    }
    /// Position of the page placed last.
    #[inline]
    pub const fn last(&self) -> u32 {
        self.last
    }
    /// True if the group of the die at a position can hold one page more.
    #[inline]
    pub fn has_room(&self, position: u32) -> bool {
        self.has_room_in(self.order[position as usize].group)
    }
    /// True if a group can.
    #[inline]
    pub fn has_room_in(&self, group: u32) -> bool {
        self.valid.get(group as usize).is_none_or(|valid| *valid < self.most_valid)
    }

    /// True if a page goes to a die by its number alone.
    pub const fn is_by_number(&self) -> bool {
        self.valid.is_empty()
    }
    /// Number of the lane for a page.
    #[expect(
        clippy::inline_always,
        reason = "every page that is written is placed: a call costs as much as the placement"
    )]
    #[inline(always)]
    pub fn place(&mut self, page: PageToPlace, clock: &Clock) -> u32 {
        let wanted = position(self.placement, self, page, clock);
        if self.is_by_number() { self.lane(wanted) } else { self.place_where_room_is(wanted) }
    }
    /// The die that is wanted, or the next one with room: a host could otherwise fill one with pages that it never
    /// overwrites.
    #[inline(never)]
    fn place_where_room_is(&mut self, wanted: u32) -> u32 {
        let mut positions = (wanted..wanted + self.count()).map(|position| self.wrap(position));
        self.last =
            positions.find(|p| self.has_room(*p)).expect("the groups together hold more than all logical pages");
        self.lane(self.last)
    }
    /// A group has one valid page of the host more.
    #[inline]
    pub fn add(&mut self, group: u32) {
        if let Some(valid) = self.valid.get_mut(group as usize) {
            *valid += 1;
        }
    }
    /// A group has one valid page of the host less.
    #[inline]
    pub fn drop(&mut self, group: u32) {
        if let Some(valid) = self.valid.get_mut(group as usize) {
            *valid -= 1;
        }
    }
    /// Valid pages by group, if they are counted.
    pub fn valid(&self) -> &[u32] {
        &self.valid
    }
}
