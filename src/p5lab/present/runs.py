# SPDX-License-Identifier: MIT
"""Prints one run directory in full, or one line for each of several run directories."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from p5lab.describe import outputs
from p5lab.keep import named
from p5lab.keep.store import Stored
from p5lab.present import (
    breakdown,
    breakdown_table,
    comparison,
    counts,
    one_system,
    program_output,
    screen,
)
from p5lab.present.comparison import Cell, Comparison
from p5lab.present.tables import MISSING
from p5lab.terminal import for_terminal, markup
from p5stats.phase_names import PHASE_NAME

MOST_PHASES = 2  # with a table of calls, for example boot and a window
SHORT_ID = 10  # digits of a run's id in a list
CUT = " ..."
LEAST = 20  # columns of a reason in a terminal that is too narrow
DIGEST = 16  # digits of a digest that are shown; run.json has all digits


def show(console: Console, stored: Stored, form: str = "table") -> None:
    """Prints all data of one run. If `form` is a format for programs, prints only the counts of the
    run."""
    record = stored.record
    if form != "table" and record["identity"]:
        counts.of(console, Comparison([stored]), form)
        return
    if not record["identity"]:
        console.print(markup(f"{stored.id}: {record['status']}: {record['reason']}"))
        return
    console.print(_facts(stored))
    console.print(_digests(record))
    if shown := screen.steps(stored) + screen.text(stored):
        console.print(markup(shown, lines=True), end="", soft_wrap=True)
    if printed := program_output.several([(stored, str(stored.directory))]):
        console.print(markup(printed, lines=True), end="", soft_wrap=True)
    if stored.status != "ok":
        for path in sorted((*stored.directory.glob("*.log"), *stored.directory.glob("*.out"))):
            console.print(markup(f"log: {path} ({path.stat().st_size} bytes)"), highlight=False)
        return
    (phases,) = comparison.measure([stored])
    cells = [Cell([measured]) for measured in phases]
    if record["workload"]["curve"]:
        one_system.curve(cells, console.width).print(console)
    for grid in one_system.metrics(cells, console.width):
        grid.print(console)
    if (stored.directory / outputs.file("calls")).is_file():
        _calls(console, stored)


def _calls(console: Console, stored: Stored) -> None:
    """Prints the counts by call of a run with at most MOST_PHASES phases, and else the command that
    prints them. Prints nothing for a run whose file is older than these counts."""
    question = breakdown.ask(["call"])
    ((_, is_counted),) = breakdown.counting([[stored]], question)
    if not is_counted:
        return
    tables = breakdown.of_runs([stored], question)
    if len(tables) <= MOST_PHASES:
        breakdown_table.show(console, tables, "table", breakdown_table.ROWS)
    else:
        line = f"Counts by call: `./p5lab show {stored.id[:8]} --calls`"
        console.print(markup(line), highlight=False, soft_wrap=True)


def _facts(stored: Stored) -> Table:
    """Returns a table of the inputs and the status of a run."""
    record = stored.record
    own = named.of(record)
    guest, *machine = comparison.system_of(record)
    called = {"label": ", ".join(own.labels), "note": own.note, "tags": " ".join(own.tags)}
    facts = _pairs()
    rows = [
        ("run", stored.id),
        ("status", " ".join(filter(None, (record["status"], record["reason"])))),
        *((name, text) for name, text in called.items() if text),
        ("experiment", record["experiment"]),
        ("engine", record["engine"]),
        ("machine", " ".join(filter(None, machine))),
        ("instructions", record["machine"]["values"].get("cpu.isa", MISSING)),
        ("guest", guest),
        _what_ran(record),
        ("bracket", record["workload"]["bracket"]),
        ("feedback", record["feedback"]),
        ("versions", ", ".join(f"{name} {text}" for name, text in record["versions"].items())),
        ("started", record.get("started", "-")),
        ("wall time", f"{record['wall_seconds']} s" if "wall_seconds" in record else "-"),
        ("engine notes", "; ".join(_notes(record)) or "none"),
        ("directory", str(stored.directory)),
    ]
    for name, value in rows:
        facts.add_row(name, markup(value), style="red" if value.startswith("failed") else "")
    return facts


def _pairs(style: str = "") -> Table:
    """Returns a table of names and values, without rows."""
    pairs = Table(box=None, show_header=False, padding=(0, 2, 0, 0), style=style)
    pairs.add_column(no_wrap=True)
    pairs.add_column(overflow="fold")
    return pairs


def _digests(record: dict[str, Any]) -> Table:
    """Returns a table of the input files of a run, with the beginning of each digest."""
    files = _pairs("dim")
    for role, sha256 in record["identity"]["digests"].items():
        files.add_row(markup(role), f"sha256 {sha256[:DIGEST]}...")
    return files


def _what_ran(record: dict[str, Any]) -> tuple[str, str]:
    """Returns the row about the user's program or about the job of the guest."""
    if program := program_output.name(record):
        return "program", program
    if media := record.get("media"):
        return "media", ", ".join(_medium(role, medium) for role, medium in media.items())
    return "job", _job(record["identity"]["settings"])


def _medium(role: str, medium: dict[str, str]) -> str:
    """Returns a medium with its name, its form and the beginning of its digest."""
    name = " ".join(filter(None, (medium["file"], medium["form"], medium["known_as"])))
    return f"{role} {name} (sha256 {medium['sha256'][:DIGEST]}...)"


def _job(settings: dict[str, Any]) -> str:
    """Returns the job of the guest. The place of the job in the settings depends on the engine and
    on the version of the record."""
    for part in (settings.get("job"), settings.get("engine.conf")):
        if isinstance(part, dict) and "run.job" in part:
            return str(part["run.job"])
    return "-"


def _notes(record: dict[str, Any]) -> Iterator[str]:
    """Yields the notes of the engine, except the names of phases, which the tables show."""
    for note in record.get("notes", []):
        if note.get("what") != PHASE_NAME:
            yield " ".join(str(value) for value in note.values())


def each(console: Console, stored: Sequence[Stored]) -> None:
    """Prints a table with a row for each run. Only the name of a run may continue on a second line.

    The reasons of failures follow below the table, with one line for each run. A longer reason is
    cut after a word, and a remark says how to print all of it.
    """
    table = Table(box=box.SIMPLE_HEAD)
    for head in ("run", "experiment", "status", "wall s"):
        table.add_column(head, no_wrap=True)
    table.add_column("what", overflow="fold")
    for run in stored:
        record = run.record
        table.add_row(
            run.id[:SHORT_ID],
            markup(record["experiment"]),
            record["status"],
            str(record.get("wall_seconds", "-")),
            markup(named.shown(record)),
        )
    console.print(table)
    _reasons(console, [run for run in stored if run.record["reason"]])


def _reasons(console: Console, failed: Sequence[Stored]) -> None:
    """Prints a line for each of these runs with the reason of its failure."""
    is_cut = False
    for run in failed:
        name = f"  {run.id[:SHORT_ID]}   "
        reason = for_terminal(" ".join(run.record["reason"].split()))
        room = max(console.width - len(name), LEAST)
        if cell_len(reason) > room:
            reason, is_cut = cut(reason, room - len(CUT)) + CUT, True
        console.print(escape(name + reason), highlight=False, soft_wrap=True)
    if is_cut:
        console.print("./p5lab show RUN prints the whole reason.", style="dim", highlight=False)


def cut(text: str, width: int) -> str:
    """Returns the first words of a text that need at most `width` columns of the terminal. A first
    word that is longer is divided."""
    while cell_len(text) > width:
        text = text[:-1].rpartition(" ")[0] or text[:-1]
    return text
