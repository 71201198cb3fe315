# SPDX-License-Identifier: MIT
#: 230 docs [NAME]         update the generated documents
"""`docs`: updates the generated documents."""

import argparse

from p5lab.cli import options
from p5lab.errors import STATUS_FAILED
from p5lab.evidence import documents, numbers
from p5lab.lab import Lab

HELP = "update the generated documents"
DESCRIPTION = (
    "Makes the runs that the documents show and updates their tables, keys and"
    " pictures. The other text does not change. Without a name, the command updates all"
    " documents. This takes a long time if no run is stored. If P5LAB_GEM5 is not set, the"
    " command leaves out the documents that need gem5."
)
EXAMPLES = (
    "docs",
    "docs matrix machine-keys",
    "docs --check",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `docs`."""
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"only these documents: {', '.join(documents.NAMES)}. `numbers` records the numbers"
        " that other documents quote, and puts them into these documents",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit with status 1 if a document is out of date",
    )
    options.add_jobs(parser)
    options.add_workers(parser)
    options.add_no_build(parser)


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `docs`."""
    one_by_one = argparse.Namespace(**{**vars(args), "jobs": 1})
    evidence = documents.Evidence(
        lab, options.executor(args, lab), options.executor(one_by_one, lab)
    )
    states = set()
    wanted = [name for name in args.names if name != numbers.NAME]
    chosen = documents.choose(wanted) if wanted or not args.names else []
    for document in chosen:
        reason = "" if args.names else documents.why_not(document, check=args.check)
        if reason:
            state = f"{documents.SKIPPED}: {reason}"
        else:
            state = documents.update(evidence, document, check=args.check)
            states.add(state)
        print(f"{document.file}: {state}", flush=True)
    # The last step, because documents also quote numbers of the generated tables.
    if not args.names or numbers.NAME in args.names:
        for file, changed in numbers.update(lab, evidence.execute, check=args.check):
            state = documents.state(changed=changed, check=args.check)
            states.add(state)
            print(f"{file}: {state}", flush=True)
    return STATUS_FAILED if documents.OUT_OF_DATE in states else 0
