"""Puts the pages of the documentation site together: those of docs, the README as the first one, and a reference made of the
registry.

`python scripts/site.py FOLDER`; scripts/site.sh does all of it.
"""

from __future__ import annotations

import inspect
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import nandlab
import nandlab.gym
from nandlab import _native

ROOT = Path(__file__).parents[1]
FAMILIES = {"buffers": "buffer", "ftls": "ftl", "generators": "generator"}
STYLE = """.md-typeset pre.result, .md-typeset .result { background: var(--md-code-bg-color); padding: .6em; overflow-x: auto; font-size: .7rem }
.md-typeset pre.result { white-space: pre-wrap }
.md-typeset .result table { font-size: .65rem; display: block; overflow-x: auto }
.md-typeset .result td, .md-typeset .result th { padding: .15em .6em; white-space: nowrap }
"""


def linked(text: str, page: Path, pages: Path) -> str:
    """Names of pages as links; links that leave the site as the paths that they are."""
    up = "../" * (len(page.relative_to(pages).parts) - 1)

    def name(found: re.Match[str]) -> str:
        target = found[1]
        return f"[{found[0]}]({up}{target})" if (pages / target).exists() else found[0]

    def leaves(found: re.Match[str]) -> str:
        label, target = found[1], found[2].split("#")[0]
        if "://" in target or not target or (page.parent / target).exists():
            return found[0]
        inside = target.removeprefix("docs/")
        return f"[{label}]({inside})" if (page.parent / inside).exists() else label

    parts = re.split(r"(^```.*?^```$|`[^`\n]*`)", text, flags=re.MULTILINE | re.DOTALL)
    for at in range(0, len(parts), 2):
        parts[at] = re.sub(r"(?<!\]\()(?<![\w/\[])docs/([\w./-]+\.md)(?!\w)", name, parts[at])
    # A label may be code, so that links are looked for in the whole.
    return re.sub(r"\[([^\]\n]+)\]\(([^)\s]+)\)", leaves, "".join(parts))


def plugin(family: str, name: str, known: str) -> str:
    """The manual page of a plug-in, with its parameters."""
    manual, schema, defaults = _native.describe(family, known)
    lines = []
    for line in manual.splitlines():
        lines.append(f"##{line}" if line.startswith("#") else line.replace("<", "&lt;"))
    lines[0] = f"## {lines[0]}"
    properties: dict[str, Any] = json.loads(schema).get("properties", {})
    rows = [
        f"| `{key}` | `{json.dumps(value)}` | {' '.join(str(properties.get(key, {}).get('description', '')).split()).replace('|', '/')} |"
        for key, value in json.loads(defaults).items()
    ]
    python = {"buffer": "nandlab.buffers", "ftl": "nandlab.ftls", "generator": "nandlab.generate"}[family]
    text = "\n".join(lines) + f"\n\nIn Python `{python}.{name}`.\n"
    return text + ("\n| parameter | default | what it is |\n|---|---|---|\n" + "\n".join(rows) + "\n" if rows else "")


def python_page() -> str:
    """Everything public of the package, with its docstrings."""
    parts = ["# The Python package\n\ndocs/python.md tells what it is for.\n"]
    members = {f"nandlab.{name}": getattr(nandlab, name) for name in nandlab.__all__}
    members["nandlab.gym.BufferEnv"] = nandlab.gym.BufferEnv
    for name, member in sorted(members.items()):
        if inspect.ismodule(member) or not callable(member):
            continue
        try:
            signature = str(inspect.signature(member))
        except ValueError:
            signature = "(...)"
        parts.append(f"## {name}\n\n```python\n{name}{signature}\n```\n\n```text\n{inspect.getdoc(member) or ''}\n```\n")
        methods = inspect.getmembers(member, inspect.isfunction) if inspect.isclass(member) else []
        for method, function in methods:
            if not method.startswith("_") and inspect.getdoc(function) and function.__module__.startswith("nandlab"):
                parts.append(f"### {name}.{method}\n\n```text\n{inspect.getdoc(function)}\n```\n")
    return "\n".join(parts)


def main() -> None:
    """Writes the pages."""
    pages = Path(sys.argv[1])
    shutil.copytree(ROOT / "docs", pages, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.py"))
    text = (ROOT / "README.md").read_text()
    # Links of Markdown are turned below; these are HTML.
    (pages / "index.md").write_text(text.replace('"docs/pictures/', '"pictures/'))
    (pages / "site.css").write_text(STYLE)
    (pages / "reference").mkdir(exist_ok=True)
    for title, family in FAMILIES.items():
        found = [plugin(family, name, known) for name, known in _native.plugin_names(family)]
        (pages / f"reference/{title}.md").write_text(f"# {title.capitalize().replace('Ftls', 'FTLs')}\n\n" + "\n".join(found))
    (pages / "reference/python.md").write_text(python_page())
    for page in sorted(pages.rglob("*.md")):
        page.write_text(linked(page.read_text(), page, pages))


if __name__ == "__main__":
    main()
