# SPDX-License-Identifier: MIT
#: 140 explain EXPERIMENT  show why one system needs more cycles than another
"""`explain`: show why one system needs more cycles than another.

Divides the difference in busy cycles between two systems by component of the CPI stack and by ring,
and prints the largest causes first. The runs need --cpi. With 5 or more placement seeds (run --seed
0-4), each difference has a range, and no cause is named if its range includes zero.

examples:
  ./p5lab explain chen95-core linux mach
  ./p5lab explain 3f2a91 91bc04 --single
  ./p5lab explain chen95-core linux linux-uml --only dup --format markdown
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from p5lab.cli import arguments, options
from p5lab.describe import guest
from p5lab.describe import machine as machines
from p5lab.describe.keys import readable
from p5lab.errors import STATUS_FAILED, UserError, unknown
from p5lab.host import packages
from p5lab.host.progress import Progress
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.present import breakdown, counts, cpi_stack, explanation
from p5lab.present.explanation import Explanation
from p5lab.present.figure_size import FigureSize
from p5stats.dimensions import COMPONENT

SEEDS = 5  # the smallest number of placement seeds, without --single
PAIR = 2  # systems
EARLIER, LATER = "the earlier run", "the later run"  # the names of two runs of one system


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `explain`."""
    arguments.add(
        parser,
        f"""
        words=WHAT...  two runs (the first characters of their ids), or an experiment and the names
            of two of its systems: a guest, a machine or a value such as l2.size=256K. Without the
            names, the experiment must have two systems
        --single  accept fewer than {SEEDS} seeds; with one seed the differences have no range
        --by DIMENSION,...  also divide by these dimensions, such as function, mode or crossing, the
            reason for entering the kernel (docs/concepts/dimensions.md). The runs need --cpi and
            the option that counts by the dimension. The empty bracket is then not subtracted
        """,
    )
    options.add(parser, "division")
    parser.add_argument(
        "--export",
        type=Path,
        metavar="DIR",
        help="also write a figure of each difference as SVG, PDF, PNG and CSV into this directory,"
        " with a step for each cause",
    )
    options.add(parser, "size only format", counts.FORMS)


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `explain`."""
    size = options.size(args, needs="export")
    first, second, names = _systems(lab, args)
    question = _question(args)
    found = list(explanation.between(first, second, names, question, args.top))
    if not found:
        a, b = (", ".join(dict.fromkeys(explanation.measured(own))) for own in (first, second))
        raise UserError(
            f"{names[0]} and {names[1]} have no operation in common: {a}, and {b}; expected two"
            " runs of one workload, or of programs"
        )
    fewest = min(min(len(one.first), len(one.second)) for one in found)
    if fewest < SEEDS and not args.single:
        raise UserError(
            f"expected {SEEDS} or more placement seeds for each system, found {fewest}; run the"
            f" experiment with --cpi --seed 0-{SEEDS - 1}, or use --single"
        )
    explanation.show(counts.stdout(), found, args.form)
    if args.export is not None:
        _export(found, args.export, size)
    return 0


def _question(args: argparse.Namespace) -> breakdown.Question | None:
    """The dimensions of --by, and the ring."""
    options.check_no_breakdown(args)
    if not args.by:
        return None
    asked = breakdown.ask([args.by], args.where, names=args.names)
    if COMPONENT in asked.dimensions:
        raise UserError(f"explain --by {COMPONENT}: every explanation is by component already")
    breakdown.ask([args.by, COMPONENT, cpi_stack.RING], args.where)  # no dimension excludes these
    return replace(asked, by=tuple(dict.fromkeys((*asked.by, cpi_stack.RING))))


def _export(found: Sequence[Explanation], directory: Path, size: FigureSize | None = None) -> None:
    # The figures need Python packages that may have to be installed first.
    packages.ensure("report")
    from p5lab.page import svg, waterfall_figure

    stacks = [stack for one in found for stack in (*one.first, *one.second)]
    records = {stack.stored.id: stack.stored.record for stack in stacks}
    paths = svg.export(map(waterfall_figure.of, found), directory, records, size)
    Progress().say(f"Figures: {len(paths)} files in {directory}")


def _systems(
    lab: Lab, args: argparse.Namespace
) -> tuple[list[Stored], list[Stored], tuple[str, str]]:
    """The runs of the two systems, and their names."""
    words: list[str] = args.words
    what, *names = words
    if not selection.is_group(lab, what):
        if len(words) != PAIR:
            selection.find(lab, what, "--cpi")  # the message says what is wrong with this word
        return _two_runs(lab, words)
    groups = selection.groups(lab, [what], args.only)
    runs = [one for same in groups if (one := cpi_stack.first_in(same))]
    if not runs:
        raise UserError(
            f"{what} has no run with a CPI stack: run `{_command(lab, what, names, args.single)}`"
            " first",
            status=STATUS_FAILED,
        )
    if not names:
        names = list(dict.fromkeys(_name(one) for one in runs))
        if len(names) != PAIR:
            raise UserError(
                f"{what} has {len(names)} systems with a CPI stack: expected the names of two:"
                f" {', '.join(names)}"
            )
    if len(set(names)) != PAIR or len(names) != PAIR:
        every = ", ".join(dict.fromkeys(map(_name, runs)))
        raise UserError(
            f"{' '.join(names)}: expected the names of two different systems of {what}: {every}"
        )
    chosen = [[one for one in runs if name in _words(one)] for name in names]
    for name, found in zip(names, chosen, strict=True):
        if not found:
            known = {word for one in runs for word in _words(one)}
            raise unknown("system", name, known, where=what)
        if len(systems := dict.fromkeys(_name(one) for one in found)) > 1:
            raise UserError(f"{name}: several systems have this name: {', '.join(systems)}")
    return chosen[0], chosen[1], (names[0], names[1])


def _command(lab: Lab, what: str, names: Sequence[str], single: bool) -> str:
    """The command that makes the runs of the systems of an experiment."""
    known = {"--guest": guest.names(lab), "--machine": machines.names(lab)}
    wanted = [
        f"{option} {name}"
        for option in known
        for name in dict.fromkeys(names)
        if name in known[option]
    ]
    seeds = [] if single else [f"--seed 0-{SEEDS - 1}"]
    return " ".join([f"./p5lab run {what} --cpi", *wanted, *seeds])


def _two_runs(lab: Lab, words: Sequence[str]) -> tuple[list[Stored], list[Stored], tuple[str, str]]:
    if len(words) != PAIR:
        raise UserError(
            f"{' '.join(words)}: expected two runs, or an experiment and two of its systems"
        )
    for word in words:
        if selection.is_group(lab, word):
            raise UserError(
                f"{word} is an experiment: expected two runs, or an experiment before two of its"
                " systems"
            )
    first, second = selection.as_versions([selection.find(lab, word) for word in words])
    if first.id == second.id:
        raise UserError(f"{' '.join(words)}: expected two different runs, found one run twice")
    parts = [pair for pair in zip(_parts(first), _parts(second), strict=True) if len({*pair}) > 1]
    a, b = (" ".join(filter(None, own)) for own in zip(*parts, strict=True)) if parts else ("", "")
    if not a or not b:
        a, b = _name(first), _name(second)
    if a == b:
        a, b = selection.called(first.record), selection.called(second.record)
    if a == b:
        a, b = (EARLIER, LATER) if first.started < second.started else (LATER, EARLIER)
    return [first], [second], (a, b)


def _words(stored: Stored) -> set[str]:
    """The names of a run's system: as a whole, and each of its parts."""
    machine = stored.record["machine"]
    geometry = readable(machine["geometry"])
    parts = {_name(stored), stored.record["guest"]["name"], machine["name"], geometry}
    return {*parts, *geometry.split()} - {""}


def _name(stored: Stored) -> str:
    """The guest, the machine and the overlay of a run."""
    return " ".join(filter(None, _parts(stored)))


def _parts(stored: Stored) -> tuple[str, str, str]:
    machine = stored.record["machine"]
    return stored.record["guest"]["name"], machine["name"], readable(machine["geometry"])
