# SPDX-License-Identifier: MIT
"""crossings.jsonl: the parts of the system that ran in a bracket, and the event that ended each
part.

A run with `--trace crossings` writes a line for every change of ring, address space or machine mode
inside a bracket. A step is the execution of one part of the system between two lines. The name of a
part is its role: the program that contains the bracket, a program that this program starts, or the
kernel in ring 0. The kernel of User-Mode Linux (UML) runs in ring 3. Calls of ptrace identify the
UML kernel. The UML kernel resumes its programs with PTRACE_SYSEMU, and resumes its stub with
PTRACE_CONT. The stub is a piece of code in the address space of each program, and maps memory in
this address space.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from p5stats import cpi, jsonl, known_calls
from p5stats.known_calls import SYSTEM_CALL
from p5stats.problems import StatsError

PAGE_FAULT = 14
END = "end of the bracket"
REGISTER = 64  # bits on x86-64
BREAKPOINT = 3  # INT 3 ends UML's stub
PTRACE, PTRACE_CONT, PTRACE_SYSEMU = 26, 7, 31
KERNEL, HOST_KERNEL, UML_KERNEL, STUB = "kernel", "host kernel", "UML kernel", "stub"
# Linux, include/uapi/linux/ptrace.h and arch/x86/include/uapi/asm/ptrace-abi.h.
PTRACE_REQUESTS = {
    0: "TRACEME",
    1: "PEEKTEXT",
    2: "PEEKDATA",
    3: "PEEKUSR",
    4: "POKETEXT",
    5: "POKEDATA",
    6: "POKEUSR",
    PTRACE_CONT: "CONT",
    8: "KILL",
    9: "SINGLESTEP",
    12: "GETREGS",
    13: "SETREGS",
    14: "GETFPREGS",
    15: "SETFPREGS",
    18: "GETFPXREGS",
    19: "SETFPXREGS",
    21: "OLDSETOPTIONS",
    24: "SYSCALL",
    25: "GET_THREAD_AREA",
    26: "SET_THREAD_AREA",
    PTRACE_SYSEMU: "SYSEMU",
    32: "SYSEMU_SINGLESTEP",
    0x4200: "SETOPTIONS",
    0x4202: "GETSIGINFO",
    0x4204: "GETREGSET",
    0x4205: "SETREGSET",
}


@dataclass(frozen=True)
class Crossing:
    """One line of the trace. `ring` and `cr3` are pairs: the value before and the value after."""

    kind: str
    vector: int | None
    tsc: int
    instructions: int
    ring: tuple[int, int]
    cr3: tuple[int, int]
    eax: int
    ebx: int
    counts: dict[str, int] = field(default_factory=dict)  # events since reset

    @property
    def is_call(self) -> bool:
        """Whether the crossing is a system call by INT 80h."""
        return self.kind == "int" and self.vector == SYSTEM_CALL

    @property
    def call(self) -> str:
        """The name of the system call. For ptrace, the name of the request follows."""
        if self.eax == PTRACE:
            return f"ptrace {PTRACE_REQUESTS.get(self.ebx, self.ebx)}"
        return known_calls.read().system_call(SYSTEM_CALL, self.eax)


@dataclass(frozen=True)
class Step:
    """The uninterrupted execution of one part of the system, and the crossing that ended it."""

    who: str
    clocks: int
    end: str
    crosses: bool  # the end is a change of ring
    switches: bool  # the end is a load of CR3
    is_call: bool = False  # the end is a system call
    is_program: bool = False
    # Events in the step: misses; with --cpi, also the idle clocks and the components of the CPI
    # stack. Empty: not recorded.
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def is_interrupt(self) -> bool:
        """Whether an interrupt ended the step."""
        return self.end.startswith("interrupt")


@dataclass
class Service:
    """The work between an event that stops a program (call, fault) and the next step in which a
    program runs."""

    event: str
    who: str
    clocks: int = 0  # of all parts except the program itself
    crossings: int = 0
    switches: int = 0  # loads of CR3
    calls: Counter[str] = field(default_factory=Counter)  # from the UML kernel to the host
    stub_calls: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class CrossingsBracket:
    """The steps between a begin and an end marker. `begin`: the clock at the begin marker."""

    steps: list[Step]
    begin: int = 0

    @property
    def clocks(self) -> int:
        """Clocks from the begin marker to the end marker."""
        return sum(step.clocks for step in self.steps)

    @property
    def summary(self) -> str:
        """The ring crossings and loads of CR3 of all steps, as text."""
        crossed = sum(step.crosses for step in self.steps)
        switched = sum(step.switches for step in self.steps)
        return f"{crossed} ring crossings, {switched} CR3 loads"

    @property
    def shape(self) -> tuple[tuple[str, str], ...]:
        """For each step, the part of the system that ran and the event that ended the step. Clocks
        are omitted."""
        return tuple((step.who, step.end) for step in self.steps)

    def services(self) -> list[Service]:
        """The services for the programs, in the order of the trace. The event of the last service
        is the end of the bracket."""
        services: list[Service] = []
        for step in self.steps:
            if step.is_program or not services:
                services.append(Service(step.end, step.who))
            else:
                services[-1].clocks += step.clocks
            services[-1].crossings += step.crosses
            services[-1].switches += step.switches
            if step.is_call and step.who == UML_KERNEL:
                services[-1].calls[step.end] += 1
            elif step.is_call and step.who == STUB:
                services[-1].stub_calls[step.end] += 1
        return services


def read(path: Path) -> dict[int, list[CrossingsBracket]]:
    """Brackets by phase. StatsError if the file is malformed or incomplete."""
    brackets: dict[int, list[CrossingsBracket]] = {}
    begin: _Line | None = None
    inside: list[Crossing] = []
    now = 0
    for where, data in jsonl.read(path):
        line = _Line(where, data)
        kind, tsc = line.get("kind", str), line.count("tsc")
        if tsc < now:
            raise line.fault(f"tsc went back from {now} to {tsc}")
        now = tsc
        if kind == "begin":
            begin, inside = line, []
        elif kind == "end":
            if begin is None or begin.count("phase") != line.count("phase"):
                raise line.fault("an end without its begin")
            steps = list(_steps(begin, inside, line))
            for number, step in enumerate(steps, 1):
                cpi.check_clocks(f"{where}: step {number}", step.clocks, step.counts)
            brackets.setdefault(line.count("phase"), []).append(
                CrossingsBracket(steps, begin.count("tsc"))
            )
            begin = None
        else:
            inside.append(_crossing(line))
    if not brackets and begin is None:
        raise StatsError(f"{path}: no bracket in it")
    if begin is not None:
        raise StatsError(f"{path}: ends inside a bracket: the run did not finish")
    return brackets


class _Line(jsonl.Line):
    def fault(self, what: str) -> StatsError:
        return super().fault(f"not a line of a trace: {what}")

    def pair(self, key: str) -> tuple[int, int]:
        """Two integers: the values before and after the crossing."""
        value = self.get(key, list)
        if len(value) != 2:
            raise self.fault(f"{key}: expected two numbers")
        return self.whole(key, value[0]), self.whole(key, value[1])

    def counts(self) -> dict[str, int]:
        """Events since reset; empty in traces of older engines."""
        value = self.get("counts", dict) if "counts" in self.data else {}
        return {event: self.whole(event, count) for event, count in value.items()}


def typical(brackets: Iterable[CrossingsBracket]) -> CrossingsBracket:
    """Of the brackets with the fewest interrupts, the first that has the most frequent shape.

    StatsError if there is no bracket.
    """
    brackets = list(brackets)
    if not brackets:
        raise StatsError("the trace has no bracket")

    def struck(bracket: CrossingsBracket) -> int:
        return sum(step.is_interrupt for step in bracket.steps)

    fewest = min(map(struck, brackets))
    calm = [bracket for bracket in brackets if struck(bracket) == fewest]
    (shape, _), *_ = Counter(bracket.shape for bracket in calm).most_common(1)
    return next(bracket for bracket in calm if bracket.shape == shape)


def _crossing(line: _Line) -> Crossing:
    vector = None if line.data.get("vector", ...) is None else line.count("vector")
    return Crossing(
        line.get("kind", str),
        vector,
        line.count("tsc"),
        line.count("instructions"),
        line.pair("ring"),
        line.pair("cr3"),
        line.count("eax", REGISTER),
        line.count("ebx", REGISTER),
        line.counts(),
    )


def _steps(begin: "_Line", crossings: list[Crossing], end: "_Line") -> Iterator[Step]:
    names = _names(crossings)
    since, stub = begin.count("tsc"), False
    counts = begin.counts()
    for crossing in crossings:
        who = names.part(crossing.ring[0], crossing.cr3[0], stub)
        if crossing.is_call and crossing.eax == PTRACE and crossing.ebx == PTRACE_CONT:
            stub = True
        if crossing.is_call and crossing.eax == PTRACE and crossing.ebx == PTRACE_SYSEMU:
            stub = False
        yield Step(
            who=who,
            clocks=crossing.tsc - since,
            end=_end(crossing, names, stub),
            crosses=crossing.ring[0] != crossing.ring[1],
            switches=crossing.kind == "cr3",
            is_call=crossing.is_call,
            is_program=names.is_program(crossing.ring[0], crossing.cr3[0]) and who != STUB,
            counts=_grown(counts, crossing.counts),
        )
        since, counts = crossing.tsc, crossing.counts
    last = (crossings[-1].ring[1], crossings[-1].cr3[1]) if crossings else (3, 0)
    yield Step(
        names.part(*last, stub),
        end.count("tsc") - since,
        END,
        False,
        False,
        is_program=True,
        counts=_grown(counts, end.counts()),
    )


def _grown(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {event: count - before[event] for event, count in after.items() if event in before}


def _end(crossing: Crossing, names: "_Names", stub: bool) -> str:
    if crossing.is_call:
        return crossing.call
    if crossing.kind == "exception" and crossing.vector == PAGE_FAULT:
        return "page fault"
    if crossing.kind == "int" and crossing.vector == BREAKPOINT:
        return "INT 3"
    if crossing.kind == "iret":
        return f"IRET to {names.part(crossing.ring[1], crossing.cr3[1], stub)}"
    if crossing.kind == "cr3":
        same = crossing.cr3[0] == crossing.cr3[1]
        return "CR3 again" if same else f"CR3: space of {names.space(crossing.cr3[1])}"
    return crossing.kind if crossing.vector is None else f"{crossing.kind} {crossing.vector:#x}"


@dataclass(frozen=True)
class _Names:
    """The name of each address space, by CR3. The name comes from the program in the space."""

    spaces: dict[int, str]
    kernel: str

    def space(self, cr3: int) -> str:
        return self.spaces.get(cr3, self.kernel)

    def is_program(self, ring: int, cr3: int) -> bool:
        return ring == 3 and self.space(cr3) != UML_KERNEL

    def part(self, ring: int, cr3: int, stub: bool) -> str:
        if ring == 0:
            return self.kernel
        return STUB if stub and self.is_program(ring, cr3) else self.space(cr3)


def _names(crossings: list[Crossing]) -> _Names:
    order: list[int] = []  # spaces that run in ring 3, by first appearance
    tracer = None
    for crossing in crossings:
        for side in (0, 1):
            if crossing.ring[side] == 3 and crossing.cr3[side] not in order:
                order.append(crossing.cr3[side])
        if crossing.is_call and crossing.eax == PTRACE and crossing.ebx == PTRACE_SYSEMU:
            tracer = crossing.cr3[0]
    programs = [cr3 for cr3 in order if cr3 != tracer] or [0]
    spaces = {programs[0]: "program"}
    for number, cr3 in enumerate(programs[1:], 2):
        spaces[cr3] = "new program" if len(programs) == 2 else f"program {number}"
    if tracer is None:
        return _Names(spaces, KERNEL)
    return _Names({**spaces, tracer: UML_KERNEL}, HOST_KERNEL)
