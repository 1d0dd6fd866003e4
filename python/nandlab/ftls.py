"""Flash translation layers, a class each: its docstring is the manual page."""

from typing import Any

from ._registry import Family

_FAMILY = Family("ftl")
__all__ = list(_FAMILY.names)


def __getattr__(name: str) -> Any:
    found = _FAMILY.get(__name__, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
