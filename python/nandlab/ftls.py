"""Flash translation layers, a class each: its docstring is the manual page."""

from ._registry import family_module

__all__, __getattr__, __dir__ = family_module(__name__, "ftl")
