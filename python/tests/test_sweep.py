"""Sweeps: the same folder whoever runs the cells."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy
import pyarrow.parquet
import pytest

import nandlab
from conftest import long_only

SWEEP = nandlab.Sweep(
    {"skewed": nandlab.generate.zipf(theta=0.9), "even": nandlab.generate.uniform()},
    [nandlab.buffers.CFLRU(window_ratio=0.25), "lru"],
    ["page", "dftl"],
    ram=["512KiB", "1MiB"],
    axes={"depth": {"1": {"replay.queue_depth": 1}, "4": {"replay.queue_depth": 4}}},
    limit=300,
    address="modulo",
    precondition="none",
)


def test_table_has_every_name_once(tmp_path):
    sweep = nandlab.Sweep(nandlab.generate.uniform(), ["lru"], seeds=[1, 2], limit=10, address="modulo", precondition="none")
    sweep.run(tmp_path)
    table = pyarrow.parquet.read_table(tmp_path / "results.parquet")
    assert table["seed"].to_pylist() == ["1", "2"] and table["report.seed"].to_pylist() == [1, 2]
    assert len(set(table.column_names)) == len(table.column_names)


def contents(folder: Path) -> dict[str, bytes]:
    """All files, except for what a killed process left under a name of its own."""
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and not file.name.startswith(".")]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def test_sweep_is_the_same_by_threads_processes_and_command(tmp_path, command):
    assert len(SWEEP) == 32
    done = SWEEP.run(tmp_path / "threads")
    assert done.height == 32 and set(done["status"]) == {"done"} and set(done["requests_total"]) == {300}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        shares: list[float] = []
        again = SWEEP.run(tmp_path / "processes", executor=pool, progress=shares.append)
    assert again.rows() == done.rows() and shares[-1] == 1
    plan = tmp_path / "plan.toml"
    plan.write_text(SWEEP.plan)
    command("sweep", str(plan), "-o", str(tmp_path / "command"), "-q")
    threads, processes = contents(tmp_path / "threads"), contents(tmp_path / "processes")
    assert threads == processes and len([name for name in threads if name.startswith("cells")]) == 32
    threads.pop("plan.toml")
    assert threads == contents(tmp_path / "command")
    assert nandlab.load(tmp_path / "command").rows() == done.rows()


def test_cell_of_a_sweep_is_the_run(tmp_path):
    small = nandlab.Sweep(nandlab.generate.zipf(theta=0.9), ["lru", "fifo"], limit=500, address="modulo", ram="1MiB")
    rows = {row["buffer"]: row for row in small.run(tmp_path).rows()}
    run = nandlab.run(nandlab.generate.zipf(theta=0.9), buffer="fifo", ftl="page", limit=500, address="modulo", ram="1MiB")
    assert {name: rows["fifo"][name] for name in run.summary} == dict(run.summary)


def test_all_are_those_that_nandlab_brings():
    every = nandlab.Sweep(buffers="all", ftls="all")
    assert len(every) == len(nandlab.buffers.__all__) * len(nandlab.ftls.__all__)


def test_failed_cells_are_rows_and_bad_sweeps_are_errors(tmp_path):
    failing = nandlab.Sweep(nandlab.generate.zipf(), ["lru", "bplru"], limit=50, address="modulo", ram="4KiB")
    status = {row["buffer"]: row["status"] for row in failing.run(tmp_path / "failing").rows()}
    assert status == {"lru": "done", "bplru": "failed"}
    for wrong in ({"limit": 0}, {"nothing__here": 1}):
        with pytest.raises(ValueError):
            nandlab.Sweep(nandlab.generate.zipf(), **wrong).run(tmp_path / "wrong")
    with pytest.raises(ValueError, match="there is no sweep"):
        nandlab.load(tmp_path / "nowhere")


def test_columns_have_one_type_and_axes_keep_their_values(tmp_path):
    axes = {"requests_total": {"few": {"replay.queue_depth": 1}, "many": {"replay.queue_depth": 8}}}
    failing = nandlab.Sweep(nandlab.generate.zipf(), ["lru", "bplru"], limit=50, address="modulo", ram="4KiB", seeds=[1, 2], axes=axes)
    table = failing.run(tmp_path)
    assert set(table["seed"]) == {1, 2} and set(table["requests_total"]) == {"few", "many"}
    assert set(table["report_requests_total"]) == {50, None}


def test_axis_without_values_is_refused():
    for wrong in ({"traces": []}, {"traces": {}}, {"traces": iter(())}, {"buffers": []}, {"ftls": ()}, {"axes": {"depth": {}}}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            nandlab.Sweep(**{"traces": nandlab.generate.zipf(), **wrong})
    zipf = nandlab.generate.zipf()
    assert len(nandlab.Sweep(zipf, ram=numpy.int64(1 << 20))) == 1
    assert len(nandlab.Sweep(zipf, ram=numpy.array([1 << 20, 1 << 21]))) == 2
    with pytest.raises(ValueError, match="ram__dram is the same"):
        nandlab.Sweep(zipf, ram="1MiB", ram__dram="2MiB")


def test_options_hold_for_the_built_in_workload(tmp_path):
    small = nandlab.Sweep(None, ["lru"], limit=50, warm_up=10, address="modulo", precondition="none")
    (row,) = small.run(tmp_path).rows()
    run = nandlab.run(buffer="lru", ftl="page", limit=50, warm_up=10, address="modulo", precondition="none")
    assert row["requests_total"] == 40 and {name: row[name] for name in run.summary} == dict(run.summary)


def test_no_sizes_are_those_of_the_device():
    assert len(nandlab.Sweep("make:zipf:span=8MiB", ["lru", "fifo"], ram=None)) == 2


def test_axis_of_the_name_of_an_argument_is_refused():
    axes = {"ram": {"large": {"ram.dram": "8MiB"}}}
    with pytest.raises(ValueError, match="ram: the name is taken"):
        nandlab.Sweep(nandlab.generate.zipf(), ram=["1MiB"], axes=axes)
    assert len(nandlab.Sweep(nandlab.generate.zipf(), axes=axes)) == 1


def test_two_values_of_one_name_are_refused():
    twice = ["cflru:window_ratio=0.25", "cflru_window_ratio=0.25"]
    for wrong in ({"buffers": ["lru", "lru"]}, {"buffers": twice}, {"ftls": ["page", "page"]}, {"ram": ["1MiB", "1MiB"]}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}: .* are both"):
            nandlab.Sweep(nandlab.generate.zipf(), **wrong)


def test_sweep_on_dask_outlives_its_workers(tmp_path):
    distributed = pytest.importorskip("distributed")
    import os
    import signal

    plain = SWEEP.run(tmp_path / "plain")
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster:
        with distributed.Client(cluster) as client:
            killed: list[int] = []

            def kill(share: float) -> None:
                if len(killed) < 2 and share > 0.25 * (len(killed) + 1):
                    pids = [pid for pid in client.run(os.getpid).values() if pid not in killed]
                    os.kill(pids[0], signal.SIGKILL)
                    killed.append(pids[0])

            done = SWEEP.run(tmp_path / "dask", executor=client.get_executor(), progress=kill)
    assert len(killed) == 2
    assert done.rows() == plain.rows() and contents(tmp_path / "dask") == contents(tmp_path / "plain")


@long_only
def test_ninety_one_cells_outlive_four_workers_that_die_and_two_that_join(tmp_path):
    distributed = pytest.importorskip("distributed")
    import os
    import random
    import signal

    buffers = ["lru", "fifo", "clock", "cflru", "fab", "bplru", "clc", "lirs", "arc", "sieve", "hitstat", "cfdc", "lb-clock"]
    ftls = ["page", "block", "bast", "fast", "dftl", "superblock", "last"]
    options = {"limit": 20_000, "address": "modulo", "precondition": "none", "ram": "4MiB"}
    many = nandlab.Sweep(nandlab.generate.zipf(theta=0.9), buffers, ftls, **options)
    assert len(many) == 91
    plain = many.run(tmp_path / "plain")
    chance, killed = random.Random(1), []
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster:
        with distributed.Client(cluster) as client:

            def disturb(share: float) -> None:
                if len(killed) < 4 and share > 0.15 * (len(killed) + 1):
                    pid = chance.choice([pid for pid in client.run(os.getpid).values() if pid not in killed])
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
                    if len(killed) in (2, 3):
                        cluster.scale(1 + len(killed))

            done = many.run(tmp_path / "dask", executor=client.get_executor(retries=10), progress=disturb)
            assert len(killed) == 4 and len(client.scheduler_info()["workers"]) >= 2
    assert done.rows() == plain.rows() and len(set(done["cell"])) == 91
    assert set(done["status"]) == {"done"} and contents(tmp_path / "dask") == contents(tmp_path / "plain")
