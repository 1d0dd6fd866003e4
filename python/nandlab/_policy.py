"""Policies of one's own: the base of a class that decides page by page, and what vectorised functions see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Mapping

from ._plain import unmasked

if TYPE_CHECKING:
    import numpy
    from numpy.typing import ArrayLike, NDArray

    from . import _native


class Policy:
    """Base of a buffer policy in Python. The hooks have the names and the meaning of those in Rust.

    A policy must have `make_room` and `on_remove`; `on_hit`, `on_miss`, `on_insert`, `after_access`, `on_clean` and `resize`
    cost nothing when it does not have them. Of one page access the engine calls `on_hit(slot, access)`; or
    `on_miss(access)`, which answers where the page goes: `None`, `True` or `"dram"` for DRAM, `"nvram"`, or `False` for past
    the buffer; then `make_room(access, plan)` until there is room, then `on_insert(slot, access)`; at last
    `after_access(access, hit, plan)`.

    `make_room` returns the slot of the page that leaves, or several, or fills the `plan` (`evict`, `drop_page`,
    `write_back`, `move_page`); the policy takes these pages out of its own lists. Its `access` is `None` if the buffer
    shrinks. `on_remove(slot)` tells that the host trimmed a page. `on_clean(slot)` tells that the host had it written,
    and answers whether it stays; without that hook it leaves.

    `access` and `plan` are the same objects in every call, so that what is needed later must be copied.
    """

    #: Unit in which the engine writes back when the host flushes: `"page"` or `"block"`.
    grain: str = "page"
    #: Read a missed page from flash before room is made.
    fetches_first: bool = False

    shape: Mapping[str, int]
    slots: _native.Slots
    sense: _native.Sense

    def begin(self, shape: Mapping[str, int], slots: _native.Slots, sense: _native.Sense) -> None:
        """Before the first access: sizes of the device, the slots, and what may be sensed of the world below.

        `shape` has `pages_per_block`, `page_bytes`, `logical_pages`, `dram_frames`, `nvram_frames` and `seed`.
        """
        self.shape, self.slots, self.sense = shape, slots, sense


@dataclass(frozen=True)
class Batch:
    """Requests that come next, in their order: arrays with an element for each."""

    #: Number of the first of them, from 1.
    first: int
    #: Time in the trace.
    time_ns: NDArray[numpy.uint64]
    #: First sector of 512 bytes.
    lba: NDArray[numpy.uint64]
    #: Sectors.
    sectors: NDArray[numpy.uint64]
    #: Codes of the letters R, W, D and F.
    op: NDArray[numpy.uint8]

    def __len__(self) -> int:
        return len(self.lba)


@dataclass(frozen=True)
class Hints:
    """What is told about the requests of a batch: an array each, or one number for all. `None`: what the trace says of it."""

    #: 0 sequential, 1 looping, 2 clustered hot, 3 random or unknown.
    pattern: ArrayLike | None = None
    #: Program location that asked; 0 = unknown.
    pc: ArrayLike | None = None
    #: Predicted run length in pages; 0 or 1 = no run.
    run_pages: ArrayLike | None = None
    #: Accesses between repeats; 0 = unknown.
    period: ArrayLike | None = None


def hinting(function: Callable[[Batch], Hints]) -> Callable[[dict[str, Any]], Any]:
    """The function as the engine calls it."""
    import numpy

    if not callable(function):
        raise TypeError(f"hint: {type(function).__name__} is no function")

    def call(arrays: dict[str, Any]) -> Any:
        batch = Batch(**arrays)
        hints = function(batch)
        if not isinstance(hints, Hints):
            raise TypeError(f"hint: the answer is {type(hints).__name__}, and nandlab.Hints is needed")
        return [_whole(name, getattr(hints, name), len(batch)) for name in ("pattern", "pc", "run_pages", "period")]

    def _whole(name: str, values: ArrayLike | None, length: int) -> Any:
        if values is None:
            return None
        array = unmasked(f"hint: {name}", values)
        if array.dtype.kind not in "iu":
            raise TypeError(f"hint: {name} is an array of {array.dtype}, and whole numbers are needed")
        if array.size and (array.min() < 0 or array.max() > 2**32 - 1):
            raise ValueError(f"hint: {name} has values outside 0 to 2^32 - 1")
        if array.shape not in ((), (length,)):
            raise ValueError(f"hint: {name} has the shape {array.shape}, and the batch has {length} requests")
        return numpy.ascontiguousarray(numpy.broadcast_to(array, (length,)), dtype=numpy.uint32)

    return call


def deciding(function: Callable[[Batch], Any]) -> Callable[[dict[str, Any]], Any]:
    """The function as the engine calls it."""
    import numpy

    def call(arrays: dict[str, Any]) -> Any:
        batch = Batch(**arrays)
        scores = unmasked("decide", function(batch))
        if scores.dtype.kind not in "iufb":
            raise TypeError(f"decide: the answer is an array of {scores.dtype}, and numbers are needed")
        if scores.shape != (len(batch),):
            raise ValueError(f"decide: the answer has the shape {scores.shape}, and the batch has {len(batch)} requests")
        return numpy.ascontiguousarray(scores, dtype=numpy.float64)

    return call
