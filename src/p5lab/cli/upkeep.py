# SPDX-License-Identifier: MIT
"""`build`, `doctor`, `bench`, `test` and `docs`: the commands that maintain a checkout."""

import argparse

from p5lab.cli import options
from p5lab.errors import STATUS_FAILED, unknown
from p5lab.evidence import documents, numbers
from p5lab.host import build, doctor, packages, testing
from p5lab.host.progress import Progress
from p5lab.lab import Lab


def add(commands: options.Commands) -> None:
    """Adds `build`, `doctor`, `bench`, `test` and `docs` to the command line."""
    make = commands.add_parser("build", help="build engine, guests and workloads")
    make.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help=f"{', '.join(build.PARTS)}, or a product such as build/engine/p5bochs (default:"
        " everything)",
    )
    make.set_defaults(command=_build)

    look = commands.add_parser(
        "doctor", help="check what is missing on this host and in the checkout"
    )
    options.add_json(look)
    look.set_defaults(command=lambda args, lab: doctor.show(lab, as_json=args.form == "json"))

    commands.add_parser(
        "bench", help="measure the speed of the engine on this host"
    )  # see cli.main

    test = commands.add_parser(
        "test",
        help="run all tests, or a part of them",
        description="Without a part: builds everything, checks style and types, and runs all tests."
        " unit: runs the Python tests, which need no build. engine: builds and runs only the C++"
        " tests. e2e: builds everything and runs the tests that boot guests. NAME selects the tests"
        " with NAME in their own name or in the name of their file. tests/README.md gives details.",
    )
    test.usage = "%(prog)s [-h] [--full] [unit|engine|e2e [NAME]] [-- ARGUMENT ...]"
    test.add_argument(
        "--full",
        action="store_true",
        help="also run the tests with large counts, the tests of whole documents and the tests of"
        " speed",
    )
    test.add_argument(
        "words",
        nargs="*",
        metavar="PART NAME ARGUMENT",
        help="a part, then a piece of a test's name. After --: arguments for pytest; if the part is"
        " engine, arguments for doctest",
    )
    test.set_defaults(command=_test)

    docs = commands.add_parser(
        "docs",
        help="update the generated documents",
        description="Makes the runs that the documents show and updates their tables, keys and"
        " pictures. The other text does not change. Without a name, the command updates all"
        " documents. This takes a long time if no run is stored. If P5LAB_GEM5 is not set, the"
        " command leaves out the documents that need gem5.",
    )
    docs.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"only these documents: {', '.join(documents.NAMES)}. `numbers` records the numbers"
        " that other documents quote, and puts them into these documents",
    )
    docs.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit with status 1 if a document is out of date",
    )
    options.add_jobs(docs)
    options.add_workers(docs)
    options.add_no_build(docs)
    docs.set_defaults(command=_docs)


def _build(args: argparse.Namespace, lab: Lab) -> int:
    for target in args.targets:
        if target not in build.PARTS and not target.startswith("build/"):
            raise unknown("target", target, (*build.PARTS, "build/PRODUCT"))
    build.ensure(lab, Progress(), tuple(args.targets))
    return 0


def _test(args: argparse.Namespace, lab: Lab) -> int:
    choice = testing.Choice.parse(args.words)
    for group in testing.PACKAGES:
        packages.ensure(group)
    if choice.targets is not None:
        build.ensure(lab, Progress(), choice.targets)
    return testing.run(lab, choice, full=args.full)


def _docs(args: argparse.Namespace, lab: Lab) -> int:
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
