"""Sweeps: many cells into a folder, by threads here or by any executor, also on other machines that see the folder."""

from __future__ import annotations

import json
import os
from concurrent.futures import Executor, as_completed
from pathlib import Path as FilePath
from typing import Any, Iterable, Mapping

from . import _native
from . import buffers as _buffers
from . import ftls as _ftls
from ._plain import whole
from ._progress import Progress, telling
from ._registry import Buffer, Ftl, Generator, _json
from ._result import flat
from ._run import DEFAULT_DEVICE, Path, _device, _some, _split, _workload
from ._table import Table

#: The file of the plan in the folder of the results.
_PLAN = "plan.toml"


class Sweep:
    """What varies over what. Each argument that has several values is an axis; `axes` has further ones.

    `traces`: paths or generators, by name if it is a mapping. `buffers` and `ftls`: names or members of `nandlab.buffers` and
    `nandlab.ftls`, or `"all"`. `ram`: sizes. `seeds`: whole numbers. `axes`: by the name of an axis its values, which set keys of the
    configuration: `axes={"depth": {"1": {"replay.queue_depth": 1}, "8": {"replay.queue_depth": 8}}}`. Other options are those
    of `nandlab.run`.
    """

    def __init__(
        self,
        traces: Any = None,
        buffers: str | Buffer | Iterable[str | Buffer] = "lru",
        ftls: str | Ftl | Iterable[str | Ftl] = "page",
        device: Path = DEFAULT_DEVICE,
        *,
        ram: str | int | Iterable[str | int] | None = None,
        seeds: Iterable[int] = (),
        axes: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None,
        name: str = "sweep",
        **options: Any,
    ) -> None:
        reading, overrides = _split(options)
        named = _worded("buffers", _some(_all(buffers, _buffers), "buffer", Buffer))
        below = _worded("ftls", _some(_all(ftls, _ftls), "ftl", Ftl))
        varied: dict[str, dict[str, list[str]]] = {}
        several = () if ram is None else ram
        sizes = [several] if isinstance(several, str) or not isinstance(several, Iterable) else list(several)
        if sizes and "ram__dram" in overrides:
            raise ValueError("ram: ram__dram is the same; give one of the two")
        if sizes:
            varied["ram"] = {name: [f"ram.dram={size}"] for name, size in _worded("ram", map(str, sizes)).items()}
        for axis, values in (axes or {}).items():
            if not values:
                raise ValueError(f"axes: {axis}: it has no values")
            if axis in varied:
                raise ValueError(f"axes: {axis}: the name is taken by the argument; give the values to one of the two")
            varied[axis] = {
                value: _device(DEFAULT_DEVICE, None, None, None, None, settings)["set"] for value, settings in values.items()
            }
        workloads = {label: _paths(trace, reading) for label, trace in _traces(traces, bool(reading)).items()}
        described = {
            "name": name,
            "workloads": workloads,
            "devices": {"device": _device(device, None, None, None, options.get("capacity"), _without(overrides))},
            "buffers": named,
            "ftls": below,
            "axes": varied,
            "seeds": [whole("seeds", seed) for seed in seeds],
        }
        self._plan, self._cells = _native.experiment(_json(described, "sweep"))

    @property
    def plan(self) -> str:
        """The plan as TOML, which `nandlab sweep` runs as well."""
        return self._plan

    def __len__(self) -> int:
        """How many cells there are."""
        return self._cells

    def run(
        self,
        folder: Path,
        executor: Executor | None = None,
        *,
        threads: int | None = None,
        retry: bool = False,
        progress: Progress = None,
    ) -> Table:
        """Runs all cells that have no result in `folder` yet, and returns what is there then.

        Without an executor they run on `threads` here. With one (a pool of processes, `client.get_executor()` of Dask) each
        cell is a task; its result goes to the folder, which all workers must see, as a whole or not at all, so that a worker
        that dies costs the cells that it was at, and nothing else. `retry` runs cells again that failed. `progress` is a
        function that is told the share that is done, or `True` for a bar by tqdm.
        """
        place = FilePath(os.path.abspath(os.fspath(folder)))
        place.mkdir(parents=True, exist_ok=True)
        plan = self.write(place)
        with telling(progress, "sweep") as tell:
            if executor is None:
                _native.sweep(str(plan), str(place), threads=threads, retry=retry, progress=tell)
                return load(place)
            parts = range(1, self._cells + 1)
            tasks = [executor.submit(_part, str(plan), str(place), at, self._cells, retry) for at in parts]
            for done, task in enumerate(as_completed(tasks), 1):
                task.result()
                if tell is not None:
                    tell(done / len(tasks))
        # The worker that finished last may not have seen the result of another: the table of all is written here.
        _native.sweep(str(plan), str(place), threads=threads)
        return load(place)

    def write(self, folder: Path) -> FilePath:
        """Writes the plan into a folder, as a whole or not at all, and returns its path."""
        plan = FilePath(os.fspath(folder)) / _PLAN
        if not plan.exists() or plan.read_text() != self._plan:
            unfinished = plan.parent / f".{_PLAN}.{os.getpid()}.tmp"
            unfinished.write_text(self._plan)
            unfinished.replace(plan)
        return plan


def _part(plan: str, folder: str, number: int, of: int, retry: bool) -> int:
    """One task of an executor; returns how many cells it ran."""
    return _native.sweep(plan, folder, shard=(number, of), threads=1, retry=retry)[2]


def load(folder: Path) -> Table:
    """The results in a folder, also while the sweep runs: a row for each cell.

    Columns: `cell`, the value of each axis, `status` (`done`, `failed` or `open`), `error`, then all numbers of the report. One
    that has the name of a column before it is `report_NAME`.
    """
    rows: list[dict[str, Any]] = json.loads(_native.sweep_rows(os.fspath(folder)))
    lines: list[dict[str, Any]] = []
    for row in rows:
        own = {"cell": row["cell"], **row["values"], "status": row["status"], "error": row.get("error")}
        if "seed" in row["values"]:
            own["seed"] = int(row["values"]["seed"])
        told = flat(row.get("report") or {}).items()
        lines.append({**own, **{f"report_{name}" if name in own else name: value for name, value in told}})
    names: dict[str, None] = {}
    for line in lines:
        names.update(dict.fromkeys(line))
    return Table({name: [line.get(name) for line in lines] for name in names})


def _word(text: str) -> str:
    """A text as the name of a value of an axis."""
    return "".join(letter if letter.isalnum() or letter in "-_.=" else "_" for letter in text)


def _all(plugins: Any, module: Any) -> Any:
    """Those of a module for the word `all`."""
    return [getattr(module, name)() for name in module.__all__] if isinstance(plugins, str) and plugins == "all" else plugins


def _worded(argument: str, texts: Iterable[str]) -> dict[str, str]:
    """Values of an axis by their names.

    Raises ValueError if two have the same: they would be one cell.
    """
    named: dict[str, str] = {}
    for text in texts:
        name = _word(text)
        if name in named:
            raise ValueError(f"{argument}: {named[name]!r} and {text!r} are both {name!r} among the cells: leave one out")
        named[name] = text
    return named


def _without(overrides: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in overrides.items() if name != "capacity"}


def _traces(traces: Any, with_options: bool) -> Mapping[str, Any]:
    if traces is None:
        # A plan without a workload has the built-in one, to which options need a name.
        return {"built-in": None} if with_options else {}
    is_one = isinstance(traces, (str, os.PathLike, Generator))
    several = traces if isinstance(traces, Mapping) else [traces] if is_one else list(traces)
    if not several:
        raise ValueError("traces: none is given")
    if isinstance(several, Mapping):
        return several
    named: dict[str, Any] = {}
    for trace in several:
        name = _word(FilePath(str(trace)).name)
        if name in named:
            raise ValueError(f"traces: {name!r} is the name of two: give a mapping of names to traces")
        named[name] = trace
    return named


def _paths(trace: Any, reading: Mapping[str, Any]) -> dict[str, Any]:
    workload, memory = _workload(trace, reading)
    if memory is not None:
        raise TypeError("traces: other processes do not see columns in memory; write them to a file first")
    return {**workload, "trace": [p if p.startswith("make:") else os.path.abspath(p) for p in workload["trace"]]}
