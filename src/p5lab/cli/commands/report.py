# SPDX-License-Identifier: MIT
#: 050 report EXPERIMENT   make a page with figures from the stored results
"""`report`: write an HTML page about an experiment or about stored runs.

Writes one HTML file about stored results: figures, values, the machine and the runs. The page of an
experiment also has published values and claims. The options select runs of an experiment as in
`p5lab run`. `program` and ids of runs select stored runs, without these options. With --by, the
first figure has the counts of the stored runs by these dimensions (docs/concepts/dimensions.md).
The file needs no other file and no network. The command makes no runs.

examples:
  ./p5lab report chen95-core
  ./p5lab report lai96-memory --output lai96.html --export figures
  ./p5lab report chen95-core --sweep l2.size=128K,256K
  ./p5lab report program
  ./p5lab report program --explore --output explore.html
  ./p5lab report chen95-core --by component --top 10
  ./p5lab report 3f2a91 91bc04 --output two-runs.html
"""

import argparse
from pathlib import Path

from p5lab import packages, page
from p5lab.cli import arguments, next_steps, options, request, side_by_side
from p5lab.describe import experiment
from p5lab.errors import UserError
from p5lab.keep import gc, selection
from p5lab.lab import Lab, shown
from p5lab.prepare import prepare
from p5lab.present import column
from p5lab.progress import Progress


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `report`."""
    arguments.add(
        parser,
        """
        [experiments=EXPERIMENT|RUN...]  a name that `p5lab list experiments` shows; or `program`,
            and ids of runs (the first 4 or more characters)
        --output FILE  file to write (default: results/EXPERIMENT.html, or results/runs-ID.html)
        --export DIR  also write each figure as SVG, PDF, PNG and CSV into this directory
        --explore  write a page with a script, on which a choice of benchmark, dimension, event,
            system and kind of value changes the figure, as p5lab.explore shows it in a notebook
        """,
    )
    options.add(parser, "size")
    options.add_choice(parser)
    options.add(parser, "only columns division per json")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `report`."""
    arguments.check_output(args.output, makes_directory=not args.explore)
    wish = _wish(args)
    if args.explore:
        return _explore(args, lab)
    again = next_steps.again(args, "run")
    if _is_of_experiment(args, lab):
        args.experiment = args.experiments[0] if args.experiments else None
        name = args.experiment or experiment.PROGRAM
        selection.check_clear(lab, name)
        expansion = prepare(lab, request.of(args, lab))
        output = args.output or lab.results / f"{name}.html"
        written = page.write(lab, name, expansion, output, again, wish)
    else:
        _check_no_choice(args)
        side_by_side.say_repeated(args.experiments)
        groups = selection.groups(lab, args.experiments, args.only)
        if not any(selection.is_group(lab, word) for word in args.experiments):
            versions = selection.as_versions([same[0] for same in groups])
            groups = [[version, *same[1:]] for version, same in zip(versions, groups, strict=True)]
        name = selection.name_of(lab, args.experiments, groups)
        output = args.output or lab.results / f"{name}.html"
        written = page.write_stored(lab, name, groups, output, wish)
    for run in written.missing:
        Progress().say(f"Not stored: {run.label}")
    if written.missing:
        Progress().say(f"`./p5lab {again}` makes these runs.")
    if args.form == "json":
        options.print_json(
            {
                **_written(lab, output),
                "exported": [lab.short(path.resolve()) for path in written.exported],
                "missing": [run.label for run in written.missing],
            }
        )
        return 0
    print(f"Page: {shown(output)}, {gc.human(output.stat().st_size)}")
    if args.export is not None:
        print(f"Figures: {len(written.exported)} files in {args.export}")
    return 0


def _explore(args: argparse.Namespace, lab: Lab) -> int:
    """Writes the page with a choice."""
    if args.by or args.export:
        raise UserError("report --explore: expected without --by and --export")
    if not args.experiments or args.program:
        raise UserError("report --explore: expected an experiment, runs, a label or `program`")
    _check_no_choice(args)
    groups = selection.groups(lab, args.experiments, args.only)
    name = selection.name_of(lab, args.experiments, groups)
    output = args.output or lab.results / f"{name}-explore.html"
    packages.ensure("report")
    from p5lab.page import explorer

    explorer.of(groups, explorer.title_of(groups)).save(output)
    if args.form == "json":
        options.print_json(_written(lab, output))
    else:
        print(f"Page: {shown(output)}, {gc.human(output.stat().st_size)}")
    return 0


def _written(lab: Lab, output: Path) -> dict[str, object]:
    return {"page": lab.short(output.resolve()), "bytes": output.stat().st_size}


def _wish(args: argparse.Namespace) -> page.Wish:
    """What the options ask for beside the runs."""
    size = options.size(args, needs="export")
    options.check_no_breakdown(args)
    if args.by:
        question = options.question(args, args.by)
        return page.Wish((), question, args.top, args.export, size)
    return page.Wish(column.parse(args.metrics), export=args.export, size=size)


def _is_of_experiment(args: argparse.Namespace, lab: Lab) -> bool:
    """Whether `report` is about an experiment or about --program, and not about stored runs."""
    if not args.experiments or args.program:
        return True
    return len(args.experiments) == 1 and args.experiments[0] in experiment.names(lab)


def _check_no_choice(args: argparse.Namespace) -> None:
    """Raises UserError if an option that changes an experiment is given for stored runs."""
    parser = argparse.ArgumentParser(add_help=False)
    options.add_choice(parser)
    for name, default in vars(parser.parse_args([])).items():
        if name != "by" and getattr(args, name) != default:
            option = next(
                action.option_strings[0] for action in parser._actions if action.dest == name
            )
            raise UserError(
                f"report {' '.join(args.experiments)}: {option}: expected only with one experiment;"
                " ids of runs and `program` select stored runs"
            )
