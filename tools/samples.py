# SPDX-License-Identifier: MIT
"""Writes the stored samples of the notebooks (notebooks/sample) again from results/.

A sample lets a reader run a notebook without an experiment. The comments in SAMPLES are the
commands that make the results.

    PYTHONPATH=stats-parsers .venv/bin/python tools/samples.py [NAME...]
"""

import argparse
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from p5stats import cpi, metrics, tidy

ROOT = Path(__file__).resolve().parents[1]
SAMPLE, RESULTS = ROOT / "notebooks/sample", ROOT / "results"
OUTPUT = "output.log"  # the output of a run's program
METHOD = ("null", "getpid", "dup", "exec")  # operations of the sample of chen95-method
# The events of the sample why: all components of the CPI stack, and what the notebook compares.
WHY = (*cpi.components(), "cycles.busy", "cycles.idle", "instructions", "code_misses")
# The experiment of each sample, and the rows of its table. Each comment is the sample's command.
SAMPLES: dict[str, tuple[str, Callable[[pd.DataFrame], pd.Series]]] = {
    # ./p5lab run smoke
    "smoke": ("smoke", lambda rows: rows["value"].notna()),
    # ./p5lab run chen95-core --sweep parameters.iterations=8, with --workload getpid, dup, null,
    # cswitch, exec-static and exec-dynamic
    # For the workloads cached-read and create: --sweep parameters.iterations=2
    "chen95-core": (
        "chen95-core",
        lambda rows: (rows["guest"] != "linux64") & _parameter(rows, "iterations").isin(["2", "8"]),
    ),
    # ./p5lab run what-if
    "what-if": ("what-if", lambda rows: rows["value"].notna()),
    # ./p5lab run chen95-method --sweep parameters.iterations=10
    "chen95-method": (
        "chen95-method",
        lambda rows: (
            (_parameter(rows, "iterations") == "10") & _parameter(rows, "operation").isin(METHOD)
        ),
    ),
    # ./p5lab run chen95-core --cpi --sweep parameters.iterations=8, with --workload getpid, dup,
    # exec-static, exec-dynamic and cswitch
    # For the workloads cached-read and create: --sweep parameters.iterations=2
    "why": (
        "chen95-core",
        lambda rows: (
            rows["event"].isin(WHY) & rows["run"].isin(rows[rows["event"] == WHY[0]]["run"])
        ),
    ),
    # ./p5lab run applications, with a disk that docs/concepts/x.md makes
    "applications": (
        "applications",
        lambda rows: rows["event"].isin(metrics.reported()) & (rows["phase"] != "whole"),
    ),
    # P5LAB_GEM5=/path/to/gem5.opt ./p5lab cross-check
    "engines": (
        "chen95-core",
        lambda rows: (
            (rows["guest"] == "linux64")
            & (rows["geometry"] == "")
            & (rows["workload"] != "mem-read")
        ),
    ),
}


def save(name: str, results: Path, sample: Path) -> Path:
    """Writes a sample from the directory `results` to the directory `sample`, and returns its
    path. For chen95-method, also copies the outputs of the programs that read counters."""
    experiment, wanted = SAMPLES[name]
    table = tidy.load(results / experiment)
    table = table[wanted(table)]
    # Runs outside of the sample can have brought further keys.
    table = table.drop(columns=[key for key in tidy.settings(table) if not _differs(table, key)])
    path = sample / f"{name}.parquet"
    tidy.save(path, table.reset_index(drop=True))
    if name == "chen95-method":
        shutil.rmtree(sample / name, ignore_errors=True)
        (sample / name).mkdir()
        for run in table[_parameter(table, "counters") == "used"]["run"].unique():
            shutil.copy(results / experiment / run / OUTPUT, sample / name / f"{run}.log")
    return path


def _parameter(rows: pd.DataFrame, name: str) -> pd.Series:
    return rows["parameters"].str.extract(rf"(?:^| ){name}=(\S+)")[0]


def _differs(table: pd.DataFrame, key: str) -> bool:
    return bool(table["geometry"].str.contains(f"{key}=", regex=False).any())


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS, help="default: this checkout's")
    parser.add_argument("names", nargs="*", default=list(SAMPLES), metavar="NAME")
    args = parser.parse_args()
    SAMPLE.mkdir(exist_ok=True)
    for name in args.names:
        path = save(name, args.results, SAMPLE)
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    sys.exit(main())
