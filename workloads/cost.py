"""What recording costs: five programs alone, at the level of system calls and at that of devices, the least of several runs.

`workloads/cost.py FOLDER` after `workloads/record.sh FOLDER`, whose sources, index and programs it uses; as root, for the level of
devices. Prints the table of docs/hosts.md. `NANDLAB` names another program than `./nandlab`.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Name, what is done before every run, and the command.
PROGRAMS = [
    ("nothing: the start", "", "true"),
    (
        "cscope, 108 queries",
        "",
        "cd linux && for pass in 1 2 3 4 5 6 7 8 9 10 11 12; do for word in schedule page lock; do "
        "cscope -d -L -4 $word; cscope -d -L -3 $word; cscope -d -L -0 $word; done; done",
    ),
    ("make and gcc, two files of the kernel", "rm -f linux/mm/mmap.o linux/mm/memory.o", "make -s -C linux mm/mmap.o mm/memory.o"),
    (
        "SQLite, 1,500,000 rows and an index",
        "rm -f cost.db*",
        "sqlite3 cost.db 'create table t(a integer primary key, b text, c integer); with recursive n(i) as (select 1 union all "
        "select i + 1 from n where i < 1500000) insert into t select i, hex(i * 7919 % 104729), i * 7919 % 104729 from n; "
        "create index tc on t(c); select count(*) from t where b like \"%31%\"'",
    ),
    (
        "fio, 25,600 random direct requests",
        "",
        "fio --name=cost --filename=fio.dat --size=128M --io_size=100M --ioengine=sync --direct=1 --bs=4k --rw=randrw --rwmixread=50 "
        "--randseed=1 --norandommap --thread",
    ),
    (
        "RocksDB, 300,000 keys",
        "rm -rf cost.rocks",
        "db_bench --db=cost.rocks --benchmarks=fillrandom,readrandom --num=300000 --reads=10000 --value_size=400 "
        "--compression_type=none --seed=1",
    ),
]
LEVELS = ["syscall", "device"]


def seconds(command: list[str], folder: Path) -> tuple[float, float]:
    """Wall and processor time of a command and all that it waits for."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path, help="the folder of workloads/record.sh")
    parser.add_argument("--runs", type=int, default=5, help="runs of each, of which the least counts (5)")
    given = parser.parse_args()
    nandlab = str(Path(os.environ.get("NANDLAB", ROOT / "nandlab")).absolute())
    work = given.folder / "work"
    print("| program | alone, wall | `syscall` | `device` | alone, CPU | `syscall` | `device` |")
    print("|-|-:|-:|-:|-:|-:|-:|")
    with tempfile.TemporaryDirectory(dir=given.folder) as kept:
        for name, before, command in PROGRAMS:
            ways = {"alone": ["sh", "-ec", command]}
            for level in LEVELS:
                target = f"{kept}/{level}.parquet"
                ways[level] = [nandlab, "record", "--level", level, "-o", target, "--", "sh", "-ec", command]
            least: dict[str, tuple[float, float]] = {}
            for _ in range(given.runs):
                for way, words in ways.items():
                    subprocess.run(["sh", "-c", before], cwd=work, check=True)
                    # What earlier runs wrote does not wait in this one.
                    os.sync()
                    wall, cpu = seconds(words, work)
                    known = least.get(way, (wall, cpu))
                    least[way] = (min(wall, known[0]), min(cpu, known[1]))
            cells = [
                f"{least['alone'][at]:.2f} s | "
                + " | ".join(f"{least[way][at]:.2f} s ({least[way][at] / least['alone'][at]:.2f}x)" for way in LEVELS)
                for at in (0, 1)
            ]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
