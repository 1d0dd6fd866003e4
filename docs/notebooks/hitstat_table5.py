# %% [markdown]
# # HitStat's table 5
#
# `nandlab.reproduce` carries out what a paper evaluated, on the device and the workloads that the paper describes, and judges its
# claims. Here with very few requests, so that this page is made in seconds: the verdicts mean nothing then. Leave `limit` out
# for the real ones, which take minutes; they are in docs/results.

# %%
import tempfile

import nandlab

folder = tempfile.mkdtemp()
(paper,) = nandlab.reproduce("hitstat", folder, figures=["table5"], limit=20)
print(f"{paper.cells} cells. {paper.sentence}")

# %%
claims = nandlab.Table({name: paper.claims[name] for name in ("place", "claim", "printed", "measured", "verdict", "cases")})
claims

# %% [markdown]
# The cells are a sweep like any other.

# %%
cells = nandlab.load(f"{paper.folder}")
shown = nandlab.Table({name: cells[name][:8] for name in ("cell", "status", "hits_page_total", "response_all_mean_ns")})
shown
