"""Bad input gets ValueError or TypeError that name the argument; never an abort or a hang."""

from __future__ import annotations

import threading

import numpy
import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from hypothesis.extra import numpy as arrays

import nandlab
from conftest import LONG, SMALL


def good(rows=50):
    return {
        "time_ns": numpy.arange(rows) * 1000,
        "lba": numpy.arange(rows) * 8,
        "sectors": numpy.full(rows, 8),
        "write": numpy.ones(rows, bool),
    }


BAD = [
    ("lba", numpy.full(50, 0.5), TypeError),
    ("lba", numpy.full(50, numpy.nan), TypeError),
    ("lba", numpy.full(50, -1), ValueError),
    ("lba", numpy.full(50, 2**63, numpy.uint64), ValueError),
    ("sectors", numpy.full(50, 2**40), ValueError),
    ("time_ns", numpy.full(50, -5), ValueError),
    ("lba", numpy.zeros((50, 2), int), ValueError),
    ("lba", numpy.zeros(49, int), ValueError),
    ("write", numpy.full(50, 2), ValueError),
    ("lba", numpy.array(["x"] * 50), TypeError),
    ("lba", numpy.array([object()] * 50), TypeError),
    ("lba", numpy.zeros(50, "datetime64[ns]"), TypeError),
    ("device", numpy.full(50, 2**32), ValueError),
]


@pytest.mark.parametrize("name, values, kind", BAD)
def test_impossible_column_is_named(name, values, kind):
    with pytest.raises(kind, match=name if values.shape != (49,) else "rows"):
        nandlab.run({**good(), name: values}, **SMALL)


def test_missing_columns_and_values_are_named():
    for name, other in (("lba", "offset"), ("sectors", "length")):
        columns = good()
        del columns[name]
        with pytest.raises(ValueError, match=f'"{other}".*"{name}"'):
            nandlab.run(columns, **SMALL)
    with pytest.raises(ValueError, match="both"):
        nandlab.run({**good(), "offset": numpy.arange(50)}, **SMALL)
    with pytest.raises(ValueError, match="missing"):
        nandlab.run(pyarrow.table({"lba": [1, None], "sectors": [8, 8]}), **SMALL)
    with pytest.raises(ValueError, match="op"):
        nandlab.run(pyarrow.table({"lba": [1, 2], "sectors": [8, 8], "op": ["W", "what"]}), **SMALL)
    with pytest.raises(TypeError, match="lba"):
        nandlab.run(pyarrow.table({"lba": ["1"], "sectors": [8]}), **SMALL)
    with pytest.raises(ValueError):
        nandlab.run({"lba": numpy.zeros(0, int), "sectors": numpy.zeros(0, int)}, **SMALL)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"trace": 5}, "trace"),
        ({"trace": []}, "trace"),
        ({"trace": "/no/such/file"}, "no/such/file"),
        ({"buffer": "lur"}, "lru"),
        ({"ftl": "dfl"}, "dftl"),
        ({"ftl": nandlab.buffers.CFLRU()}, "ftl"),
        ({"device": "labb"}, "lab"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"seed": 2**70}, "seed"),
        ({"ram": "8MB"}, "8MiB"),
        ({"ram__drom": 5}, "drom"),
        ({"limit": -1}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"address": "somewhere"}, "somewhere"),
        ({"format": "nothing", "trace": __file__}, "nothing"),
        ({"capacity": "huge"}, "huge"),
        ({"hint": 1}, "hint: int is no function"),
        ({"trace": {"Offset": [0], "LENGTH": [4096]}}, "'Offset', 'LENGTH'.*'length'"),
    ],
)
def test_bad_argument_is_named(arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        nandlab.run(**{"limit": 10, **arguments})


FEW = {"limit": 10, "address": "modulo"}


@pytest.mark.parametrize("tool", [nandlab.compare, nandlab.curve, nandlab.bound])
def test_comparison_of_nothing_is_refused(tool):
    with pytest.raises(ValueError, match="buffer"):
        tool(good(), [])


@pytest.mark.parametrize("threads", [0, -1, 1025, 2**70])
def test_threads_outside_their_range_are_refused_everywhere(threads, tmp_path):
    words = f"threads: {threads}: allowed is a whole number from 1 to 1024"
    sweep = nandlab.Sweep(nandlab.generate.zipf(), ["lru", "fifo"], **FEW)
    for work in (
        lambda: nandlab.compare(good(), ["lru"], threads=threads, **SMALL),
        lambda: nandlab.curve(good(), threads=threads, **SMALL),
        lambda: nandlab.bound(good(), ram="1MiB", threads=threads, **FEW),
        lambda: sweep.run(tmp_path / "sweep", threads=threads),
        lambda: nandlab.search(sweep, "mean", tmp_path / "search", threads=threads, budget=1.0),
        lambda: nandlab.reproduce("hitstat", tmp_path / "papers", threads=threads),
    ):
        with pytest.raises(ValueError, match=words):
            work()


def test_numbers_below_zero_are_refused_by_name():
    for work, name in (
        (lambda: nandlab.curve(good(), points=-1, **FEW), "points"),
        (lambda: nandlab.bound(good(), read_cost=-1, **FEW), "read_cost"),
        (lambda: nandlab.bound(good(), write_cost=-1, **FEW), "write_cost"),
    ):
        with pytest.raises(ValueError, match=f"{name}: -1: allowed is a whole number"):
            work()


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("limit", 0, "limit: 0 leaves no request"),
        ("limit", True, "limit: boolean"),
        ("warm_up", -1, "warm_up: expected a number of requests"),
        ("warm_up", True, "warm_up: expected a number of requests"),
    ],
)
def test_impossible_number_of_requests_is_named(name, value, message):
    with pytest.raises(ValueError, match=message):
        nandlab.run(good(), **{**SMALL, **FEW, name: value})
    if name == "limit":
        with pytest.raises(ValueError, match=message):
            nandlab.trace_info(good(), limit=value)


def test_warm_up_is_refused_where_all_requests_count():
    for work in (
        lambda: nandlab.curve(good(), ram="1MiB", warm_up=10, **FEW),
        lambda: nandlab.bound(good(), ram="1MiB", warm_up=10, **FEW),
        lambda: nandlab.trace_info(good(), warm_up=10),
    ):
        with pytest.raises(ValueError, match="warm_up: .* leave it out"):
            work()
    assert nandlab.curve(good(), ram="1MiB", ftl="page", warm_up=10, address="modulo").height == 1


def test_two_columns_of_one_name_are_refused():
    pyarrow = pytest.importorskip("pyarrow")
    numbers = pyarrow.array([0, 8], pyarrow.uint64())
    table = pyarrow.table([numbers] * 4, names=["time_ns", "lba", "sectors", "lba"])
    with pytest.raises(ValueError, match="two columns of this name"):
        nandlab.run(table, **FEW)


def test_device_that_is_driven_has_no_trace_to_fit():
    with pytest.raises(ValueError, match='capacity = "fit"'):
        nandlab.Device(capacity="fit")


def test_class_where_an_object_is_needed_is_named():
    for arguments in ({"buffer": nandlab.buffers.CFLRU}, {"ftl": nandlab.ftls.DFTL}):
        (plugin,) = arguments.values()
        for make in (nandlab.run, nandlab.Device):
            with pytest.raises(TypeError, match=f"call it: `{plugin.__name__}\\(\\)`"):
                make(**arguments)
    with pytest.raises(TypeError, match="call it: `DFTL"):
        nandlab.compare(good(), ftls=nandlab.ftls.DFTL)
    with pytest.raises(TypeError, match="call it: `CFLRU"):
        nandlab.compare(good(), ["lru", nandlab.buffers.CFLRU])


def test_fractions_and_texts_are_no_whole_numbers():
    device = nandlab.Device(precondition="none")
    for wrong in (1.9, "2", True):
        with pytest.raises(TypeError, match="seeds: .* whole number"):
            nandlab.Sweep(seeds=[wrong])
        with pytest.raises(TypeError, match="pattern: .* whole number"):
            device.submit("W", 0, 8, hints=nandlab.Hints(pattern=wrong))


def test_bad_answers_of_functions_are_named():
    for answer in (None, 5, numpy.zeros(3), nandlab.Hints(pattern=7), nandlab.Hints(pc=-1), nandlab.Hints(pc=0.5)):
        with pytest.raises((ValueError, TypeError), match="hint"):
            nandlab.run(good(), hint=lambda batch, answer=answer: answer, **SMALL)
    for answer in (None, "x", numpy.zeros(3), numpy.zeros((2, 2)), numpy.array(["a"] * 50)):
        strange = type("Strange", (), {"decide": lambda self, batch, answer=answer: answer})
        with pytest.raises((ValueError, TypeError), match="decide"):
            nandlab.run(good(), buffer=strange, **SMALL)


def test_columns_that_change_meanwhile_give_other_requests_and_nothing_worse():
    columns = {**good(300_000), "lba": numpy.zeros(300_000, numpy.int64)}
    done = threading.Event()

    def change():
        while not done.is_set():
            columns["lba"][:] = numpy.random.default_rng(1).integers(-(2**62), 2**62, 300_000)

    table = dict(columns)
    thread = threading.Thread(target=change, daemon=True)
    for _ in range(2):
        thread = threading.Thread(target=change, daemon=True)
        done.clear()
        columns["lba"][:] = 0
        thread.start()
        try:
            nandlab.run(table, **SMALL)
        except ValueError:
            pass
        finally:
            done.set()
            thread.join()


NUMBERS = arrays.arrays(
    some.one_of(arrays.integer_dtypes(), arrays.unsigned_integer_dtypes(), arrays.floating_dtypes(), arrays.boolean_dtypes()),
    some.integers(0, 6),
)


@settings(max_examples=500 * LONG, deadline=None, suppress_health_check=list(HealthCheck))
@given(some.dictionaries(some.sampled_from(["lba", "offset", "sectors", "length", "time_ns", "op", "write", "device", "pc"]), NUMBERS))
def test_random_columns_never_abort(columns):
    try:
        nandlab.trace_info(columns)
    except (ValueError, TypeError):
        pass


SCALARS = some.one_of(some.none(), some.booleans(), some.integers(), some.floats(), some.text(max_size=8), some.binary(max_size=4))


@settings(max_examples=300 * LONG, deadline=None, suppress_health_check=list(HealthCheck))
@given(some.dictionaries(some.sampled_from(["device", "buffer", "ftl", "seed", "ram", "capacity", "address", "format", "volumes", "replay__mode"]), SCALARS))
def test_random_arguments_never_abort(arguments):
    try:
        nandlab.run(good(3), **{"precondition": "none", **arguments})
    except (ValueError, TypeError):
        pass


@settings(max_examples=200 * LONG, deadline=None, suppress_health_check=list(HealthCheck))
@given(some.lists(some.tuples(SCALARS, SCALARS, SCALARS, SCALARS), max_size=4))
def test_random_steps_never_abort(steps):
    device = nandlab.Device(precondition="none", ram="64KiB", device__geometry__blocks_per_plane=48)
    for op, lba, sectors, data in steps:
        try:
            device.submit(op, lba, sectors, data)
        except (ValueError, TypeError, OverflowError):
            pass
    assert device.state()["now_ns"] >= 0
