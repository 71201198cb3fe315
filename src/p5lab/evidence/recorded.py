# SPDX-License-Identifier: MIT
"""The recorded numbers of runs: docs/recorded.toml.

Documents print numbers that come from runs. These numbers are recorded once, so a fast test can
compare the documents with the record. The end-to-end tests compare the record with new runs.
`./p5lab docs numbers` makes the runs and writes the record (docs/evidence/numbers.md).
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from p5lab.describe import tomlfile
from p5lab.describe.keys import readable
from p5lab.keep.store import Stored
from p5lab.present.comparison import Comparison

FILE = "docs/recorded.toml"
SCHEMA_VERSION = 1
SEPARATOR = " | "
DIGITS = 9  # significant digits of a recorded value
# The largest relative difference between two builds of the guests that docs/evidence/numbers.md
# states. Whole numbers from 1 to SMALL count crossings, calls or pages and are equal in all builds.
TOLERANCE, SMALL = 0.25, 20
HEAD = """\
# SPDX-License-Identifier: MIT
# The numbers of the documents that come from runs. `./p5lab docs numbers` writes this file; do not
# edit it. docs/evidence/numbers.md explains it.
"""

Numbers = dict[str, float]


@dataclass
class Source:
    """The recorded numbers of one group of runs, by name (see `numbers_of`).

    `tools`: the compilers and the versions of the kernels of these runs' guests (see `tools_of`).
    """

    tools: str
    numbers: Numbers


@dataclass
class Record:
    """The content of docs/recorded.toml: the sources by name."""

    sources: dict[str, Source] = field(default_factory=dict)

    def text(self) -> str:
        """The record as TOML, in the order of the names."""
        lines = [HEAD, f"schema_version = {SCHEMA_VERSION}"]
        for name, source in sorted(self.sources.items()):
            lines += ["", f"[{_quoted(name)}]", f"tools = {_quoted(source.tools)}"]
            lines.append(f"[{_quoted(name)}.numbers]")
            numbers = sorted(source.numbers.items())
            lines += [f"{_quoted(key)} = {value!r}" for key, value in numbers]
        return "\n".join(lines) + "\n"


def load(root: Path) -> Record:
    """Reads the record of a checkout. Raises UserError if the file is missing or invalid."""
    table = tomlfile.load(root / FILE, schema_version=SCHEMA_VERSION)
    sources = {}
    for name in table.data:
        one = table.table(name)
        one.only(("tools", "numbers"))
        sources[name] = Source(one.text("tools"), dict(one.table("numbers").data))
    return Record(sources)


def tools_of(runs: Iterable[Stored]) -> str:
    """The tools that determine the bytes of the runs' guests: the compilers, and the
    versions of the guests' kernels, separated by semicolons. (Zig compiles the programs of the
    guests. The version of Zig is fixed.)"""
    found = set()
    for one in runs:
        built = one.record.get("built_from", {}).get("guest", {}).get("inputs", {})
        found.add(built.get("compiler", ""))
        found.add(one.record.get("versions", {}).get("guest kernel", "").partition(" ")[0])
    return "; ".join(sorted(found - {""}))


def numbers_of(runs: Iterable[Stored]) -> Numbers:
    """All numbers of some runs, by name: "GUEST | WORKLOAD | METRIC", such as
    "linux | dup | busy cycles".

    The name of a metric is its name in `--format json`. If the machine was changed (`--set`), the
    changed keys follow the guest: "linux, l2.size=512K". If the runs have several values of a
    workload's parameter, the value follows the workload: "mem-read guest". If the workload has
    several phases, the phase follows too: "mem-read guest, 1 MB". A number is the mean over the
    brackets and the seeds; its unit is the metric's unit. A metric without a value has no name.
    """
    rows = list(Comparison(list(runs)).table())
    given: dict[str, list[dict[str, str]]] = {}
    phases: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        given.setdefault(row["workload"], []).append(_parameters(row))
        phases.setdefault((row["workload"], row["parameters"]), set()).add(row["phase"])
    found: Numbers = {}
    for row in rows:
        if row["value"] is None:
            continue
        several = len(phases[row["workload"], row["parameters"]]) > 1
        what = " ".join([row["workload"], *_different(_parameters(row), given[row["workload"]])])
        name = (
            f"{row['guest']}, {readable(row['geometry'])}" if row["geometry"] else row["guest"],
            f"{what}, {row['phase']}" if several else what,
            row["metric"],
        )
        found[SEPARATOR.join(name)] = rounded(row["value"])
    return found


def _parameters(row: Mapping[str, Any]) -> dict[str, str]:
    return dict(re.findall(r"(\S+?)=(\S*)", row["parameters"]))


def _different(one: Mapping[str, str], others: Iterable[Mapping[str, str]]) -> list[str]:
    """The values of the parameters that are not the same in all runs of a workload."""
    others = list(others)
    return [value for name, value in one.items() if len({other.get(name) for other in others}) > 1]


def rounded(value: float) -> float:
    """A value with as many significant digits as the record has. Whole numbers have no fraction."""
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() and math.isfinite(short) else short


def near(recorded: float, now: float, *, exact: bool) -> bool:
    """Whether a new number agrees with the recorded number.

    `exact`: the guests were built with the same tools, so the numbers must be equal. Otherwise the
    numbers may differ by TOLERANCE, except whole numbers up to SMALL.
    """
    if exact or (recorded == int(recorded) and 1 <= recorded <= SMALL):
        return math.isclose(recorded, now, rel_tol=10 ** (1 - DIGITS), abs_tol=1e-9)
    return abs(recorded - now) <= max(0.05, TOLERANCE * max(abs(recorded), abs(now)))


def differences(record: Record, source: str, runs: Iterable[Stored]) -> list[str]:
    """Compares the recorded numbers of a source with new runs. Returns one line for each number
    that differs or is missing. A number whose workload is not among the runs is not compared.

    If the guests were built with other tools than the guests of the record, the numbers only have
    to be near.
    """
    runs = list(runs)
    known = record.sources[source]
    exact = tools_of(runs) == known.tools
    now = numbers_of(runs)
    ran = {name.rpartition(SEPARATOR)[0] for name in now}
    lines = []
    for name, value in known.numbers.items():
        if name.rpartition(SEPARATOR)[0] not in ran:
            continue
        if name not in now:
            lines.append(f"{source}: {name}: recorded {value}, missing in the new runs")
        elif not near(value, now[name], exact=exact):
            lines.append(f"{source}: {name}: recorded {value}, now {now[name]}")
    return lines


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
