# SPDX-License-Identifier: MIT
"""`./p5lab docs numbers`: records the numbers of runs and puts them into the documents.

docs/numbers.toml names the sources of the numbers and their places in the documents. A source is an
experiment, or a part of it, or the runs of the tutorial. docs/evidence/numbers.md explains how to
add a number.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from p5lab.describe import experiment, machine
from p5lab.describe.experiment import Filter, Run
from p5lab.describe.tomlfile import Table
from p5lab.errors import UserError, suggestion
from p5lab.evidence import document_file, generated, places, recorded, tutorial
from p5lab.evidence.places import Lookup, Places
from p5lab.evidence.recorded import SEPARATOR, Record, Source
from p5lab.execute import runner
from p5lab.execute.runner import Result
from p5lab.keep import store
from p5lab.keep.store import Stored
from p5lab.lab import Lab

NAME = "numbers"
KEYS = ("experiment", "guests", "workloads", "machine", "set", "costly", "tutorial")

Execute = Callable[[list[Run]], list[Result]]


def lookup(root: Path, record: Record) -> Lookup:
    """A function that returns the number with a given name: "SOURCE | GUEST | WORKLOAD | METRIC"
    for a recorded number, "FILE | TABLE | ROW | COLUMN" for a number of a generated table. The
    function raises UserError for an unknown name."""

    def of(name: str) -> float:
        source, _, rest = name.partition(SEPARATOR)
        if generated.is_document(source):
            return generated.number(root, name)
        known = record.sources.get(source)
        if known is None or rest not in known.numbers:
            raise UserError(f"{recorded.FILE}: no number {name!r}; run {places.COMMAND}")
        return known.numbers[rest]

    return of


def problems(root: Path) -> list[str]:
    """Compares the documents of a checkout with the record. Returns one line for each difference.

    Also returns a line for each recorded number that no document contains. Raises UserError if a
    place or a number is missing.
    """
    known, record = places.load(root), recorded.load(root)
    wanted = known.wanted(root)
    unused = [
        f"{recorded.FILE}: no document contains {source}{SEPARATOR}{name}"
        for source, found in record.sources.items()
        for name in found.numbers
        if name not in wanted.get(source, ())
    ]
    return places.problems(known, root, lookup(root, record)) + unused


def runs_of(lab: Lab, source: Table) -> list[Run]:
    """The runs of a source. Raises UserError if the experiment has no such runs."""
    source.only(KEYS)
    choice = Filter(
        machines=(source.text("machine"),) if "machine" in source.data else (),
        guests=tuple(source.texts("guests", [])),
        workloads=tuple(source.texts("workloads", [])),
        settings=tuple(machine.parse_settings(source.texts("set", [])).items()),
    )
    return experiment.load(lab, source.text("experiment"), choice)


def measured(lab: Lab, source: Table, execute: Execute) -> Source:
    """Makes the runs of a source and returns all their numbers. Raises UserError if a run fails."""
    if source.flag("tutorial", False):
        with tempfile.TemporaryDirectory(prefix="p5lab-tutorial-") as name:
            place = Path(name) / "tutorial"
            tutorial.copy(lab.root, place)
            for _ in tutorial.play(place):
                pass
            return _numbers(tutorial_results(place))
    return _numbers(runner.succeeded(execute(runs_of(lab, source))))


def _numbers(runs: list[Stored]) -> Source:
    return Source(recorded.tools_of(runs), recorded.numbers_of(runs))


def tutorial_results(place: Path) -> list[Stored]:
    """The runs that the tutorial made in a copy of the checkout."""
    return store.all_runs(Lab(place), tutorial.EXPERIMENT)


def _record(lab: Lab, known: Places, execute: Execute) -> Record:
    """Makes all runs and returns the record of the numbers that the documents need."""
    record = Record()
    for source, names in known.wanted(lab.root).items():
        now = measured(lab, known.sources[source], execute)
        for name in sorted(names - set(now.numbers)):
            wrong = f"{places.FILE}: source {source} has no number {name!r}"
            raise UserError("; ".join(filter(None, (wrong, suggestion(name, now.numbers)))))
        record.sources[source] = Source(
            now.tools, {name: now.numbers[name] for name in sorted(names)}
        )
    return record


def update(lab: Lab, execute: Execute, *, check: bool) -> Iterator[tuple[str, bool]]:
    """Records the numbers of all sources and rewrites the documents. Yields the record's file and
    each document, and whether its text has changed.

    With `check`, no file is written. Raises UserError if a run fails, if a place is missing in its
    document, or if a statement in words is no longer true. In these cases no file has changed.
    """
    known = places.load(lab.root)
    record = _record(lab, known, execute)
    of = lookup(lab.root, record)
    texts = {recorded.FILE: record.text()}
    for file in known.files:
        before = document_file.read(lab.root, file)
        texts[file] = places.rewritten(before, known.spots(file, before), of)
    if untrue := [one for one in known.words if not one.condition.number(of)]:
        raise UserError("\n".join(one.complaint(of) for one in untrue), status=1)
    for file, text in texts.items():
        path = lab.root / file
        changed = not path.is_file() or path.read_text(encoding="utf-8") != text
        if changed and not check:
            document_file.write(lab.root, file, text)
        yield file, changed
