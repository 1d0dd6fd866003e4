"""Runs and their results: the same bytes as those of the command line."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy
import pyarrow
import pytest

import nandlab
from conftest import LRU, ROOT, SMALL

MSR = str(ROOT / "crates/trace/tests/fixtures/msr.csv")
ZIPF = nandlab.generate.zipf(theta=0.9)
#: The default device with fewer blocks, which a build without optimisation fills soon.
FEW = {"device__geometry__blocks_per_plane": 96}
SET = ["--set", "device.geometry.blocks_per_plane=96"]


def test_result_has_the_bytes_of_the_command_line(command):
    same = ["--json", "-", "--no-wall", "-q", "--address", "modulo", *SET]
    for trace, path in ((ZIPF, str(ZIPF)), (MSR, MSR)):
        for buffer in (nandlab.buffers.CFLRU(window_ratio=0.25), nandlab.buffers.HitStat()):
            here = nandlab.run(trace, buffer=buffer, ftl="dftl", limit=3000, address="modulo", ram="2MiB", seed=7, **FEW)
            options = ["--buffer", str(buffer), "--ftl", "dftl", "-n", "3000", "--ram", "2MiB", "--seed", "7"]
            assert here.json == command("run", path, *options, *same)


def test_built_in_workload_is_that_of_the_command_line(command):
    here = nandlab.run(limit=2000, replay__mode="closed", replay__queue_depth=4)
    there = command("run", "-n", "2000", "--mode", "closed", "--queue-depth", "4", "--json", "-", "--no-wall", "-q")
    assert here.json == there


def test_tables_have_the_bytes_of_the_command_line(command):
    options = ["-n", "2000", "--address", "modulo", "--json", "-", "-q", *SET]
    same = {"limit": 2000, "address": "modulo", **FEW}
    rows = nandlab.compare(ZIPF, ["lru", nandlab.buffers.FAB()], ["page", "dftl"], threads=1, **same)
    assert rows.json == command("compare", str(ZIPF), "--buffers", "lru,fab", "--ftls", "page,dftl", *options)
    assert rows["buffer"] == ("lru", "fab", "lru", "fab") and rows.height == 4
    points = nandlab.curve(ZIPF, ["lru", "cflru"], "256KiB..1MiB", points=3, bound=True, **same)
    there = command("curve", str(ZIPF), "--buffers", "lru,cflru", "--ram", "256KiB..1MiB", "--points", "3", "--bound", *options)
    assert points.json == there
    least = nandlab.bound(ZIPF, "lru", "1MiB", **same)
    assert least.json == command("bound", str(ZIPF), "--buffers", "lru", "--ram", "1MiB", *options)
    info = nandlab.trace_info(MSR)
    assert info == json.loads(command("trace", "info", MSR, "--json", "-"))["traces"][0]


def test_columns_give_the_same_as_the_file_they_came_from(tmp_path, command):
    file = tmp_path / "trace.csv"
    file.write_text(command("trace", "make", "zipf:theta=0.9:writes=0.6", "-n", "3000"))
    lines = [line.split(",") for line in file.read_text().splitlines() if not line.startswith("#")]
    named = {name: [line[at] for line in lines[1:]] for at, name in enumerate(lines[0])}
    numbers = {name: numpy.array(named[name], dtype=numpy.int64) for name in ("time_ns", "offset", "length")}
    columns = {**numbers, "op": numpy.array(named["op"])}
    wanted = nandlab.run(str(file), **SMALL).ledger
    assert nandlab.run(columns, **SMALL).ledger == wanted
    table = pyarrow.table({**numbers, "op": named["op"]})
    assert nandlab.run(table, **SMALL).ledger == wanted
    sectors = {"time_ns": columns["time_ns"], "lba": columns["offset"] // 512, "sectors": (columns["length"] // 512)}
    sectors = {**sectors, "sectors": sectors["sectors"].astype(numpy.uint32), "write": numpy.array(named["op"]) == "W"}
    assert nandlab.run(pyarrow.table(sectors), **SMALL).ledger == wanted
    spread = numpy.repeat(columns["offset"], 2)[::2]
    assert nandlab.run({**columns, "offset": spread}, **SMALL).ledger == wanted, "not in one piece"
    parts = pyarrow.concat_tables([table.slice(0, 1000), table.slice(1000)])
    assert nandlab.run(parts, **SMALL).ledger == wanted


def test_series_is_that_of_single_requests(tmp_path, command):
    rows = tmp_path / "rows.csv"
    command("run", str(ZIPF), "-n", "1500", "--address", "modulo", "--latencies", str(rows), "-q", *SET)
    lines = [line.split(",") for line in rows.read_text().splitlines()]
    at = lines[0].index("response_ns")
    times = [int(line[at]) for line in lines[1:]]
    series = nandlab.run(ZIPF, limit=1500, address="modulo", series=True, **FEW).series
    width = series["requests"][0]
    parts = [times[begin : begin + width] for begin in range(0, len(times), width)]
    assert series["response_max_ns"] == tuple(map(max, parts))
    assert series["response_mean_ns"] == pytest.approx([sum(part) / len(part) for part in parts])
    with pytest.raises(ValueError, match="series=True"):
        _ = nandlab.run(ZIPF, limit=10, **SMALL).series


def test_result_is_frozen_and_has_every_form():
    result = nandlab.run(ZIPF, limit=500, **SMALL)
    assert result == nandlab.run(ZIPF, limit=500, **SMALL) and result.requests == 500
    with pytest.raises(AttributeError):
        result.label = "other"
    everyone = result.report["response"]["all"]
    for percent, key in ((50, "p50_ns"), (99, "p99_ns"), (99.9, "p999_ns"), (100, "max_ns")):
        assert result.latency.percentile(percent) == everyone[key]
    assert result.summary["response_all_mean_ns"] == everyone["mean_ns"]
    table = result.to_arrow()
    assert table.num_rows == 1 and table["response_all_p99_ns"][0].as_py() == everyone["p99_ns"]
    assert pyarrow.table(result) == table
    assert "<svg" in result._repr_html_() and "500 requests" in repr(result)


def test_result_pickles_with_all_that_it_has():
    result = nandlab.run(ZIPF, limit=2000, series=True, **SMALL)
    again = pickle.loads(pickle.dumps(result))
    assert again == result and again.report == result.report and again.series.rows() == result.series.rows()
    for kind in ("all", "reads", "writes", "others", "device"):
        assert again.latency.count(kind) == result.latency.count(kind)
        for percent in (0, 12.5, 50, 99.9, 100):
            assert again.latency.percentile(percent, kind) == result.latency.percentile(percent, kind)
    plain = pickle.loads(pickle.dumps(nandlab.run(ZIPF, limit=100, **SMALL)))
    with pytest.raises(ValueError, match="series=True"):
        _ = plain.series


def test_mapping_as_a_setting_is_the_same_as_its_keys():
    whole = {"mode": "closed", "queue_depth": 4, "time_scale": 1.0, "think_time": "0ns", "read_groups": False, "settle": "flush"}
    keys = nandlab.run(ZIPF, limit=500, replay__mode="closed", replay__queue_depth=4, **SMALL)
    assert nandlab.run(ZIPF, limit=500, replay=whole, **SMALL) == keys


def test_plugins_are_their_manual_pages_and_pickle():
    assert nandlab.buffers.HitStat.__doc__.startswith("hitstat - ")
    assert "# Source" in nandlab.ftls.DFTL.__doc__ and "theta" in nandlab.generate.zipf.__doc__
    buffer = nandlab.buffers.CFLRU(window_ratio=0.25)
    assert pickle.loads(pickle.dumps(buffer)) == buffer and str(buffer) == "cflru:window_ratio=0.25"
    for family in (nandlab.buffers, nandlab.ftls):
        for name in family.__all__:
            assert name.isidentifier() and str(getattr(family, name)())
    with pytest.raises(ValueError, match="window_ratio"):
        nandlab.buffers.CFLRU(window_ratio=7)
    with pytest.raises(ValueError, match="widow"):
        nandlab.buffers.CFLRU(widow=0.5)


def test_other_threads_go_on_during_a_run():
    ticks, done = [0], threading.Event()

    def tick():
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    begun = time.perf_counter()
    nandlab.run(ZIPF, limit=100_000, **SMALL)
    seconds = time.perf_counter() - begun
    done.set()
    thread.join()
    # A thread that has to wait for the run hardly ticks at all, one beside it some 900 times a second; machines have other work.
    assert ticks[0] > seconds * 20


def test_warm_up_is_not_measured():
    whole = nandlab.run(ZIPF, limit=3000, **SMALL)
    warm = nandlab.run(ZIPF, limit=3000, warm_up=1000, **SMALL)
    assert warm.requests == whole.requests - 1000
    with pytest.raises(ValueError, match="3000 requests are not to be measured"):
        nandlab.run(ZIPF, limit=3000, warm_up=3000, **SMALL)


INTERRUPTED = """
import nandlab, signal, sys, time
# Whoever started the tests in the background ignores it, and so would this.
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print(time.time(), flush=True)
"""
POLICY = "buffer=__import__('conftest').LRU"
#: A device that takes a while to be filled, before the first request.
FILLED = "capacity='200GiB', precondition='{steady=20}'"


RUN = "nandlab.run(nandlab.generate.zipf(theta=0.9), limit=10**9, address='modulo', {})"
BUILD = "nandlab.Device({})"


@pytest.mark.parametrize(
    "work",
    [
        *(RUN.format(extra) for extra in ("", POLICY, FILLED, f"{POLICY}, {FILLED}")),
        *(BUILD.format(extra) for extra in (FILLED, f"{POLICY}, {FILLED}")),
    ],
)
def test_interrupt_ends_work_at_once(work):
    environment = {**os.environ, "PYTHONPATH": f"{os.environ['PYTHONPATH']}:{ROOT / 'python/tests'}"}
    code = INTERRUPTED.format(work=work)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        ended = float(process.stdout.readline())
    # The machine may be busy; on an idle one it is below 0.1 s.
    assert ended - sent < 1


SLOW = """
import nandlab, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {tests!r})
from conftest import LRU, SMALL

class Slow(LRU):
    def on_miss(self, access):
        print("asked", flush=True)
        {ask}

nandlab.run(nandlab.generate.zipf(), buffer=Slow, limit=10**6, **SMALL)
"""


@pytest.mark.parametrize(
    "ask",
    [
        # As a model that computes does.
        "end = time.time() + 0.5\n        while time.time() < end: pass",
        # A run of its own, on a thread to which no signal comes.
        "nandlab.run(nandlab.generate.zipf(), buffer=LRU, limit=10**9, **SMALL)",
    ],
)
def test_interpreter_that_ends_waits_for_what_asks_it(ask):
    code = SLOW.format(tests=str(ROOT / "python/tests"), ask=ask)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], text=True, **pipes) as process:
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    # Python ends itself by the signal, as it came.
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in said and "Fatal" not in said, said


FORKED = """
import os, sys, threading, time
sys.path.insert(0, {tests!r})
import nandlab
from conftest import LRU, SMALL
begun = threading.Event()

class Begins(LRU):
    def on_miss(self, access):
        begun.set()

run = lambda: nandlab.run(nandlab.generate.zipf(), buffer=Begins, limit=10**9, **SMALL)
threading.Thread(target=run, daemon=True).start()
begun.wait()
child = os.fork()
if child:
    print(os.waitpid(child, 0)[1], flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it is about fork")
def test_child_by_fork_does_not_wait_for_threads_that_it_does_not_have():
    code = FORKED.format(tests=str(ROOT / "python/tests"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "0\n" and "bug" not in done.stderr and "Fatal" not in done.stderr, done.stderr


def test_key_of_the_configuration_wins_over_an_argument():
    options = {"ram": "1MiB", "ram__dram": "2MiB", "ram__nvram": numpy.int64(0), "replay__mode": None}
    told = nandlab.run(ZIPF, limit=100, **{**SMALL, **options})
    assert told.report["config"]["ram"]["dram"] == "2MiB"


def test_windows_of_a_warm_up_are_refused():
    with pytest.raises(ValueError, match="series: with warm_up"):
        nandlab.run(ZIPF, limit=3000, warm_up=1000, series=True, **SMALL)


def test_pickled_plug_in_is_of_its_class():
    buffers, ftls = nandlab.buffers, nandlab.ftls
    for plugin in (buffers.CFLRU(window_ratio=0.25), buffers.None_(), ftls.DFTL(), nandlab.generate.zipf(theta=0.9)):
        again = pickle.loads(pickle.dumps(plugin))
        assert again == plugin and repr(again) == repr(plugin)
    assert isinstance(pickle.loads(pickle.dumps(nandlab.ftls.DFTL())), nandlab.ftls.DFTL)


def test_command_line_comes_with_the_package(command):
    done = subprocess.run([sys.executable, "-m", "nandlab", "describe", "lru"], capture_output=True, text=True, check=True)
    assert done.stdout == command("describe", "lru")
    done = subprocess.run([sys.executable, "-m", "nandlab", "describe", "nothing"], capture_output=True, text=True)
    assert done.returncode == 2 and "nothing" in done.stderr


@pytest.mark.parametrize("buffer", ["lru", LRU])
def test_progress_is_told_and_may_end_the_run(buffer):
    shares: list[float] = []
    nandlab.run(ZIPF, buffer=buffer, limit=200_000, progress=shares.append, **SMALL)
    assert shares == sorted(shares) and len(shares) > 1 and all(0 <= share <= 1 for share in shares)

    def enough(share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        nandlab.run(ZIPF, buffer=buffer, limit=10**9, progress=enough, **SMALL)


def test_bar_is_shown_by_tqdm(capsys, monkeypatch):
    nandlab.run(ZIPF, limit=2000, progress=True, **SMALL)
    nandlab.compare(ZIPF, ["lru"], limit=500, progress=True, **SMALL)
    told = capsys.readouterr()
    assert "run: 100%" in told.err and "compare: 100%" in told.err and not told.out
    with pytest.raises(TypeError, match="progress"):
        nandlab.run(ZIPF, limit=10, progress=5, **SMALL)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="pip install tqdm"):
        nandlab.run(ZIPF, limit=10, progress=True, **SMALL)
