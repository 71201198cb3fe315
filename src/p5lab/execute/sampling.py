# SPDX-License-Identifier: MIT
"""`./p5lab simpoint` estimates a long run from a few of its intervals (docs/concepts/simpoint.md).

An estimate needs at most three runs. Each run has its own run directory. The first run writes
basic-block vectors, with the model off. If asked for, it counts the misses of each interval, too,
which take no time there. The second run simulates the chosen intervals in detail.
Before each interval, the second run warms the caches, the TLBs and the branch target buffer. The
third run is the full run, which is executed only if the user wants the error of the estimate.
Between the first and the second run, p5stats.simpoint or the user's own SimPoint 3.2 chooses the
intervals.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from p5lab.describe import experiment
from p5lab.describe import guest as guests
from p5lab.describe import machine as machines
from p5lab.describe import workload as workloads
from p5lab.describe.experiment import Cannot
from p5lab.describe.markers import EMPTY_PHASE
from p5lab.describe.observation import BlockVectors, Sample, SampledInterval
from p5lab.describe.observation.vectors import VECTORS
from p5lab.describe.run import ImageRun, Run
from p5lab.engines import EVENTS
from p5lab.errors import STATUS_FAILED, UserError, writing
from p5lab.files import replace_json
from p5lab.keep.result import Execute, Result
from p5lab.lab import Lab
from p5stats import events, simpoint
from p5stats.simpoint import BUSY, INSTRUCTIONS, SimPoint

SCHEMA_VERSION = 1
# The experiment names of the three runs. The code that reads tables treats equal runs of one
# experiment as one run, so the three runs need different experiment names.
FULL, BLOCKS, SAMPLED = "simpoint", "simpoint-vectors", "simpoint-sampled"
INTERVAL, MAX_K = 10_000_000, 30
BLOCKS_ONLY, WITH_MISSES = FEATURES = ("blocks", "blocks+misses")
# This number of instructions fills an L2 cache of 256 KB several times (docs/concepts/simpoint.md).
WARM_UP = 2_000_000
LIMIT_SECONDS = 3600  # of modelled time
BINARY = "P5LAB_SIMPOINT"
WHOLE = 1e-3  # SimPoint prints six digits of each weight, so their sum is not exactly 1
ESTIMATE = "estimate.json"


@dataclass(frozen=True)
class Chosen:
    """The result of a clustering. The chosen points are in the order in which the run reaches them.
    `scores` contains the score of each number of clusters, k = 1, 2 and so on. With the user's
    SimPoint, `scores` is empty, because that program does not report scores. `coverage`: the share
    of the run that the clusters represent, less than 1 if the user's SimPoint omits clusters."""

    vectors: simpoint.Vectors
    points: tuple[SimPoint, ...]
    scores: tuple[float, ...]
    coverage: float = 1

    @property
    def remark(self) -> str:
        """A line about clusters that the user's SimPoint omitted; empty if there are none."""
        if self.coverage > 1 - WHOLE:
            return ""
        return (
            f"The weights add up to {self.coverage:.4g} (SimPoint's -coveragePct): the chosen"
            f" intervals represent {self.coverage:.1%} of the run. p5lab takes them for the whole"
            " run, with weights that add up to 1."
        )

    def sample(self, warm_up: int) -> Sample:
        """The intervals to simulate in detail. `warm_up` is in instructions."""
        bounds = simpoint.bounds(self.vectors, self.points)
        total = sum(self.vectors.lengths)
        return Sample(
            tuple(
                SampledInterval(
                    point.interval, *bounds[point.interval], max(1, round(point.weight * total))
                )
                for point in self.points
            ),
            warm_up,
            *simpoint.write_points(self.points),
        )


# --- runs ---------------------------------------------------------------------------------------


def base(
    lab: Lab,
    names: Sequence[str],
    given: Sequence[str],
    guest: str,
    machine: str,
    settings: dict[str, Any],
    seed: int,
) -> list[Run]:
    """Returns the full run of each workload. `given` contains parameters in the form `name=value`.
    Raises UserError for an unknown name or a wrong value."""
    known = workloads.load(lab)
    board = machines.load(lab, machine)
    if settings:
        board = board.with_set(settings, "--set")
    system = guests.load(lab, guest)
    board = experiment.with_isa("simpoint", system, board)
    parameters = dict(_parameter(text) for text in given)
    runs: list[Run] = []
    for name in dict.fromkeys(names):
        if name not in known:
            raise workloads.unknown_workload(lab, name, workloads.shown(known))
        resolved = known[name].resolve(parameters, "--parameter")
        if reason := system.why_not(known[name], resolved):
            raise UserError(str(Cannot(guest, name, reason)))
        runs.append(
            ImageRun(
                FULL,
                board,
                guests.built(system),
                known[name],
                resolved,
                tuple(parameters),
                seed,
                True,
                LIMIT_SECONDS,
            )
        )
    return runs


def _parameter(text: str) -> tuple[str, int | str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UserError(f"--parameter: expected NAME=VALUE, found {text!r}")
    return name, int(value) if re.fullmatch(r"[0-9]{1,10}", value) else value


def blocks(run: Run, interval: int, features: str) -> Run:
    """Returns the run that writes the vectors. Either the model is off in this run, or misses take
    no time. The model changes the guest's clock, and has no other effect on the executed
    instructions."""
    misses = features == WITH_MISSES
    return replace(
        run,
        experiment=BLOCKS,
        observation=run.observation.with_(BlockVectors(interval, events=misses)),
        model=misses,
        feedback=run.feedback and not misses,
    )


def sampled(run: Run, chosen: Chosen, warm_up: int) -> Run:
    """Returns the run that simulates only the chosen intervals in detail. Before each interval, the
    run warms the caches, the TLBs and the branch target buffer for `warm_up` instructions."""
    return replace(
        run,
        experiment=SAMPLED,
        observation=run.observation.with_(chosen.sample(warm_up)),
    )


# --- clustering ---------------------------------------------------------------------------------


def choose(file: Path, max_k: int, binary: Path | None, counted: Path | None = None) -> Chosen:
    """Chooses the intervals that represent a run. `file` contains the frequency vectors of the
    run, and `counted` the events of the same intervals, if misses are to be looked at."""
    vectors = simpoint.read_vectors(file)
    if binary:
        points, coverage = _by_binary(file, len(vectors.intervals), max_k, binary)
        return Chosen(vectors, points, (), coverage)
    misses = None
    if counted:
        misses = simpoint.miss_clocks(events.parse(counted), EMPTY_PHASE, len(vectors.intervals))
    clusters = simpoint.cluster(vectors, max_k, misses)
    return Chosen(vectors, clusters.points, clusters.scores)


def binary(option: Path | None) -> Path | None:
    """Returns the path of the user's own SimPoint 3.2, or None. `option` has priority over the
    environment variable P5LAB_SIMPOINT. Raises UserError if the file is not executable."""
    path = option or (Path(os.environ[BINARY]) if os.environ.get(BINARY) else None)
    if path and not os.access(path, os.X_OK):
        raise UserError(f"{path}: expected the executable program `simpoint` of SimPoint 3.2")
    return path


def _by_binary(
    file: Path, intervals: int, max_k: int, program: Path
) -> tuple[tuple[SimPoint, ...], float]:
    packed = ["-inputVectorsGzipped"] if simpoint.is_packed(file) else []
    with tempfile.TemporaryDirectory(prefix="p5lab-simpoint-") as name:
        points, weights = Path(name) / "simpoints", Path(name) / "weights"
        # The option `-fixedLength off` is needed, because our last interval is shorter than the
        # other intervals.
        command: list[str | Path] = [program.resolve(), "-loadFVFile", file, *packed]
        command += ["-maxK", str(min(max_k, intervals)), "-fixedLength", "off"]
        command += ["-saveSimpoints", points, "-saveSimpointWeights", weights]
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        if done.returncode or not points.exists() or not weights.exists():
            said = (done.stdout.strip().splitlines() or ["it printed nothing"])[-1]
            raise UserError(f"{program}: status {done.returncode}: {said}", status=STATUS_FAILED)
        return simpoint.read_points(points, weights, intervals), simpoint.coverage(weights)


def cluster(file: Path, max_k: int, program: Path | None) -> tuple[Chosen, Path]:
    """Clusters the intervals of any frequency vector file, for example a file from gem5. Writes
    NAME.simpoints and NAME.weights beside the file. Returns the clustering and the path of
    NAME.simpoints."""
    chosen = choose(file, max_k, program)
    place = file.with_name(f"{file.name.partition('.')[0]}.simpoints")
    for path, text in zip(
        (place, place.with_suffix(".weights")), simpoint.write_points(chosen.points), strict=True
    ):
        with writing(path):
            path.write_text(text, encoding="utf-8")
    return chosen, place


# --- estimates ----------------------------------------------------------------------------------


def estimate(
    chosen: Chosen, interval: int, features: str, results: dict[str, Result]
) -> dict[str, Any]:
    """Returns the estimate of one workload after its runs. `results` contains the result of each
    run by experiment name. Also writes the estimate to estimate.json in the directory of the
    sampled run."""
    sample = events.parse(results[SAMPLED].directory / EVENTS)
    rates = simpoint.estimate(sample, EMPTY_PHASE, chosen.points)
    bounds = simpoint.bounds(chosen.vectors, chosen.points)
    counts = {p.interval: simpoint.counted(sample, EMPTY_PHASE, p.interval) for p in chosen.points}
    full = None
    if FULL in results:
        parsed = events.parse(results[FULL].directory / EVENTS)
        full = simpoint.counted(parsed, EMPTY_PHASE)
    record: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "runs": {name: result.id for name, result in results.items()},
        "host_seconds": {name: result.wall_seconds for name, result in results.items()},
        "interval": interval,
        "features": features,
        "intervals": len(chosen.vectors.intervals),
        "instructions": sum(chosen.vectors.lengths),
        "coverage": chosen.coverage,
        "simulated": sum(end - begin for begin, end in bounds.values()),
        "points": [
            {
                "interval": point.interval,
                "cluster": point.cluster,
                "weight": point.weight,
                "begin": bounds[point.interval][0],
                "end": bounds[point.interval][1],
                "cpi": counts[point.interval][BUSY] / counts[point.interval][INSTRUCTIONS],
            }
            for point in chosen.points
        ],
        "bic": list(chosen.scores),
        "seconds": simpoint.elapsed(sample, EMPTY_PHASE) / sample.clock_hz,
        "events": {event: {"estimate": rate} for event, rate in rates.items()},
    }
    if full:
        record["full_instructions"] = full[INSTRUCTIONS]
        record["full_seconds"] = simpoint.elapsed(parsed, EMPTY_PHASE) / parsed.clock_hz
        record["clock_drift"] = record["seconds"] / record["full_seconds"] - 1
        for event, numbers in record["events"].items():
            numbers["full"] = full[event] / full[INSTRUCTIONS]
            numbers["error"] = numbers["estimate"] / numbers["full"] - 1 if full[event] else None
    path = results[SAMPLED].directory / ESTIMATE
    with writing(path):
        replace_json(path, record)
    return record


@dataclass(frozen=True)
class Estimated:
    """The estimates by the label of the workload, the runs that failed, and a remark about the
    clustering of each label that has one."""

    estimates: dict[str, dict[str, Any]]
    failed: list[Result]
    remarks: dict[str, str]


def run(
    runs: Sequence[Run],
    *,
    interval: int,
    features: str,
    max_k: int,
    warm_up: int,
    program: Path | None,
    full: bool,
    execute: Execute,
) -> Estimated:
    """Executes all runs and estimates each workload. A workload with a failed run has no
    estimate. The user's SimPoint (`program`) reads blocks only."""
    if program:
        features = BLOCKS_ONLY
    first = execute([blocks(run, interval, features) for run in runs])
    failed = [result for result in first if result.status != "ok"]
    chosen: dict[str, Chosen] = {}
    wanted: dict[str, list[Run]] = {}
    for run, result in zip(runs, first, strict=True):
        if result.status == "ok":
            counted = result.directory / EVENTS if features == WITH_MISSES else None
            chosen[run.label] = choose(result.directory / VECTORS, max_k, program, counted)
            wanted[run.label] = [sampled(run, chosen[run.label], warm_up), *([run] if full else [])]
    second = execute([run for group in wanted.values() for run in group]) if wanted else []
    failed += [result for result in second if result.status != "ok"]
    by_label = {result.run.label: result for result in [*first, *second]}
    estimates = {}
    for run in runs:
        if run.label not in wanted:
            continue
        parts = [blocks(run, interval, features), *wanted[run.label]]
        results = {part.experiment: by_label[part.label] for part in parts}
        if all(result.status == "ok" for result in results.values()):
            estimates[run.label] = estimate(chosen[run.label], interval, features, results)
    remarks = {label: choice.remark for label, choice in chosen.items() if choice.remark}
    return Estimated(estimates, failed, remarks)
