# SPDX-License-Identifier: MIT
"""Executes a fragment of code without an operating system, for `./p5lab cycles`."""

import tempfile
from itertools import pairwise
from pathlib import Path

from p5lab.describe.fragment import FIRST, Fragment, Issue
from p5lab.describe.machine import Machine
from p5lab.engines.bochs import bare
from p5lab.engines.bochs.engine import TIME_LIMIT, Bochs
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.execute import forkserver
from p5lab.host import build
from p5lab.lab import Lab
from p5lab.progress import Progress
from p5stats import events

FAULT = 256  # the exit status of the caller is this number and the vector of an exception
INVALID_OPCODE = 6
# The exceptions of a Pentium [INTEL-DM 14].
NAMES = {
    0: "#DE, division error",
    1: "#DB, debug exception",
    3: "#BP, INT3",
    4: "#OF, overflow",
    5: "#BR, bounds",
    6: "#UD, invalid opcode",
    7: "#NM, no x87",
    8: "#DF, double fault",
    10: "#TS, invalid TSS",
    11: "#NP, segment not present",
    12: "#SS, stack segment",
    13: "#GP, general protection",
    16: "#MF, x87 error",
    17: "#AC, alignment",
}


def ensure(lab: Lab) -> None:
    """Builds what `traced` needs."""
    build.ensure(lab, Progress(), bare.targets(lab))


def traced(lab: Lab, machine: Machine, fragment: Fragment) -> tuple[Fragment, list[Issue]]:
    """The instructions of the last of several calls of a fragment. Straight code is repeated behind
    itself, and the returned fragment is the one that was executed. The last issue belongs to the
    caller: its clock is the end.

    Raises UserError for a fragment that raises an exception or does not end.
    """
    last = _last_call(_run(lab, machine, fragment))
    inside = [issue for issue in last if fragment.contains(issue.address)]
    if not _is_straight(fragment, inside):
        return fragment, last
    copies = fragment.repeated()
    return copies, _last_call(_run(lab, machine, copies))


def _is_straight(fragment: Fragment, inside: list[Issue]) -> bool:
    """Whether the code leaves at its end, and control never goes back in it."""
    back = any(b.address <= a.address for a, b in pairwise(inside))
    return not back and not fragment.is_return(inside[-1].address)


def _last_call(every: list[Issue]) -> list[Issue]:
    """The issues of the last call, which begins with the same instruction as all calls."""
    begin = max(i for i, issue in enumerate(every) if issue.address == every[0].address)
    return every[begin:]


def _run(lab: Lab, machine: Machine, fragment: Fragment) -> list[Issue]:
    with tempfile.TemporaryDirectory(prefix="p5lab-cycles-") as name:
        place = Path(name)
        made = bare.plan(lab, machine, fragment, place)
        for file, content in made.write.items():
            (place / file).write_bytes(content)
        with (place / "lock").open("w") as lock:
            status = forkserver.start(made, place, lock.fileno()).wait()
        issues = bare.issues(place)
        guest_status = None
        if status == 0:
            guest_status = events.parse(place / "events.jsonl").guest_status
        if guest_status == 0 and len(issues) < bare.INSTRUCTIONS:
            return issues
        inside = [issue.address for issue in issues if fragment.contains(issue.address)]
        where = _where(fragment, inside[-1]) if inside else fragment.name
        if status == TIME_LIMIT or (guest_status == 0 and issues):
            raise UserError(
                f"{where}: the fragment does not end within {bare.SECONDS} s of virtual time and"
                f" {bare.INSTRUCTIONS:,} instructions; expected one that ends, such as a loop that"
                " counts ECX down from 100",
                status=STATUS_FAILED,
            )
        if guest_status and guest_status >= FAULT:
            vector = guest_status - FAULT
            more = ""
            called = [issue.address for issue in issues if issue.address >= FIRST]
            if called and not fragment.contains(called[-1]):
                more = " in a function that it calls; a fragment has no operating system"
            elif vector == INVALID_OPCODE:
                isa = machine.values["cpu.isa"]
                more = f"; the processor ({isa}) does not have this instruction"
            named = NAMES.get(vector)
            said = f"exception {vector}" + (f" ({named})" if named else "")
            raise UserError(f"{where}: {said}{more}", status=STATUS_FAILED)
        reason = Bochs().collect(place, status).reason
    raise UserError(f"{where}: {reason}", status=STATUS_FAILED)


def _where(fragment: Fragment, address: int) -> str:
    line = fragment.line(address)
    place = f"{fragment.name}:{line}" if line else f"{fragment.name} {fragment.label(address)}"
    return f"{place}: `{fragment.text(address)}`"
