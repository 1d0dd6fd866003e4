"""Plug-ins as classes and functions, which are made of the registry when they are first asked for."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any, Callable, Mapping

from . import _native


class _Plugin:
    """A plug-in with parameters; its text is the short form of the command line."""

    family: str
    plugin: str

    def __init__(self, **parameters: Any) -> None:
        given = {name: value for name, value in parameters.items() if value is not None}
        self._text = _native.short_form(self.family, self.plugin, _json(given, type(self).__name__))
        self._parameters = given

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters that were given."""
        return dict(self._parameters)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._parameters.items())
        return f"{type(self).__name__}({given})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Plugin) and (self.family, self._text) == (other.family, other._text)

    def __hash__(self) -> int:
        return hash((self.family, self._text))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _again, (type(self).__module__, type(self).__name__, self._parameters)


class Buffer(_Plugin):
    """A buffer policy that nandlab brings, with its parameters: see `nandlab.buffers`."""

    family = "buffer"


class Ftl(_Plugin):
    """A flash translation layer, with its parameters: see `nandlab.ftls`."""

    family = "ftl"


class Generator(_Plugin):
    """A generator of requests, with its parameters: see `nandlab.generate`."""

    family = "generator"

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._parameters.items())
        return f"nandlab.generate.{self.plugin.replace('-', '_')}({given})"


_BASES: dict[str, type[_Plugin]] = {"buffer": Buffer, "ftl": Ftl, "generator": Generator}


def _again(module: str, name: str, parameters: dict[str, Any]) -> _Plugin:
    """An object with the same parameters, in another process."""
    made: _Plugin = getattr(import_module(module), name)(**parameters)
    return made


def _json(parameters: Mapping[str, Any], name: str) -> str:
    try:
        return json.dumps(parameters, allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: a parameter is not a plain number, word or truth value: {error}") from None


def _plain(value: Any) -> Any:
    """Numbers of NumPy and the like, and plug-ins inside plug-ins."""
    if hasattr(value, "item"):
        return value.item()
    if isinstance(value, _Plugin):
        return str(value)
    raise TypeError(f"{value!r}")


def _class(module: str, family: str, name: str, plugin: str) -> type[_Plugin]:
    """The class of a plug-in: its docstring is the manual page, its parameters are those of the plug-in."""
    # It takes as long as the rest of the package.
    import inspect

    manual, _, defaults = _native.describe(family, plugin)
    given: dict[str, Any] = json.loads(defaults)
    base, itself = _BASES[family], inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=value) for key, value in given.items()]

    def __init__(self: _Plugin, **parameters: Any) -> None:
        base.__init__(self, **parameters)

    __init__.__signature__ = inspect.Signature([itself, *signature])  # type: ignore[attr-defined]
    return type(name, (base,), {"__doc__": manual, "plugin": plugin, "__module__": module, "__init__": __init__})


def family_module(module: str, family: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """`__all__`, `__getattr__` and `__dir__` of the module of a family: classes or, of generators, functions."""
    plugins = dict(_native.plugin_names(family))
    names = list(plugins)

    def get(name: str) -> Any:
        if name not in plugins:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        made = _class(module, family, name, plugins[name])
        found = _function(name, made) if family == "generator" else made
        setattr(sys.modules[module], name, found)
        return found

    return names, get, lambda: names


def _function(name: str, made: type[_Plugin]) -> Callable[..., _Plugin]:
    import inspect

    def make(**parameters: Any) -> _Plugin:
        return made(**parameters)

    make.__name__ = make.__qualname__ = name
    make.__module__ = made.__module__
    make.__doc__ = made.__doc__
    make.__signature__ = inspect.signature(made)  # type: ignore[attr-defined]
    return make
