# SPDX-License-Identifier: MIT
#: 120 show RUN            show one run: inputs, status, counts
"""`show`: show stored runs: inputs, status, counts.

Shows one run in full. For several runs, or for all runs of an experiment, shows the tables that
`p5lab run` prints. Runs that differ in one or two machine keys are shown as a sweep.

examples:
  ./p5lab show 3f2a91
  ./p5lab show 3f2a91 --crossings
  ./p5lab show smoke --metric cycles,cpi
  ./p5lab show smoke --by ring
  ./p5lab show 3f2a91 91bc04 --by function --where ring=0 --metric code_misses
"""

import argparse
from collections.abc import Sequence
from types import ModuleType

from p5lab.cli import arguments, options, side_by_side
from p5lab.cli.views import all_views
from p5lab.errors import UserError
from p5lab.keep import selection
from p5lab.lab import Lab
from p5lab.present import counts, exports, runs
from p5lab.present.tables import LATEX


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `show`."""
    arguments.add(
        parser,
        """
        RUN  the first 4 or more characters of a run's id, or the name of an experiment
        [more=RUN...]  further runs or experiments
        """,
    )
    options.add(parser, "only columns all-tables")
    for name, view in all_views().items():
        given = {name: view.GIVEN} if hasattr(view, "GIVEN") else {}
        arguments.add(parser, view.OPTION, **given)
    options.add(parser, "by division per")
    event = f"event to show (default of {' and '.join(_with_event())}: {exports.EVENT})"
    arguments.add(parser, f"--event NAME  {event}", event={})
    options.add(parser, "format", counts.FORMS)


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `show`."""
    words = [args.run, *args.more]
    name, view = _view(args)
    if tables := [args.by] if args.by else getattr(view, "BY", ()):
        _show_by(args, lab, words, tables, getattr(view, "ALL_TABLES", ()))
        return 0
    options.check_no_breakdown(args)
    wanted = options.wanted(args)
    if hasattr(view, "show") and args.form == LATEX:
        raise UserError(f"show --{name}: expected --format {', '.join(counts.FORMATS)}")
    if args.event and not hasattr(view, "TAKES_EVENT"):
        raise UserError(f"show --event: expected with --by, {' or '.join(_with_event())}")
    args.event = args.event or exports.EVENT
    if show_all := getattr(view, "show_all", None):
        show_all(lab, words, args)
    elif args.more or args.only or wanted.columns or selection.has_several(lab, args.run):
        if view:
            listed = selection.listed_runs(side_by_side.named(lab, words, args.only))
            raise UserError(f"show --{name}: expected one run; found {listed}")
        side_by_side.show(args, side_by_side.chosen(lab, words, args.only))
    else:
        stored = selection.find(lab, args.run)
        if view:
            view.show(stored, args)
        else:
            runs.show(counts.stdout(), stored, args.form)
    return 0


def _view(args: argparse.Namespace) -> tuple[str, ModuleType | None]:
    """The view that the options choose, and its name. Raises UserError for two, or one with
    --by."""
    names = [name for name in all_views() if getattr(args, name) not in (None, False)]
    whole = [name for name in names if not hasattr(all_views()[name], "BY")]
    name = next(iter(whole + names), "")
    view = all_views().get(name)
    others = [other for other in names if other not in (name, *getattr(view, "ALSO", ()))]
    if others or (args.by and view and not hasattr(view, "WITH_BY")):
        options_given = (name, *others, *(["by"] if args.by else []))
        raise UserError(f"show --{' --'.join(options_given)}: expected one of them")
    return name, view


def _with_event() -> list[str]:
    """The options of the views that show the counts of --event."""
    return [f"--{name}" for name, view in all_views().items() if hasattr(view, "TAKES_EVENT")]


def _show_by(
    args: argparse.Namespace,
    lab: Lab,
    words: Sequence[str],
    tables: Sequence[str],
    with_all_tables: Sequence[str],
) -> None:
    """Prints the counts by the dimensions of each table. `with_all_tables`: the metrics of the
    option, if the user names none."""
    if args.event:
        args.metrics = [*args.metrics, args.event]
    if args.all_tables and not args.metrics:
        args.metrics = list(with_all_tables)
    side_by_side.show_by(args, lab, words, tables)
