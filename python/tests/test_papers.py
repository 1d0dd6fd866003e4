"""Reproductions and searches: the same files and verdicts as those of the command line."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

import nandlab
from test_sweep import SWEEP, contents

QUICK = {"figures": ["section5.3.1"], "limit": 50, "threads": 2}


def reports(folder: Path) -> dict[str, bytes]:
    """All files; a page names its folder."""
    return {name: text.replace(str(folder).encode(), b"") for name, text in contents(folder).items()}


def test_reproduction_is_that_of_the_command_line(tmp_path, command):
    here, there = tmp_path / "here", tmp_path / "there"
    shares: list[float] = []
    (done,) = nandlab.reproduce("hitstat", here, progress=shares.append, **QUICK)
    said = command("reproduce", "hitstat", "--figure", "section5.3.1", "-n", "50", "-j", "2", "-o", str(there))
    assert reports(here) == reports(there) and (here / "hitstat/report.html").exists()
    assert done.paper == "hitstat" and done.run == done.cells > 0 and done.failed == 0
    assert done.sentence and done.sentence in said
    page = (there / "hitstat/report.md").read_text()
    assert done.claims.height > 0 and shares == sorted(shares)
    for claim in done.claims.rows():
        assert claim["verdict"] and claim["claim"] in page.replace("\\", "")
    again = nandlab.reproduce(["hitstat"], here, **QUICK)
    assert again[0].run == 0 and again[0].claims.rows() == done.claims.rows()
    assert set(nandlab.load(here / "hitstat")["status"]) == {"done"}


def test_search_is_that_of_the_command_line(tmp_path, command):
    here, there = tmp_path / "here", tmp_path / "there"
    found = nandlab.search(SWEEP, ["mean", "ram"], here, budget=0.7)
    plan = tmp_path / "plan.toml"
    plan.write_text(SWEEP.plan)
    said = command("search", str(plan), "--minimise", "mean,ram", "--budget", "0.7", "-o", str(there), "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(said)))
    assert [row["cell"] for row in rows] == list(found.cells["cell"]) and rows
    for metric in ("mean", "ram"):
        assert [float(row[metric]) for row in rows] == list(found.cells[metric])
        assert found.agreement[metric] is None or 0 <= found.agreement[metric] <= 1
    assert found.failed == 0 and set(found.agreement) == {"mean", "ram"}
    mine = contents(here)
    mine.pop("plan.toml")
    assert mine == contents(there)
    assert 0 < found.in_full <= found.candidates == 32 and 0 < found.spent <= 0.75
    assert nandlab.search(plan, "mean", tmp_path / "one", budget=1.0).cells.height >= 1


def test_search_by_minutes_decides_on_a_budget_that_is_kept(tmp_path, command):
    place = tmp_path / "found"
    found = nandlab.search(SWEEP, ["mean", "ram"], place, minutes=100)
    # The plan takes seconds.
    assert found.decided == 1.0 and found.in_full == found.candidates
    share = nandlab.search(SWEEP, ["mean", "ram"], tmp_path / "share", budget=found.decided)
    assert share.decided is None and share.cells.rows() == found.cells.rows()
    measured = (place / "clock.json").read_bytes()
    said = command("search", str(place / "plan.toml"), "--minimise", "mean,ram", "--minutes", "100", "-o", str(place), "--csv", "-")
    assert (place / "clock.json").read_bytes() == measured
    assert [row["cell"] for row in csv.DictReader(io.StringIO(said))] == list(found.cells["cell"])


def test_what_cannot_be_reproduced_or_searched_is_named(tmp_path):
    for arguments, words in [
        ({"papers": "hitsat"}, "hitstat"),
        ({"papers": "hitstat", "figures": [99]}, "99"),
        ({"papers": "hitstat", "limit": 0}, "limit"),
        ({"papers": "hitstat", "shard": (3, 2)}, "shard"),
    ]:
        with pytest.raises(ValueError, match=words):
            nandlab.reproduce(folder=tmp_path / "wrong", **arguments)
    for arguments, words in [
        ({"budget": 0}, "budget"),
        ({"budget": 0.001}, "budget"),
        ({"budget": 0.5, "minutes": 1}, "minutes"),
        ({"budget": None, "minutes": 0}, "minutes"),
        ({"budget": None, "minutes": float("nan")}, "minutes"),
        ({"budget": None, "minutes": 1e-9}, "minutes"),
        ({"minimise": []}, "minimise"),
        ({"minimise": "nothing"}, "nothing"),
        ({"plan": tmp_path / "none.toml"}, "none.toml"),
    ]:
        with pytest.raises((ValueError, OSError), match=words):
            nandlab.search(**{"plan": SWEEP, "minimise": ["mean"], "folder": tmp_path / "wrong", "budget": 0.7, **arguments})
