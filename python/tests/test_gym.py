"""The environment: its rewards are what the report says, and driven as a known policy it is that policy."""

from __future__ import annotations

import sys
import time
import warnings
from collections import OrderedDict
from pathlib import Path

import numpy
import pytest

import nandlab
from conftest import SMALL

gymnasium = pytest.importorskip("gymnasium")
import nandlab.gym  # noqa: E402

TINY = {**SMALL, "ram": "256KiB"}
ZIPF = nandlab.generate.zipf(theta=0.9, writes=0.6)
#: Requests of several pages.
LARGE = nandlab.generate.xp_month()
#: Of the default device: command, cells and transfer.
READ_NS, PROGRAM_NS = 87_300, 762_300


def play(env, seed, choose):
    """An episode: its rewards, and what was told at last."""
    (observation, info), rewards, over = env.reset(seed=seed), [], False
    while not over:
        observation, reward, over, truncated, info = env.step(choose(observation, info))
        rewards.append(reward)
        assert not truncated
    return rewards, info


def test_environment_is_one_of_gymnasium():
    from gymnasium.utils.env_checker import check_env

    for group in ("page", "block"):
        # The device is built at each of its many resets.
        with warnings.catch_warnings():
            # It would like a way to render.
            warnings.simplefilter("ignore")
            check_env(nandlab.gym.BufferEnv(ZIPF, limit=300, group=group, candidates=4, **TINY))
    assert gymnasium.make("nandlab/Buffer-v0", trace=ZIPF, limit=300, **TINY).reset(seed=1)[0].shape == (16, 6)


@pytest.mark.parametrize("group, ftl", [("page", "page"), ("page", "dftl"), ("block", "fast"), ("block", "dftl")])
def test_rewards_add_up_to_the_flash_time_that_the_report_says(group, ftl):
    # Few dies and full ones, so that there is garbage to collect.
    full = {"precondition": "full", "device__geometry__channels": 1, "device__geometry__chips_per_channel": 2}
    full["device__geometry__blocks_per_plane"] = 96
    env = nandlab.gym.BufferEnv(LARGE, ftl=ftl, group=group, limit=800, **{**TINY, **full})
    chance = numpy.random.default_rng(1)
    rewards, info = play(env, 7, lambda observation, info: chance.integers(env.action_space.n))
    ledger = env.result.ledger
    plain = ledger["host_page_reads"] * READ_NS + ledger["host_page_writes"] * PROGRAM_NS
    saved = plain - sum(map(sum, ledger["op_ns"]))
    assert info["saved_ns"] == saved and sum(rewards) == pytest.approx(saved / 1e6, rel=1e-9)
    assert len(rewards) > 100 and env.result.report["config"]["buffer"]["name"] == "agent"
    assert sum(ledger["ops"][2]) > 0
    programs_to_pad = ledger["ops"][1][1]
    assert (programs_to_pad > 0) == (group == "block")


@pytest.mark.parametrize("ftl", ["page", "dftl"])
@pytest.mark.parametrize("trace", [ZIPF, LARGE])
def test_agent_that_evicts_as_lru_is_lru(trace, ftl):
    options = {"limit": 1500 if trace is ZIPF else 300, "ftl": ftl, **TINY}
    env = nandlab.gym.BufferEnv(trace, candidates=64, **options)

    # What the agent is shown of the time since the last access grows with it.
    def oldest(observation, info):
        return int(observation[:, 0].argmax())

    _, info = play(env, 3, oldest)
    assert env.result.ledger == nandlab.run(trace, buffer="lru", seed=info["seed"], **options).ledger


def test_agent_with_a_list_of_its_own_is_fifo():
    """Not by what is shown: the test follows which pages come and go."""
    options = {"limit": 1500, **TINY}
    env = nandlab.gym.BufferEnv(ZIPF, candidates=64, **options)
    come: OrderedDict[int, None] = OrderedDict()

    def first(observation, info):
        if not come:
            # The buffer is full for the first time: by age, the one that has been there longest first.
            for row in numpy.argsort(-observation[:, 1]):
                come[int(info["groups"][row])] = None
        victim = next(iter(come))
        del come[victim]
        come[info["comes"][0]] = None
        return list(info["groups"]).index(victim)

    _, info = play(env, 5, first)
    assert env.result.ledger == nandlab.run(ZIPF, buffer="fifo", seed=info["seed"], **options).ledger


def test_features_are_those_of_a_model_of_the_buffer():
    """Without the engine: pages of a trace of single pages, kept in a dict."""
    pages = [0, 1, 2, 0, 300, 1, 301, 0, 5, 300, 9, 9, 0, 310, 5, 128, 0, 1, 129, 7] * 5
    columns = {"lba": numpy.array(pages) * 8, "sectors": numpy.full(len(pages), 8), "write": numpy.array(pages) % 2 == 0}
    env = nandlab.gym.BufferEnv(columns, candidates=8, **{**TINY, "ram": "32KiB"})
    model: dict[int, list[int]] = {}
    steps = iter(zip(pages, columns["write"]))
    now = 0

    def check(observation, info):
        nonlocal now
        for page, write in steps:
            if page not in model and len(model) == 8:
                break
            now += 1
            came, _, uses, dirty = model.get(page, (now - 1, now, 0, False))
            model[page] = [came, now, uses + 1, dirty or write]
        assert info["comes"] == (page, write) and sorted(info["groups"]) == sorted(model)
        for row, group in zip(observation, info["groups"]):
            came, last, uses, dirty = model[group]
            block = sum(1 for other in model if other // 128 == group // 128)
            wanted = [1 + now - last, 1 + now - came, uses]
            expected = [*(numpy.log2(wanted) / 32), float(dirty), block / 128, float(group // 128 == page // 128)]
            assert row == pytest.approx(expected, abs=1e-6)
        choice = now % 8
        del model[int(info["groups"][choice])]
        now += 1
        model[page] = [now - 1, now, 1, write]
        return choice

    rewards, _ = play(env, 1, check)
    assert len(rewards) > 20


def test_candidates_are_drawn_from_all_pages_alike():
    """By their rank of age: over 3,000 draws of 16 of 64 pages no rank comes too often or too seldom, first or at all."""
    pages = numpy.arange(3064)
    columns = {"lba": pages * 8, "sectors": numpy.full(len(pages), 8), "write": numpy.full(len(pages), True)}
    env = nandlab.gym.BufferEnv(columns, candidates=16, **TINY)
    resident = list(range(64))
    shown, first = numpy.zeros(64), numpy.zeros(64)
    draws = 0

    def count(observation, info):
        nonlocal draws
        ranks = [resident.index(int(group)) for group in info["groups"]]
        assert len(set(ranks)) == 16
        shown[ranks] += 1
        first[ranks[0]] += 1
        choice = draws % 16
        draws += 1
        del resident[ranks[choice]]
        resident.append(info["comes"][0])
        return choice

    play(env, 7, count)
    assert draws == 3000
    # Five standard deviations.
    for counts, share in ((shown, 16 / 64), (first, 1 / 64)):
        spread = 5 * (draws * share * (1 - share)) ** 0.5
        assert abs(counts - draws * share).max() < spread, counts


def test_same_seed_and_actions_give_the_same_episode():
    def episode(seed):
        env = nandlab.gym.BufferEnv(ZIPF, limit=500, group="block", **TINY)
        chance = numpy.random.default_rng(2)
        told = []
        play(env, seed, lambda observation, info: told.append(observation.tobytes()) or chance.integers(32))
        return told, env.result.json

    assert episode(11) == episode(11) and episode(11) != episode(12)
    env = nandlab.gym.BufferEnv(ZIPF, limit=500, **TINY)
    seeds = [env.reset(seed=1)[1]["seed"], env.reset()[1]["seed"], env.reset()[1]["seed"]]
    assert len(set(seeds)) == 3 and seeds[0] == env.reset(seed=1)[1]["seed"]


def test_run_in_which_nothing_leaves_is_an_episode_of_one_step():
    env = nandlab.gym.BufferEnv(ZIPF, limit=5, **TINY)
    rewards, _ = play(env, 1, lambda observation, info: 3)
    assert len(rewards) == 1 and env.result.requests == 5
    with pytest.raises(ValueError, match="reset"):
        env.step(0)


def test_environments_go_side_by_side():
    few = {**TINY, "ram": "64KiB", "limit": 60}
    several = gymnasium.make_vec("nandlab/Buffer-v0", num_envs=2, vectorization_mode="sync", trace=ZIPF, **few)
    several.reset(seed=3)
    ends = 0
    for _ in range(150):
        ends += several.step(numpy.zeros(2, int))[2].sum()
    assert ends > 2


def test_reset_that_fails_leaves_no_episode():
    env = nandlab.gym.BufferEnv(ZIPF, limit=5, **TINY)
    play(env, 1, lambda observation, info: 3)
    env._described["set"].append("ram.dram=much")
    with pytest.raises(ValueError, match="much"):
        env.reset()
    with pytest.raises(ValueError, match="the episode is over: call reset"):
        env.step(0)


def test_trace_that_can_be_read_once_serves_all_episodes():
    pyarrow = pytest.importorskip("pyarrow")
    numbers = numpy.arange(2000, dtype=numpy.uint64)
    table = pyarrow.table({"time_ns": numbers, "lba": numbers * 8, "sectors": numpy.full(2000, 8), "write": numbers % 2})
    env = nandlab.gym.BufferEnv(table.to_reader(), **TINY)
    for seed in (1, 2):
        play(env, seed, lambda observation, info: 0)
        assert env.result.requests == 2000


def test_bad_arguments_are_named():
    for arguments, words in [
        ({"candidates": 0}, "candidates"),
        ({"candidates": 2.5}, "candidates"),
        ({"group": "plane"}, "group"),
        ({"seed": 5}, "seed"),
        ({"ram": "8MB"}, "8MiB"),
        ({"precondition": "trace"}, "precondition"),
        ({"warm_up": 50}, "warm_up"),
        ({"warm_up": "mser-5"}, "warm_up"),
        ({"trace": "/no/such/file"}, "no/such/file"),
        ({"ftl": "dfl"}, "dftl"),
    ]:
        with pytest.raises((ValueError, TypeError), match=words):
            nandlab.gym.BufferEnv(**{"trace": ZIPF, "limit": 100, **TINY, **arguments}).reset(seed=1)
    env = nandlab.gym.BufferEnv(ZIPF, limit=500, **TINY)
    with pytest.raises(ValueError, match="reset"):
        env.step(0)
    env.reset(seed=1)
    for action in (-1, 16):
        with pytest.raises(ValueError, match="action"):
            env.step(action)
    for action in (1.7, "1", True, numpy.float64(2)):
        with pytest.raises(TypeError, match="action: .* whole number"):
            env.step(action)


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted by /proc")
def test_episode_that_is_left_leaves_no_thread():
    tasks = Path("/proc/self/task")
    before = len(list(tasks.iterdir()))
    for seed in range(8):
        env = nandlab.gym.BufferEnv(ZIPF, limit=10**6, **TINY)
        env.reset(seed=seed)
        env.step(0)
        env.close()
    until = time.monotonic() + 20
    while len(list(tasks.iterdir())) > before and time.monotonic() < until:
        time.sleep(0.01)
    assert len(list(tasks.iterdir())) <= before


def test_learned_eviction_runs(monkeypatch):
    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    import learned_eviction

    monkeypatch.setitem(learned_eviction.DEVICE, "limit", 1500)
    result = learned_eviction.measure(decisions=2000, seeds=1, episodes=1)
    assert result["random"][0] < result["LRU of the candidates"][0] and numpy.isfinite(result["learned"][0])
