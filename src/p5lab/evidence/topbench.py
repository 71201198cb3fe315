# SPDX-License-Identifier: MIT
"""TOPBENCH's times on boards of ours, beside those in its database.

configs/topbench.toml describes the comparison. The program belongs to the user. The record
docs/evidence/records/topbench.json has the times of the last runs. `./p5lab docs topbench` makes
the runs again.
"""

import re
from pathlib import Path

from p5lab.describe import guest, media, script, tomlfile
from p5lab.describe.experiment import Run
from p5lab.describe.request import Filter, Request, UserMedia
from p5lab.describe.tomlfile import TomlTable
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.evidence.records import Record
from p5lab.files import digest_of
from p5lab.keep.result import Execute, succeeded
from p5lab.lab import Lab
from p5lab.prepare import prepare
from p5lab.present.tables import Grid
from p5stats.claims import FAILS, FITTED, HOLDS, PREDICTED

FILE = "configs/topbench.toml"
LIMIT_SECONDS = 250  # modelled
SCREEN = "screen.txt"
TESTS = {
    "MemoryTest": "memory",
    "OpcodeTest": "opcodes",
    "MemEATest": "effective addresses",
    "3DGameTest": "3-D games",
}
ROUNDED = 0.5  # us; a printed time may be this far from the measured one
WITHIN = 0.10  # of a published time: the bound of rounded numbers (claims.md)


def _load(lab: Lab) -> TomlTable:
    return tomlfile.load(lab.root / FILE, ("source", "program", "system"))


def measured(lab: Lab, execute: Execute) -> Record:
    """The record of new runs. Raises UserError if the program or the guest's medium is missing or
    has another content, and if a run fails or shows no times."""
    table = _load(lab)
    program = _program(table.table("program"))
    machines = [system.text("machine") for system in table.tables("system")]
    runs = [_run(lab, table.table("program"), program, machine) for machine in machines]
    done = succeeded(execute(runs))
    return {
        machine: times((stored.directory / SCREEN).read_text(encoding="utf-8"))
        for machine, stored in zip(machines, done, strict=True)
    }


def _program(table: TomlTable) -> Path:
    table.only(("file", "what", "sha256", "guest", "script"))
    name, expected = table.text("file"), table.text("sha256")
    path = media.placed(name)
    if path is None or digest_of(path) != expected:
        state = "missing" if path is None else f"{path}: another content than"
        raise UserError(
            f"{media.VARIABLE}: {state} {name} ({table.text('what')}, sha256 {expected})"
        )
    return path


def _run(lab: Lab, table: TomlTable, program: Path, machine: str) -> Run:
    name = table.text("guest")
    files = [medium.file for medium in guest.media_guest(lab, name).media]
    if absent := [file for file in files if media.placed(file) is None]:
        raise UserError(f"{media.VARIABLE}: missing {', '.join(absent)}")
    steps = script.load(lab.root / table.text("script"))
    asked = UserMedia(scripts=(steps,), put=(program,))
    choice = Filter(guests=(name,), machines=(machine,), limit=LIMIT_SECONDS)
    (run,) = prepare(lab, Request(asked, choice)).runs
    return run


def times(screen: str) -> dict[str, int]:
    """The times of the last entry that a screen shows, in microseconds. Raises UserError if one is
    missing."""
    micros = {}
    for test in TESTS:
        matches = re.findall(rf"^{test}=(\d+)\s*$", screen, re.MULTILINE)
        if not matches:
            raise UserError(f"{SCREEN}: expected a line {test}=MICROSECONDS", status=STATUS_FAILED)
        micros[test] = int(matches[-1])
    return micros


def error(published: float, here: float) -> float:
    """The error of a time as a part of the published one. Both are rounded, so an error begins at
    half a microsecond."""
    beyond = max(abs(here - published) - ROUNDED, 0.0)
    return beyond / published if here > published else -beyond / published


def tables(lab: Lab, record: Record) -> dict[str, Grid]:
    """The table of a record, by its name."""
    heads = ["Test", "Machine", "Its PC in the database", "Published", "Here", "Error", "Role"]
    grid = Grid("", [*heads, "Holds"], left={1, 2, 6, 7})
    for system in _load(lab).tables("system"):
        system.only(("machine", "title", "note", "role", "times"))
        role = system.choice("role", (FITTED, PREDICTED))
        machine, here = system.text("machine"), record[system.text("machine")]
        published = system.table("times").numbers()
        for test, name in TESTS.items():
            off = error(published[test], here[test])
            grid.add(
                name,
                f"`{machine}`",
                f"{system.text('title')} ({system.text('note')})",
                f"{published[test]} µs",
                f"{here[test]} µs",
                f"{100 * off:+.0f} %" if off else "0 %",
                role,
                HOLDS if abs(off) <= WITHIN else FAILS,
            )
    return {"times": grid}
