# SPDX-License-Identifier: MIT
"""The ring crossings and address space switches of a call, from traced runs.

This module makes tables for documents, and a picture of one call on several systems.
p5lab.evidence.documents lists the documents.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from p5lab.describe import experiment
from p5lab.describe.experiment import Filter, Run
from p5lab.describe.observation import Observation, Trace
from p5lab.describe.observation.trace import CROSSINGS
from p5lab.errors import UserError
from p5lab.evidence.calls_picture import Panel, draw
from p5lab.execute import runner
from p5lab.execute.runner import Result
from p5lab.lab import Lab
from p5stats import crossings
from p5stats.crossings import Bracket, Service, Step

Execute = Callable[[list[Run]], list[Result]]
SHOWN = ("linux", "linux-uml", "mach", "mach-split")
# For a microkernel: the names of the servers in a trace, and the names that we show instead.
SERVERS = {"new program": "server", "program 2": "server", "program 3": "file server"}
TABLE = re.compile(r"(<!-- (steps|services) of (\S+) on (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def of_run(directory: Path) -> str:
    """A traced run in Markdown. For each phase: the services and steps of a typical bracket.

    Raises UserError if the directory of the run contains no trace of crossings.
    """
    if not (directory / CROSSINGS).is_file():
        raise UserError(f"{directory}: no {CROSSINGS}: expected a run with --trace crossings")
    parts = []
    for phase, brackets in crossings.read(directory / CROSSINGS).items():
        bracket = crossings.typical(brackets)
        parts.append(f"Phase {phase}\n\n{services(bracket)}\n{steps(bracket)}")
    return "\n".join(parts)


def steps(bracket: Bracket) -> str:
    """A Markdown table of all steps of a bracket, with their clocks and the sums."""
    rows = [[step.who, f"{step.clocks:,}", step.end] for step in bracket.steps]
    total = sum(step.crosses for step in bracket.steps)
    switches = sum(step.switches for step in bracket.steps)
    rows.append(
        ["**all**", f"**{bracket.clocks:,}**", f"{total} ring crossings, {switches} CR3 loads"]
    )
    return _table(["Runs", "Clocks", "until"], rows)


def services(bracket: Bracket) -> str:
    """A Markdown table of the services that a bracket's programs use, in order of first use."""
    merged: dict[tuple[str, bool], list[Service]] = {}
    for service in bracket.services():
        if service.event != crossings.END:
            merged.setdefault((service.event, bool(service.calls)), []).append(service)
    user_mode = any(by_uml for _, by_uml in merged)
    rows, everything = [], []
    for (event, by_uml), found in merged.items():
        everything += found
        name = event
        if event == "page fault" and user_mode:
            name += ", for the UML kernel" if by_uml else ", for the host alone"
        rows.append([name, *_sums(found, user_mode)])
    programs = sum(step.clocks for step in bracket.steps if step.is_program)
    rows.append(["the programs themselves", "", f"{programs:,}", "", "", *["", ""] * user_mode])
    sums = _sums(everything, False)
    sums[1] = f"{bracket.clocks:,}"
    rows.append(["**all**", *(f"**{text}**" for text in sums), *["", ""] * user_mode])
    head = ["Event", "Times", "Clocks", "Ring crossings", "CR3 loads"]
    calls = ["Calls from the UML kernel to the host", "Calls from the UML stub to the host"]
    return _table(head + calls * user_mode, rows)


def _sums(found: list[Service], user_mode: bool) -> list[str]:
    calls: Counter[str] = sum((service.calls for service in found), Counter())
    stub: Counter[str] = sum((service.stub_calls for service in found), Counter())
    numbers = [
        len(found),
        sum(service.clocks for service in found),
        sum(service.crossings for service in found),
        sum(service.switches for service in found),
    ]
    texts = [f"{number:,}" for number in numbers]
    return texts + [_counted(calls), _counted(stub)] * user_mode


def _counted(calls: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in calls.items())


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def render(lab: Lab, text: str, experiment_name: str, execute: Execute) -> str:
    """The document with new tables. The tables show runs of one experiment.

    `execute` runs the workloads of the tables. The text between the tables does not change. Raises
    UserError if a run fails.
    """
    wanted = {(workload, guest) for _, _, workload, guest, _, _ in TABLE.findall(text)}
    found = brackets(lab, experiment_name, wanted, execute)

    def table(match: re.Match[str]) -> str:
        start, kind, workload, guest, _, end = match.groups()
        bracket = found[workload, guest]
        return start + (steps(bracket) if kind == "steps" else services(bracket)) + end

    return TABLE.sub(table, text)


def picture(lab: Lab, experiment_name: str, execute: Execute) -> str:
    """The picture of a dup() on the systems of SHOWN, as SVG. Raises UserError if a run fails."""
    found = brackets(lab, experiment_name, {("dup", guest) for guest in SHOWN}, execute)
    return draw([Panel(guest, found["dup", guest]) for guest in SHOWN])


def brackets(
    lab: Lab, experiment_name: str, wanted: set[tuple[str, str]], execute: Execute
) -> dict[tuple[str, str], Bracket]:
    """Executes traced runs. Returns a typical bracket for each pair of workload and guest in
    `wanted`."""
    choice = Filter(
        workloads=tuple(sorted({workload for workload, _ in wanted})),
        guests=tuple(sorted({guest for _, guest in wanted})),
        observation=Observation.of(Trace(("crossings",))),
    )
    runs = [
        run
        for run in experiment.load(lab, experiment_name, choice)
        if (run.workload.name, run.guest.name) in wanted
    ]
    found = {}
    results = execute(runs)
    runner.succeeded(results)
    for result in results:
        traced = crossings.read(result.directory / CROSSINGS)
        bracket = crossings.typical(traced[min(traced)])  # phase 0 is the operation itself
        if result.run.guest.structure == "microkernel":
            bracket = Bracket([_named(step) for step in bracket.steps])
        found[result.run.workload.name, result.run.guest.name] = bracket
    return found


def _named(step: Step) -> Step:
    """The step, after the trace's names of servers were replaced by the names in SERVERS."""
    who, end = SERVERS.get(step.who, step.who), step.end
    for before, after in SERVERS.items():
        if end.endswith(f" {before}"):
            end = end.removesuffix(before) + after
    return replace(step, who=who, end=end)
