# SPDX-License-Identifier: MIT
"""Explains an SQL statement that names an unknown column or table.

DuckDB's message names the unknown name. This module adds the close names. Counts are rows, so the
name of an event is no column. A text without quotes is also an unknown column. The message explains
both.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from p5lab.describe.keys import BY_NAME
from p5lab.errors import listed, nearest
from p5stats import declared

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# The forms of DuckDB's messages.
COLUMN = re.compile(
    r'^Binder Error: .*\b(?:column "([^"]+)"(?: in EXCLUDE list)? (?:not found|does not exist)'
    r'|does not have a column named "([^"]+)")',
    re.IGNORECASE,
)
TABLE = re.compile(r'\bTable (?:with name )?"?([^"\s]+)"? (?:does not exist!|not found!)', re.I)
CANDIDATES = re.compile(r"^(?:Candidate bindings|Candidate tables|Did you mean)\b.*", re.M)
QUOTED = re.compile(r'"([^"]+)"')
TABLES = ("runs", "keys", "counts", "counts_by")
# Columns of `runs` whose texts a user compares with a name.
TEXTS = ("guest", "machine", "workload", "experiment", "engine", "status")
# What users call the column `value` of counts and counts_by.
COUNT = ("count", "counts")
COLUMNS = './p5lab query "DESCRIBE runs" lists all columns (also keys, counts, counts_by)'


def explain(connection: "DuckDBPyConnection", message: str) -> str:
    """Returns one line about a failed statement. `message`: DuckDB's message. `connection`: the
    database with the tables."""
    first = (message.splitlines() or ["unknown error"])[0]
    said = [name for line in CANDIDATES.findall(message) for name in QUOTED.findall(line)]
    if match := COLUMN.search(first):
        name = match[1] or match[2]
        return f"unknown column {name!r}; {_about_column(connection, name, said)}"
    if match := TABLE.search(first):
        if keys := [key for key in BY_NAME if key.startswith(f"{match[1]}.")]:
            return f"unknown table {match[1]!r}; {_about_keys(keys[0])}"
        near = nearest(match[1], [*TABLES, *said])
        hint = f"did you mean {listed(near)}? The" if near else "the"
        return f"unknown table {match[1]!r}; {hint} tables are {listed(TABLES, 'and', str)}"
    hint = f" Did you mean {listed(said)}?" if said else ""
    return first + hint


def _about_column(connection: "DuckDBPyConnection", name: str, said: Sequence[str]) -> str:
    """Returns what the user may have meant, and how to list all columns."""
    if name in _texts(connection):
        return f"a text needs single quotes: '{name}'. {COLUMNS}"
    events = [*declared.events(), *declared.nominal()]
    if name in events:
        return f"{_about_event(name, [name])}. {COLUMNS}"
    if name in BY_NAME:
        return f"{_about_keys(name)}. {COLUMNS}"
    if name in COUNT:
        return f"did you mean 'value'? It is the column of the counts. {COLUMNS}"
    columns = connection.execute(
        "SELECT column_name, table_name FROM information_schema.columns ORDER BY ALL"
    ).fetchall()
    if having := [table for column, table in columns if column == name]:
        return f"it is a column of {listed(having, 'and', str)}. {COLUMNS}"
    near = nearest(name, [*dict.fromkeys(column for column, _ in columns), *said, *events])
    if not near:
        return COLUMNS
    about = ""
    if meant := [event for event in near if event in events]:
        about = f" {_about_event(meant[0], meant)}."
    elif near[0] in BY_NAME:
        about = f" {_about_keys(near[0])}."
    return f"did you mean {listed(near)}?{about} {COLUMNS}"


def _about_event(example: str, names: Sequence[str]) -> str:
    """Returns how a statement selects an event. `names`: the events that the message names."""
    verb = "is an event" if len(names) == 1 else "are events"
    where = f"... FROM counts WHERE event = '{example}'"
    return f"{listed(names, 'and')} {verb}; a count is a row: {where}"


def _about_keys(example: str) -> str:
    """Returns how a statement selects a machine key."""
    statement = f'SELECT guest, "{example}" FROM runs JOIN keys USING (run)'
    return f"machine keys are columns of the table keys: {statement}"


def _texts(connection: "DuckDBPyConnection") -> set[str]:
    """Returns the texts of the columns TEXTS."""
    every = " UNION ".join(f'SELECT "{column}" FROM runs' for column in TEXTS)
    return {text for (text,) in connection.execute(every).fetchall() if text}
