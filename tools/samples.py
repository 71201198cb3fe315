# SPDX-License-Identifier: MIT
"""Makes the runs of the notebooks' samples and writes the samples again (notebooks/samples).

A sample lets a reader run a notebook without an experiment. It has only the brackets and events
that the notebooks show. Without a name, the command writes runs.zip, whose runs need only what
p5lab builds. A name writes a sample whose runs need more: `applications` needs a disk that
docs/concepts/x.md makes, and `engines` the results of `./p5lab cross-check`.

    PYTHONPATH=src:stats-parsers .venv/bin/python tools/samples.py [NAME]
"""

import argparse
import io
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd

import p5lab
from p5lab.api.samples import ARCHIVE, FOLDER, OUTPUT, TABLE
from p5stats import cpi, method, metrics, tidy

ROOT = Path(__file__).resolve().parents[1]
BRACKETS = 3  # of each phase of a run
CORE = ("getpid", "dup", "null", "cswitch", "exec-static", "exec-dynamic", "cached-read", "create")
OPERATIONS = ("null", "getpid", "dup", "exec")
# Of the files in the archive, so that the same runs give the same bytes.
DATE = (1995, 1, 1, 0, 0, 0)


def few(table: pd.DataFrame, *events: str) -> pd.DataFrame:
    """The first brackets of each phase, with the events of the reports and these events."""
    return table[
        (table["iteration"] < BRACKETS) & table["event"].isin({*metrics.reported(), *events})
    ]


def core() -> pd.DataFrame:
    """chen95-core with CPI stacks, for the notebooks chen95 and method."""
    return few(p5lab.run("chen95-core", workload=CORE, cpi=True), *cpi.components())


def of_the_method() -> pd.DataFrame:
    """chen95-method with ten iterations in each pass. A pass needs all of its brackets."""
    table = p5lab.run("chen95-method", sweep={"parameters.iterations": [10]})
    operation = table["parameters"].str.extract(r"operation=(\S+)")[0]
    events = (*method.EVENTS, "cycles.busy", "cycles.idle")
    return table[operation.isin(OPERATIONS) & table["event"].isin(events)]


MADE: dict[str, Callable[[], pd.DataFrame]] = {
    "smoke": lambda: few(p5lab.run("smoke")),
    "chen95-core": core,
    "what-if": lambda: few(p5lab.run("what-if")),
    "chen95-method": of_the_method,
}


def of_applications() -> pd.DataFrame:
    """applications, without the phase of the whole run."""
    table = p5lab.run("applications")
    return table[table["event"].isin(metrics.reported()) & (table["phase"] != "whole")]


def of_engines() -> pd.DataFrame:
    """The runs of both engines that `./p5lab cross-check` left."""
    table = p5lab.load("chen95-core")
    return table[
        (table["guest"] == "linux64")
        & (table["geometry"] == "")
        & (table["workload"] != "mem-read")
    ]


OTHERS = {"applications": of_applications, "engines": of_engines}


def parquet(table: pd.DataFrame) -> bytes:
    """A table as the bytes of a file, without the keys that no run of it changes."""
    keys = [
        key for key in tidy.settings(table) if not table["geometry"].str.contains(f"{key}=").any()
    ]
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "sample"
        tidy.save(path, table.drop(columns=keys).reset_index(drop=True))
        return path.read_bytes()


def archive() -> bytes:
    """All samples of MADE, and the outputs of the programs that read counters."""
    files = {f"{name}{TABLE}": make() for name, make in MADE.items()}
    counted = files[f"chen95-method{TABLE}"]
    used = counted[counted["parameters"].str.contains("counters=used")]["run"].unique()
    content = {name: parquet(table) for name, table in files.items()}
    content |= {f"{run}{OUTPUT}": p5lab.output(run).encode() for run in used}
    result = io.BytesIO()
    with zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in content.items():
            packed.writestr(zipfile.ZipInfo(name, DATE), data, zipfile.ZIP_DEFLATED, 9)
    return result.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("name", nargs="?", choices=[*OTHERS], metavar="NAME")
    name = parser.parse_args().name
    path = ROOT / FOLDER / (f"{name}{TABLE}" if name else ARCHIVE)
    path.write_bytes(parquet(OTHERS[name]()) if name else archive())
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    sys.exit(main())
