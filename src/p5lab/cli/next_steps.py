# SPDX-License-Identifier: MIT
"""After a run: where the results are, and two commands that fit what was run."""

import argparse
import shlex
from collections import deque
from collections.abc import Iterator, Sequence

from p5lab.cli import parser
from p5lab.describe import outputs
from p5lab.describe.keys import overlay_of
from p5lab.describe.observation.clocks import is_nominal
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.lab import Lab, shown
from p5lab.present import cpi_stack, explanation
from p5lab.present.comparison import system_of
from p5lab.present.headline import OPTION as ALL_TABLES
from p5lab.progress import Progress

COMMANDS = 2
START = "Next:    "
INDENT = " " * len(START)
BREAK = " \\"  # the shell continues such a line
ID = 8  # characters of a run's id in a command
# Options that change what is printed, and not which runs are meant.
_FORM = ("--format", "--json", ALL_TABLES)


def show(progress: Progress, lab: Lab, args: argparse.Namespace, stored: Sequence[Stored]) -> None:
    """Prints where the results of `run` are, and the next commands. `args`: the command line of
    `run`. `stored`: its runs."""
    if not stored:
        return
    places = dict.fromkeys(shown(run.directory.parent) for run in stored)
    runs = f"{len(stored)} run{'s' if len(stored) > 1 else ''}"
    progress.note(f"Results: {', '.join(places)} ({runs})")
    start = START
    for command, purpose in list(_steps(args, stored))[:COMMANDS]:
        width = progress.console.width - len(start)
        lines = _lines(f"./p5lab {command}", purpose, width)
        progress.note(start + f"\n{INDENT}".join(lines))
        start = INDENT


def _lines(command: str, purpose: str, width: int) -> list[str]:
    """Returns a command with its purpose, in lines of at most `width` characters if possible. The
    shell accepts all lines as one command with a comment."""
    line = f"{command}   # {purpose}"
    if len(line) <= width:
        return [line]
    lines = []
    line, *words = map(shlex.quote, shlex.split(command))
    for word in words:
        if len(f"{line} {word}{BREAK}") <= width:
            line += f" {word}"
        else:
            lines.append(line + BREAK)
            line = f"  {word}"
    return [*lines, line, f"# {purpose}"]


def _steps(args: argparse.Namespace, stored: Sequence[Stored]) -> Iterator[tuple[str, str]]:
    """Yields commands without ./p5lab, the most useful first, each with its purpose."""
    good = [run for run in stored if run.status == "ok"]
    pair = _pair(good)
    if args.experiment and good:
        yield again(args, "report"), "a page with figures"
    if args.program and good and (args.attribute or args.region):
        # The page about `program` has all programs of the user, and compares none of them.
        versions = [run.id[:ID] for run in good if selection.called(run.record)]
        yield f"report {' '.join(versions) or 'program'}", "a page with functions and lines"
    elif args.program and good and args.sweeps:
        yield again(args, "report"), "a page with figures"
    explained = pair and selection.called(pair[0].record) and all(map(cpi_stack.is_in, pair))
    if pair and explained and explanation.has_causes(*pair):
        yield f"explain {pair[0].id[:ID]} {pair[1].id[:ID]} --single", "all causes"
    elif pair:
        yield f"diff {pair[0].id[:ID]} {pair[1].id[:ID]}", "what differs between two of the runs"
    if good:
        yield f"show {good[0].id[:ID]}", "one run: its inputs and all its counts"
    if args.program and good and not args.attribute:
        yield f"{again(args, 'run')} --attribute functions", "counts by function"
    if not good:
        yield f"show {stored[0].id[:ID]}", "a failed run: its inputs and its output"


def _pair(good: Sequence[Stored]) -> tuple[Stored, Stored] | None:
    """Returns two runs that differ in one thing: of the same job on two systems, or of two versions
    on one system. Returns None if there are none. Their events differ if there is such a pair. In a
    sweep these are the first and the last value, if their events differ."""
    jobs: dict[str, list[Stored]] = {}
    for run in good:
        parameters = "" if selection.called(run.record) else run.record["parameters"]
        job = f"{run.record['workload']['name']} {parameters} {run.record['seed']}"
        jobs.setdefault(job, []).append(run)
    pairs = [
        (same[0], other)
        for same in jobs.values()
        for other in reversed(same[1:])
        if _differences(same[0], other) <= 1
    ]
    different = (pair for pair in pairs if _events(pair[0]) != _events(pair[1]))
    return next(different, pairs[0] if pairs else None)


def _differences(first_run: Stored, other: Stored) -> int:
    """In how many things two runs of a job differ: the version of the program, the engine, the
    clocks, and the parts of a system, of which each changed machine key is one."""
    first, second = _things(first_run), _things(other)
    return sum(first.get(name) != second.get(name) for name in first | second)


def _things(stored: Stored) -> dict[str, object]:
    record = stored.record
    guest, machine, _ = system_of(record)
    return {
        "version": selection.called(record),
        "guest": guest,
        "machine": machine,
        "engine": record["engine"],
        "feedback": record["feedback"],
        "clocks": is_nominal(record),
        **overlay_of(record["machine"]["geometry"]),
    }


def _events(stored: Stored) -> str:
    """Returns the digest of a run's events."""
    return str(stored.record["digests"][outputs.file("events")])


def again(args: argparse.Namespace, name: str) -> str:
    """Returns the command `name` with the words of this command line that it accepts, too. So the
    command selects the same runs. `args`: the command line of `run` or `report`."""
    own, other = (
        parser.of_command(command)._option_string_actions for command in (args.words[0], name)
    )
    kept = [name]
    words = deque(args.words[1:])
    while words:
        word = words.popleft()
        option, equals, _ = word.partition("=")
        if option not in own:
            kept.append(word)
            continue
        values = [] if equals or own[option].nargs == 0 else [words.popleft() if words else ""]
        while own[option].nargs == "+" and words and not words[0].startswith("-"):
            values.append(words.popleft())
        if option in other and option not in _FORM and option != "--force":
            kept += [word, *values]
    return shlex.join(kept)
