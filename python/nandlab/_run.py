"""Runs and what is made of several: arguments of Python become the values of the laboratory."""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

from . import _native
from ._plain import unmasked, whole
from ._policy import Batch, Hints, deciding, hinting
from ._progress import Progress, telling
from ._registry import Buffer, Ftl, Generator, _json
from ._result import Result
from ._table import Table

#: The device of a run that names none.
DEFAULT_DEVICE: str = _native.DEFAULT_DEVICE

Path = Union[str, "os.PathLike[str]"]
#: A path, several that are one trace, a generator, or columns: a table with `__arrow_c_stream__` or a mapping of arrays.
#: `None` is the built-in workload.
Trace = Any

_READING = (
    "format columns object_unit time_unit files event skip_bad sort_window cap_gap rebase".split()
)


def devices() -> list[str]:
    """The presets of devices."""
    return _native.devices()


def _short(plugin: Any, name: str, base: type) -> str | None:
    if plugin is None or isinstance(plugin, str):
        return plugin
    if isinstance(plugin, base):
        return str(plugin)
    if _is_class_of(plugin, base):
        raise TypeError(f"{name}: {plugin.__name__} is a class, and an object is needed: call it: `{plugin.__name__}()`")
    raise TypeError(f"{name}: {plugin!r} is neither a name nor a member of nandlab.{name}s")


def _is_class_of(plugin: Any, base: type) -> bool:
    return isinstance(plugin, type) and issubclass(plugin, base)


def _setting(key: str, value: Any) -> str:
    """An assignment as on the command line, where words alone need no quotes."""
    # A number of NumPy.
    value = value.item() if getattr(value, "ndim", None) == 0 else value
    return f"{key}={value if isinstance(value, str) else _toml(value)}"


def _toml(value: Any) -> str:
    """A value in TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}={_toml(item)}' for name, item in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return f"{value}"


def _device(device: Path, ftl: Any, seed: int | None, ram: Any, capacity: Any, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The description of a device; `a__b=c` sets the key `a.b` of its configuration."""
    settings = {name.replace("__", "."): value for name, value in overrides.items() if value is not None}
    if seed is not None:
        settings["seed"] = whole("seed", seed)
    if ram is not None:
        # A key of the configuration wins, as on the command line.
        settings.setdefault("ram.dram", ram)
    described: dict[str, Any] = {"base": os.fspath(device), "set": [_setting(key, value) for key, value in settings.items()]}
    if ftl is not None:
        described["ftl"] = _short(ftl, "ftl", Ftl)
    if capacity is not None:
        described["capacity"] = str(capacity)
    return described


def _columns(trace: Any) -> Any:
    """Columns as the native part takes them, or `None` if it is something else."""
    if hasattr(trace, "__arrow_c_stream__") and not hasattr(trace, "iloc"):
        return trace
    is_frame = hasattr(trace, "iloc") and hasattr(trace, "columns")
    if is_frame or isinstance(trace, Mapping):
        names = [str(name) for name in (trace.columns if is_frame else trace)]
        if _KNOWN.isdisjoint(names):
            raise ValueError(f"trace: its columns are {names}, and none of them is one of {sorted(_KNOWN)}")
    if is_frame:
        trace = {str(name): trace[name].to_numpy() for name in trace.columns if str(name) in _KNOWN}
    if isinstance(trace, Mapping):
        return {str(name): _array(str(name), values) for name, values in trace.items() if str(name) in _KNOWN}
    return None


_KNOWN = frozenset(_native.COLUMNS)


def _array(name: str, values: Any) -> Any:
    """An array that lies in one piece, each number where the processor reads such; letters and truths as numbers."""
    import numpy

    array = unmasked(f"trace[{name!r}]", values)
    if array.ndim != 1:
        raise ValueError(f"trace[{name!r}]: it has {array.ndim} dimensions, and a column has one")
    letters = {"op": "R, W, D or F", "pattern": "s, l, c or r"}
    if name in letters and array.dtype.kind in "OU":
        if any(len(str(letter)) != 1 for letter in array):
            raise ValueError(f"trace[{name!r}]: each value is one letter, {letters[name]}")
        array = array.astype("U1").view(numpy.uint32)
    if array.dtype.kind == "b":
        array = array.view(numpy.uint8) if array.flags.c_contiguous else array.astype(numpy.uint8)
    if array.dtype.kind not in "iu":
        raise TypeError(f"trace[{name!r}]: it is an array of {array.dtype}, and whole numbers are needed")
    return numpy.require(array, array.dtype.newbyteorder("="), ["C", "A"])


def _workload(trace: Trace, options: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """The description of a workload, and the trace in memory if it is one."""
    memory = None
    if trace is None:
        paths = []
    elif isinstance(trace, (str, os.PathLike, Generator)):
        paths = [str(trace) if isinstance(trace, Generator) else os.fspath(trace)]
    elif (columns := _columns(trace)) is not None:
        memory = _native.memory(columns)
        paths = [memory.path]
    elif isinstance(trace, Sequence) and trace and all(isinstance(path, (str, os.PathLike)) for path in trace):
        paths = [os.fspath(path) for path in trace]
    else:
        raise TypeError(f"trace: {type(trace).__name__} is not a path, a generator or a table of columns")
    given = {name: value for name, value in options.items() if value is not None}
    reading = {name: given.pop(name) for name in _READING if name in given}
    return {"trace": paths, "reading": reading, **given}, memory


def _spec(trace: Trace, device: dict[str, Any], options: Mapping[str, Any]) -> tuple[str, Any]:
    workload, memory = _workload(trace, options)
    return _json({"device": device, "workload": workload}, "run"), memory


def _split(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of the workload, and overrides of the device."""
    names = {"address", "volumes", "limit", "warm_up", *_READING}
    return {k: v for k, v in options.items() if k in names}, {k: v for k, v in options.items() if k not in names}


def _is_policy(buffer: Any) -> bool:
    return buffer is not None and not isinstance(buffer, (str, Buffer)) and not _is_class_of(buffer, Buffer)


def run(
    trace: Trace = None,
    device: Path = DEFAULT_DEVICE,
    buffer: Any = None,
    ftl: str | Ftl | None = None,
    seed: int | None = None,
    *,
    ram: str | int | None = None,
    capacity: str | None = None,
    hint: Callable[[Batch], Hints] | None = None,
    series: bool = False,
    progress: Progress = None,
    **options: Any,
) -> Result:
    """Simulates one device on a trace.

    `trace`: a path, several, a generator (`nandlab.generate`), a table of columns, or `None` for the built-in workload.
    `device`: a preset or the path of a TOML file. `buffer`: a name, a member of `nandlab.buffers`, a class (or an object) with
    the hooks of `nandlab.Policy`, or one with `decide(batch)`, which gives each request a score: the page with the lowest
    leaves, NaN keeps pages out. `ftl`: a name or a member of `nandlab.ftls`. `seed`: `None` is that of the device. `ram`
    (`"16MiB"`): DRAM of the buffer. `capacity`: `"fit"`, or a size that the device grows to. `hint`: a function that tells
    URM's zones about batches of requests. `series`: keep times over the run, which takes a little longer. `progress` is called
    with the share that is done, 0 to 1; `True` shows a bar by tqdm.

    Options of the trace: `limit`, `address`, `volumes`, and how it is read: `format`, `columns`, `time_unit`, `files`, `event`,
    `object_unit`, `skip_bad`, `sort_window`, `cap_gap`, `rebase`. Every other keyword sets a key of the configuration:
    `replay__mode="closed"` is `replay.mode`.

    Raises ConfigError or InputError (both are ValueError), TypeError, OSError, and whatever functions of one's own raise.
    """
    reading, overrides = _split(options)
    described = _device(device, ftl, seed, ram, capacity, overrides)
    policy, decide = None, None
    if not _is_policy(buffer):
        described["buffer"] = _short(buffer, "buffer", Buffer)
    elif hasattr(buffer, "decide"):
        made = buffer() if isinstance(buffer, type) else buffer
        decide = (f"{type(made).__name__} (Python)", deciding(made.decide))
    elif hasattr(buffer, "make_room"):
        policy = buffer
    else:
        raise TypeError(f"buffer: {buffer!r} is not a name or a member of nandlab.buffers, and has no make_room or decide")
    spec, memory = _spec(trace, described, reading)
    hinted = None if hint is None else hinting(hint)
    with telling(progress, "run") as tell:
        return Result(
            _native.run(spec, memory=memory, policy=policy, decide=decide, hint=hinted, series=series, progress=tell)
        )


def _names(plugins: Any, name: str, base: type) -> list[str]:
    several = [plugins] if isinstance(plugins, (str, base, type)) else list(plugins)
    return [str(_short(plugin, name, base)) for plugin in several]


def _some(plugins: Any, name: str, base: type) -> list[str]:
    """The same.

    Raises ValueError if there is none.
    """
    names = _names(plugins, name, base)
    if not names:
        raise ValueError(f"{name}s: none is given")
    return names


def _table(result: tuple[str, list[tuple[str, str, list[Any]]]]) -> Table:
    text, columns = result
    table = Table({name: values for name, _, values in columns}, {name: kind for name, kind, _ in columns})
    table.json = text
    return table


def compare(
    trace: Trace = None,
    buffers: str | Buffer | Iterable[str | Buffer] = "all",
    ftls: str | Ftl | Iterable[str | Ftl] = "page",
    device: Path = DEFAULT_DEVICE,
    seed: int | None = None,
    *,
    ram: str | int | None = None,
    capacity: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> Table:
    """Buffers x FTLs on one trace: a row for each. `.json` is what `nandlab compare --json -` prints.

    Other arguments are those of `nandlab.run`.
    """
    reading, overrides = _split(options)
    spec, memory = _spec(trace, _device(device, None, seed, ram, capacity, overrides), reading)
    names = _some(buffers, "buffer", Buffer), _some(ftls, "ftl", Ftl)
    with telling(progress, "compare") as tell:
        return _table(_native.compare(spec, *names, memory=memory, threads=threads, progress=tell))


def curve(
    trace: Trace = None,
    buffers: str | Buffer | Iterable[str | Buffer] = "lru",
    ram: str | int = "1MiB..256MiB",
    ftl: str | Ftl | None = None,
    device: Path = DEFAULT_DEVICE,
    seed: int | None = None,
    *,
    points: int = 9,
    bound: bool = False,
    capacity: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> Table:
    """What buffers do at every size: `ram` is a list of sizes and ranges, each of which has this many `points`.

    Without `ftl` buffers are simulated alone, and `warm_up` is refused. `bound` adds what no buffer can do better. Other
    arguments are those of `nandlab.run`.
    """
    reading, overrides = _split(options)
    spec, memory = _spec(trace, _device(device, None, seed, None, capacity, overrides), reading)
    names, below = _names(buffers, "buffer", Buffer), _short(ftl, "ftl", Ftl)
    with telling(progress, "curve") as tell:
        return _table(
            _native.curve(
                spec, names, str(ram), ftl=below, points=points, bound=bound, memory=memory, threads=threads, progress=tell
            )
        )


def bound(
    trace: Trace = None,
    buffers: str | Buffer | Iterable[str | Buffer] = "lru",
    ram: str | int | None = None,
    device: Path = DEFAULT_DEVICE,
    seed: int | None = None,
    *,
    read_cost: int = 1,
    write_cost: int = 10,
    threads: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> Table:
    """What a buffer of some size could reach at best, and how far from it policies are (docs/bounds.md).

    `ram` is a list of sizes as in `nandlab.curve`; `None` is that of the device. `read_cost` and `write_cost`: of a page of
    flash. Other arguments are those of `nandlab.run`, but `ftl`, `capacity` and `warm_up`: buffers are taken alone, with
    addresses beyond the device as they are, and all requests count.
    """
    reading, overrides = _split(options)
    spec, memory = _spec(trace, _device(device, None, seed, None, None, overrides), reading)
    names = _names(buffers, "buffer", Buffer)
    sizes = None if ram is None else str(ram)
    costs = {"read_cost": read_cost, "write_cost": write_cost}
    with telling(progress, "bound") as tell:
        return _table(_native.bound(spec, names, ram=sizes, **costs, memory=memory, threads=threads, progress=tell))


def trace_info(trace: Trace, *, sample_pages: float = 1.0, progress: Progress = None, **options: Any) -> dict[str, Any]:
    """What a trace is like: what `nandlab trace info --json -` says of it. Options are those of the trace in `nandlab.run`."""
    reading, unknown = _split(options)
    # Without a device there is nothing to fold addresses into, or to stack volumes on.
    unknown.update((name, reading[name]) for name in ("address", "volumes") if name in reading)
    if unknown:
        raise TypeError(f"trace_info: there is no argument {next(iter(unknown))!r}")
    spec, memory = _spec(trace, {}, reading)
    with telling(progress, "trace_info") as tell:
        told = _native.trace_info(spec, sample_pages=sample_pages, memory=memory, progress=tell)
    info: dict[str, Any] = json.loads(told)
    return info


class Device:
    """A device that is driven request by request, by one thread at a time. Arguments are those of `nandlab.run`."""

    def __init__(
        self,
        device: Path = DEFAULT_DEVICE,
        buffer: Any = None,
        ftl: str | Ftl | None = None,
        seed: int | None = None,
        *,
        ram: str | int | None = None,
        capacity: str | None = None,
        **overrides: Any,
    ) -> None:
        described = _device(device, ftl, seed, ram, capacity, overrides)
        policy = buffer if _is_policy(buffer) else None
        if policy is None:
            described["buffer"] = _short(buffer, "buffer", Buffer)
        self._native = _native.Device(_json(described, "device"), policy)

    def submit(
        self, op: str, lba: int, sectors: int, data: bytes | None = None, *, at_ns: int = 0, hints: Hints | None = None
    ) -> tuple[int, int | None, bytes | None]:
        """Carries out one request: `op` is `"R"`, `"W"`, `"D"` or `"F"`.

        Returns when the device admitted it, when it is done (ns; `None` if that is still open), and the bytes of a read if the
        device stores such (`device__media="memory"`). `at_ns` is the arrival in open loop.
        """
        told = {name: value for name, value in vars(hints or Hints()).items() if value is not None}
        unknown = {"pattern": 3, "pc": 0, "run_pages": 0, "period": 0}
        numbers = [whole(name, value) for name, value in {**unknown, **told}.items()]
        return self._native.submit(op, lba, sectors, data, at_ns, tuple(numbers))  # type: ignore[arg-type]

    def cut_power(self) -> None:
        """Power fails and comes back: what is only in DRAM is lost, and the FTL rebuilds its map from the flash.

        The device needs `device__media="memory"`.
        """
        self._native.cut_power()

    def drain(self) -> None:
        """Lets all that is under way finish."""
        self._native.drain()

    def state(self) -> dict[str, int]:
        """Where the device stands: time, frames, dirty pages, hits and the work of the flash so far."""
        return self._native.state()

    def ledger(self) -> dict[str, Any]:
        """Everything that is counted, by cause."""
        counted: dict[str, Any] = json.loads(self._native.ledger())
        return counted

    def config(self) -> str:
        """The configuration as TOML."""
        return self._native.config()
