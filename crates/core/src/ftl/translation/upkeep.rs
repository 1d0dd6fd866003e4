//! Background work: static wear levelling, and collection in idle time.

use super::{MapCache, Translation};
use crate::flash::{Flash, Ticket};
use crate::ledger::{Cause, Op};
use crate::types::{Nanos, Pbn};

impl Translation {
    /// After a collection that erased a block: the pages of a cold block move to the most erased free one, if the group
    /// has more than its reserve, so that there is room for them and for their translation pages.
    pub(super) fn level_wear(&mut self, flash: &mut Flash, cache: &mut impl MapCache, erased: Pbn, after: Ticket) {
        let group = self.space.group_of(flash.geometry().first_page(erased));
        let may_move = self.space.free(group) > self.space.reserve();
        let Some(victim) = self.space.pick_cold(flash, erased, may_move) else { return };
        if self.space.holds_map(victim) {
            self.collect_map(flash, victim, after);
        } else {
            self.collect_data(flash, cache, victim, Cause::Wear, after);
        }
    }

    /// True if idle time is of use.
    pub const fn works_in_idle_time(&self) -> bool {
        self.idle_free > 0
    }

    /// Collects in every group until enough blocks are free, as long as the next collection certainly ends in time: all
    /// pages of a block copied and a translation page rewritten for each, one after the other, when all is idle.
    pub fn collect_in_idle_time(&mut self, flash: &mut Flash, cache: &mut impl MapCache, until: Nanos) {
        let time = |op| flash.clock.service(op).0;
        let (read, program) = (time(Op::Read), time(Op::Program));
        let each = 2 * read + program * u64::from(1 + self.copies);
        let longest = u64::from(self.pages_per_block()) * each + time(Op::Erase);
        let channels = flash.geometry().channels;
        let mut start =
            (0..channels).map(|channel| flash.clock.channel_busy_until(channel)).fold(flash.now(), Nanos::max);
        let wanted = self.space.reserve() + self.idle_free;
        // Rewriting translation pages may take blocks of groups that had enough.
        for _ in 0..2 * flash.geometry().pages() {
            let mut groups = 0..self.space.groups();
            let short = groups.find(|group| self.space.free(*group) < wanted && self.space.can_gain(flash, *group));
            let Some(group) = short.filter(|_| start + Nanos(longest) <= until) else {
                break;
            };
            self.collect(flash, cache, group, true, Ticket::at(start));
            start += Nanos(longest);
        }
        for group in 0..self.space.groups() {
            self.collect_until(flash, cache, group, self.space.reserve(), Ticket::at(start));
        }
    }
}
