"""nandlab: an open laboratory for the RAM inside NAND-flash SSDs.

>>> import nandlab
>>> result = nandlab.run(nandlab.generate.zipf(theta=0.9), limit=1000)
>>> result.requests
1000

Every number is computed by the same code as that of the command line; docs/python.md explains the package.
"""

import atexit as _atexit

from . import buffers, ftls, generate
from ._native import VERSION as __version__
from ._native import ConfigError, InputError
from ._native import end_work as _end_work
from ._papers import Front, Reproduced, reproduce, search
from ._policy import Batch, Hints, Policy
from ._registry import Buffer, Ftl, Generator
from ._result import Latency, Result
from ._run import DEFAULT_DEVICE, Device, bound, compare, curve, devices, run, trace_info
from ._sweep import Sweep, load
from ._table import Table

# Work that asks code in Python would not survive the end of the interpreter.
_atexit.register(_end_work)

__all__ = [
    "DEFAULT_DEVICE",
    "Batch",
    "Buffer",
    "ConfigError",
    "Device",
    "Front",
    "Ftl",
    "Generator",
    "Hints",
    "InputError",
    "Latency",
    "Policy",
    "Reproduced",
    "Result",
    "Sweep",
    "Table",
    "__version__",
    "bound",
    "buffers",
    "compare",
    "curve",
    "devices",
    "ftls",
    "generate",
    "load",
    "reproduce",
    "run",
    "search",
    "trace_info",
]
