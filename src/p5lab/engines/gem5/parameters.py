# SPDX-License-Identifier: MIT
"""Converts the values of a machine file to gem5's parameters.

All numbers of the machine come from the machine file. gem5 adds latencies in this way:

- A crossbar runs at the bus clock. A request and its answer each wait for the next edge of the bus
  clock. The latencies of the crossbar itself are 0.
- A cache runs at the core clock. The cache answers a request after `data_latency`, or forwards the
  request after `tag_latency`.
- For the processor, a fill ends when the requested word arrives. Later hits in this line wait for
  the rest of the line.

So a read that misses in L1 takes the sum of three times, as in engine/p5:

- penalty.l1_miss core clocks
- the wait for a bus clock
- the first number of the pattern (l2.read or dram.read) in bus clocks
"""

from collections.abc import Mapping
from dataclasses import dataclass

from p5lab.describe import declarations
from p5lab.errors import UserError
from p5lab.lab import Lab

Values = Mapping[str, int | float | bool | str]
BUS_BYTES = 8  # the data bus of the Pentium (Intel, Pentium Family Developer's Manual, ch. 6)


@dataclass(frozen=True)
class Cache:
    """One cache. All latencies are in core clocks."""

    size: int
    ways: int
    policy: str  # the name of gem5's replacement policy
    write_allocate: bool
    tag_latency: int
    data_latency: int
    response_latency: int


@dataclass(frozen=True)
class Tlb:
    """One TLB: the entries for 4 KB pages, and the entries for large pages if they have a separate
    array."""

    entries: int
    ways: int
    large_entries: int
    large_ways: int
    policy: str  # lru or plru


@dataclass(frozen=True)
class Parameters:
    """A machine as gem5's parameters. Times are in picoseconds, which are gem5's ticks."""

    name: str
    core_hz: int
    bus_hz: int
    line: int
    l1i: Cache
    l1d: Cache
    l2: Cache | None
    itlb: Tlb
    dtlb: Tlb
    bus_hold: int  # bus clocks of a line beyond one clock for each transfer
    memory_bytes: int
    memory_latency: int
    memory_bandwidth: int  # bytes a second
    write_buffers: int  # lines
    isa_port: int
    pci_port: int


def derive(values: Values) -> Parameters:
    """All parameters, from the values of a resolved machine. Raises UserError for a value that gem5
    cannot model."""
    core, bus = _hz(values, "cpu.clock_mhz"), _hz(values, "cpu.bus_mhz")
    line = _whole(values, "l1d.line")
    if parts := [key for key in values if key.startswith("ideal.") and values[key] is True]:
        raise UserError(f"{parts[0]}: gem5 has no ideal parts; expected the engine bochs")
    if values["l2.present"] and values["l2.line"] != line:
        raise UserError(
            f"l2.line = {values['l2.line']}: expected l1d.line, {line}: gem5 has one line length"
        )
    l2_read, dram_read = _burst(values, "l2.read"), _burst(values, "dram.read")
    miss = _whole(values, "penalty.l1_miss")
    l2 = None
    latency = dram_read[0]
    if values["l2.present"]:
        # The answer is ready in the last core clock before the bus clock that ends the first
        # transfer. A miss continues at the next bus clock. The answer to a miss waits for a bus
        # clock too.
        ratio = round(2 * core / bus) / 2  # published clocks are rounded (66.67 MHz)
        l2 = _cache(values, "l2", _at_least("l2.read", int(l2_read[0] * ratio) - 1, 1), 1)
        latency = _at_least("dram.read", dram_read[0] - 2, 0)
    read = l2_read if l2 else dram_read
    return Parameters(
        name=str(values["machine.name"]),
        core_hz=core,
        bus_hz=bus,
        line=line,
        l1i=_cache(values, "l1i", 1, miss),
        l1d=_cache(values, "l1d", 1, miss),
        l2=l2,
        itlb=_tlb(values, "itlb", ""),
        dtlb=_tlb(values, "dtlb", "dtlb_large"),
        bus_hold=max(1, sum(read) - line // BUS_BYTES),
        memory_bytes=_whole(values, "dram.size"),
        memory_latency=round(latency * 1e12 / bus),
        memory_bandwidth=round(line * bus / sum(dram_read)),
        write_buffers=max(1, _whole(values, "bus.post_buffer_qwords") * BUS_BYTES // line),
        isa_port=_whole(values, "io.isa_ns") * 1000,
        pci_port=_whole(values, "io.pci_ns") * 1000,
    )


def deviations(values: Values, *, cpu: str, extras: bool) -> list[str]:
    """The differences between gem5's machine and the machine of the file, one line each."""
    differences = [
        f"cycles come from gem5's {cpu} CPU, not from a Pentium: no pairing, no address"
        " generation interlocks, no branch target buffer of the P54C"
    ]
    if cpu == "atomic":
        differences.append(
            "the atomic CPU waits for no access: events are valid, cycles are not valid"
        )
    if values["net.card"] != "none":
        differences.append("net.card: no network")
    no_allocate = [
        cache
        for cache in ("l1d", "l2")
        if not values[f"{cache}.write_allocate"] and (cache != "l2" or values["l2.present"])
    ]
    if no_allocate and extras:
        differences.append(
            f"{' and '.join(no_allocate)}: a write miss fills no line. gem5 reads the line and"
            " writes the line back on the bus, but the Pentium makes only one write. The events"
            " count one write; the clocks include both transfers"
        )
    elif no_allocate:
        differences.append(f"{' and '.join(no_allocate)}: a write miss fills a line")
    entries, large = values["dtlb.entries"], values["dtlb_large.entries"]
    if not extras:
        differences += [
            f"TLBs: fully associative, least recently used: {values['itlb.entries']} code entries,"
            f" {entries} + {large} data entries for pages of all sizes",
            "no event by ring: no segment loads, interrupts, exceptions, crossings, CR3 loads, I/O",
        ]
    differences += [
        "64-bit paging: a walk reads up to four entries of 8 bytes; penalty.walk is not added",
        "large pages are 2 MB",
        "dram.page, dram.page_miss, dram.refresh_us: no open page and no refresh; each access takes"
        " the time of an access to an open page",
        "single_read, single_write: a single transfer takes the time of the first transfer of"
        " a line",
        "memory.uncached: the ranges are cached",
        "IDE disk: 1 us for each request",
        "caches are cold at the ready marker; the code before the first begin warms the caches",
    ]
    if values["disk.count"]:
        differences.append(
            "disk: no SCSI disks and no host adapter; a program that needs a disk ends"
        )
    if values["l1d.write_once"]:
        differences.append("l1d.write_once: a filled line has the state exclusive")
    return differences


def _cache(values: Values, name: str, data_latency: int, response_latency: int) -> Cache:
    policy = str(values[f"{name}.replacement"])
    known = {
        declared.name: declared.gem5
        for declared in declarations.policies(Lab.here().root / "engine").values()
        if declared.gem5
    }
    if policy not in known:
        raise UserError(f'{name}.replacement = "{policy}": gem5 supports only {", ".join(known)}')
    write_allocate = True
    if name != "l1i":
        if values[f"{name}.write_policy"] != "write-back":
            raise UserError(
                f'{name}.write_policy = "{values[f"{name}.write_policy"]}": gem5\'s caches are'
                ' "write-back"'
            )
        write_allocate = bool(values[f"{name}.write_allocate"])
    return Cache(
        size=_whole(values, f"{name}.size"),
        ways=_whole(values, f"{name}.ways"),
        policy=known[policy],
        write_allocate=write_allocate,
        tag_latency=1,
        data_latency=data_latency,
        response_latency=response_latency,
    )


def _tlb(values: Values, name: str, large: str) -> Tlb:
    """`large`: the name of the array for large pages. `large` is empty if large pages share the
    array `name`, as in the code TLB."""
    policy = values[f"{name}.replacement"]
    for array in filter(None, (name, large)):
        if values[f"{array}.replacement"] not in ("lru", "plru"):
            raise UserError(
                f'{array}.replacement = "{values[f"{array}.replacement"]}": gem5 supports lru for'
                " TLBs, and plru with our SimObjects"
            )
        if values[f"{array}.replacement"] != policy:
            raise UserError(f"{array}.replacement: expected the policy of {name}, {policy}")
    return Tlb(
        entries=_whole(values, f"{name}.entries"),
        ways=_whole(values, f"{name}.ways"),
        large_entries=_whole(values, f"{large}.entries") if large else 0,
        large_ways=_whole(values, f"{large}.ways") if large else 1,
        policy=str(policy),
    )


def _at_least(name: str, number: int, least: int) -> int:
    if number < least:
        raise UserError(f"{name}: the first transfer is too fast for gem5's caches")
    return number


def _burst(values: Values, name: str) -> list[int]:
    return [int(part) for part in str(values[name]).split("-")]


def _hz(values: Values, name: str) -> int:
    return round(float(values[name]) * 1_000_000)


def _whole(values: Values, name: str) -> int:
    value = values[name]
    assert isinstance(value, int), name
    return value
