#!/usr/bin/env python3
"""Policies of libCacheSim next to ours on the identical Zipf trace: hit ratio only, one thread, CPU time.

Needs two Python packages (nothing is installed by this script):

    pip install libcachesim==0.3.5 numpy

and Rust's cargo. A seeded Zipf trace is written to a temporary file in libCacheSim's own binary format
(oracleGeneral, 24 bytes a request: 480 MB at the default size). libCacheSim replays it with `process_trace`, which
runs wholly in its C library; ours replays it with `cargo run --release -p nandlab --example buffer_hits`.
Every request is a read of one object of size 1; objects are page numbers.

What is timed: libCacheSim's time includes its reader, which cannot be taken out (the reader alone does 60 to 70
million requests a second, so this is at most a fifth of its time); ours is the replay of the decoded trace.
The replays take turns; the best of --repeats counts, because other users of a machine can only make it slower.

LRU, FIFO, CLOCK and SIEVE leave no choice, so their hit counts must be equal. The others differ in readings: ours are
in `nandlab describe NAME`. With libCacheSim's reading (`NAME+compat=libcachesim`) S3-FIFO must have equal counts from 20
objects on, and LIRS counts that are apart by one request in 10,000 at most: libCacheSim has a rule that we leave out.

Exits with 1 if hit counts differ that must be equal, with 2 if something is missing.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTED = "0.3.5"
# Our name and parameters, joined by +: the class of libCacheSim, and how far hit counts may be apart, in requests.
ANY = 1.0
POLICIES = {
    "lru": ("LRU", 0.0),
    "fifo": ("FIFO", 0.0),
    "clock": ("Clock", 0.0),
    "sieve": ("Sieve", 0.0),
    "s3-fifo": ("S3FIFO", ANY),
    "s3-fifo+compat=libcachesim": ("S3FIFO", 0.0),
    "arc": ("ARC", ANY),
    "two-q": ("TwoQ", ANY),
    "lirs": ("LIRS", ANY),
    "lirs+compat=libcachesim": ("LIRS", 1e-4),
    "w-tinylfu": ("WTinyLFU", ANY),
}


def missing(what: str, advice: str) -> SystemExit:
    print(f"{pathlib.Path(__file__).name}: {what}\n  help: {advice}", file=sys.stderr)
    return SystemExit(2)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policies", default="lru", help=f"of {','.join(POLICIES)} (default lru)")
    parser.add_argument("--requests", type=int, default=20_000_000, help="length of the trace (default 20 million)")
    parser.add_argument("--objects", type=int, default=1_000_000, help="objects to draw from (default 1 million)")
    parser.add_argument("--capacity", type=int, default=100_000, help="objects in the cache (default 100 thousand)")
    parser.add_argument("--zipf", type=float, default=1.0, help="exponent of the popularity (default 1.0)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the trace (default 1)")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each, the best counts (default 3)")
    parser.add_argument("--directory", help="where the trace is written (default: the system's temporary folder)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON instead of a table")
    arguments = parser.parse_args()
    for name in ("requests", "objects", "capacity", "repeats"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name} must be at least 1")
    arguments.policies = arguments.policies.split(",")
    for policy in arguments.policies:
        if policy not in POLICIES:
            parser.error(f"there is no policy `{policy}`: --policies takes a list of {','.join(POLICIES)}")
    return arguments


def write_trace(numpy, path: str, arguments: argparse.Namespace) -> None:
    """Zipf by inversion; the numbers are shuffled, so that popular objects are no neighbours."""
    random = numpy.random.default_rng(arguments.seed)
    popularity = numpy.arange(1, arguments.objects + 1, dtype=numpy.float64) ** -arguments.zipf
    cumulative = numpy.cumsum(popularity)
    cumulative /= cumulative[-1]
    numbers = random.permutation(arguments.objects).astype(numpy.uint64)
    layout = [("time", "<u4"), ("object", "<u8"), ("size", "<u4"), ("next", "<i8")]
    with open(path, "wb") as file:
        left = arguments.requests
        while left > 0:
            count = min(left, 1 << 20)
            rank = numpy.minimum(numpy.searchsorted(cumulative, random.random(count)), arguments.objects - 1)
            records = numpy.zeros(count, dtype=layout)
            records["object"] = numbers[rank]
            records["size"] = 1
            records["next"] = -2
            records.tofile(file)
            left -= count


def run_libcachesim(libcachesim, policy: str, path: str, arguments: argparse.Namespace) -> tuple[int, float]:
    parameters = libcachesim.ReaderInitParam(ignore_obj_size=True)
    reader = libcachesim.TraceReader(path, libcachesim.TraceType.ORACLE_GENERAL_TRACE, parameters)
    cache = getattr(libcachesim, POLICIES[policy][0])(cache_size=arguments.capacity)
    start = time.process_time()
    miss_ratio, _ = cache.process_trace(reader)
    seconds = time.process_time() - start
    return arguments.requests - round(miss_ratio * arguments.requests), seconds


def cargo(*command: str) -> str:
    done = subprocess.run(["cargo", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise missing(f"`cargo {' '.join(command)}` failed:\n{done.stderr.strip()}", "see CONTRIBUTING.md")
    return done.stdout


def run_ours(policy: str, path: str, arguments: argparse.Namespace) -> dict:
    example = ["run", "--quiet", "--release", "-p", "nandlab", "--example", "buffer_hits", "--"]
    return json.loads(cargo(*example, path, str(arguments.capacity), *policy.split("+")))


def compare(libcachesim, policy: str, path: str, arguments: argparse.Namespace) -> dict:
    theirs, ours = [], []
    for _ in range(arguments.repeats):
        theirs.append(run_libcachesim(libcachesim, policy, path, arguments))
        ours.append(run_ours(policy, path, arguments))
    rates = arguments.requests / min(s for _, s in theirs), arguments.requests / min(r["seconds"] for r in ours)
    hits = {h for h, _ in theirs} | {r["hits"] for r in ours}
    apart = max(hits) - min(hits)
    return {
        "policy": policy,
        "libcachesim": {"requests_per_cpu_second": rates[0], "hits": theirs[0][0]},
        "nandlab": {"requests_per_cpu_second": rates[1], "hits": ours[0]["hits"], "version": ours[0]["version"]},
        "ratio": rates[1] / rates[0],
        "hits_apart": apart,
        "hits_as_they_must_be": apart <= POLICIES[policy][1] * arguments.requests,
    }


def measure(libcachesim, numpy, arguments: argparse.Namespace) -> dict:
    handle, path = tempfile.mkstemp(suffix=".oracleGeneral.bin", dir=arguments.directory)
    os.close(handle)
    try:
        write_trace(numpy, path, arguments)
        policies = [compare(libcachesim, policy, path, arguments) for policy in arguments.policies]
    finally:
        os.unlink(path)
    return {
        "trace": {name: getattr(arguments, name) for name in ("requests", "objects", "capacity", "zipf", "seed")},
        "libcachesim_version": importlib.metadata.version("libcachesim"),
        "policies": policies,
    }


def print_table(result: dict) -> None:
    trace = result["trace"]
    print(
        f"hit ratio only: {trace['requests']:,} requests, Zipf {trace['zipf']} over {trace['objects']:,} objects, "
        f"cache of {trace['capacity']:,}, seed {trace['seed']}; libCacheSim {result['libcachesim_version']}"
    )
    print("\nM requests/s of CPU             libCacheSim     nandlab  ratio   hit ratio of both")
    for row in result["policies"]:
        theirs, ours = row["libcachesim"], row["nandlab"]
        rates = [side["requests_per_cpu_second"] / 1e6 for side in (theirs, ours)]
        ratios = [side["hits"] / trace["requests"] for side in (theirs, ours)]
        equal = f"hits differ by {row['hits_apart']:,}" if row["hits_apart"] else "hits equal"
        print(
            f"{row['policy']:<28}{rates[0]:>15.2f}{rates[1]:>12.2f}{row['ratio']:>7.1f}   "
            f"{ratios[0]:.4f} {ratios[1]:.4f} {equal}"
        )


def main() -> int:
    arguments = parse_arguments()
    # This file has the name of the package: its own folder must not be searched.
    sys.path = [folder for folder in sys.path if pathlib.Path(folder or ".").resolve() != ROOT / "benches"]
    try:
        import libcachesim
        import numpy
    except ImportError as error:
        raise missing(str(error), f"pip install libcachesim=={TESTED} numpy") from None
    version = importlib.metadata.version("libcachesim")
    if version != TESTED:
        print(f"note: libcachesim {version}; the published figures are of {TESTED}", file=sys.stderr)
    if shutil.which("cargo") is None:
        raise missing("cargo is not on the path", "install Rust, see README.md")
    cargo("build", "--quiet", "--release", "-p", "nandlab", "--example", "buffer_hits")
    result = measure(libcachesim, numpy, arguments)
    if arguments.json:
        print(json.dumps(result, indent=2))
    else:
        print_table(result)
    wrong = [row["policy"] for row in result["policies"] if not row["hits_as_they_must_be"]]
    if wrong:
        print(f"hit counts of {', '.join(wrong)} DIFFER more than they may", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
