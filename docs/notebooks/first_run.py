# %% [markdown]
# # A first run
#
# A trace, a device, a result. The trace here is made by a generator: reads and writes of skewed popularity. A path of a file
# (MSR, SPC, blktrace, fio, CSV, Parquet), columns of Arrow, pandas, polars or NumPy would do as well.

# %%
import nandlab

trace = nandlab.generate.zipf(theta=1.1, writes=0.7)
result = nandlab.run(trace, buffer="lru", ftl="dftl", ram="4MiB", limit=20_000, address="modulo", series=True)
result

# %% [markdown]
# The summary is a flat dict whose names have the units; percentiles are there for reads and writes.

# %%
print(f"{result.summary['hits_page_total']:.1%} of the page accesses hit the buffer")
print(f"write amplification {result.summary['write_amplification_host']:.3f}")
for kind in ("reads", "writes"):
    print(f"{kind}: 99 % take at most {result.latency.percentile(99, kind) / 1e6:.3f} ms")

# %%
result.plot.latency()

# %%
result.plot.timeline()

# %% [markdown]
# Any key of the configuration is a keyword, with two underscores for the dot; `replay__queue_depth=8` is what
# `--set replay.queue_depth=8` is on the command line, and the numbers are the same.

# %%
closed = nandlab.run(trace, limit=20_000, address="modulo", replay__mode="closed", replay__queue_depth=8)
print(f"{closed.requests} requests in {closed.report['elapsed']['simulated_ns'] / 1e9:.2f} s of simulated time")
