# SPDX-License-Identifier: MIT
#: 190 gc                  remove results and cached files that are no longer needed
"""`gc`: remove results and cached files that nobody needs.

Shows the files that can be removed, and their size. These are runs that failed, runs that never
started, runs that a later run of the same kind replaces, and cached downloads and build products
that were not used for some time. Removes the files only with --yes. Never removes a run that is
still running.

examples:
  ./p5lab gc
  ./p5lab gc --cache --older-than 30 --yes
"""

import argparse
import contextlib

from p5lab.cli import arguments, options
from p5lab.host import fetch
from p5lab.keep import gc
from p5lab.lab import Lab, cache_directory
from p5lab.present import counts, gc_table


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `gc`."""
    arguments.add(
        parser,
        """
        --yes  remove the files
        --list  list every item
        --results  results only
        --cache  the cache only
        --older-than DAYS  remove cached files not used for this number of days (default:
            %(default)s)
        --max-size SIZE  also remove the least recently used files, until the size of the cache is
            at most SIZE, such as 500M
        """,
        list={"action": "store_true", "dest": "each"},
        older_than={"type": gc.parse_days, "default": gc.DAYS},
        max_size={"type": gc.parse_size},
    )
    options.add(parser, "json")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `gc`."""
    both = args.results == args.cache
    done = 0
    with contextlib.ExitStack() as stack:
        if args.yes and (both or args.results):
            stack.enter_context(gc.quiet(lab))
        going = gc.results(lab) if both or args.results else []
        cached = []
        if both or args.cache:
            cached = gc.cache(fetch.in_use(lab.root), args.older_than, args.max_size)
        if args.form != "json":
            gc_table.show(counts.stdout(), [*going, *cached], each=args.each)
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
                "cache": str(cache_directory()),
                "cache_bytes": gc.cache_bytes(),
            }
        )
        return 0
    total = f"{gc.human(gc.cache_bytes())} in {cache_directory()}"
    if args.yes:
        print(f"Removed {gc.human(done)}; the cache has {total}.")
    elif going or cached:
        size = gc.human(sum(item.bytes for item in [*going, *cached]))
        print(f"Nothing was removed; --yes removes {size}. The cache has {total}.")
    else:
        print(f"Nothing to remove. The cache has {total}.")
    return 0
