# SPDX-License-Identifier: MIT
"""Converts names of statistics from older releases of gem5 to the names in gem5 24.

Up to release 20.0, names contained underscores. For a cache, the command and the count formed a
single word (`ReadReq_misses`). Releases 20.1 and 21.0 introduced capital letters, an `exec_context`
for each thread of a simple processor, and an `mmu` around the TLBs. Release 23.0 moved the counts
of instructions to `fetchStats0`, `executeStats0` and `commitStats0`. The table contains only names
that people compare across releases. To convert another name, add a line to the table.
"""

import re
from functools import cache

# The last part of a statistic's name in older releases and in gem5 24, without the element's name.
_LAST = {
    "sim_seconds": "simSeconds",
    "sim_ticks": "simTicks",
    "final_tick": "finalTick",
    "sim_freq": "simFreq",
    "sim_insts": "simInsts",
    "sim_ops": "simOps",
    "host_seconds": "hostSeconds",
    "host_inst_rate": "hostInstRate",
    "host_op_rate": "hostOpRate",
    "host_tick_rate": "hostTickRate",
    "host_mem_usage": "hostMemory",
    "num_reads": "numReads",
    "num_writes": "numWrites",
    "bytes_read": "bytesRead",
    "bytes_written": "bytesWritten",
    # of a processor
    "committedInsts": "commitStats0.numInsts",
    "committedOps": "commitStats0.numOps",
    "num_load_insts": "commitStats0.numLoadInsts",
    "num_store_insts": "commitStats0.numStoreInsts",
    "num_mem_refs": "executeStats0.numMemRefs",
    "Branches": "fetchStats0.numBranches",
    "num_busy_cycles": "exec_context.thread_0.numBusyCycles",
    "num_idle_cycles": "exec_context.thread_0.numIdleCycles",
}
_THREAD = {
    "numInsts": "commitStats0",
    "numOps": "commitStats0",
    "numLoadInsts": "commitStats0",
    "numStoreInsts": "commitStats0",
    "numMemRefs": "executeStats0",
    "numBranches": "fetchStats0",
}
# Statistics of a cache, for all commands together or for one command (ReadReq_misses).
_CACHE = re.compile(
    r"(overall|demand|[A-Z]\w*(?:Req|Resp|Dirty|Clean|Evict))_"
    r"(hits|misses|accesses|miss_rate|miss_latency|avg_miss_latency|"
    r"mshr_hits|mshr_misses|mshr_miss_rate|mshr_miss_latency|avg_mshr_miss_latency|"
    r"mshr_uncacheable)"
)


@cache
def modern(name: str) -> str:
    """The gem5 24 name of a statistic or of an element. An unknown name does not change."""
    statistic, separator, element = name.partition("::")
    path, dot, last = statistic.rpartition(".")
    path = re.sub(r"(?<!\bmmu)\.([id]tb)\b", r".mmu.\1", path)
    context, _, thread = path.rpartition(".")
    if match := _CACHE.fullmatch(last):
        whom, what = match.groups()
        last = _camel(f"{whom}_{what}") if whom.islower() else f"{whom}.{_camel(what)}"
    elif thread == "thread_0" and last in _THREAD:
        path, last = context.removesuffix(".exec_context"), f"{_THREAD[last]}.{last}"
    else:
        last = _LAST.get(last, last)
    return f"{path}{dot}{last}{separator}{element}"


def _camel(text: str) -> str:
    first, *others = text.split("_")
    return first + "".join(word.capitalize() for word in others)
