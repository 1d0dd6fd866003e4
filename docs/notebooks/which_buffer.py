# %% [markdown]
# # Which buffer for my trace?
#
# First, what the trace is like.

# %%
from typing import Any

import nandlab

trace = nandlab.generate.zipf(theta=1.0, writes=0.6)
options: dict[str, Any] = {"limit": 20_000, "address": "modulo"}
info = nandlab.trace_info(trace, limit=20_000)
for name in ("requests", "write_percent", "mean_kib", "top_bytes"):
    print(name, info[name])

# %% [markdown]
# All combinations of some buffers and FTLs, a row each: the same table as that of `nandlab compare`.

# %%
rows = nandlab.compare(trace, ["lru", "cflru", "fab", "bplru", "arc"], ["page", "dftl"], ram="4MiB", **options)
rows

# %% [markdown]
# How much RAM is worth it: hits at every size, with what no buffer can do better.

# %%
from matplotlib import pyplot

curve = nandlab.curve(trace, ["lru", "cflru", "arc"], "256KiB..16MiB", points=7, bound=True, **options)
axes = pyplot.subplots()[1]
points = curve.rows()
for buffer in dict.fromkeys(curve["buffer"]):
    mine = [point for point in points if point["buffer"] == buffer]
    axes.plot([point["ram_bytes"] / 2**20 for point in mine], [point["page_hit_ratio"] for point in mine], label=buffer)
axes.set(xscale="log", xlabel="RAM (MiB)", ylabel="hits of page accesses")
axes.legend()
