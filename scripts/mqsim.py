#!/usr/bin/env python3
"""Compared with MQSim: builds it from a checkout of the user's, runs twelve works on it and on nandlab, and prints a table.

    scripts/mqsim.py CHECKOUT [--out DIR] [--nandlab FILE] [--only TEXT]
    scripts/mqsim.py CHECKOUT --surface [--out DIR]

With --surface it runs MQSim alone, in the steady state that it makes itself, at the mixes, depths and spare spaces of the example
`surface` of nandlab-lab, and prints rows for that; points at which it ends without a result or loses requests are left out and
named on standard error.

CHECKOUT is a clone of github.com/CMU-SAFARI/MQSim; `make` runs in it, everything else is written to DIR (default:
target/mqsim of this tree). nandlab is target/release/nandlab of this tree if it is not named. Python 3.8 or later,
nothing else. What the differences are: docs/benchmarks.md, 'Compared with MQSim'.

Both have the device of the preset g1 with the times that MQSim gives its channels: 12,288 ns a page (333 MT/s, in whole
nanoseconds) and 290 ns a command (those of its programs take 361, of its erases 220). No cache, ideal map, no suspension,
a link that takes no time, 80 % of the logical pages accessed. Reads go first; in works with collection that goes before all
else, as in MQSim without preemption: nandlab's `fifo`. Channels transfer data before they send commands.

How the figures come about:
- MQSim divides by simulated time in whole seconds. It is therefore stopped at a whole second, and nandlab is given as
  many requests as MQSim generated until then.
- MQSim prints mean responses in whole microseconds, cut.
- Requests that MQSim generates and never completes are counted; with some lost, its means are those of the others.
- IOPS of nandlab are requests over the time until the last is complete; those of MQSim are requests generated.
"""

import argparse
import itertools
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

CHANNELS, WAYS, BLOCKS, PAGES, PAGE = 8, 4, 128, 256, 4096
DIES = CHANNELS * WAYS
READ, PROGRAM, ERASE, TRANSFER, COMMAND = 75_000, 750_000, 3_800_000, 12_288, 290
SPARE = 0.125
# Share of the logical pages that is accessed, in percent, and the pages that are.
WORKING_SET = 80
SPAN = int(DIES * BLOCKS * PAGES * (1 - SPARE)) * WORKING_SET // 100
# MQSim collects when fewer than ten blocks of a plane are free (a constant of its source; its threshold of 5 % would be
# six), counted after the new frontier was taken: ten before. One more is its frontier for a map that it does not write.
RESERVE = 11
# Seconds that it may take for a work.
PATIENCE = 300
# Nanoseconds that an operation keeps its die.
DIE_READ, DIE_WRITE = COMMAND + READ + TRANSFER, COMMAND + TRANSFER + PROGRAM


class Work:
    """A work: `reads` in percent, and a closed loop of `depth` or an open one, with `gap` ns between requests in the mean. With
    `spare` MQSim brings the device, with that share of spare space and short blocks, into the steady state first."""

    def __init__(self, name, reads, seconds, depth=None, gap=None, sequential=False, collects=False, spare=None):
        self.name, self.reads, self.seconds, self.depth, self.gap = name, reads, seconds, depth, gap
        self.sequential, self.collects, self.spare = sequential, collects, spare
        self.slug = name.replace(" ", "-").replace(",", "").replace("/", "-").replace("%", "")


def half(reads):
    """The mean gap at which requests, of them `reads` percent reads, keep the dies busy for half of the time."""
    busy = (reads * DIE_READ + (100 - reads) * DIE_WRITE) / 100
    # MQSim takes a rate in requests a second, and rounds its gap down.
    return 1_000_000_000 // (1_000_000_000 // round(2 * busy / DIES))


WORKS = [
    Work("random reads, depth 1", 100, 4, 1),
    Work("random reads, depth 32", 100, 4, 32),
    Work("sequential reads, depth 32", 100, 1, 32, sequential=True),
    Work("random writes, depth 1", 0, 10, 1),
    Work("random writes, depth 32", 0, 4, 32),
    Work("sequential writes, depth 1", 0, 10, 1, sequential=True),
    Work("sequential writes, depth 32", 0, 4, 32, sequential=True),
    Work("70 % reads, depth 32", 70, 2, 32),
    Work("random reads, open loop, dies 50 % busy", 100, 4, gap=half(100)),
    Work("70 % reads, open loop, dies 50 % busy", 70, 3, gap=half(70)),
    Work("random writes, open loop, 4,000 a second, collection", 0, 500, gap=250_000, collects=True),
    Work("random writes, depth 32, collection", 0, 60, 32, collects=True),
]


# Those of the example `surface`.
SURFACE = {"reads": (0, 30, 50, 70, 90, 100), "depth": (1, 4, 16, 32, 64, 256), "spare": (0.07, 0.125, 0.28), "pages": 64}


def element(name, values):
    """An element whose children have the names and values of a dictionary; a value may be an element's dictionary."""
    node = ElementTree.Element(name)
    for key, value in values.items():
        if isinstance(value, dict):
            node.append(element(key, value))
        else:
            child = ElementTree.SubElement(node, key)
            child.text = str(value).lower() if isinstance(value, bool) else str(value)
    return node


def device(work):
    """The description of G1 that MQSim reads."""
    steady = work.spare is not None
    spare, pages = (work.spare, SURFACE["pages"]) if steady else (SPARE, PAGES)
    cells = {f"Page_Read_Latency_{bit}": READ for bit in ("LSB", "CSB", "MSB")}
    cells.update({f"Page_Program_Latency_{bit}": PROGRAM for bit in ("LSB", "CSB", "MSB")})
    flash = {
        "Flash_Technology": "SLC", "CMD_Suspension_Support": "NONE", **cells, "Block_Erase_Latency": ERASE,
        "Block_PE_Cycles_Limit": 100_000, "Suspend_Erase_Time": 0, "Suspend_Program_Time": 0, "Die_No_Per_Chip": 1,
        "Plane_No_Per_Die": 1, "Block_No_Per_Plane": BLOCKS, "Page_No_Per_Block": pages, "Page_Capacity": PAGE,
        "Page_Metadat_Capacity": 0,
    }
    drive = {
        "Seed": 1, "Enabled_Preconditioning": steady, "Memory_Type": "FLASH", "HostInterface_Type": "NVME",
        "IO_Queue_Depth": 65_535, "Queue_Fetch_Size": 65_535, "Caching_Mechanism": "ADVANCED",
        "Data_Cache_Sharing_Mode": "SHARED", "Data_Cache_Capacity": 1 << 20, "Data_Cache_DRAM_Row_Size": 8192,
        "Data_Cache_DRAM_Data_Rate": 800, "Data_Cache_DRAM_Data_Busrt_Size": 4, "Data_Cache_DRAM_tRCD": 13,
        "Data_Cache_DRAM_tCL": 13, "Data_Cache_DRAM_tRP": 13, "Address_Mapping": "PAGE_LEVEL",
        "Ideal_Mapping_Table": True, "CMT_Capacity": 1 << 26, "CMT_Sharing_Mode": "SHARED",
        "Plane_Allocation_Scheme": "CWDP", "Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER",
        "Overprovisioning_Ratio": spare, "GC_Exec_Threshold": 0.05, "GC_Block_Selection_Policy": "GREEDY",
        "Use_Copyback_for_GC": False, "Preemptible_GC_Enabled": False, "GC_Hard_Threshold": 0.005,
        "Dynamic_Wearleveling_Enabled": True, "Static_Wearleveling_Enabled": False,
        "Static_Wearleveling_Threshold": 100_000, "Flash_Channel_Count": CHANNELS, "Flash_Channel_Width": 1,
        "Channel_Transfer_Rate": 333, "Chip_No_Per_Channel": WAYS, "Flash_Comm_Protocol": "NVDDR2",
        "Flash_Parameter_Set": flash,
    }
    host = {
        "PCIe_Lane_Bandwidth": 1_000_000, "PCIe_Lane_Count": 16, "SATA_Processing_Delay": 0,
        "Enable_ResponseTime_Logging": False, "ResponseTime_Logging_Period_Length": 1_000_000,
    }
    return element("Execution_Parameter_Set", {"Host_Parameter_Set": host, "Device_Parameter_Set": drive})


def flow(work):
    """The description of a work that MQSim reads."""
    channels, ways = (",".join(map(str, range(count))) for count in (CHANNELS, WAYS))
    sectors = PAGE // 512
    occupied, accessed = (0, WORKING_SET) if work.spare is None else (100, 100)
    values = {
        "Priority_Class": "HIGH", "Device_Level_Data_Caching_Mode": "TURNED_OFF", "Channel_IDs": channels,
        "Chip_IDs": ways, "Die_IDs": 0, "Plane_IDs": 0, "Initial_Occupancy_Percentage": occupied,
        "Working_Set_Percentage": accessed, "Synthetic_Generator_Type": "QUEUE_DEPTH" if work.depth else "BANDWIDTH",
        "Read_Percentage": work.reads, "Address_Distribution": "STREAMING" if work.sequential else "RANDOM_UNIFORM",
        "Percentage_of_Hot_Region": 0, "Generated_Aligned_Addresses": True, "Address_Alignment_Unit": sectors,
        "Request_Size_Distribution": "FIXED", "Average_Request_Size": sectors, "Variance_Request_Size": 0, "Seed": 798,
        "Average_No_of_Reqs_in_Queue": work.depth or 1, "Bandwidth": 1_000_000_000 // work.gap * PAGE if work.gap else 0,
        "Stop_Time": work.seconds * 1_000_000_000, "Total_Requests_To_Generate": 0,
    }
    return element("MQSim_IO_Scenarios", {"IO_Scenario": {"IO_Flow_Parameter_Set_Synthetic": values}})


def run_mqsim(binary, work, folder):
    """Requests generated and lost, IOPS, mean response in us and write amplification; or a sentence that says what failed."""
    (folder / "device.xml").write_bytes(ElementTree.tostring(device(work)))
    (folder / "work.xml").write_bytes(ElementTree.tostring(flow(work)))
    result = folder / "work_scenario_1.xml"
    result.unlink(missing_ok=True)
    # It waits for a key when it is done.
    try:
        ended = subprocess.run([binary, "-i", "device.xml", "-w", "work.xml"], cwd=folder, input="\n", text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"MQSim did not end in {PATIENCE} s"
    (folder / "mqsim.log").write_text(ended.stdout)
    if not result.exists():
        return f"MQSim ended with {ended.returncode} and no result: {(ended.stdout.strip().splitlines() or ['-'])[-1]}"
    root = ElementTree.parse(result).getroot()
    figures = {node.tag: node.text for node in root.find("Host/Host.IO_Flow")}
    generated, writes = int(figures["Request_Count"]), int(figures["Write_Request_Count"])
    # Completed requests have moved their bytes.
    lost = generated - round(float(figures["Bytes_Transferred"]) / PAGE)
    programs = int(next(root.iter("SSDDevice.FTL")).get("Issued_Flash_Program_CMD"))
    return {"n": generated, "lost": lost, "iops": float(figures["IOPS"]), "mean": float(figures["Device_Response_Time"]),
            "waf": programs / writes if writes else None}


def run_nandlab(binary, work, requests, folder):
    """IOPS, mean response in microseconds and write amplification."""
    name = "sequential" if work.sequential else "uniform"
    size = f"span={SPAN * PAGE}" + (":size=4KiB" if work.sequential else "")
    arrival = f":arrival=exponential@{work.gap}ns" if work.gap else ""
    trace = f"make:{name}:{size}:writes={(100 - work.reads) / 100}{arrival}"
    mode = ["--mode", "fast" if work.depth else "open", "--queue-depth", str(work.depth or 65_536)]
    keys = {
        "device.timing.model": "scheduled", "device.scheduler.policy": "fifo" if work.collects else "read_first",
        "device.scheduler.channel": "data_first",
        "device.timing.page_transfer": f"{TRANSFER}ns", "device.timing.command": f"{COMMAND}ns",
        "ftl.reserve": RESERVE if work.collects else 2, "precondition": "full" if work.reads else "none",
    }
    sets = [part for key, value in keys.items() for part in ("--set", f"{key}={value}")]
    command = [binary, "run", trace, "-n", str(requests), "--device", "g1", *mode, *sets, "--json", "-"]
    (folder / "nandlab.sh").write_text(" ".join(f"'{word}'" for word in command) + "\n")
    ended = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True)
    (folder / "nandlab.json").write_text(ended.stdout)
    result = json.loads(ended.stdout)
    return {"iops": result["throughput"]["requests_per_second"], "mean": result["response"]["all"]["mean_ns"] / 1000,
            "waf": result["write_amplification"]["host"]}


def build(checkout):
    """The simulator, built by its own Makefile."""
    log = subprocess.run(["make", "-C", checkout], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if log.returncode:
        sys.exit(f"make failed in {checkout}:\n{log.stdout[-2000:]}")
    return checkout.resolve() / "MQSim"


def first_line(command):
    """What a command prints first, or `unknown` where it fails."""
    ended = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return (ended.stdout.splitlines() or ["unknown"])[0]


def rows(work, mqsim, ours):
    """The rows of a work; differences of more than 5 % are bold."""
    metrics = [("mean response, us", "mean", "{:,.1f}"), ("IOPS", "iops", "{:,.0f}")]
    if work.collects:
        metrics.append(("write amplification", "waf", "{:.3f}"))
    for place, (metric, key, form) in enumerate(metrics):
        difference = ours[key] / mqsim[key] - 1
        share = f"{round(difference, 3) + 0.0:+.1%}".replace("%", " %")
        share = f"**{share}**" if abs(difference) > 0.05 else share
        lost = f" ({mqsim['lost']:,} of {mqsim['n']:,} lost)" if mqsim["lost"] else ""
        name = f" {work.name}{lost}" if place == 0 else ""
        yield f"|{name} | {metric} | {form.format(mqsim[key])} | {form.format(ours[key])} | {share} |"


def surface(binary, out):
    """Prints the rate of MQSim at every point of the example `surface` at which it completes all requests."""
    print("spare,reads_percent,depth,requests_per_second,waf", flush=True)
    for spare, reads, depth in itertools.product(SURFACE["spare"], SURFACE["reads"], SURFACE["depth"]):
        name = f"surface {spare} {reads} {depth}"
        # As long as 100,000 requests take that never wait.
        seconds = max(2, round(100_000 * (reads * DIE_READ + (100 - reads) * DIE_WRITE) / 100 / min(depth, DIES) / 1e9))
        work = Work(name, reads, seconds, depth, spare=spare)
        folder = out / work.slug
        folder.mkdir(parents=True, exist_ok=True)
        found = run_mqsim(binary, work, folder)
        if isinstance(found, str):
            print(f"{name}: {found}", file=sys.stderr, flush=True)
        elif found["lost"]:
            print(f"{name}: {found['lost']:,} of {found['n']:,} requests lost", file=sys.stderr, flush=True)
        else:
            waf = "" if found["waf"] is None else f"{found['waf']:.3f}"
            print(f"{spare},{reads},{depth},{found['iops']:.0f},{waf}", flush=True)


def main():
    """Builds, runs, prints."""
    here = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=here / "target/mqsim")
    parser.add_argument("--nandlab", type=pathlib.Path, default=here / "target/release/nandlab")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the works whose names have this text")
    parser.add_argument("--surface", action="store_true", help="MQSim alone, at the points of the example `surface`")
    given = parser.parse_args()
    if given.surface:
        surface(build(given.checkout), given.out)
        return
    if not given.nandlab.is_file():
        sys.exit(f"there is no {given.nandlab}: build it with `cargo build --release`, or name it with --nandlab")
    nandlab = given.nandlab.resolve()
    works = [work for work in WORKS if given.only in work.name]
    if not works:
        sys.exit("no work has this text: " + "; ".join(work.name for work in WORKS))
    binary = build(given.checkout)
    print("MQSim", first_line(["git", "-C", given.checkout, "rev-parse", "HEAD"]), "and", first_line([nandlab, "--version"]))
    print("\n| work | metric | MQSim | nandlab | difference |\n|-|-|-:|-:|-:|", flush=True)
    failed = False
    for work in works:
        folder = given.out / work.slug
        folder.mkdir(parents=True, exist_ok=True)
        mqsim = run_mqsim(binary, work, folder)
        if isinstance(mqsim, str):
            print(f"| {work.name} | {mqsim} | | | |", flush=True)
            failed = True
            continue
        for row in rows(work, mqsim, run_nandlab(nandlab, work, mqsim["n"], folder)):
            print(row, flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
