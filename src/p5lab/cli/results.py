# SPDX-License-Identifier: MIT
"""`list`, `show`, `diff`, `query`, `gc` and `keys`: the commands that show or remove results."""

import argparse
import contextlib
import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path

from rich.table import Table

from p5lab.cli import options
from p5lab.describe import experiment, guest, ideal, keys, machine, notebook, workload
from p5lab.describe.supplied import System
from p5lab.errors import STATUS_BAD_INPUT, UserError
from p5lab.evidence import calls
from p5lab.host import fetch
from p5lab.host.supplied_programs import SYSTEMS
from p5lab.host.terminal import for_terminal, markup
from p5lab.keep import gc, index, selection, store, swept
from p5lab.lab import Lab
from p5lab.present import (
    answer,
    by_call,
    by_function,
    by_interval,
    by_mode,
    by_source,
    counts,
    cpi_stack,
    diff,
    diff_tables,
    garbage,
    headline,
    ideal_parts,
    runs,
    sweep_table,
    timeline,
)

LISTS = ("experiments", "machines", "guests", "workloads", "programs", "notebooks", "runs")
KINDS = "WHAT"
# `list runs --json` prints these fields of a record.
RUN = (
    "run",
    "experiment",
    "label",
    "engine",
    "seed",
    "status",
    "reason",
    "started",
    "wall_seconds",
)
# Options of `show` about the counts by function, with their defaults, and the options that choose a
# view which uses them.
COUNTED = {"by": "function,module", "event": by_function.EVENT, "top": by_function.ROWS}
VIEWS = {
    "by": ("attribution",),
    "event": ("attribution", "source", "speedscope"),
    "top": ("attribution", "evictions", "calls"),
}


def add(commands: options.Commands) -> None:
    """Adds `list`, `show`, `diff`, `query`, `gc` and `keys` to the command line."""
    _add_list(commands)
    _add_show(commands)
    _add_diff(commands)
    _add_query(commands)
    _add_gc(commands)
    _add_keys(commands)


def _add_list(commands: options.Commands) -> None:
    show = commands.add_parser("list", help="list " + ", ".join(LISTS))
    show.add_argument(
        "what",
        nargs="?",
        choices=LISTS,
        metavar=KINDS,
        help=f"one of {', '.join(LISTS)} (default: all)",
    )
    options.add_json(show)
    show.set_defaults(command=_list)


def _add_show(commands: options.Commands) -> None:
    one = commands.add_parser(
        "show",
        help="show stored runs: inputs, status, counts",
        description="Shows one run in full. For several runs, or for all runs of an experiment,"
        " shows the tables that `p5lab run` prints. Runs that differ in one or two machine keys are"
        " shown as a sweep.",
    )
    one.add_argument(
        "run",
        metavar="RUN",
        help="the first 4 or more characters of a run's id, or the name of an experiment",
    )
    one.add_argument(
        "more", nargs="*", default=[], metavar="RUN", help="further runs or experiments"
    )
    options.add_only(one)
    options.add_columns(one)
    options.add_all_tables(one)
    one.add_argument(
        "--crossings",
        action="store_true",
        help="for a run with --trace crossings: show the programs and kernel parts that ran in a"
        " typical bracket of each phase, and how each part passed control to the next part",
    )
    one.add_argument(
        "--timeline",
        action="store_true",
        help="for a run with --trace crossings: show each step of a typical bracket of each phase,"
        " with its misses",
    )
    one.add_argument(
        "--calls",
        action="store_true",
        help="for a run with --calls: show the calls with the most cycles; with --all-tables, also"
        " what they waited, and their mode changes and ring crossings",
    )
    one.add_argument(
        "--modes",
        action="store_true",
        help="for a run with --modes: show the cycles of each machine mode and ring, and the"
        " interrupts and exceptions by vector",
    )
    one.add_argument(
        "--intervals",
        action="store_true",
        help="for a run with --interval: show cycles, instructions and misses of each interval, or"
        " with --cpi the largest parts of the CPI stack",
    )
    one.add_argument(
        "--cpi",
        action="store_true",
        help="for runs with --cpi: show what the processor spends its clocks on",
    )
    one.add_argument(
        ideal.OPTION,
        action="store_true",
        help=f"for runs with {ideal.OPTION}: show how many cycles each part of the machine costs",
    )
    _add_attribution(one)
    options.add_format(one)
    one.set_defaults(command=_show)


def _add_diff(commands: options.Commands) -> None:
    apart = commands.add_parser(
        "diff",
        help="show what differs between runs",
        description="Prints the inputs and the counts that differ between the runs, the most"
        " important first. Each count is a mean over the brackets. The table also shows the ratio"
        " of each count to the count of the first run.",
    )
    apart.add_argument(
        "runs", nargs="+", metavar="RUN", help="the first 4 or more characters of a run's id"
    )
    apart.add_argument("--rings", action="store_true", help="count each privilege ring separately")
    apart.add_argument(
        diff_tables.OPTION,
        action="store_true",
        help="print all inputs and all events that differ, also per 1000 instructions; by default"
        f" the tables fit on a screen of {headline.LINES} lines. Other formats always contain all",
    )
    options.add_format(apart)
    apart.set_defaults(command=_diff)


def _add_query(commands: options.Commands) -> None:
    ask = commands.add_parser(
        "query",
        help="query all results in SQL",
        description="Runs a query in the SQL of DuckDB. The table `runs` has a row for each"
        " run. The table `counts` has the counts of all runs with status ok"
        " (docs/reference/formats.md).",
    )
    ask.add_argument("sql", metavar="SQL")
    ask.add_argument(
        "--all-rows",
        action="store_true",
        help=f"print all rows of the table; by default the first {answer.ROWS} rows. Other formats"
        " always contain all rows",
    )
    options.add_format(ask)
    ask.set_defaults(command=_query)


def _add_gc(commands: options.Commands) -> None:
    clean = commands.add_parser(
        "gc",
        help="remove results and cached files that nobody needs",
        description="Shows the files that can be removed, and their size. These are runs that"
        " failed, runs that never started, runs that a later run of the same kind replaces, and"
        " cached downloads and build products that were not used for some time. Removes the files"
        " only with --yes. Never removes a run that is still running.",
    )
    clean.add_argument("--yes", action="store_true", help="remove the files")
    clean.add_argument("--list", action="store_true", dest="each", help="list every item")
    clean.add_argument("--results", action="store_true", help="results only")
    clean.add_argument("--cache", action="store_true", help="the cache only")
    clean.add_argument(
        "--older-than",
        type=gc.parse_days,
        default=gc.DAYS,
        metavar="DAYS",
        help="remove cached files not used for this number of days (default: %(default)s)",
    )
    clean.add_argument(
        "--max-size",
        type=gc.parse_size,
        metavar="SIZE",
        help="also remove the least recently used files, until the size of the cache is at most"
        " SIZE, such as 500M",
    )
    options.add_json(clean)
    clean.set_defaults(command=_gc)


def _add_keys(commands: options.Commands) -> None:
    keys = commands.add_parser("keys", help="list all machine keys with unit and meaning")
    keys.add_argument("text", nargs="?", metavar="TEXT", help="only the keys with TEXT in the name")
    keys.add_argument(
        "--markdown", action="store_true", help="print the table of docs/reference/machine-keys.md"
    )
    options.add_json(keys)
    keys.set_defaults(command=_keys)


def _add_attribution(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--attribution",
        action="store_true",
        help="for a run with --attribute: show the functions with the largest counts",
    )
    parser.add_argument(
        "--source",
        nargs="?",
        const="",
        metavar="FILE",
        help="with --attribution, for a run with --attribute lines: show the source of the program"
        " with the counts of --event beside it. Without FILE, the files of libraries are only"
        " listed",
    )
    parser.add_argument(
        "--evictions",
        action="store_true",
        help="for a run with --attribute misses and a direct-mapped L2: show pairs of functions. In"
        " each pair, lines of one function evicted lines of the other function from L2",
    )
    parser.add_argument(
        "--speedscope",
        type=Path,
        metavar="FILE",
        help="for a run with --attribute stacks: write the call stacks to a file for"
        " https://www.speedscope.app. The counts of --event are the weights of the stacks",
    )
    parser.add_argument(
        "--by",
        metavar="WHAT,...",
        help=f"group counts by any of {', '.join(by_function.BY)} (default: {COUNTED['by']})",
    )
    parser.add_argument(
        "--event",
        metavar="NAME",
        help=f"event to show (default: {COUNTED['event']})",
    )
    parser.add_argument(
        "--top",
        type=options.positive("--top"),
        metavar="N",
        help=f"number of rows (default: {COUNTED['top']})",
    )


def _list(args: argparse.Namespace, lab: Lab) -> int:
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
    return sorted(index.runs(lab), key=lambda one: one.started)


def _runs_as_json(lab: Lab) -> list[dict[str, object]]:
    return [{key: one.record.get(key) for key in RUN} for one in _runs(lab)]


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
    found = titled(workload.names(lab), lambda name: read(name).title)
    return [(name, title) for name, title in found if not workload.is_test(str(title))]


def _supplied(system: System, lab: Lab) -> list[tuple[str, str | UserError]]:
    """Each program for a system with its title, or one error for all programs of the system."""
    try:
        return [(f"{system.name}/{name}", one.title) for name, one in system.load(lab).items()]
    except UserError as error:
        return [(system.name, error)]


def _or_error(title: Callable[[str], str], name: str) -> str | UserError:
    try:
        return title(name)
    except UserError as error:
        return error


def _show(args: argparse.Namespace, lab: Lab) -> int:
    wanted = options.wanted(args)
    _check_counted(args)
    if args.cpi:
        return _show_stacks(args, lab)
    if args.ideal:
        groups = selection.groups(lab, [args.run, *args.more], args.only)
        ideal_parts.show(counts.stdout(), [same[0] for same in groups], args.form)
        return 0
    if args.more or args.only or wanted.columns or selection.is_group(lab, args.run):
        return _show_several(args, lab, wanted)
    stored = selection.find(lab, args.run)
    if args.crossings:
        timeline.check(stored)
        print(for_terminal(calls.of_run(stored.directory), lines=True), end="")
    elif args.timeline:
        timeline.show(counts.stdout(), stored, args.form)
    elif args.speedscope:
        by_function.write_speedscope(stored, args.speedscope, args.event)
    elif args.evictions:
        by_function.show_evictions(counts.stdout(), stored, args)
    elif args.calls:
        by_call.show(counts.stdout(), stored, args.form, args.top, more=args.all_tables)
    elif args.modes:
        by_mode.show(counts.stdout(), stored, args.form)
    elif args.intervals:
        by_interval.show(counts.stdout(), stored, args.form, more=args.all_tables)
    elif args.source is not None:
        by_source.show(counts.stdout(), stored, args)
    elif args.attribution:
        by_function.show(counts.stdout(), stored, args)
    else:
        runs.one(counts.stdout(), stored, args.form)
    return 0


def _show_stacks(args: argparse.Namespace, lab: Lab) -> int:
    """Prints the CPI stacks of one or several stored runs. Of the runs of an experiment, only those
    with a CPI stack are shown."""
    if args.more or args.only or selection.is_group(lab, args.run):
        groups = selection.groups(lab, [args.run, *args.more], args.only)
        found = [one for same in groups if (one := cpi_stack.first_in(same))]
        chosen = found or [groups[0][0]]  # the message names this run
    else:
        chosen = [selection.find(lab, args.run)]
    cpi_stack.show(counts.stdout(), chosen, args.form)
    return 0


def _check_counted(args: argparse.Namespace) -> None:
    """Gives the options of COUNTED their defaults. Raises UserError for such an option without a
    view that uses it."""
    for name, default in COUNTED.items():
        if getattr(args, name) is None:
            setattr(args, name, default)
        elif not any(_is_given(args, view) for view in VIEWS[name]):
            views = " or ".join(f"--{view}" for view in VIEWS[name])
            raise UserError(f"show --{name}: expected one run with {views}")


def _is_given(args: argparse.Namespace, view: str) -> bool:
    return getattr(args, view) not in (None, False)


def _show_several(args: argparse.Namespace, lab: Lab, wanted: sweep_table.Wanted) -> int:
    """Prints the tables of several stored runs. Raises UserError for an option that shows the
    inside of one run."""
    for name in (
        "crossings",
        "timeline",
        "calls",
        "modes",
        "intervals",
        "speedscope",
        "evictions",
        "source",
        "attribution",
    ):
        if _is_given(args, name):
            raise UserError(f"show --{name}: expected one run")
    runs = [same[0] for same in selection.groups(lab, [args.run, *args.more], args.only)]
    keys = swept.keys_of([one.record for one in runs])
    runs = swept.in_order(runs, keys)
    sweep_table.show(counts.stdout(), runs, (), keys, wanted, args.form)
    return 0


def _diff(args: argparse.Namespace, lab: Lab) -> int:
    runs = {(stored := store.find(lab, run)).directory: stored for run in args.runs}
    if len(runs) < 2:
        raise UserError("diff: expected at least two different runs")
    found = diff.between(list(runs.values()), rings=args.rings)
    diff_tables.show(counts.stdout(), found, args.form, all_rows=args.all_rows)
    return 0


def _query(args: argparse.Namespace, lab: Lab) -> int:
    columns, rows = index.query(lab, args.sql)
    if args.form == "json":
        found = [dict(zip(columns, row, strict=True)) for row in rows]
        # JSON has no type for dates.
        print(json.dumps({"schema_version": 1, "rows": found}, indent=1, default=str))
    elif args.form == "csv":
        cells = ([for_terminal(x) if isinstance(x, str) else x for x in row] for row in rows)
        csv.writer(sys.stdout, lineterminator="\n").writerows([columns, *cells])
    else:
        if args.form == "markdown":
            print(answer.grid(columns, rows).markdown())
        else:
            answer.show(counts.stdout(), columns, rows, all_rows=args.all_rows)
    return 0


def _gc(args: argparse.Namespace, lab: Lab) -> int:
    both = args.results == args.cache
    done = 0
    with contextlib.ExitStack() as stack:
        if args.yes and (both or args.results):
            stack.enter_context(gc.quiet(lab))
        going = gc.results(lab) if both or args.results else []
        cached = gc.cache(lab, args.older_than, args.max_size) if both or args.cache else []
        if args.form != "json":
            garbage.show(counts.stdout(), [*going, *cached], each=args.each)
        if args.yes:
            done = sum(item.bytes for item in going if gc.remove_run(item))
            done += sum(item.bytes for item in cached if gc.remove_cached(item))
    if args.form == "json":
        items = [
            {"what": item.what, "why": item.why, "bytes": item.bytes} for item in [*going, *cached]
        ]
        options.print_json(
            {
                "items": items,
                "removed_bytes": done,
                "cache": str(fetch.cache_directory()),
                "cache_bytes": gc.cache_bytes(),
            }
        )
        return 0
    total = f"{gc.human(gc.cache_bytes())} in {fetch.cache_directory()}"
    if args.yes:
        print(f"Removed {gc.human(done)}; the cache has {total}.")
    elif going or cached:
        size = gc.human(sum(item.bytes for item in [*going, *cached]))
        print(f"Nothing was removed; --yes removes {size}. The cache has {total}.")
    else:
        print(f"Nothing to remove. The cache has {total}.")
    return 0


def _keys(args: argparse.Namespace, lab: Lab) -> int:
    if args.markdown:
        if args.text:
            raise UserError("keys --markdown: expected without TEXT; it prints all keys")
        print(keys.reference(), end="")
        return 0
    chosen = [key for key in keys.KEYS if (args.text or "").lower() in key.name]
    if not chosen:
        raise keys.unknown_key(args.text, "keys")
    if args.form == "json":
        options.print_json(
            {
                "keys": [
                    {
                        "key": key.name,
                        "unit": key.unit,
                        "expected": key.expected,
                        "meaning": key.doc,
                    }
                    for key in chosen
                ]
            }
        )
        return 0
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("key", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("meaning", overflow="fold")
    for key in chosen:
        table.add_row(key.name, key.unit, markup(key.doc))
    counts.stdout().print(table)
    return 0
