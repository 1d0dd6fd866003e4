"""Executes the notebooks of docs/notebooks, each in a process of its own, and writes them as pages with what they show.

`python scripts/notebooks.py FOLDER` writes the pages into a folder. A notebook is a program of Python with cells as editors
know them: `# %%` begins one with code, `# %% [markdown]` one with text.
"""

from __future__ import annotations

import ast
import contextlib
import html
import io
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parents[1] / "docs/notebooks"


def cells(text: str) -> list[tuple[bool, str]]:
    """The cells: whether it is code, and its text."""
    found: list[tuple[bool, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("# %%"):
            found.append(("[markdown]" not in line, []))
        elif found:
            found[-1][1].append(line)
    return [(code, "\n".join(lines).strip("\n")) for code, lines in found]


def shown(value: Any) -> str:
    """A value as a page shows it."""
    if value is None or type(value).__module__.startswith("matplotlib"):
        return ""
    if hasattr(value, "_repr_html_"):
        return f'\n<div class="result">{value._repr_html_()}</div>\n'
    return f'\n<pre class="result">{html.escape(repr(value))}</pre>\n'


def execute(code: str, names: dict[str, Any], place: str) -> str:
    """Carries out a cell, and returns what it shows: what it prints, and the value of its last expression."""
    tree = ast.parse(code, place)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, place, "exec"), names)  # noqa: S102
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), place, "eval"), names)  # noqa: S307
    text = printed.getvalue()
    return (f'\n<pre class="result">{html.escape(text)}</pre>\n' if text else "") + shown(value)


def page(notebook: Path, folder: Path) -> None:
    """Carries out a notebook and writes its page, and its figures next to it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    warnings.simplefilter("error")
    # What libraries find wrong with each other is not the reader's affair.
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    names: dict[str, Any] = {"__name__": "__main__"}
    parts, figures = [], 0
    for code, text in cells(notebook.read_text()):
        if not code:
            parts.append("\n".join(line.removeprefix("#").removeprefix(" ") for line in text.splitlines()))
            continue
        parts.append(f"```python\n{text}\n```\n" + execute(text, names, notebook.name))
        for number in pyplot.get_fignums():
            figures += 1
            name = f"{notebook.stem}-{figures}.png"
            pyplot.figure(number).savefig(folder / name, dpi=110, bbox_inches="tight")
            parts.append(f"![what the cell draws]({name})")
        pyplot.close("all")
    (folder / f"{notebook.stem}.md").write_text("\n\n".join(parts) + "\n")


def main() -> None:
    """Carries out all notebooks, or, in a process of its own, one."""
    folder = Path(sys.argv[1])
    if len(sys.argv) > 2:
        page(Path(sys.argv[2]), folder)
        return
    folder.mkdir(parents=True, exist_ok=True)
    for notebook in sorted(NOTEBOOKS.glob("*.py")):
        begun = time.perf_counter()
        subprocess.run([sys.executable, __file__, str(folder), str(notebook)], check=True)
        print(f"{notebook.name}: {time.perf_counter() - begun:.1f} s", flush=True)


if __name__ == "__main__":
    main()
