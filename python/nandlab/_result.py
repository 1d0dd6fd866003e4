"""The result of a run: the report of the command line, with the forms that Python is used to."""

from __future__ import annotations

import html
import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, Mapping

from ._native import RunReport
from ._table import Table

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.axes import Axes

#: Parts of the report that are not metrics, or have a place of their own.
_NOT_IN_SUMMARY = ("config", "ledger", "trace", "schema", "nandlab", "reconstructions")
#: Percentiles that are drawn.
_DRAWN = [0, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 100]

#: Below it the axis is linear, because some requests take no time.
_LINEAR_MS = 0.01


def flat(report: Mapping[str, Any]) -> dict[str, Any]:
    """All numbers and truths of a report under flat names."""
    numbers: dict[str, Any] = {}

    def add(name: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                add(f"{name}_{key}" if name else key, item)
        elif not isinstance(value, (list, str)):
            numbers[name] = value

    add("", {key: value for key, value in report.items() if key not in _NOT_IN_SUMMARY})
    return numbers


class Latency:
    """Response times of a run: completion minus arrival."""

    def __init__(self, native: RunReport) -> None:
        self._native = native

    def percentile(self, percent: float, kind: str = "all") -> int:
        """The time that this many per cent of the requests took at most, ns: at most 3.1 % too large. 0 if there are none.

        `kind`: `"all"`, `"reads"`, `"writes"`, `"others"` (trims and flushes), or `"device"`: all, from their admission on.
        """
        return self._native.percentile(kind, percent)

    def count(self, kind: str = "all") -> int:
        """Requests of a kind."""
        return self._native.count(kind)


class _Plot:
    """Figures by matplotlib, which is imported when one is drawn."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def latency(self, ax: Axes | None = None) -> Axes:
        """Response times of reads and writes by percentile."""
        axes = _axes(ax)
        for kind in ("reads", "writes"):
            if self._result.latency.count(kind):
                times = [self._result.latency.percentile(percent, kind) / 1e6 for percent in _DRAWN]
                axes.plot(_DRAWN, times, marker=".", label=kind)
        axes.set(xlabel="requests (%)", ylabel="response (ms)", title=self._result.label)
        axes.set_yscale("symlog", linthresh=_LINEAR_MS)
        axes.legend()
        return axes

    def timeline(self, ax: Axes | None = None) -> Axes:
        """Mean and longest response over the run; it needs `series=True`."""
        axes, series = _axes(ax), self._result.series
        axes.plot(series["first_request"], [time / 1e6 for time in series["response_mean_ns"]], label="mean")
        axes.plot(series["first_request"], [time / 1e6 for time in series["response_max_ns"]], label="longest", alpha=0.5)
        axes.set(xlabel="request", ylabel="response (ms)", title=self._result.label)
        axes.set_yscale("symlog", linthresh=_LINEAR_MS)
        axes.legend()
        return axes


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot

    return matplotlib.pyplot.subplots()[1]


class Result:
    """The result of a run. It does not change."""

    _native: RunReport

    def __init__(self, native: RunReport) -> None:
        object.__setattr__(self, "_native", native)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a result does not change: {name}")

    @cached_property
    def json(self) -> str:
        """The bytes that `nandlab run --json - --no-wall` prints for the same work."""
        return self._native.json()

    @cached_property
    def report(self) -> Mapping[str, Any]:
        """All metrics (`nandlab describe metrics`)."""
        report: dict[str, Any] = json.loads(self.json)
        return report

    @cached_property
    def summary(self) -> Mapping[str, Any]:
        """All numbers of the report under flat names: `hits.page.total` is `hits_page_total`. Times end in `_ns`."""
        return flat(self.report)

    @cached_property
    def ledger(self) -> Mapping[str, Any]:
        """The raw counters."""
        ledger: dict[str, Any] = self.report["ledger"]
        return ledger

    @property
    def latency(self) -> Latency:
        """Response times."""
        return Latency(self._native)

    @cached_property
    def series(self) -> Table:
        """Response times over the run, in windows of equal numbers of requests.

        Raises ValueError if the run was not asked for it (`series=True`).
        """
        columns = self._native.series()
        if columns is None:
            raise ValueError("series: the run was made without series=True")
        return Table(columns)

    @property
    def requests(self) -> int:
        """Requests that were replayed."""
        requests: int = self.report["requests"]["total"]
        return requests

    @property
    def label(self) -> str:
        """Buffer, FTL and trace."""
        config = self.report["config"]
        return f"{config['buffer']['name']} on {config['ftl']['name']}, {self.report['trace']['name']}"

    @property
    def plot(self) -> _Plot:
        """Figures."""
        return _Plot(self)

    def __reduce__(self) -> tuple[type[Result], tuple[RunReport]]:
        return Result, (self._native,)

    def table(self) -> Table:
        """The summary as a table of one row, behind the names of buffer, FTL and trace."""
        config, trace = self.report["config"], self.report["trace"]["name"]
        names = {"buffer": config["buffer"]["name"], "ftl": config["ftl"]["name"], "trace": trace}
        return Table({name: [value] for name, value in {**names, **self.summary}.items()})

    def to_arrow(self) -> pyarrow.Table:
        """The summary as a table of pyarrow, with one row."""
        return self.table().to_arrow()

    def to_pandas(self) -> pandas.DataFrame:
        """The summary as a data frame of pandas, with one row."""
        return self.table().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The summary as a data frame of polars, with one row."""
        return self.table().to_polars()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table().__arrow_c_stream__(requested_schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Result) and self.json == other.json

    def __hash__(self) -> int:
        return hash(self.json)

    def __repr__(self) -> str:
        took = self.report["response"]["all"]
        times = f"mean {took['mean_ns'] / 1e6:.3g} ms, p99 {took['p99_ns'] / 1e6:.3g} ms" if took["count"] else "no times"
        return f"<nandlab.Result: {self.label}: {self.requests} requests, {times}>"

    def _repr_html_(self) -> str:
        took = self.report["response"]["all"]
        rows = {
            "requests": self.requests,
            "page hits": self.report["hits"]["page"]["total"],
            "mean response (ms)": took["mean_ns"] / 1e6 if took["count"] else None,
            "p99 response (ms)": took["p99_ns"] / 1e6 if took["count"] else None,
            "write amplification": self.report["write_amplification"]["host"],
            "erases": self.report["flash"]["erases"]["total"],
        }
        cells = "".join(f"<tr><th>{name}</th><td>{_shown(value)}</td></tr>" for name, value in rows.items())
        return f"<p><b>{html.escape(self.label)}</b></p>{self._picture()}<table>{cells}</table>"

    def _picture(self) -> str:
        """Response times by percentile, as a small SVG; nothing without requests."""
        if not self.latency.count():
            return ""
        times = [self.latency.percentile(percent) for percent in _DRAWN]
        top = max(times) or 1
        step = 240 / (len(times) - 1)
        points = " ".join(f"{at * step:.1f},{58 - 56 * (time / top) ** 0.25:.1f}" for at, time in enumerate(times))
        return (
            '<svg role="img" width="240" height="60" xmlns="http://www.w3.org/2000/svg">'
            f"<title>Response times from the shortest to the longest, {top / 1e6:.3g} ms</title>"
            f'<polyline points="{points}" fill="none" stroke="#0072b2" stroke-width="2"/></svg>'
        )


def _shown(value: Any) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
