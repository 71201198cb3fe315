# SPDX-License-Identifier: MIT
#: 150 query SQL           query all results
"""`query`: query all results in SQL.

Runs a query in the SQL of DuckDB. The table `runs` has a row for each run. The table `counts` has
the counts of all runs with status ok, `counts_by` those of their observers, and `keys` the machine
keys (docs/reference/formats.md). With --by, the table `divided` has the counts of runs by
dimension: the columns of `show --by --format csv`, with the dimensions as texts.

examples:
  ./p5lab query "SELECT guest, status, count(*) FROM runs GROUP BY ALL"
  ./p5lab query "SELECT run, event, sum(value) FROM counts GROUP BY ALL"
  ./p5lab query "FROM counts" --all-rows
  ./p5lab query "FROM divided WHERE ratio >= 2" before after --by function
"""

import argparse
import csv
import json
import sys
from typing import TYPE_CHECKING

from p5lab.cli import arguments, options, side_by_side
from p5lab.errors import UserError
from p5lab.keep import index, selection
from p5lab.lab import Lab
from p5lab.present import counts, query_table
from p5lab.terminal import for_terminal

if TYPE_CHECKING:
    import pandas as pd

DIVIDED = "divided"  # the table of counts by dimension
VALUES = ("system", "value", "ratio")  # its columns that are shown in a narrow terminal, too


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `query`."""
    arguments.add(
        parser,
        f"""
        SQL
        [runs=RUN...]  with --by: the runs of the table `{DIVIDED}`, as ids, labels or experiments
        """,
    )
    options.add(parser, "columns by division per")
    arguments.add(
        parser,
        f"""
        --all-rows  print all rows of the table; by default the first {query_table.ROWS} rows. Other
            formats always contain all rows
        """,
    )
    options.add(parser, "format")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `query`."""
    if bool(args.by) != bool(args.runs):
        raise UserError("query: expected runs and --by DIMENSION,... together, or none of the two")
    tables = {DIVIDED: _divided(args, lab)} if args.by else {}
    options.check_no_breakdown(args)
    selection.say_left_out(lab, index.runs(lab))
    columns, rows = index.query(lab, args.sql, tables)
    if args.form == "json":
        records = [dict(zip(columns, row, strict=True)) for row in rows]
        # JSON has no type for dates.
        print(json.dumps({"schema_version": 1, "rows": records}, indent=1, default=str))
    elif args.form == "csv":
        cells = ([for_terminal(x) if isinstance(x, str) else x for x in row] for row in rows)
        csv.writer(sys.stdout, lineterminator="\n").writerows([columns, *cells])
    else:
        if args.form == "markdown":
            print(query_table.grid(columns, rows).markdown())
        else:
            wanted = [*args.by.split(","), *VALUES]
            query_table.show(counts.stdout(), columns, rows, all_rows=args.all_rows, wanted=wanted)
    return 0


def _divided(args: argparse.Namespace, lab: Lab) -> "pd.DataFrame":
    """The counts of runs by dimension, without the rows of sums."""
    question = options.question(args, args.by)
    from p5lab.api import tables  # imported here, because loading pandas takes half a second

    return tables.divided(side_by_side.named(lab, args.runs, question=question), question, args.top)
