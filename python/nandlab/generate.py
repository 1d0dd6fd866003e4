"""Generators of requests, and the workloads of papers: a function each, whose docstring is the manual page."""

from typing import Any

from ._registry import Family

_FAMILY = Family("generator")
__all__ = list(_FAMILY.names)


def __getattr__(name: str) -> Any:
    found = _FAMILY.get(__name__, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
