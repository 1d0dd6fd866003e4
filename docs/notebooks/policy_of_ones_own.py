# %% [markdown]
# # A policy of one's own
#
# A class with the hooks that policies in Rust have. This is LRU, but it lets a dirty page stay once if the next one to leave is
# clean, because to drop a clean page costs no write.

# %%
from collections import OrderedDict
from typing import Any

import nandlab
from nandlab._native import Access, Plan


class CleanFirst(nandlab.Policy):
    """Of the two pages used longest ago a clean one leaves first."""

    def __init__(self) -> None:
        self.order: OrderedDict[int, None] = OrderedDict()

    def on_hit(self, slot: int, access: Access) -> None:
        self.order.move_to_end(slot)

    def make_room(self, access: Access | None, plan: Plan) -> int:
        oldest = iter(self.order)
        first, second = next(oldest), next(oldest)
        victim = second if self.slots.is_dirty(first) and not self.slots.is_dirty(second) else first
        del self.order[victim]
        return victim

    def on_insert(self, slot: int, access: Access) -> None:
        self.order[slot] = None

    def on_remove(self, slot: int) -> None:
        del self.order[slot]

    def on_clean(self, slot: int) -> bool:
        return True


trace = nandlab.generate.zipf(theta=1.1, writes=0.5)
options: dict[str, Any] = {"ftl": "page", "ram": "1MiB", "limit": 10_000, "address": "modulo", "precondition": "none"}
mine = nandlab.run(trace, buffer=CleanFirst, **options)
lru = nandlab.run(trace, buffer="lru", **options)
for name, result in (("clean first", mine), ("lru", lru)):
    programs = sum(result.ledger["ops"][1])
    print(f"{name}: {result.summary['hits_page_total']:.2%} hits, {programs} pages programmed")

# %% [markdown]
# An answer that makes no sense ends the run with an error that names it: here a page that is not in the buffer.

# %%
try:
    nandlab.run(trace, buffer=type("Wrong", (CleanFirst,), {"make_room": lambda self, access, plan: -1}), **options)
except ValueError as error:
    print(error)

# %% [markdown]
# For models that decide about many requests at once there is `decide`: a score for each request of a batch, and the page with
# the lowest leaves.

# %%
import numpy


class Rare:
    """Pages that were asked for often stay."""

    def __init__(self) -> None:
        self.counts = numpy.zeros(2**22)

    def decide(self, batch: nandlab.Batch) -> Any:
        pages = (batch.lba // 8).astype(numpy.int64) % len(self.counts)
        numpy.add.at(self.counts, pages, 1)
        return self.counts[pages]


print(f"{nandlab.run(trace, buffer=Rare, **options).summary['hits_page_total']:.2%} hits")
