# SPDX-License-Identifier: MIT
#: 145 check BASELINE NEW  fail if a number moved further than a limit
"""`check`: fail if a number moved further than a limit.

Compares each operation of a baseline with the same operation of new results. The exit status is 1
if a number moved further than its limit, or if an operation is missing. A repeated run gives
exactly the same counts, so the default limit is zero. The command lists what moved, with the parts
that moved most: by component (runs with --cpi), function (--attribute functions) and call
(--calls).

examples:
  ./p5lab check 3f2a91 91bc04 --limit cycles=0.5% --limit 'L2 misses'=2%
  ./p5lab check ../before/results/smoke smoke --limit cycles=+1% --junit a.xml
  ./p5lab check baseline.parquet chen95-core
"""

import argparse
import math
from collections.abc import Iterable, Iterator
from xml.etree import ElementTree

from p5lab.cli import arguments, options
from p5lab.errors import STATUS_FAILED, UserError, writing
from p5lab.lab import Lab
from p5lab.present import counts, regression
from p5lab.present.regression import Checked, Limit, Moved, Parts
from p5lab.present.tables import MISSING, number, plain, signed
from p5stats import StatsError

GONE, FAILED = "the new results do not have this operation", "the run has failed"


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `check`."""
    results = "a run, the name of an experiment, a directory with results, or a file of"
    arguments.add(
        parser,
        f"""
        BASELINE  the results to compare with: {results} p5stats.tidy.save
        NEW  the new results: {results} p5stats.tidy.save
        --limit* NAME=N%  how far a number may move: a row of a report or an event, and a part
            (0.5%%) or a number of its unit. With + before the number, only an increase counts; may
            be repeated (default: {regression.DEFAULT})
        --junit FILE  also write the result as JUnit XML
        """,
    )
    options.add(parser, "json")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `check`."""
    arguments.check_output(args.junit, "--junit")
    limits = [Limit.parse(text) for text in args.limit or [regression.DEFAULT]]
    try:
        baseline, new = (regression.load(lab, word) for word in (args.baseline, args.new))
        checked = regression.check(baseline, new, limits)
        if args.junit:
            text = ElementTree.tostring(_junit(checked, limits), encoding="utf-8")
            with writing(args.junit):
                args.junit.write_bytes(text)
    except (UserError, StatsError) as error:  # status 1 says only that a number moved
        raise UserError(str(error)) from None
    if args.form == "json":
        options.print_json(_document(checked))
    else:
        _print(checked)
    return 0 if checked.is_good else STATUS_FAILED


def _print(checked: Checked) -> None:
    console = counts.stdout()
    for moved in checked.moved:
        texts = _message(moved).split("; ")
        for text in (f"{moved.name}: {texts[0]}", *(f"  {text}" for text in texts[1:])):
            console.print(text, highlight=False, markup=False, soft_wrap=True)
    lines = [
        *(f"{name}: {GONE}" for name in checked.gone),
        *(f"{text} ({FAILED})" for text in checked.failed),
        *(f"{name}: new, not compared" for name in checked.new),
        *_largest_within(checked),
        f"{len(checked.moved)} of {checked.compared} numbers moved further than the limit.",
    ]
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _largest_within(checked: Checked) -> Iterator[str]:
    """For each limit, the number that moved most without moving too far, and how many others
    moved."""
    by_limit: dict[Limit, list[Moved]] = {}
    for moved in checked.within:
        by_limit.setdefault(moved.limit, []).append(moved)
    for limit, within in by_limit.items():
        others = sum(moved.before != moved.after for moved in within) - 1
        if others < 0:
            number = "1 operation" if len(within) == 1 else f"all {len(within)} operations"
            yield f"{limit.what.name}: equal in {number}, limit {limit.text}"
        else:
            less = f"; {others} more moved at most as far" if others else ""
            yield f"{within[0].name}: {_message(within[0])}{less}"


def _change(moved: Moved) -> str:
    change = moved.after - moved.before
    if math.isnan(change) or not moved.before:
        return MISSING if math.isnan(change) else signed(change)
    return f"{signed(100 * change / abs(moved.before))} %"


def _parts(parts: Parts) -> str:
    return ", ".join(
        " ".join(filter(None, (name, signed(change), state and f"({state})")))
        for name, change, state in parts
    )


def _document(checked: Checked) -> dict[str, object]:
    other = {"gone": checked.gone, "new": checked.new, "failed": checked.failed}
    both = {"rows": _rows(checked.moved), "within": _rows(checked.within)}
    return {**both, "compared": checked.compared, **other}


def _rows(numbers: Iterable[Moved]) -> list[dict[str, object]]:
    return [
        {
            "operation": moved.name,
            "metric": moved.limit.what.name,
            "unit": moved.limit.what.unit,
            "limit": moved.limit.text,
            "baseline": plain(moved.before),
            "new": plain(moved.after),
            "change": plain(moved.after - moved.before),
            "runs": list(moved.runs),
            "causes": {
                by: [
                    {"name": name, "change": change, "state": state}
                    for name, change, state in parts
                ]
                for by, parts in moved.causes.items()
            },
        }
        for moved in numbers
    ]


def _junit(checked: Checked, limits: list[Limit]) -> ElementTree.Element:
    """A test case for each limit of each operation, and for each missing operation and failed
    run."""
    cases: list[tuple[str, str, str]] = []
    moved = {
        (change.name, change.limit.text, change.limit.what.name): change for change in checked.moved
    }
    for limit in limits:
        for name in checked.names:
            change = moved.get((name, limit.text, limit.what.name))
            cases.append((limit.what.name, name, _message(change) if change else ""))
    cases += [("operation", name, GONE) for name in checked.gone]
    cases += [("run", text, FAILED) for text in checked.failed]
    failures = sum(bool(message) for *_, message in cases)
    suite = {"name": "p5lab check", "tests": str(len(cases)), "failures": str(failures)}
    root = ElementTree.Element("testsuites")
    inside = ElementTree.SubElement(root, "testsuite", suite)
    for kind, name, message in cases:
        case = ElementTree.SubElement(inside, "testcase", {"classname": kind, "name": name})
        if message:
            ElementTree.SubElement(case, "failure", {"message": message})
    return root


def _message(moved: Moved) -> str:
    causes = "".join(f"; by {by}: {_parts(parts)}" for by, parts in moved.causes.items())
    return (
        f"{moved.limit.what.name} {number(moved.before)} before, {number(moved.after)} now"
        f" ({_change(moved)}, limit {moved.limit.text}){causes}"
    )
