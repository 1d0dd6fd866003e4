//! Parameters that all demand-mapped FTLs have.

/// Declares the `Params` of a demand-mapped FTL: its own parameters, each with its default, and the common ones. With
/// `by_preset;` in front, the common ones that a preset may set are options.
macro_rules! demand_params {
    (
        @ $victim:ty = $victim_default:expr $(, absent $no_victim:literal)?;
        $alloc:ty = $alloc_default:expr $(, absent $no_alloc:literal)?; $($own:tt)*
    ) => {
        $crate::params! {
            pub struct Params: Copy {
                $($own)*
                /// Mappings of a translation page (TP).
                entries_per_tp: Option<u32> = None, in 1.., "entries", absent "`page_bytes / 4`";
                /// Free blocks at which garbage collection starts: 3 or more (FlashSim's `min_fb_num`), for a map that lies in
                /// RAM 1. With `frontiers = "die"` each channel keeps its own (with `gc_slice` in slices: each die).
                reserve: u32 = 3, in 1.., "blocks";
                /// Which closed block is collected, over data and translation blocks together.
                victim: $victim = $victim_default $(, absent $no_victim)?;
                /// Which free block is taken.
                alloc: $alloc = $alloc_default $(, absent $no_alloc)?;
                /// Die of a page with `frontiers = "die"`, plane with `"plane"`; not where groups keep their pages.
                placement: $crate::ftl::placement::Placement = $crate::ftl::placement::Placement::default();
                /// The die is chosen for a whole unit of pages, as for `page`.
                whole_units: bool = false;
                /// Where garbage collection writes.
                gc_frontier: $crate::ftl::frame::space::GcFrontier = $crate::ftl::frame::space::GcFrontier::Shared;
                /// How fast collection goes, as for `page`. With slices a
                /// group keeps one block more than `reserve` free, every slice rewrites the translation pages of what it
                /// moved (more of them than one batch for the whole victim), and translation blocks are collected at once.
                gc_slice: $crate::ftl::pace::Pace = $crate::ftl::pace::Pace::default(), in 1.0.., "pages";
                /// How far collection in slices may lag behind the host, as for `page`.
                gc_lag: Option<u32> = None, in 1.., "pages", absent "any number";
                /// Translation pages that RAM holds, beside the cache, while they are written back. A look-up that evicts dirty
                /// mappings takes one that is free, or waits for the one that is written for longest; with 0 it waits until its
                /// own page is programmed, as in papers. Each takes `page_bytes` of RAM besides what the formula says. A map
                /// that lies in RAM writes none.
                map_write_buffer: u32 = 0, in 0..=4096, "pages";
                /// Data frontiers of a die by update frequency of the page, as for `page`; copies stay in the stream of their
                /// block.
                streams: u32 = 1, in 1..=$crate::ftl::frame::heat::MAX_STREAMS as u32;
                /// Free blocks beyond the reserve that collection in idle time makes; 0 is off. A collection is taken to
                /// rewrite a translation page for every page of its block.
                idle_free: u32 = 0, "blocks";
                /// Spread of erases at which cold pages move, as for `page`. A cold block moves only while its group has more
                /// than the reserve; a cold translation block is rewritten in place of moved.
                wear_threshold: Option<u32> = None, in 1.., "erases", absent "no static wear levelling (MQSim: 100)";
                /// Which blocks take the host's pages with one bit in a cell (SLC cache), as for `page`.
                slc: $crate::ftl::frame::space::Slc = $crate::ftl::frame::space::Slc::None;
                /// Most blocks of the SLC cache for every die, as for `page`; the dies of a channel share them.
                slc_blocks: u32 = 0, "blocks";
            }
        }

        impl Params {
            /// What all demand-mapped FTLs share, with the victim policy and the allocation that are meant.
            const fn common_with(
                &self,
                (victim, alloc): ($crate::ftl::victim::Victim, $crate::ftl::alloc::Alloc),
                frontiers: $crate::ftl::frame::space::Frontiers,
            ) -> $crate::ftl::frame::Common {
                let Self { entries_per_tp, reserve, placement, map_write_buffer, .. } = *self;
                $crate::ftl::frame::Common {
                    entries_per_tp,
                    reserve,
                    victim,
                    alloc,
                    frontiers,
                    placement,
                    sorted_tps: None,
                    map_write_buffer,
                    upkeep: self.upkeep(),
                }
            }
            const fn upkeep(&self) -> $crate::ftl::frame::space::Upkeep {
                let Self { gc_frontier, gc_slice, gc_lag, streams, whole_units, idle_free, wear_threshold, slc, slc_blocks, .. } = *self;
                $crate::ftl::frame::space::Upkeep {
                    gc_frontier,
                    gc_slice,
                    gc_lag,
                    streams,
                    whole_units,
                    idle_free,
                    wear_threshold,
                    slc,
                    slc_blocks,
                }
            }
        }
    };
    (by_preset; $($own:tt)*) => {
        $crate::ftl::frame::demand_params! {
            @ Option<$crate::ftl::victim::Victim> = None, absent "`greedy`; flashsim `greedy_lowest`";
            Option<$crate::ftl::alloc::Alloc> = None, absent "`fifo`; flashsim `min_erase`"; $($own)*
        }
    };
    ($($own:tt)*) => {
        $crate::ftl::frame::demand_params! {
            @ $crate::ftl::victim::Victim = $crate::ftl::victim::Victim::default();
            $crate::ftl::alloc::Alloc = $crate::ftl::alloc::Alloc::default(); $($own)*
        }

        impl Params {
            fn common(&self, frontiers: $crate::ftl::frame::space::Frontiers) -> $crate::ftl::frame::Common {
                self.common_with((self.victim, self.alloc), frontiers)
            }
        }
    };
}
pub(in crate::ftl) use demand_params;
