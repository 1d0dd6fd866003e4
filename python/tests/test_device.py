"""Devices driven step by step."""

from __future__ import annotations

import random

import pytest

import nandlab
from conftest import LRU

TINY = {
    "ram": "64KiB",
    "precondition": "none",
    "device__media": "memory",
    "device__geometry__blocks_per_plane": 96,
    "device__geometry__pages_per_block": 16,
}


@pytest.mark.parametrize("buffer", ["lru", "bplru", LRU])
@pytest.mark.parametrize("ftl", ["page", "dftl"])
def test_reads_return_the_last_write_through_power_cuts(buffer, ftl):
    device, chance, wanted, durable = nandlab.Device(buffer=buffer, ftl=ftl, **TINY), random.Random(5), {}, {}
    for step in range(1500):
        lba = 8 * chance.randrange(300)
        if chance.random() < 0.6:
            data = bytes([step % 251 + 1]) * 4096
            device.submit("W", lba, 8, data)
            wanted[lba] = data
        else:
            assert device.submit("R", lba, 8)[2] == wanted.get(lba, bytes(4096))
        if step % 300 == 299:
            device.submit("F", 0, 0)
            durable = dict(wanted)
            device.cut_power()
            assert device.state()["pages_in_buffer"] == 0
            for lba, data in durable.items():
                assert device.submit("R", lba, 8)[2] == data
    state, ledger = device.state(), device.ledger()
    assert state["flash_programs"] > 0 and ledger["host_flush_requests"] == 5
    assert state["flash_busy_ns"] == sum(map(sum, ledger["op_ns"]))


def test_unflushed_writes_may_be_lost_and_the_device_goes_on():
    device = nandlab.Device(buffer="lru", **TINY)
    device.submit("W", 0, 8, b"x" * 4096)
    device.cut_power()
    assert device.submit("R", 0, 8)[2] == bytes(4096)


def test_steps_that_are_impossible_are_named():
    device = nandlab.Device(precondition="none")
    for arguments, words in [
        (("X", 0, 8), "op"),
        (("W", 2**60, 8), "lba"),
        (("W", 0, 0), "sectors"),
        (("F", 0, 8), "sectors"),
        (("W", 0, 8, b"abc"), "data"),
        (("R", 0, 8, b"abc"), "data"),
    ]:
        with pytest.raises(ValueError, match=words):
            device.submit(*arguments)
    with pytest.raises(ValueError, match="media"):
        device.cut_power()
    with pytest.raises(ValueError, match="at_ns"):
        device.submit("W", 0, 8, at_ns=2**63)
