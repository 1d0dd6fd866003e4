"""Writes the stubs of nandlab.buffers, nandlab.ftls and nandlab.generate from the registry.

`python scripts/stubs.py` writes them; `--check` says whether they are what it would write.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from nandlab import _native

_HEAD = "# Made by scripts/stubs.py from the registry.\nfrom typing import Any\n\nfrom ._registry import {base}\n\n"
_FAMILIES = {"buffers": ("buffer", "Buffer"), "ftls": ("ftl", "Ftl"), "generate": ("generator", "Generator")}
_TYPES = {"number": "float", "integer": "int", "boolean": "bool", "string": "str", "null": "None"}


def _type(schema: dict[str, Any]) -> str:
    kinds = schema.get("type")
    if kinds is None:
        return "Any"
    names = [_TYPES.get(kind, "Any") for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    return " | ".join(dict.fromkeys(names)) if "Any" not in names else "Any"


def _member(family: str, base: str, name: str, plugin: str) -> str:
    _, schema, defaults = _native.describe(family, plugin)
    properties = json.loads(schema).get("properties", {})
    given = [f"{key}: {_type(properties.get(key, {}))} = ..." for key in json.loads(defaults)]
    if family == "generator":
        return f"def {name}({', '.join(['*', *given] if given else [])}) -> {base}: ...\n"
    return f"class {name}({base}):\n    def __init__({', '.join(['self', '*', *given] if given else ['self'])}) -> None: ...\n"


def text(module: str) -> str:
    """The stub of a module."""
    family, base = _FAMILIES[module]
    members = [_member(family, base, name, plugin) for name, plugin in _native.plugin_names(family)]
    names = [name for name, _ in _native.plugin_names(family)]
    return f"{_HEAD.format(base=base)}__all__ = {json.dumps(names)}\n\n" + "\n".join(members)


def main() -> int:
    """Writes the stubs, or says which differ."""
    here, different = Path(__file__).parents[1] / "python" / "nandlab", 0
    for module in _FAMILIES:
        path, wanted = here / f"{module}.pyi", text(module)
        if "--check" in sys.argv:
            if not path.exists() or path.read_text() != wanted:
                print(f"{path} is not what the registry says: run scripts/python.sh stubs", file=sys.stderr)
                different = 1
        else:
            path.write_text(wanted)
    return different


if __name__ == "__main__":
    sys.exit(main())
