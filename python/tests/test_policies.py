"""Policies in Python: same hits as in Rust, and every answer that makes no sense is an error where it is given."""

from __future__ import annotations

import traceback

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

import nandlab
from conftest import LONG, LRU, SMALL

ZIPF = nandlab.generate.zipf(theta=0.9, writes=0.6)
SHORT = {"limit": 2000, **SMALL}


def test_lru_in_python_is_lru():
    for ftl in ("page", "dftl"):
        here = nandlab.run(ZIPF, buffer=LRU, ftl=ftl, **SHORT)
        there = nandlab.run(ZIPF, buffer="lru", ftl=ftl, **SHORT)
        assert here.ledger == there.ledger and here.report["response"] == there.report["response"]
        assert here.report["config"]["buffer"]["name"] == "LRU (Python)"


def test_scores_by_time_are_lru():
    class Newest:
        def decide(self, batch):
            return numpy.arange(batch.first, batch.first + len(batch))

    here = nandlab.run(ZIPF, buffer=Newest, ftl="page", **SHORT)
    assert here.ledger == nandlab.run(ZIPF, buffer="lru", ftl="page", **SHORT).ledger


def test_scores_of_both_zeros_are_equal():
    class Zeros:
        def decide(self, batch):
            return numpy.copysign(0.0, numpy.arange(len(batch)) % 3 - 1.0)

    here = nandlab.run(ZIPF, buffer=Zeros, ftl="page", **SHORT)
    assert here.ledger == nandlab.run(ZIPF, buffer="lru", ftl="page", **SHORT).ledger


def test_truths_of_make_room_are_no_slots():
    for answer in (True, False, [True]):
        strange = policy(make_room=lambda self, access, plan, answer=answer: answer)
        with pytest.raises(TypeError, match="the answer is None, a slot or a list"):
            nandlab.run(ZIPF, buffer=strange, **SHORT)


def test_scores_of_nan_keep_pages_out():
    class Nothing:
        def decide(self, batch):
            return numpy.full(len(batch), numpy.nan)

    here = nandlab.run(ZIPF, buffer=Nothing, ftl="page", **SHORT)
    assert here.report["hits"]["page"]["total"] == 0


def test_hints_reach_the_policy():
    seen = []

    class Sees(LRU):
        def on_insert(self, slot, access):
            seen.append((access.pattern, access.pc, access.request))
            super().on_insert(slot, access)

    def hint(batch):
        return nandlab.Hints(pattern=2, pc=numpy.arange(batch.first, batch.first + len(batch)))

    nandlab.run(ZIPF, buffer=Sees, hint=hint, **SHORT)
    assert seen and all(pattern == 2 and pc == request for pattern, pc, request in seen)
    told = nandlab.run(ZIPF, buffer="urm", hint=lambda batch: nandlab.Hints(pattern=batch.lba % 3), **SHORT)
    assert told.ledger != nandlab.run(ZIPF, buffer="urm", **SHORT).ledger


def test_exception_comes_with_its_traceback():
    class Fails(LRU):
        def on_hit(self, slot, access):
            return {}["what is not there"]

    with pytest.raises(KeyError, match="what is not there") as caught:
        nandlab.run(ZIPF, buffer=Fails, **SHORT)
    assert any(frame.name == "on_hit" for frame in traceback.extract_tb(caught.value.__traceback__))
    for look in ("hint", "decide"):

        class Decides:
            def decide(self, batch):
                raise ZeroDivisionError(look)

        with pytest.raises(ZeroDivisionError):
            if look == "hint":
                nandlab.run(ZIPF, hint=Decides().decide, **SHORT)
            else:
                nandlab.run(ZIPF, buffer=Decides, **SHORT)


def policy(**hooks):
    return type("Strange", (LRU,), hooks)


def twice(self, access, plan):
    slot = next(iter(self.order))
    plan.evict(slot)
    plan.evict(slot)


def dropped(self, access, plan):
    plan.drop_page(next(slot for slot in self.order if self.slots.is_dirty(slot)))


def early(self, access, plan):
    slot = self.order.popitem(last=False)[0]
    plan.evict(slot)
    plan.prefetch(access.lpn)


NONSENSE = {
    "holds no page": policy(make_room=lambda self, access, plan: 10**6),
    "slot -1 holds no page": policy(make_room=lambda self, access, plan: -1),
    "no page leaves": policy(make_room=lambda self, access, plan: None),
    "leaves twice": policy(make_room=twice),
    "is dirty": policy(make_room=dropped),
    "no pages": policy(make_room=lambda self, access, plan: plan.write_back([])),
    "in after_access only": policy(make_room=early),
    "the answer is None, a slot or a list": policy(make_room=lambda self, access, plan: 1.5),
    "on_miss: the answer": policy(on_miss=lambda self, access: 3),
    "no memory": policy(on_miss=lambda self, access: "disk"),
    "no NVRAM": policy(on_miss=lambda self, access: "nvram"),
    "there is no room": policy(on_hit=None, make_room=lambda self, access, plan: plan.move_page(next(iter(self.order)), "nvram")),
}


@pytest.mark.parametrize("words", NONSENSE)
def test_nonsense_is_an_error_of_the_policy(words):
    with pytest.raises((ValueError, TypeError), match=words):
        nandlab.run(ZIPF, buffer=NONSENSE[words], **SHORT)


def test_what_is_lent_ends_with_the_call():
    kept = []

    class Keeps(LRU):
        def make_room(self, access, plan):
            kept.append((self.slots, plan))
            return super().make_room(access, plan)

    nandlab.run(ZIPF, buffer=Keeps, **SHORT)
    slots, plan = kept[0]
    for late in (lambda: slots.find(0), lambda: plan.evict(0), lambda: slots.used()):
        with pytest.raises(ValueError, match="not now"):
            late()


def test_hints_that_are_not_given_are_those_of_the_trace():
    seen = set()

    class Sees(LRU):
        def on_insert(self, slot, access):
            seen.add((access.pattern, access.pc, access.run_pages, access.period))
            super().on_insert(slot, access)

    zeros = numpy.zeros(8, numpy.uint64)
    trace = {"time_ns": zeros, "lba": zeros, "sectors": zeros + 8, "pattern": ["s"] * 8}
    trace.update(pc=zeros + 2, run_pages=zeros + 9, period=zeros + 3)
    nandlab.run(trace, buffer=Sees, hint=lambda batch: nandlab.Hints(pc=5), **SMALL)
    assert seen == {(0, 5, 9, 3)}


def test_functions_see_no_batch_without_requests():
    lengths = []
    numbers = numpy.arange(8)
    trace = {"time_ns": numbers, "lba": numbers * 8, "sectors": numpy.full(8, 8), "write": numpy.zeros(8, bool)}
    hint = lambda batch: lengths.append(len(batch)) or nandlab.Hints()  # noqa: E731
    nandlab.run(trace, hint=hint, **{**SMALL, "precondition": "trace"})
    assert lengths and min(lengths) > 0


def test_time_is_that_of_the_access_also_where_it_is_not_hooked():
    times = []

    class Times(LRU):
        def on_insert(self, slot, access):
            times.append(self.sense.now_ns)
            super().on_insert(slot, access)

    at = numpy.arange(8, dtype=numpy.uint64) * 10**9
    trace = {"time_ns": at, "lba": numpy.arange(8) * 8, "sectors": numpy.full(8, 8), "write": numpy.ones(8, bool)}
    nandlab.run(trace, buffer=Times, **SMALL)
    assert [time // 10**9 for time in times] == list(range(8))


def test_policy_without_a_frame_is_refused():
    for own in (LRU, type("Scores", (), {"decide": lambda self, batch: batch.lba})):
        with pytest.raises(ValueError, match="0 page frames"):
            nandlab.run(ZIPF, buffer=own, **{**SHORT, "ram": 0})


def test_moved_pages_take_the_frames_that_they_move_to():
    class Moves(nandlab.Policy):
        def on_miss(self, access):
            return "nvram" if self.slots.used()[1] < 8 else "dram"

        def make_room(self, access, plan):
            slots = self.slots.resident()
            dram, nvram = ([slot for slot in slots if self.slots.medium(slot) == name] for name in ("dram", "nvram"))
            plan.evict(nvram[0])
            plan.move_page(dram[0], "nvram")
            # It leaves from where it moved to: one frame of DRAM is free, for one page.
            plan.evict(dram[0])
            plan.move_page(nvram[1], "dram")
            planned.append(True)
            plan.move_page(nvram[2], "dram")

        def on_remove(self, slot):
            pass

    planned = []
    with pytest.raises(ValueError, match="no room in the other memory"):
        nandlab.run(ZIPF, buffer=Moves, **{**SHORT, "ram": "64KiB", "ram__nvram": "32KiB"})
    assert planned == [True]


def test_page_does_not_move_to_where_another_is_read_ahead():
    class Ahead(LRU):
        def on_miss(self, access):
            return "nvram" if self.slots.used()[1] < 8 else "dram"

        def after_access(self, access, hit, plan):
            if self.slots.used() == (16, 8):
                slots = self.slots.resident()
                plan.evict(next(slot for slot in slots if self.slots.medium(slot) == "dram"))
                plan.prefetch(next(lpn for lpn in range(100) if self.slots.find(lpn) is None))
                plan.move_page(next(slot for slot in slots if self.slots.medium(slot) == "nvram"), "dram")

    with pytest.raises(ValueError, match="no room in the other memory"):
        nandlab.run(ZIPF, buffer=Ahead, **{**SHORT, "ram": "64KiB", "ram__nvram": "32KiB"})


def test_class_without_hooks_is_refused():
    for buffer in (object(), 5, type("Empty", (), {"make_room": 3}), type("Half", (), {"make_room": print})):
        with pytest.raises(TypeError, match="buffer"):
            nandlab.run(ZIPF, buffer=buffer, **SHORT)


def test_run_inside_a_call_is_a_run_of_its_own():
    class Asks(LRU):
        def on_miss(self, access):
            if access.request == 1:
                assert nandlab.run(ZIPF, buffer=LRU, limit=10, **SMALL).requests == 10

    assert nandlab.run(ZIPF, buffer=Asks, **SHORT).requests == 2000


def test_device_refuses_the_policy_that_it_asks():
    class Enters(LRU):
        def on_miss(self, access):
            device.submit("R", 0, 8)

    device = nandlab.Device(buffer=Enters, precondition="none")
    with pytest.raises(ValueError, match="in use"):
        device.submit("W", 0, 8)
    with pytest.raises(RuntimeError, match="make another"):
        device.submit("W", 0, 8)


ANSWERS = some.one_of(
    some.none(), some.booleans(), some.integers(-3, 70), some.floats(), some.text(max_size=3), some.lists(some.integers(-1, 70), max_size=3)
)
ACTIONS = some.lists(
    some.one_of(
        some.tuples(some.sampled_from(["evict", "drop_page", "prefetch"]), some.integers(-1, 70)),
        some.tuples(some.just("write_back"), some.lists(some.integers(-1, 70), max_size=4), some.booleans()),
        some.tuples(some.just("move_page"), some.integers(-1, 70), some.sampled_from(["dram", "nvram", "tape"])),
    ),
    max_size=4,
)


@settings(max_examples=50 * LONG, deadline=None, suppress_health_check=list(HealthCheck))
@given(ANSWERS, ACTIONS, ANSWERS, ACTIONS, ANSWERS)
def test_random_answers_never_abort(room, actions, admission, afterwards, clean):
    class Random(nandlab.Policy):
        def on_miss(self, access):
            return admission

        def make_room(self, access, plan):
            for name, *arguments in actions:
                getattr(plan, name)(*arguments)
            return room

        def after_access(self, access, hit, plan):
            if access.request > 40:
                for name, *arguments in afterwards:
                    getattr(plan, name)(*arguments)

        def on_remove(self, slot):
            pass

        def on_clean(self, slot):
            return clean

    try:
        nandlab.run(ZIPF, buffer=Random, limit=200, **{**SMALL, "ram": "128KiB", "ram__nvram": "64KiB"})
    except (ValueError, TypeError):
        pass
