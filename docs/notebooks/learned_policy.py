# %% [markdown]
# # A learned policy
#
# The buffer as an environment of gymnasium: at each step a page must leave, and the agent says which of some candidates.

# %%
import numpy
from matplotlib import pyplot

import nandlab
import nandlab.gym

trace = nandlab.generate.zipf(theta=1.2, writes=0.6)
env = nandlab.gym.BufferEnv(
    trace,
    device="lab",
    ram="512KiB",
    limit=2_000,
    address="modulo",
    precondition="none",
    device__geometry__blocks_per_plane=32,
)
observation, info = env.reset(seed=1)
print(env.observation_space, env.action_space)
print(dict(zip(nandlab.gym.FEATURES, observation[0].tolist())))

# %% [markdown]
# What a policy that scores candidates saves of flash time. The weights here were learned by
# `python/examples/learned_eviction.py`, which takes a minute: idle pages leave, those used often and dirty ones stay.


# %%
def episode(weights: list[float], seed: int) -> list[float]:
    """Seconds saved after every decision."""
    observation, _ = env.reset(seed=seed)
    saved, over = [0.0], False
    while not over:
        scores = (observation - observation.mean(0)) / (observation.std(0) + 1e-6) @ numpy.array(weights)
        observation, reward, over, _, _ = env.step(int(scores.argmax()))
        saved.append(saved[-1] + float(reward) / 1e3)
    return saved


axes = pyplot.subplots()[1]
for name, weights in {
    "learned": [0.2, -0.8, -1.3, -1.5, 0.0, 0.2],
    "used longest ago": [1.0, 0, 0, 0, 0, 0],
    "used last": [-1.0, 0, 0, 0, 0, 0],
}.items():
    axes.plot(episode(weights, seed=1000), label=name)
axes.set(xlabel="decisions", ylabel="flash time saved (s)")
axes.legend()

# %% [markdown]
# The end of an episode is the report of a run.

# %%
env.result
