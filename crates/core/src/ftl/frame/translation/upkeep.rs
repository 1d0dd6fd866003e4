//! Work that is not done for a write: static wear levelling, relocation of blocks that were read too often, and collection
//! in idle time.

use super::collect::Choice;
use super::{MapCache, Translation};
use crate::flash::{Flash, Ticket};
use crate::ledger::{Cause, Op};
use crate::types::{Nanos, Pbn};

impl Translation {
    /// After a collection that erased a block (then `erased_at` resolves): if the most and the least erased block of a
    /// group are too many erases apart, the pages of the least erased closed one, which are cold, move to the most erased
    /// free one, if it `levels`. With translation pages the group must have more than its reserve, so that there is room for
    /// them too.
    pub(super) fn level_wear<C: MapCache>(
        &mut self,
        flash: &mut Flash,
        cache: &mut C,
        (erased, levels): (Pbn, bool),
        erased_at: Ticket,
        after: Ticket,
    ) -> Ticket {
        let group = self.space.group_of(erased);
        let may_move = levels && (C::RESIDENT || self.space.free(group) > self.space.reserve());
        let Some(victim) = self.space.pick_cold(flash, erased, may_move) else { return erased_at };
        let after = if C::RESIDENT { erased_at } else { after };
        if self.space.holds_map(victim) {
            self.collect_map(flash, victim, Cause::Wear, after);
            return erased_at;
        }
        self.collect_data(flash, cache, victim, Cause::Wear, after)
    }

    /// Relocates closed blocks that were read too often; open ones and one in collection are erased soon or named again.
    #[inline(never)]
    pub fn relocate_disturbed<C: MapCache>(&mut self, flash: &mut Flash, cache: &mut C, after: Ticket) {
        while let Some(victim) = flash.take_disturbed() {
            let group = self.space.group_of(victim);
            // A collection in slices may hold the block that this relocation needs.
            while self.space.sliced[group as usize].is_some() {
                self.collect(flash, cache, group, Choice::Policy, after);
            }
            if self.space.take_closed(victim) {
                self.empty(flash, cache, victim, (Cause::Refresh, true), after);
            }
            self.restore_reserves(flash, cache, after);
        }
    }

    /// True if idle time is of use.
    pub const fn works_in_idle_time(&self) -> bool {
        self.space.layout().upkeep.idle_free > 0 || self.space.has_slc()
    }

    /// Folds what is closed of the SLC cache, and collects until every group has enough free blocks, as long as the next
    /// collection ends in time: all pages of a block (of the SLC cache: those that are valid) copied, each in the usual times,
    /// and a translation page rewritten for each, one after the other, when all is idle.
    pub fn collect_in_idle_time<C: MapCache>(&mut self, flash: &mut Flash, cache: &mut C, until: Nanos) {
        let geometry = *flash.geometry();
        let time = |op| flash.clock.service(op);
        let (read, program) = (time(Op::Read), time(Op::Program));
        let rewrite = if self.copies > 0 { read + program * u64::from(self.copies) } else { Nanos::ZERO };
        let erase = time(Op::Erase);
        let of_pages = |pages: u32| (read + program + rewrite) * u64::from(pages) + erase;
        let longest = of_pages(geometry.pages_per_block);
        let idle_free = self.space.layout().upkeep.idle_free;
        let groups = self.space.groups();
        for part in 0..if C::RESIDENT { groups } else { 1 } {
            // Rewriting translation pages may take blocks of groups that had enough: then they take turns.
            let (members, channels) = match (C::RESIDENT, groups) {
                (true, 1) => (0..1, 0..1),
                (true, _) => {
                    let channel = part % geometry.channels;
                    (part..part + 1, channel..channel + 1)
                }
                (false, _) => (0..groups, 0..geometry.channels),
            };
            let idle_from = |flash: &Flash| {
                channels.clone().map(|channel| flash.clock.channel_busy_until(channel)).fold(flash.now(), Nanos::max)
            };
            let begin = if C::RESIDENT { flash.now() } else { idle_from(flash) };
            let (mut spent, mut after) = (Nanos::ZERO, Ticket::at(begin));
            for _ in 0..2 * geometry.pages() {
                let folds = |group: u32| self.space.oldest_slc(group).filter(|_| self.space.has_room_to_fold(group));
                let fold = members.clone().find_map(|group| Some((group, folds(group)?)));
                let choice = if fold.is_some() { Choice::Slc } else { Choice::FewestValid };
                let is_short = |group: &u32| {
                    let more = idle_free.max(u32::from(self.space.oldest_slc(*group).is_some()));
                    more > 0 && self.space.wants_space(flash, *group, self.space.reserve().saturating_add(more - 1))
                };
                let next = fold.map(|(group, _)| group).or_else(|| members.clone().find(is_short));
                let longest = fold.map_or(longest, |(_, pbn)| of_pages(flash.valid_pages(pbn)));
                let in_time = idle_from(flash).max(begin + spent) + longest <= until;
                let Some(group) = next.filter(|_| in_time) else { break };
                let erased = self.collect(flash, cache, group, choice, after);
                spent += longest;
                after = if C::RESIDENT { erased } else { Ticket::at(begin + spent) };
            }
            self.restore_reserves(flash, cache, after);
        }
    }
}
