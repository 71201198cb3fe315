# SPDX-License-Identifier: MIT
#: 150 query SQL           query all results
"""`query`: a query of all results in SQL."""

import argparse
import csv
import json
import sys

from p5lab.cli import options
from p5lab.keep import index
from p5lab.lab import Lab
from p5lab.present import (
    counts,
    query_table,
)
from p5lab.terminal import for_terminal

HELP = "query all results in SQL"
DESCRIPTION = (
    "Runs a query in the SQL of DuckDB. The table `runs` has a row for each"
    " run. The table `counts` has the counts of all runs with status ok"
    " (docs/reference/formats.md)."
)
EXAMPLES = (
    'query "SELECT guest, status, count(*) FROM runs GROUP BY ALL"',
    'query "SELECT run, event, sum(value) FROM counts GROUP BY ALL"',
    'query "FROM counts" --all-rows',
)


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `query`."""
    parser.add_argument("sql", metavar="SQL")
    parser.add_argument(
        "--all-rows",
        action="store_true",
        help=f"print all rows of the table; by default the first {query_table.ROWS} rows. Other"
        " formats always contain all rows",
    )
    options.add_format(parser)


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `query`."""
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
            print(query_table.grid(columns, rows).markdown())
        else:
            query_table.show(counts.stdout(), columns, rows, all_rows=args.all_rows)
    return 0
