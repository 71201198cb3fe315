# SPDX-License-Identifier: MIT
"""Loads the counts for the notebooks, and sets the format of the figures.

`sample/` contains small results, so that a reader can run every notebook without an experiment.
With `own=True`, a notebook reads the results of the same experiment from this checkout's results/
and not from the sample. `python notebooks/stored.py` writes the samples again from results/. The
comments in SAMPLES are the commands that make these results.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import pyarrow.parquet as pq

from p5stats import tidy

HERE = Path(__file__).resolve().parent
SAMPLE, RESULTS = HERE / "sample", HERE.parent / "results"
OUTPUT = "output.log"  # the output of a run's program
METHOD = ("null", "getpid", "dup", "exec")  # operations of the sample of chen95-method
# The experiment of each sample, and a filter for its runs. Each comment is the sample's command.
SAMPLES: dict[str, tuple[str, Callable[[dict[str, Any]], bool]]] = {
    # ./p5lab run smoke
    "smoke": ("smoke", lambda run: True),
    # ./p5lab run chen95-core --sweep parameters.iterations=8
    # For the workloads cached-read and create: --sweep parameters.iterations=2
    "chen95-core": (
        "chen95-core",
        lambda run: run["guest"]["name"] != "linux64" and _iterations(run) in (2, 8),
    ),
    # ./p5lab run what-if
    "what-if": ("what-if", lambda run: True),
    # ./p5lab run chen95-method --sweep parameters.iterations=10
    "chen95-method": (
        "chen95-method",
        lambda run: _iterations(run) == 10 and run["parameters"]["operation"] in METHOD,
    ),
    # P5LAB_GEM5=/path/to/gem5.opt ./p5lab cross-check
    "engines": (
        "chen95-core",
        lambda run: (
            run["guest"]["name"] == "linux64"
            and not run["machine"]["geometry"]
            and run["workload"]["name"] != "mem-read"
        ),
    ),
}

# Python draws the figures, so the reader's browser needs no script and no network.
alt.renderers.enable("svg")


def load(name: str, own: bool = False) -> tuple[pd.DataFrame, int]:
    """Returns the tidy table and the clock in Hz, from a sample or (with `own`) from results/."""
    if not own:
        return tidy.read(SAMPLE / f"{name}.parquet")
    table, clocks = tidy.load(RESULTS / SAMPLES[name][0])
    (clock_hz,) = set(clocks.values())
    return table, clock_hz


def output(name: str, run: str, own: bool = False) -> str:
    """The text that the program of a run printed."""
    place = RESULTS / SAMPLES[name][0] / run / OUTPUT if own else SAMPLE / name / f"{run}.log"
    return place.read_text(encoding="utf-8", errors="replace")


def save(name: str, results: Path) -> Path:
    """Write a sample from the directory `results`, and return its path. If several runs have the
    same inputs, the sample contains the run that started last."""
    experiment, wanted = SAMPLES[name]
    newest: dict[str, tuple[str, Path]] = {}
    for path in sorted((results / experiment).glob("*/run.json")):
        run = json.loads(path.read_bytes())
        if run["status"] != "ok" or not wanted(run):
            continue
        asks = json.dumps([run["engine"], run["label"], run["parameters"]], sort_keys=True)
        newest[asks] = max(newest.get(asks, ("", path)), (run["started"], path.parent))
    read = [tidy.read(directory / "counts.parquet") for _, directory in newest.values()]
    (clock_hz,) = {clock for _, clock in read}
    path = SAMPLE / f"{name}.parquet"
    tidy.write(path, pd.concat([table for table, _ in read], ignore_index=True), clock_hz=clock_hz)
    # Write the file again, with stronger compression than tidy.write.
    pq.write_table(pq.read_table(path), path, compression="zstd", compression_level=19)
    return path


def _save_outputs(name: str, results: Path) -> None:
    directory = SAMPLE / name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    table, _ = load(name)
    runs = table[["run", "parameters"]].drop_duplicates()
    for run in runs[runs["parameters"].str.contains("counters=used")]["run"]:
        shutil.copy(results / SAMPLES[name][0] / run / OUTPUT, directory / f"{run}.log")


def _iterations(run: dict[str, Any]) -> int:
    return int(run["parameters"].get("iterations", 0))


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS, help="default: this checkout's")
    parser.add_argument("names", nargs="*", default=list(SAMPLES), metavar="NAME")
    args = parser.parse_args()
    SAMPLE.mkdir(exist_ok=True)
    for name in args.names:
        path = save(name, args.results)
        if name == "chen95-method":
            _save_outputs(name, args.results)
        print(f"{path.relative_to(HERE)}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    sys.exit(main())
