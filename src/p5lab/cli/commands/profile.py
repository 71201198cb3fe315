# SPDX-License-Identifier: MIT
#: 135 profile RUN [RUN]   write a flame graph of a run, or of a difference
"""`profile`: write a flame graph of a run, or of the difference of two runs.

Writes a page with the functions of a run below their callers, for every event, or with the
difference of two runs. The page needs no other file. With --as, writes a file for another program:
callgrind (callgrind_annotate, KCachegrind) and speedscope for a run with --by caller, or trace
(Perfetto and Chrome) with the steps of --trace crossings, the misses of --trace misses and the
intervals of --interval.

examples:
  ./p5lab profile 3f2a91
  ./p5lab profile 3f2a91 91bc04 --output difference.html
  ./p5lab profile 3f2a91 --as callgrind --output callgrind.out.dup
  ./p5lab profile 3f2a91 --as speedscope --event cpi
"""

import argparse
from collections.abc import Callable, Sequence

from p5lab import packages
from p5lab.cli import arguments, options
from p5lab.describe.observation.attribute import ATTRIBUTION
from p5lab.errors import UserError, writing
from p5lab.files import replace_text
from p5lab.keep import gc, selection
from p5lab.keep.store import Stored
from p5lab.lab import Lab, shown
from p5lab.present import breakdown, exports

PAGE = "page"
MOST = 2  # runs of a page
# The writers of the forms for one run, and the end of the name of each file.
WRITERS: dict[str, tuple[str, Callable[[Stored, str], str]]] = {
    "callgrind": ("callgrind.out", exports.callgrind),
    "speedscope": ("speedscope.json", exports.speedscope),
    "trace": ("trace.json", exports.trace),
}


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `profile`."""
    arguments.add(
        parser,
        f"""
        runs=RUN...  the first 4 or more characters of a run's id; two runs for their difference
        --as  what to write (default: a page)
        --event NAME  with --as speedscope: the event of the weights, or cpi for the components
            (default: {exports.EVENT}). The other forms have all events
        --output FILE  file to write (default: in results)
        """,
        **{"as": {"choices": (PAGE, *WRITERS), "default": PAGE, "dest": "kind"}},
    )
    options.add(parser, "json")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `profile`."""
    arguments.check_output(args.output)
    if args.event and args.kind != "speedscope":
        raise UserError("profile --event: expected with --as speedscope")
    stored = _chosen(lab, args.runs, args.kind)
    text, end = (
        (_page(stored), "html")
        if args.kind == PAGE
        else (WRITERS[args.kind][1](stored[0], args.event), WRITERS[args.kind][0])
    )
    name = "-".join(("profile", *(run.id[:8] for run in stored)))
    output = args.output or lab.results / f"{name}.{end}"
    with writing(output):
        replace_text(output, text)
    if args.form == "json":
        options.print_json({"file": lab.short(output.resolve()), "bytes": output.stat().st_size})
    else:
        print(f"{args.kind.capitalize()}: {shown(output)}, {gc.human(output.stat().st_size)}")
    return 0


def _chosen(lab: Lab, words: Sequence[str], kind: str) -> list[Stored]:
    """The runs that the words name, of each kind the newest; of an experiment or a label only those
    with counts by function. Raises UserError if there are too many, or none."""
    chosen: list[Stored] = []
    for word in words:
        runs = [same[0] for same in selection.groups(lab, [word])]
        counted = [stored for stored in runs if (stored.directory / ATTRIBUTION).is_file()]
        if len(runs) > 1 and not counted and kind != "trace":
            raise selection.without(runs[0], "counts by function", "--by caller")
        chosen += counted or runs
    if len(chosen) > (MOST if kind == PAGE else 1):
        most = "one run, or two for their difference" if kind == PAGE else "one run"
        own = selection.listed_runs(chosen)
        raise UserError(f"profile --as {kind}: expected {most}; found {own}")
    return selection.as_versions(chosen)


def _page(stored: Sequence[Stored]) -> str:
    packages.ensure("report")  # the page needs Python packages that may have to be installed first
    from p5lab.page import flame

    return flame.of(breakdown.side_by_side(stored)).page()
