"""Columns in memory: which are known, and what their values may be."""

from __future__ import annotations

import numpy
import pytest

import nandlab
from conftest import SMALL
from nandlab import _native

ROWS = 50


def good(**more):
    return {"time_ns": numpy.arange(ROWS) * 1000, "lba": numpy.arange(ROWS) * 8, "sectors": numpy.full(ROWS, 8), **more}


@pytest.mark.parametrize("name", sorted(set(_native.COLUMNS) - {"op", "pattern"}))
def test_every_column_that_the_engine_knows_reaches_it(name):
    other = {"offset": "lba", "length": "sectors"}.get(name)
    columns = {key: values for key, values in good().items() if key != other}
    with pytest.raises(ValueError, match=f'"{name}".* is impossible'):
        nandlab.run({**columns, name: numpy.full(ROWS, -1)}, **SMALL)


def test_letters_that_are_none_are_refused_in_every_column_of_letters():
    for name in ("op", "pattern"):
        with pytest.raises(ValueError, match=f'"{name}".* is impossible'):
            nandlab.run(good(**{name: numpy.full(ROWS, "?")}), **SMALL)


@pytest.mark.parametrize("name, most", [("device", 2**32 - 2), ("mappings", 2**16 - 1), ("pc", 2**32 - 1)])
def test_greatest_value_of_a_column_is_the_one_that_the_message_says(name, most):
    power = f"2\\^{(most + 2).bit_length() - 1} - {2 ** (most.bit_length()) - most}"
    with pytest.raises(ValueError, match=f"{name}.*: {most + 1} is impossible: 0 to {power}"):
        nandlab.trace_info(good(**{name: numpy.full(ROWS, most + 1)}))
    assert nandlab.trace_info(good(**{name: numpy.full(ROWS, most)}))


def test_masked_values_are_refused_and_never_read_below_the_mask():
    masked = numpy.ma.masked_array(numpy.arange(ROWS) * 8, mask=numpy.arange(ROWS) % 10 == 0)
    with pytest.raises(ValueError, match="lba.* missing"):
        nandlab.run(good(lba=masked), **SMALL)
    whole = nandlab.run(good(lba=numpy.ma.masked_array(numpy.arange(ROWS) * 8)), **SMALL)
    assert whole.ledger == nandlab.run(good(), **SMALL).ledger

    class Scores:
        def decide(self, batch):
            return numpy.ma.masked_array(numpy.zeros(len(batch)), mask=batch.lba == 0)

    with pytest.raises(ValueError, match="decide: .* missing"):
        nandlab.run(good(), buffer=Scores, **SMALL)
    with pytest.raises(ValueError, match="hint: pc: .* missing"):
        nandlab.run(good(), hint=lambda batch: nandlab.Hints(pc=numpy.ma.masked_equal(batch.lba, 0)), **SMALL)


def test_array_at_any_address_is_read():
    values = numpy.arange(ROWS, dtype=numpy.int64) * 8
    shifted = numpy.frombuffer(b"\0" + values.tobytes(), dtype=numpy.int64, offset=1)
    assert not shifted.flags.aligned
    assert nandlab.run(good(lba=shifted), **SMALL).ledger == nandlab.run(good(), **SMALL).ledger


def test_categories_of_arrow_are_letters():
    pyarrow = pytest.importorskip("pyarrow")
    letters = numpy.where(numpy.arange(ROWS) % 3 == 0, "W", "R")
    plain = nandlab.run(pyarrow.table(good(op=letters)), **SMALL)
    for text in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()):
        categories = pyarrow.array(letters.tolist(), type=text).dictionary_encode()
        assert nandlab.run(pyarrow.table(good(op=categories)), **SMALL).ledger == plain.ledger, text
    missing = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * (ROWS - 1) + [1]), pyarrow.array(["R", None]))
    with pytest.raises(ValueError, match='"op".*: 1 values are missing'):
        nandlab.run(pyarrow.table(good(op=missing)), **SMALL)
    numbers = pyarrow.array(numpy.arange(ROWS)).dictionary_encode()
    with pytest.raises(TypeError, match='"device".*its type is Dictionary'):
        nandlab.run(pyarrow.table(good(device=numbers)), **SMALL)
