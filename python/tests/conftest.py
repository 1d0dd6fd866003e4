"""What the tests share."""

from __future__ import annotations

import os
import subprocess
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

import nandlab

ROOT = Path(__file__).parents[2]
COMMAND = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug/nandlab"
#: A small device and a workload of which much is evicted.
SMALL: dict[str, Any] = {
    "address": "modulo",
    "ram": "1MiB",
    "ram__nvram": 0,
    "precondition": "none",
    "device__geometry__blocks_per_plane": 96,
}

#: How many times the cases that a test tries at random: scripts/python-long.sh tries more.
LONG = int(os.environ.get("NANDLAB_LONG", "1"))
long_only = pytest.mark.skipif(LONG == 1, reason="it takes minutes: scripts/python-long.sh")


@pytest.fixture
def command() -> Any:
    """Runs the command line of the same build, and returns what it prints."""

    def run(*arguments: str) -> str:
        done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=True)
        return done.stdout

    return run


class LRU(nandlab.Policy):
    """Least recently used, as in Rust."""

    def __init__(self) -> None:
        self.order: OrderedDict[int, None] = OrderedDict()

    def on_hit(self, slot: int, access: Any) -> None:
        self.order.move_to_end(slot)

    def make_room(self, access: Any, plan: Any) -> Any:
        return self.order.popitem(last=False)[0]

    def on_insert(self, slot: int, access: Any) -> None:
        self.order[slot] = None

    def on_remove(self, slot: int) -> None:
        del self.order[slot]

    def on_clean(self, slot: int) -> bool:
        return True
