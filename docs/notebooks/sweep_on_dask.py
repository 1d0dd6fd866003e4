# %% [markdown]
# # A sweep on Dask
#
# Cells of a sweep are tasks of any executor of `concurrent.futures`. Dask's client is one, and reaches from this machine to a
# cluster with SLURM (`dask_jobqueue.SLURMCluster`). Results lie in a folder that all workers see; a worker that dies costs the
# cells that it was at.
#
# This is a notebook, to be run cell by cell. Run as a program it fails (`Nanny failed to start`), because each worker begins by
# importing the program: there all cells belong in a function that is called below `if __name__ == "__main__":`.

# %%
import tempfile
from typing import Any

import distributed

import nandlab

sweep = nandlab.Sweep(
    {"skewed": nandlab.generate.zipf(theta=1.1), "even": nandlab.generate.uniform()},
    ["lru", "cflru", nandlab.buffers.FAB()],
    ["page", "dftl"],
    ram=["1MiB", "4MiB"],
    limit=500,
    address="modulo",
    precondition="none",
)
folder = tempfile.mkdtemp()
print(f"{len(sweep)} cells")

# %%
dask: Any = distributed
with dask.LocalCluster(2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster:
    with dask.Client(cluster) as client:
        done = sweep.run(folder, executor=client.get_executor())
print(sorted(set(done["status"])), done.height)

# %% [markdown]
# The same command again runs nothing: all cells are there. `nandlab.load` reads the folder, also while it runs.

# %%
again = nandlab.load(folder)
shown = nandlab.Table({name: again[name][:6] for name in ("cell", "workload", "buffer", "ftl", "ram", "hits_page_total")})
shown
