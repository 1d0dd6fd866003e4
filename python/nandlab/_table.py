"""Tables of results: named columns, which any library for data frames takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

from . import _native

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_KINDS: dict[type, str] = {str: "str", bool: "bool", int: "int", float: "float"}


class Table(Mapping[str, Sequence[Any]]):
    """Columns by name, all of the same length; units are in the names. Missing values are `None`.

    It has the Arrow PyCapsule interface, so that `pyarrow.table(t)`, `polars.DataFrame(t)` and the like take it as it is.
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]], kinds: Mapping[str, str] | None = None) -> None:
        self._columns = {name: tuple(values) for name, values in columns.items()}
        #: What the command line prints for the same work; empty if there is none.
        self.json = ""
        self._kinds = {name: (kinds or {}).get(name) or _kind(values) for name, values in self._columns.items()}
        if len({len(values) for values in self._columns.values()}) > 1:
            raise ValueError("columns: they differ in length")

    def __getitem__(self, name: str) -> Sequence[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """How many columns there are; `rows` are counted by `height`."""
        return len(self._columns)

    @property
    def height(self) -> int:
        """How many rows there are."""
        return len(next(iter(self._columns.values()), ()))

    def rows(self) -> list[dict[str, Any]]:
        """The rows, each by the names of the columns."""
        return [dict(zip(self._columns, values)) for values in zip(*self._columns.values())]

    def to_arrow(self) -> pyarrow.Table:
        """The same as a table of pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a data frame of pandas."""
        import pandas

        return pandas.DataFrame({name: list(values) for name, values in self._columns.items()})

    def to_polars(self) -> polars.DataFrame:
        """The same as a data frame of polars."""
        import polars

        return polars.DataFrame(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return _native.arrow_stream([(name, self._kinds[name], list(values)) for name, values in self._columns.items()])

    def __repr__(self) -> str:
        return f"<nandlab.Table: {self.height} rows of {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        import html

        def cell(value: Any) -> str:
            text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
            return f"<td>{html.escape(text)}</td>"

        head = "".join(f"<th>{html.escape(name)}</th>" for name in self._columns)
        body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in zip(*self._columns.values()))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _kind(values: Sequence[Any]) -> str:
    types = {type(value) for value in values if value is not None}
    if types == {int, float}:
        return "float"
    if len(types) == 1:
        return _KINDS.get(types.pop(), "str")
    return "float" if not types else "str"
