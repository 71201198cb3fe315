# SPDX-License-Identifier: MIT
"""The ring crossings and address space switches of a call, from traced runs.

This module makes tables, and a picture of one call on several systems.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from p5lab.describe import experiment
from p5lab.describe.experiment import Filter
from p5lab.describe.observation import Observation, Trace
from p5lab.describe.observation.trace import CROSSINGS
from p5lab.evidence.calls_picture import BracketPanel, draw
from p5lab.evidence.records import Record
from p5lab.keep.result import Execute, succeeded
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.present import timeline
from p5lab.present.tables import Grid
from p5stats import crossings, phase_names
from p5stats.crossings import CrossingsBracket, Service, Step

MACH = ("mach", "mach-split")
SHOWN = ("linux", "linux-uml", *MACH)
# For a microkernel: the names of the servers in a trace, and the names that we show instead.
SERVERS = {"new program": "server", "program 2": "server", "program 3": "file server"}
STEP = ("who", "clocks", "end", "crosses", "switches")  # recorded
SUMS = ("clocks", "crossings", "switches")
PROGRAMS = "the programs themselves"
# What is recorded of each experiment: pairs of workload and guest.
STEPS = {
    "chen95-core": [("dup", guest) for guest in ("linux", "linux-uml")],
    "structure": [(call, guest) for call in ("dup", "open-close") for guest in MACH],
}
SERVICES = {
    "chen95-core": [
        (workload, guest)
        for workload in ("exec-static", "exec-dynamic")
        for guest in ("linux", "linux-uml")
    ]
}


def of_run(stored: Stored) -> list[Grid]:
    """Two tables for each phase of a traced run: the services and the steps of a typical bracket.

    Raises UserError if the run was executed without --trace crossings.
    """
    timeline.check(stored)
    names, grids = phase_names.of(stored.record), []
    for phase, brackets in crossings.read(stored.directory / CROSSINGS).items():
        bracket, name = crossings.typical(brackets), names.get(phase, str(phase))
        for what, grid in (("services", services(served(bracket))), ("steps", steps(bracket))):
            grids.append(replace(grid, title=f"{name}: {what} of a typical bracket"))
    return grids


def steps(bracket: CrossingsBracket) -> Grid:
    """All steps of a bracket, with their clocks and the sums."""
    grid = Grid("", ["Runs", "Clocks", "until"], left={2})
    for step in bracket.steps:
        grid.add(step.who, f"{step.clocks:,}", step.end)
    grid.add("all", f"{bracket.clocks:,}", bracket.summary)
    return grid


@dataclass(frozen=True)
class Served:
    """What a bracket's programs asked for with one event, such as a system call.

    `calls`, `stub_calls`: the calls from the UML kernel and its stub to the host, by name.
    """

    event: str
    times: int
    clocks: int
    crossings: int
    switches: int
    calls: dict[str, int]
    stub_calls: dict[str, int]


def served(bracket: CrossingsBracket) -> list[Served]:
    """The services that a bracket's programs use, in order of first use. The last one is the
    programs themselves."""
    merged: dict[tuple[str, bool], list[Service]] = {}
    for service in bracket.services():
        if service.event != crossings.END:
            merged.setdefault((service.event, bool(service.calls)), []).append(service)
    user_mode = any(by_uml for _, by_uml in merged)
    services = []
    for (event, by_uml), of_it in merged.items():
        if event == "page fault" and user_mode:
            event += ", for the UML kernel" if by_uml else ", for the host alone"
        calls: Counter[str] = sum((service.calls for service in of_it), Counter())
        stub: Counter[str] = sum((service.stub_calls for service in of_it), Counter())
        sums = {what: sum(getattr(service, what) for service in of_it) for what in SUMS}
        services.append(Served(event, len(of_it), **sums, calls=dict(calls), stub_calls=dict(stub)))
    programs = sum(step.clocks for step in bracket.steps if step.is_program)
    return [*services, Served(PROGRAMS, 0, programs, 0, 0, {}, {})]


def services(served: Sequence[Served]) -> Grid:
    """The services of a bracket, with the sums."""
    user_mode = any(service.calls for service in served)
    heads = ["Event", "Times", "Clocks", "Ring crossings", "CR3 loads"]
    calls = ["Calls from the UML kernel to the host", "Calls from the UML stub to the host"]
    grid = Grid("", heads + calls * user_mode, left={len(heads), len(heads) + 1})
    for service in served:
        counts = [service.times, service.clocks, service.crossings, service.switches]
        texts = [f"{count:,}" for count in counts]
        if service.event == PROGRAMS:
            texts = ["", texts[1], "", ""]
        made = _counted(service.calls), _counted(service.stub_calls)
        grid.add(service.event, *texts, *made[: 2 * user_mode])
    sums = [sum(getattr(service, what) for service in served) for what in ("times", *SUMS)]
    grid.add("all", *(f"{total:,}" for total in sums))
    return grid


def _counted(calls: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in calls.items())


def measured(lab: Lab, execute: Execute) -> Record:
    """The record: the steps of a typical bracket of each call of STEPS, and the services of each
    call of SERVICES, by "WORKLOAD GUEST". Raises UserError if a run fails."""
    steps_of, services_of = (
        {
            call: bracket
            for name, calls in wanted.items()
            for call, bracket in _brackets(lab, name, calls, execute).items()
        }
        for wanted in (STEPS, SERVICES)
    )
    return {
        "steps": {
            call: [[getattr(step, key) for key in STEP] for step in bracket.steps]
            for call, bracket in steps_of.items()
        },
        "services": {
            call: [list(vars(service).values()) for service in served(bracket)]
            for call, bracket in services_of.items()
        },
    }


def recorded_steps(known: Record) -> CrossingsBracket:
    """The bracket of one call in a record."""
    return CrossingsBracket([Step(**dict(zip(STEP, values, strict=True))) for values in known])


def recorded_services(known: Record) -> list[Served]:
    """The services of one call in a record."""
    return [Served(*values) for values in known]


def picture(known: Record) -> str:
    """The picture of a dup() on the systems of SHOWN, as SVG. `known`: the result of `measured`."""
    return draw(
        [BracketPanel(guest, recorded_steps(known["steps"][f"dup {guest}"])) for guest in SHOWN]
    )


def _brackets(
    lab: Lab, name: str, calls: Sequence[tuple[str, str]], execute: Execute
) -> dict[str, CrossingsBracket]:
    """Executes traced runs of an experiment. Returns a typical bracket for each call, by "WORKLOAD
    GUEST"."""
    choice = Filter(
        workloads=tuple(sorted({workload for workload, _ in calls})),
        guests=tuple(sorted({guest for _, guest in calls})),
        observation=Observation.of(Trace(("crossings",))),
    )
    runs = [
        run
        for run in experiment.load(lab, name, choice)
        if (run.workload.name, run.guest.name) in calls
    ]
    brackets = {}
    results = execute(runs)
    succeeded(results)
    for result in results:
        traced = crossings.read(result.directory / CROSSINGS)
        bracket = crossings.typical(traced[min(traced)])  # phase 0 is the operation itself
        if result.run.guest.structure == "microkernel":
            bracket = CrossingsBracket([_named(step) for step in bracket.steps])
        brackets[f"{result.run.workload.name} {result.run.guest.name}"] = bracket
    return brackets


def _named(step: Step) -> Step:
    """The step, after the trace's names of servers were replaced by the names in SERVERS."""
    who, end = SERVERS.get(step.who, step.who), step.end
    for before, after in SERVERS.items():
        if end.endswith(f" {before}"):
            end = end.removesuffix(before) + after
    return replace(step, who=who, end=end)
