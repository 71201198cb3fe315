# SPDX-License-Identifier: MIT
#: 230 docs [NAME]         update the records and the generated tables
"""`docs`: update the records and the generated tables.

Makes the runs of a record (docs/evidence/records), and then the tables of all documents from the
records. The other text does not change. Without a name: the record runs, whose runs need only what
p5lab builds. This takes a long time if no run is stored.

examples:
  ./p5lab docs
  ./p5lab docs --no-runs
  ./p5lab docs --check
"""

import argparse

from p5lab import packages
from p5lab.cli import arguments, options
from p5lab.errors import STATUS_FAILED
from p5lab.evidence import measure, pages, records
from p5lab.lab import Lab


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `docs`."""
    needs = ", ".join(f"{name} (needs {what})" for name, what in measure.NEEDS.items())
    arguments.add(
        parser,
        f"""
        [names=NAME...]  only these records: {records.RUNS}, one of its parts
            ({", ".join(measure.PARTS)}), {needs}
        --no-runs  make only the tables, from the records that exist
        --check  write nothing; exit with status 1 if a record or a document is out of date
        """,
    )
    options.add(parser, "jobs workers no-build")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `docs`."""
    one_by_one = argparse.Namespace(**{**vars(args), "jobs": 1})
    use = measure.Means(lab, options.executor(args, lab), options.executor(one_by_one, lab))
    changed = []
    for name in [] if args.no_runs else measure.choose(args.names):
        made, new = measure.record(use, name)
        differs = records.save(records.path(lab.root, made), records.text(new), check=args.check)
        changed.append(_say(f"{records.PLACE}/{made}.json", differs, args.check))
    packages.ensure("report")
    from p5lab.page import gallery_figures

    for file, differs in (
        *pages.update(lab, check=args.check),
        *gallery_figures.update(lab, check=args.check),
    ):
        changed.append(_say(file, differs, args.check))
    return STATUS_FAILED if args.check and any(changed) else 0


def _say(file: str, differs: bool, check: bool) -> bool:
    state = "up to date" if not differs else "out of date" if check else "written"
    print(f"{file}: {state}", flush=True)
    return differs
