"""Reproductions of papers, and searches: what `nandlab reproduce` and `nandlab search` do."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Iterable, Mapping, Sequence

from . import _native
from ._progress import Progress, telling
from ._run import Path, _table
from ._sweep import Sweep
from ._table import Table


@dataclass(frozen=True)
class Reproduced:
    """What came out of a paper."""

    #: Its name.
    paper: str
    #: Where its results lie: `report.html`, `figures`, and the sweep for `nandlab.load`.
    folder: str
    #: Cells of the plan that were asked for.
    cells: int
    #: Of those, run now.
    run: int
    #: Of these, failed.
    failed: int
    #: How its claims came out.
    sentence: str
    #: Its claims: `place`, `claim`, `printed`, `measured`, `verdict`, `cases`, `decides`, `note`.
    claims: Table


def reproduce(
    papers: str | Iterable[str] = (),
    folder: Path = "results",
    *,
    figures: str | int | Iterable[str | int] = (),
    traces: Mapping[str, Path] | None = None,
    limit: int | None = None,
    threads: int | None = None,
    shard: tuple[int, int] = (1, 1),
    retry: bool = False,
    progress: Progress = None,
) -> list[Reproduced]:
    """Carries out what papers evaluated and judges their claims: what `nandlab reproduce` does, into the same files.

    `papers`: names, as in `"hitstat"`; all if there are none. `figures`: only these, as in `10` or `"table5"`. `traces`: files
    besides the workloads of the paper, by names. `limit`: requests of every simulation at most, a quick look whose verdicts
    mean nothing. `shard`: `(2, 3)` is the second of three parts. `retry` runs cells again that failed. What was stopped goes on
    where it was.
    """
    named = [papers] if isinstance(papers, str) else list(papers)
    shown = [figures] if isinstance(figures, (str, int)) else list(figures)
    files = [(name, os.path.abspath(os.fspath(path))) for name, path in (traces or {}).items()]
    with telling(progress, "reproduce") as tell:
        done = _native.reproduce(
            os.fspath(folder),
            names=named,
            figures=[str(figure) for figure in shown],
            traces=files,
            limit=limit,
            threads=threads,
            shard=shard,
            retry=retry,
            progress=tell,
        )
    return [
        Reproduced(name, place, cells, run, failed, sentence or "", _table(("", claims or [])))
        for name, place, cells, run, failed, sentence, claims in done
    ]


@dataclass(frozen=True)
class Front:
    """What a search found."""

    #: What nothing else beats: `cell`, `workload`, and a column for each metric in its unit (ns, percent, bytes).
    cells: Table
    #: Cells of the plan without their seeds.
    candidates: int
    #: Of those, run in full.
    in_full: int
    #: Requests that were simulated, as a part of those of the whole sweep.
    spent: float
    #: With `minutes`, the `budget` that they were taken to be enough for; `None` without.
    decided: float | None
    #: By metric the share of pairs that the beginning of the workload orders as all of it does; `None` without a pair.
    agreement: Mapping[str, float | None]
    #: Cells that were left out last and run in full as a check.
    checked: int
    #: Of those, on the front all the same.
    missed: int
    #: Simulations that failed: their cells are not on the front.
    failed: int


def search(
    plan: Sweep | Path,
    minimise: str | Sequence[str],
    folder: Path,
    *,
    budget: float | None = None,
    minutes: float | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Front:
    """Finds the cells of a plan that no other beats, with a part of the work of its sweep.

    `budget`: that part, above 0 and up to 1 (0.1 if nothing is said), or `minutes`: about how long it may take. Which cells are tried
    then depends on the speed of the machine; `Front.decided` is the `budget` that tries the same ones anywhere.

    `plan`: a `nandlab.Sweep`, the file of an experiment, or the name of one that nandlab brings. `minimise`: metrics, as in
    `["p99", "ram", "waf"]`; of those whose high values are good the highest are wanted. This is `nandlab search`, with the same
    files in `folder`.
    """
    place = FilePath(os.path.abspath(os.fspath(folder)))
    if isinstance(plan, Sweep):
        place.mkdir(parents=True, exist_ok=True)
        path = os.fspath(plan.write(place))
    else:
        path = os.fspath(plan)
    metrics = [minimise] if isinstance(minimise, str) else list(minimise)
    with telling(progress, "search") as tell:
        found = _native.search(path, str(place), metrics, budget=budget, minutes=minutes, threads=threads, progress=tell)
    columns = {name: [values[at] for values in found["values"]] for at, name in enumerate(found["metrics"])}
    cells = Table({"cell": found["cell"], "workload": found["workload"], **columns})
    agreement = dict(zip(found["metrics"], found["agreement"]))
    numbers = {name: found[name] for name in ("candidates", "in_full", "spent", "decided", "checked", "missed", "failed")}
    return Front(cells=cells, agreement=agreement, **numbers)
