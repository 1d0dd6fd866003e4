"""The notebooks run and show what they promise; scripts/site.sh makes pages of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conftest import ROOT, long_only

NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.py"))
#: Those that take more than two seconds are executed for the site, and here by scripts/python-long.sh.
SLOW = {"hitstat_table5", "sweep_on_dask", "which_buffer"}


@pytest.mark.parametrize(
    "notebook", [pytest.param(path, id=path.stem, marks=[long_only] if path.stem in SLOW else []) for path in NOTEBOOKS]
)
def test_notebook_runs(notebook, tmp_path):
    subprocess.run([sys.executable, ROOT / "scripts/notebooks.py", tmp_path, notebook], check=True)
    text = (tmp_path / f"{notebook.stem}.md").read_text()
    assert text.startswith("# ") and "Traceback" not in text
    assert text.count("```python") == sum(line == "# %%" for line in notebook.read_text().splitlines())
    assert 'class="result"' in text
    for picture in tmp_path.glob("*.png"):
        assert picture.name in text and picture.stat().st_size > 5_000


def test_there_are_six_notebooks():
    assert len(NOTEBOOKS) == 6
