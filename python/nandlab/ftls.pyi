# Made by scripts/stubs.py from the registry.
from typing import Any

from ._registry import Ftl

__all__ = ["Page", "Block", "BAST", "FAST", "Superblock", "LAST", "DFTL", "RFTL", "TPFTL", "LearnedFTL", "SFTL", "Cdftl", "URMMap"]

class Page(Ftl):
    def __init__(self, *, victim: Any = ..., alloc: Any = ..., reserve: int = ..., frontiers: Any = ..., gc_frontier: Any = ..., placement: Any = ..., whole_units: bool = ..., stripe: Any = ..., streams: int = ..., gc_slice: Any = ..., gc_lag: int | None = ..., idle_free: int = ..., wear_threshold: int | None = ..., slc: Any = ..., slc_blocks: int = ...) -> None: ...

class Block(Ftl):
    def __init__(self, *, append: bool = ..., alloc: Any = ...) -> None: ...

class BAST(Ftl):
    def __init__(self, *, log_blocks: int | None = ..., max_chain: int = ..., victim: Any = ..., lookahead: int = ..., partial_merge: bool = ..., block_write: Any = ..., log_map: Any = ..., map_program: bool = ..., alloc: Any = ...) -> None: ...

class FAST(Ftl):
    def __init__(self, *, rw_blocks: int | None = ..., use_sw: bool = ..., sw_switch: Any = ..., cond1_rw_check: bool = ..., block_write: Any = ..., alloc: Any = ...) -> None: ...

class Superblock(Ftl):
    def __init__(self, *, superblock_blocks: int = ..., update_blocks: int = ..., update_blocks_total: int | None = ..., cache_entries: int | None = ..., alloc: Any = ...) -> None: ...

class LAST(Ftl):
    def __init__(self, *, seq_blocks: int | None = ..., hot_blocks: int | None = ..., cold_blocks: int | None = ..., threshold: int = ..., alloc: Any = ...) -> None: ...

class DFTL(Ftl):
    def __init__(self, *, frontiers: Any = ..., preset: Any = ..., cmt_entries: int | None = ..., cmt_bytes: Any = ..., cmt_protected: Any = ..., cmt_order: Any = ..., evict_batch: bool | None = ..., write_miss_fetch: bool | None = ..., gc_marks_dirty: bool | None = ..., entries_per_tp: int | None = ..., reserve: int = ..., victim: Any = ..., alloc: Any = ..., placement: Any = ..., whole_units: bool = ..., gc_frontier: Any = ..., gc_slice: Any = ..., gc_lag: int | None = ..., map_write_buffer: int = ..., streams: int = ..., idle_free: int = ..., wear_threshold: int | None = ..., slc: Any = ..., slc_blocks: int = ...) -> None: ...

class RFTL(Ftl):
    def __init__(self, *, replicas: int = ..., preset: Any = ..., cmt_entries: int | None = ..., cmt_bytes: Any = ..., cmt_protected: Any = ..., cmt_order: Any = ..., evict_batch: bool | None = ..., write_miss_fetch: bool | None = ..., gc_marks_dirty: bool | None = ..., entries_per_tp: int | None = ..., reserve: int = ..., victim: Any = ..., alloc: Any = ..., placement: Any = ..., whole_units: bool = ..., gc_frontier: Any = ..., gc_slice: Any = ..., gc_lag: int | None = ..., map_write_buffer: int = ..., streams: int = ..., idle_free: int = ..., wear_threshold: int | None = ..., slc: Any = ..., slc_blocks: int = ...) -> None: ...

class TPFTL(Ftl):
    def __init__(self, *, cmt_entries: int | None = ..., cmt_bytes: Any = ..., request_prefetch: bool = ..., selective_prefetch: Any = ..., selective_threshold: int = ..., selective_run: Any = ..., frontiers: Any = ..., entries_per_tp: int | None = ..., reserve: int = ..., victim: Any = ..., alloc: Any = ..., placement: Any = ..., whole_units: bool = ..., gc_frontier: Any = ..., gc_slice: Any = ..., gc_lag: int | None = ..., map_write_buffer: int = ..., streams: int = ..., idle_free: int = ..., wear_threshold: int | None = ..., slc: Any = ..., slc_blocks: int = ...) -> None: ...

class LearnedFTL(Ftl):
    def __init__(self, *, cmt_entries: int | None = ..., cmt_bytes: Any = ..., request_prefetch: bool = ..., selective_prefetch: Any = ..., selective_threshold: int = ..., selective_run: Any = ..., frontiers: Any = ..., pieces: int | None = ..., group_tps: int | None = ..., entries_per_tp: int | None = ..., reserve: int = ..., victim: Any = ..., alloc: Any = ..., placement: Any = ..., whole_units: bool = ..., gc_frontier: Any = ..., gc_slice: Any = ..., gc_lag: int | None = ..., map_write_buffer: int = ..., streams: int = ..., idle_free: int = ..., wear_threshold: int | None = ..., slc: Any = ..., slc_blocks: int = ...) -> None: ...

class SFTL(Ftl):
    def __init__(self, *, cache_bytes: Any = ..., frontiers: Any = ..., entries_per_tp: int | None = ..., reserve: int = ..., victim: Any = ..., alloc: Any = ..., placement: Any = ..., whole_units: bool = ..., gc_frontier: Any = ..., gc_slice: Any = ..., gc_lag: int | None = ..., map_write_buffer: int = ..., streams: int = ..., idle_free: int = ..., wear_threshold: int | None = ..., slc: Any = ..., slc_blocks: int = ...) -> None: ...

class Cdftl(Ftl):
    def __init__(self, *, cmt_entries: int = ..., ctp_pages: int = ..., frontiers: Any = ..., entries_per_tp: int | None = ..., reserve: int = ..., victim: Any = ..., alloc: Any = ..., placement: Any = ..., whole_units: bool = ..., gc_frontier: Any = ..., gc_slice: Any = ..., gc_lag: int | None = ..., map_write_buffer: int = ..., streams: int = ..., idle_free: int = ..., wear_threshold: int | None = ..., slc: Any = ..., slc_blocks: int = ...) -> None: ...

class URMMap(Ftl):
    def __init__(self, *, mode: Any = ..., max_run: int = ..., raw_fallback: bool = ..., map_budget: Any = ..., load_entries: int | None = ..., frontiers: Any = ..., entries_per_tp: int | None = ..., reserve: int = ..., victim: Any = ..., alloc: Any = ..., placement: Any = ..., whole_units: bool = ..., gc_frontier: Any = ..., gc_slice: Any = ..., gc_lag: int | None = ..., map_write_buffer: int = ..., streams: int = ..., idle_free: int = ..., wear_threshold: int | None = ..., slc: Any = ..., slc_blocks: int = ...) -> None: ...
