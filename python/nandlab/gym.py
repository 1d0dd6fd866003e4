"""Buffer management as an environment of gymnasium (`pip install nandlab[gym]`): the agent says which pages leave the buffer.

>>> import nandlab.gym
>>> env = nandlab.gym.BufferEnv(nandlab.generate.zipf(theta=0.9), limit=20_000, address="modulo", ram="1MiB", precondition="none")
>>> observation, info = env.reset(seed=1)
>>> observation.shape
(16, 6)
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy
from numpy.typing import NDArray

from . import _native
from ._plain import whole
from ._registry import Ftl, _json
from ._result import Result
from ._run import DEFAULT_DEVICE, Path, Trace, _device, _split, _workload

__all__ = ["BufferEnv", "FEATURES"]

#: What is shown of a candidate, each from 0 to 1, in this order: log2(1 + page accesses since its last one) / 32; the same since
#: it came into the buffer; log2(its accesses since then) / 32; its share of dirty pages; the share of its logical block that is
#: in the buffer; 1 if it belongs to the logical block of the page that comes, else 0.
FEATURES = ("idle", "age", "uses", "dirty", "full", "same_block")


class BufferEnv(gymnasium.Env[NDArray[numpy.float32], numpy.int64]):
    """A run of nandlab whose buffer is the agent: at each step a page must leave, and the agent says which group leaves.

    **Observation**: `Box(0, 1, (candidates, 6), float32)`, a row for each candidate, with what `nandlab.gym.FEATURES` says.
    Candidates are groups in the buffer, drawn at random without repetition; if there are fewer, they repeat in the same order.
    With `group="page"` a group is a page, with `"block"` all resident pages of a logical block.

    **Action**: `Discrete(candidates)` for pages: the row of the one that leaves. `Discrete(2 * candidates)` for blocks: from
    `candidates` on, row `action - candidates` leaves and is padded: if it is dirty, the whole logical block is written.

    **Reward**: flash time saved since the step before, ms: what the page accesses of the host would have taken without a buffer
    (page reads and page programs of the flash: command, cells and transfer), less what all operations of the flash took, garbage
    collection and the like included. The rewards of an episode add up to the time that its report says.

    **Episode**: one run of the trace; at its end `terminated` is true, the observation is zero, and `result` is the report of
    the run. `reset(seed=...)` seeds it: the same seed and the same actions give the same episode. The run has the seed
    `info["seed"]`, which generators take as well, so that `reset()` without a seed brings another trace of the same kind.

    **Info**: `groups`, the page or logical block of each candidate; `comes`, the page that comes and whether it is written
    (`None` if the device makes room ahead of need); `saved_ns`, the flash time saved so far; `seed`.

    Arguments are those of `nandlab.run`; each option of the trace and each key of the configuration may be set. With
    `precondition="trace"` there is no environment, because that runs a trace twice; nor with `warm_up`, because rewards count
    from the first request on.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        trace: Trace = None,
        device: Path = DEFAULT_DEVICE,
        ftl: str | Ftl | None = None,
        *,
        candidates: int = 16,
        group: str = "page",
        ram: str | int | None = None,
        capacity: str | None = None,
        **options: Any,
    ) -> None:
        if group not in ("page", "block"):
            raise ValueError(f"group: {group!r} is neither 'page' nor 'block'")
        candidates = whole("candidates", candidates)
        if not 1 <= candidates <= 65_536:
            raise ValueError(f"candidates: {candidates} is outside 1 to 65536")
        reading, overrides = _split(options)
        if "seed" in overrides:
            raise TypeError("seed: it is given to reset(seed=...)")
        # Columns are taken once: a stream has them once.
        self._workload, self._memory = _workload(trace, reading)
        self._described = _device(device, ftl, None, ram, capacity, overrides)
        self._candidates, self._by_block = candidates, group == "block"
        shape = (candidates, len(FEATURES))
        self.observation_space = gymnasium.spaces.Box(0, 1, shape, numpy.float32)
        self.action_space = gymnasium.spaces.Discrete(candidates * (1 + self._by_block))
        self._native: _native.Environment | None = None
        self._said: Any = ()
        self._seed = self._saved = 0
        #: The report of the last episode that was played to its end.
        self.result: Result | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[numpy.float32], dict[str, Any]]:
        """Begins an episode: the run goes on until the first page must leave."""
        super().reset(seed=seed, options=options)
        self._seed = int(self.np_random.integers(2**32))
        described = {**self._described, "set": [*self._described["set"], f"seed={self._seed}"]}
        self._native = None
        spec = _json({"device": described, "workload": self._workload}, "reset")
        native = _native.Environment(spec, self._candidates, self._by_block, self._memory)
        self._said, self._saved = native.advance(), 0
        self._native = native
        return self._observed()

    def step(
        self, action: numpy.int64 | int
    ) -> tuple[NDArray[numpy.float32], float, bool, bool, dict[str, Any]]:
        """The candidate leaves, and the run goes on until the next page must leave.

        Raises ValueError if there is no such action, or the episode is over; TypeError if it is not a whole number.
        """
        if self._native is None:
            raise ValueError("the episode is over: call reset()")
        number = whole("action", action)
        if not 0 <= number < self._candidates * (1 + self._by_block):
            raise ValueError(f"action: {action!r} is not in {self.action_space}")
        pad, candidate = divmod(number, self._candidates)
        # Of a run in which nothing had to leave, the end is all there is to tell.
        if len(self._said) > 2:
            self._said = self._native.advance(candidate, bool(pad))
        observation, info = self._observed()
        saved: int = info["saved_ns"]
        reward, self._saved = (saved - self._saved) / 1e6, saved
        over = len(self._said) == 2
        if over:
            self.result, self._native = Result(self._said[0]), None
        return observation, reward, over, False, info

    def _observed(self) -> tuple[NDArray[numpy.float32], dict[str, Any]]:
        """What the agent sees of the last word of the run."""
        if len(self._said) == 2:
            zeros = numpy.zeros((self._candidates, len(FEATURES)), numpy.float32)
            # Of the same shape at every step, as vectors of environments want it.
            groups = numpy.zeros(self._candidates, numpy.uint32)
            return zeros, {"groups": groups, "comes": None, "saved_ns": self._said[1], "seed": self._seed}
        features, groups, saved, comes = self._said
        return features, {"groups": groups, "comes": comes, "saved_ns": saved, "seed": self._seed}

    def close(self) -> None:
        """Ends the episode; a run that is under way ends by itself."""
        self._native = None


gymnasium.register("nandlab/Buffer-v0", BufferEnv)
