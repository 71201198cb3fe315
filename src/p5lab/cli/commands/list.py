# SPDX-License-Identifier: MIT
#: 110 list [WHAT]         list experiments, guests, programs, notebooks, runs, ...
"""`list`: list experiments, machines, guests, workloads, programs, notebooks, runs.

examples:
  ./p5lab list
  ./p5lab list runs --json
"""

import argparse
from collections.abc import Callable

from rich.table import Table

from p5lab.cli import arguments, options
from p5lab.cli.parser import LIST
from p5lab.describe import experiment, guest, machine, notebook, workload
from p5lab.describe.supplied import SuppliedSystem
from p5lab.errors import STATUS_BAD_INPUT, UserError
from p5lab.host.supplied_programs import SYSTEMS
from p5lab.keep import index, named, store
from p5lab.lab import Lab
from p5lab.present import counts, runs
from p5lab.terminal import markup

LISTS = ("experiments", "machines", "guests", "workloads", "programs", "notebooks", "runs")
# `list runs --json` prints these fields of a record.
RUN = (
    "run",
    "experiment",
    "label",
    "named",
    "note",
    "tags",
    "engine",
    "seed",
    "status",
    "reason",
    "started",
    "wall_seconds",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `list`."""
    what = f"[{LIST}]  one of {', '.join(LISTS)} (default: all)"
    arguments.add(parser, what, what={"nargs": "?", "choices": LISTS})
    options.add(parser, "json")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `list`."""
    what = (args.what,) if args.what else LISTS
    known = {kind: _known(kind, lab) for kind in what if kind != "runs"}
    if args.form == "json":
        made: dict[str, object] = {
            kind: _as_json(known[kind]) if kind in known else _runs_as_json(lab) for kind in what
        }
        options.print_json(made)
        return _status(known)
    console = counts.stdout()
    for kind in what:
        if kind == "runs":
            runs.each(console, _runs(lab))
            continue
        table = Table(
            box=None, show_header=False, title=kind, title_justify="left", padding=(0, 2, 0, 2)
        )
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, title in known[kind]:
            text = f"cannot be used: {title}" if isinstance(title, UserError) else title
            table.add_row(name, markup(text))
        console.print(table)
    return _status(known)


def _status(known: dict[str, list[tuple[str, str | UserError]]]) -> int:
    """The exit status of `list`: 2 if a file is wrong."""
    wrong = any(isinstance(title, UserError) for rows in known.values() for _, title in rows)
    return STATUS_BAD_INPUT if wrong else 0


def _runs(lab: Lab) -> list[store.Stored]:
    """All runs, the newest last."""
    return sorted(index.runs(lab), key=lambda stored: stored.started)


def _runs_as_json(lab: Lab) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for stored in _runs(lab):
        own = named.of(stored.record)
        texts = {"named": own.label, "note": own.note, "tags": list(own.tags)}
        rows.append({key: {**stored.record, **texts}.get(key) for key in RUN})
    return rows


def _as_json(known: list[tuple[str, str | UserError]]) -> list[dict[str, object]]:
    return [
        {"name": name, "title": "", "error": str(title)}
        if isinstance(title, UserError)
        else {"name": name, "title": title}
        for name, title in known
    ]


def _known(kind: str, lab: Lab) -> list[tuple[str, str | UserError]]:
    """Each name of a kind with its title. If the file of a name is wrong, the error takes the place
    of the title, and the other names stay in the list."""

    def titled(names: list[str], title: Callable[[str], str]) -> list[tuple[str, str | UserError]]:
        return [(name, _or_error(title, name)) for name in names]

    if kind == "experiments":
        return titled(experiment.names(lab), lambda name: experiment.title(lab, name))
    if kind == "machines":
        return titled(
            machine.names(lab), lambda name: str(machine.load(lab, name).values["machine.title"])
        )
    if kind == "guests":
        return titled(guest.names(lab), lambda name: guest.load(lab, name).title)
    if kind == "programs":
        return [row for system in SYSTEMS.values() for row in _supplied(system, lab)]
    if kind == "notebooks":
        return titled(notebook.names(lab), lambda name: notebook.title(lab, name))
    read = workload.reader(lab)
    titles = titled(workload.names(lab), lambda name: read(name).title)
    return [(name, title) for name, title in titles if not workload.is_test(str(title))]


def _supplied(system: SuppliedSystem, lab: Lab) -> list[tuple[str, str | UserError]]:
    """Each program for a system with its title, or one error for all programs of the system."""
    try:
        return [
            (f"{system.name}/{name}", program.title) for name, program in system.load(lab).items()
        ]
    except UserError as error:
        return [(system.name, error)]


def _or_error(title: Callable[[str], str], name: str) -> str | UserError:
    try:
        return title(name)
    except UserError as error:
        return error
