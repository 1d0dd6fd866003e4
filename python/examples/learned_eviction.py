"""An agent learns by policy gradient (REINFORCE, NumPy alone) which page to evict, and is compared with chance and with LRU."""

from __future__ import annotations

import argparse
import time
from typing import Any, Callable

import numpy
from numpy.typing import NDArray

import nandlab
import nandlab.gym

Array = NDArray[numpy.floating[Any]]

TRACE = nandlab.generate.zipf(theta=1.2, writes=0.6)
DEVICE: dict[str, Any] = {
    "device": "lab",
    "ram": "1MiB",
    "limit": 10_000,
    "address": "modulo",
    "precondition": "none",
    "device__geometry__blocks_per_plane": 32,
}
#: A reward so many decisions later counts for 1/e.
HORIZON = 100
#: Decisions between two steps of the policy.
BATCH = 2_000


def compared(observation: Array) -> Array:
    """Each feature of a candidate by how far it is from those of the others."""
    away = observation - observation.mean(0)
    spread = away.std(0)
    result: Array = numpy.divide(away, spread, out=numpy.zeros_like(away), where=spread > 1e-6)
    return result


def ahead(rewards: Array) -> Array:
    """What follows each decision, discounted; without those at the end, of which too little follows."""
    sums, follows = numpy.zeros(len(rewards)), 0.0
    for at in reversed(range(len(rewards))):
        follows = sums[at] = rewards[at] + (1 - 1 / HORIZON) * follows
    return sums[: -3 * HORIZON]


def train(env: nandlab.gym.BufferEnv, seed: int, decisions: int) -> Array:
    """The weights of a policy that evicts candidates in proportion to exp(features . weights)."""
    chance = numpy.random.default_rng(seed)
    weights, mean, square = (numpy.zeros(len(nandlab.gym.FEATURES)) for _ in range(3))
    observation, _ = env.reset(seed=seed)
    for step in range(1, decisions // BATCH + 1):
        gradients, rewards = numpy.zeros((BATCH, len(weights))), numpy.zeros(BATCH)
        for at in range(BATCH):
            features = compared(observation)
            share = numpy.exp(features @ weights)
            share /= share.sum()
            action = min(int(share.cumsum().searchsorted(chance.random())), len(share) - 1)
            gradients[at] = features[action] - share @ features
            observation, rewards[at], over, _, _ = env.step(action)
            if over:
                observation, _ = env.reset()
        follows = ahead(rewards)
        advantage = (follows - follows.mean()) / (follows.std() + 1e-9)
        gradient = advantage @ gradients[: len(advantage)] / len(advantage)
        # Adam (Kingma and Ba 2015) with its usual constants.
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        weights = weights + 0.05 * mean / (1 - 0.9**step) / (numpy.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def play(env: nandlab.gym.BufferEnv, seed: int, choose: Callable[[Array], int]) -> float:
    """Seconds of flash time saved by an episode."""
    observation, info = env.reset(seed=seed)
    over = False
    while not over:
        observation, _, over, _, info = env.step(choose(observation))
    saved: int = info["saved_ns"]
    return saved / 1e9


def measure(decisions: int, seeds: int, episodes: int = 5) -> dict[str, list[float]]:
    """Seconds of flash time saved per episode by each way, a number for each seed; the same episodes for all."""
    env = nandlab.gym.BufferEnv(TRACE, **DEVICE)
    tests = range(1000, 1000 + episodes)

    def average(choose: Callable[[Array], int], env: nandlab.gym.BufferEnv = env) -> float:
        return float(numpy.mean([play(env, seed, choose) for seed in tests]))

    def oldest(observation: Array) -> int:
        return int(observation[:, 0].argmax())

    result: dict[str, list[float]] = {"random": [], "learned": [], "seconds": []}
    for seed in range(1, seeds + 1):
        chance = numpy.random.default_rng(seed)
        result["random"].append(average(lambda observation: int(chance.integers(len(observation)))))
        begun = time.perf_counter()
        weights = train(env, seed, decisions)
        result["seconds"].append(time.perf_counter() - begun)
        result["learned"].append(average(lambda observation: int((compared(observation) @ weights).argmax())))
        told = ", ".join(f"{name} {weight:+.2f}" for name, weight in zip(nandlab.gym.FEATURES, weights))
        print(f"seed {seed}: random {result['random'][-1]:.3f} s, learned {result['learned'][-1]:.3f} s ({told})", flush=True)
    result["LRU of the candidates"] = [average(oldest)]
    # All pages are candidates: what has been idle longest is what LRU evicts.
    result["LRU"] = [average(oldest, nandlab.gym.BufferEnv(TRACE, candidates=256, **DEVICE))]
    return result


def main() -> None:
    """Trains and prints what each way saves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=200_000)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    for name, values in measure(options.decisions, options.seeds).items():
        print(f"{name}: {numpy.mean(values):.3f} s ({min(values):.3f} to {max(values):.3f})")


if __name__ == "__main__":
    main()
