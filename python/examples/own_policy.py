"""A policy of one's own next to the one that nandlab brings: same hits, and how fast."""

from __future__ import annotations

import time
from collections import OrderedDict

import nandlab
from nandlab import Policy
from nandlab._native import Access, Plan


class LRU(Policy):
    """Least recently used."""

    def __init__(self) -> None:
        self.order: OrderedDict[int, None] = OrderedDict()

    def on_hit(self, slot: int, access: Access) -> None:
        """The page was found."""
        self.order.move_to_end(slot)

    def make_room(self, access: Access | None, plan: Plan) -> int:
        """The page used longest ago leaves."""
        return self.order.popitem(last=False)[0]

    def on_insert(self, slot: int, access: Access) -> None:
        """The page is in its frame."""
        self.order[slot] = None

    def on_remove(self, slot: int) -> None:
        """The host discarded the page."""
        del self.order[slot]

    def on_clean(self, slot: int) -> bool:
        """The host had it written: it stays."""
        return True


def main(requests: int = 1_000_000) -> None:
    """Runs both and prints their hits and speeds."""
    trace = nandlab.generate.zipf(theta=0.9)
    for buffer in (LRU, "lru"):
        begun = time.perf_counter()
        result = nandlab.run(trace, buffer=buffer, ftl="page", ram="16MiB", limit=requests, address="modulo")
        seconds = time.perf_counter() - begun
        hits = result.report["hits"]["page"]["total"]
        name = buffer if isinstance(buffer, str) else f"{buffer.__name__} in Python"
        print(f"{name}: {100 * hits:.4f} % hits, {requests / seconds / 1e6:.2f} million requests a second in all")


if __name__ == "__main__":
    main()
