# SPDX-License-Identifier: MIT
"""Run directories (results/EXPERIMENT/RUN-ID/) contain the authoritative data about runs.

The record run.json contains the resolved inputs, versions, digests, host, status and wall time. The
status is one of queued, running, ok, failed and timeout. A record with the status failed or timeout
contains a reason. p5lab replaces the record in one step, so a reader never sees an incomplete file.

The process that executes a run holds a lock on the run directory. The engine also holds this lock.
If the status is `running` but no process holds the lock, the run has crashed. The status then
becomes `failed`.
"""

import errno
import fcntl
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p5lab.describe import experiment
from p5lab.describe.plan import Plan
from p5lab.errors import UserError, disk_error
from p5lab.files import digest_of, replace_json
from p5lab.lab import Lab
from p5stats import StatsError
from p5stats import record as records
from p5stats.problems import DamagedTable

SCHEMA_VERSION = 1
STATUSES = ("queued", "running", "ok", "failed", "timeout")
RECORD, COUNTS, LOCK, RESERVE = "run.json", "counts.parquet", "lock", "reserve"
IN_USE = ".in-use"  # name of the lock file for the whole results directory
# Prefixes of other directories in the results directory: the directories where engines boot, the
# directories where workers execute runs, the directories where runs with a good result are
# repeated, and the directories that mark the client's results directory for workers.
BOOT_PREFIX, WORKER_PREFIX, REPEAT_PREFIX, BEACON_PREFIX = ".boot-", ".run-", ".again-", ".cluster-"
LEFT_BEHIND = (
    *(f"*/{prefix}*" for prefix in (BOOT_PREFIX, WORKER_PREFIX, REPEAT_PREFIX)),
    f"{BEACON_PREFIX}*",
)
# This space is freed when the disk is full, so that the reason of the failure can be recorded.
RESERVE_BYTES = 64 * 1024
ASKED = "asked"  # the entry of a record with the time when the run was first asked for
DAMAGED = f"{RECORD} is damaged; run the experiment again"
CRASHED = "interrupted: the process that executed the run ended without recording a result"


@dataclass(frozen=True)
class Stored:
    """A run directory and its record."""

    directory: Path
    record: dict[str, Any]

    @property
    def id(self) -> str:
        """The run's id, which is the name of its directory."""
        return self.directory.name

    @property
    def status(self) -> str:
        """One of STATUSES."""
        return self.record["status"]

    @property
    def started(self) -> str:
        """The time when the run started, as a text that sorts by time; empty if it is unknown."""
        return str(self.record.get("started", ""))

    @property
    def asked(self) -> str:
        """The time when the run was first asked for, as a text that sorts by time. The runs of one
        command have the order of the command. Records of older versions have only `started`."""
        return str(self.record.get(ASKED, self.started))


def identity(plan: Plan) -> dict[str, Any]:
    """Returns all inputs that can change a run's result: the digests of files, and the settings.
    Paths are not included."""
    return {
        "schema_version": SCHEMA_VERSION,
        "digests": {role: digest_of(path) for role, path in sorted(plan.inputs.items())},
        "settings": plan.settings,
    }


def run_id(what: Mapping[str, Any]) -> str:
    """Returns the id of a run with this `identity`: 16 hexadecimal digits of the SHA-256 of the
    identity."""
    text = json.dumps(what, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read(directory: Path) -> dict[str, Any] | None:
    """Returns the record of a run directory, or None if the record is missing or damaged.

    Raises UserError if the record has a newer schema version, because p5lab must not overwrite such
    a record. There are no older schema versions, because version 1 is the first.
    """
    try:
        record = records.read(directory / RECORD)
    except StatsError:
        return None
    version = record.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise UserError(
            f"{directory / RECORD}: schema_version: expected {SCHEMA_VERSION}, found {version}"
        )
    return record if _is_record(record, directory.name) else None


# The fields of every record, and the further fields of a finished run. A tuple with one type
# describes a table in which all values have that type.
_ALWAYS: dict[str, Any] = {
    "schema_version": int,
    "run": str,
    "experiment": str,
    "status": str,
    "reason": str,
    "engine": str,
    "label": str,
    "seed": int,
    "feedback": str,
    "machine": {"name": str, "geometry": str, "values": (str,)},
    "guest": {"name": str, "clock_vector": int | None},
    "workload": {"name": str, "bracket": str, "operation": str, "operations": int, "curve": str},
    "parameters": (int | str,),
    "identity": {"digests": (str,), "settings": dict},
    "versions": dict,
}
_FINISHED: dict[str, Any] = {
    "started": str,
    "wall_seconds": int | float,
    "digests": (str,),
    "notes": list,
    "host": dict,
}


def _is_record(record: dict[str, Any], name: str) -> bool:
    wanted = _ALWAYS | (_FINISHED if record.get("status") == "ok" else {})
    return (
        _has(record, wanted)
        and record["schema_version"] == SCHEMA_VERSION
        and record["status"] in STATUSES
        and record["run"] == name == run_id(record["identity"])
        and _has(record["machine"].get("shadows", {}), (dict,))
        and _has(record["workload"].get("bytes", 0), int)
        and all(isinstance(note, dict) for note in record.get("notes", []))
    )


def _has(value: object, kind: Any) -> bool:  # noqa: ANN401
    """Whether a JSON value has the type `kind`. `kind` can also describe a table, as in
    `_ALWAYS`."""
    if isinstance(kind, dict):
        return isinstance(value, dict) and all(
            key in value and _has(value[key], wanted) for key, wanted in kind.items()
        )
    if isinstance(kind, tuple):
        return isinstance(value, dict) and all(_has(part, kind[0]) for part in value.values())
    return isinstance(value, kind) and not isinstance(value, bool)


def write(directory: Path, record: Mapping[str, Any]) -> None:
    """Replaces the record. If the disk is full, this function first removes the file that `reserve`
    wrote. Raises UserError if the record cannot be written."""
    try:
        replace_json(directory / RECORD, records.sealed(record))
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise disk_error(error, directory / RECORD) from None
        (directory / RESERVE).unlink(missing_ok=True)
        try:
            replace_json(directory / RECORD, records.sealed(record))
        except OSError as again:
            raise disk_error(again, directory / RECORD) from None


def kept(before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the entries that the record of a repeated run takes from the record before: when it
    was first asked for."""
    asked = before and (before.get(ASKED) or before.get("started"))
    return {ASKED: asked} if asked else {}


def reserve(directory: Path) -> None:
    """Writes a file that reserves disk space. If the disk becomes full, `write` removes this file
    and uses its space for the record."""
    (directory / RESERVE).write_bytes(b"\0" * RESERVE_BYTES)


@contextmanager
def locked(directory: Path) -> Iterator[int | None]:
    """Holds the lock of a directory while the block runs. Yields the lock's file descriptor, or
    None if another process holds the lock. Raises OSError if the directory has no lock and cannot
    be written."""
    path = directory / LOCK
    try:
        opened = path.open("a")
    except OSError:  # a run of another user, or a read-only file system
        opened = path.open()
    with opened as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            yield file.fileno()


@contextmanager
def in_use(lab: Lab, *, alone: bool = False) -> Iterator[bool]:
    """Holds the lock of the results directory while the block runs. Yields whether this process got
    the lock.

    All processes that execute runs share the lock. With `alone`, this process gets the lock only if
    no other process holds the lock. Raises UserError if the directory cannot be created.
    """
    try:
        lab.results.mkdir(parents=True, exist_ok=True)
        file = (lab.results / IN_USE).open("a")
    except OSError as error:
        raise disk_error(error, lab.results) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB if alone else fcntl.LOCK_SH)
        except BlockingIOError:
            yield False
        else:
            yield True


def complete(directory: Path, record: Mapping[str, Any] | None) -> bool:
    """Whether a run is ok and its files have the recorded digests. Such a run need not be executed
    again."""
    if record is None or record["status"] != "ok":
        return False
    try:
        return all(
            digest_of(directory / name) == known for name, known in record["digests"].items()
        )
    except OSError:
        return False


def all_runs(lab: Lab, experiment: str = "") -> list[Stored]:
    """Returns every recorded run, or the recorded runs of one experiment. A run that crashed
    becomes `failed`.

    A run with a damaged record is listed as failed. If abridged records are enough,
    p5lab.keep.index is faster.
    """
    pattern = f"*/{RECORD}" if experiment else f"*/*/{RECORD}"
    return [stored(path.parent) for path in sorted((lab.results / experiment).glob(pattern))]


def stored(directory: Path) -> Stored:
    """Returns the run of a directory. Crashed and damaged runs are handled as in `all_runs`."""
    record = read(directory)
    return Stored(directory, settle(directory, record) if record else _damaged(directory))


def _damaged(directory: Path) -> dict[str, Any]:
    empty = {key: kind() if isinstance(kind, type) else {} for key, kind in _ALWAYS.items()}
    return {
        **empty,
        "run": directory.name,
        "experiment": directory.parent.name,
        "status": "failed",
        "reason": DAMAGED,
        "label": "?",
    }


def explained(error: StatsError) -> str:
    """Returns the message of an error. That of a run's damaged table says how to repair it."""
    if not isinstance(error, DamagedTable) or not (error.path.parent / RECORD).exists():
        return str(error)
    again = experiment.again(error.path.parent.parent.name)
    return (
        f"{error}; `./p5lab run {again}` with the options of the run makes it again; otherwise"
        " delete its directory"
    )


def is_lost(directory: Path) -> bool:
    """Whether a directory belongs to a run with a missing or damaged record, and no process works
    in it."""
    if not re.fullmatch(r"[0-9a-f]{16}", directory.name) or read(directory) is not None:
        return False
    if not (directory / LOCK).exists():
        return directory.is_dir()
    with locked(directory) as lock:
        return lock is not None


def settle(directory: Path, record: dict[str, Any]) -> dict[str, Any]:
    """Changes a record from `running` to `failed` if no process executes the run. Returns the
    record. In a directory that cannot be written, only the returned record changes."""
    if record["status"] != "running":
        return record
    with suppress(OSError), locked(directory) as lock:
        if lock is None:
            return record
        record = read(directory) or record
        if record["status"] == "running":
            record = {**record, "status": "failed", "reason": CRASHED}
            with suppress(UserError):
                write(directory, record)
    return record


def find(lab: Lab, prefix: str) -> Stored:
    """Returns the run with an id that begins with `prefix`.

    The prefix has at least 4 characters. EXPERIMENT/ may precede the prefix. Raises UserError if no
    run matches or if several runs match.
    """
    wanted = prefix.rstrip("/").rpartition("/")[2]
    runs: dict[str, Stored] = {}
    if re.fullmatch(r"[0-9a-f]{4,}", wanted):
        # Ids are names of directories, so only the matching records are read.
        for path in sorted(lab.results.glob(f"*/{wanted}*/{RECORD}")):
            runs.setdefault(path.parent.name, stored(path.parent))
    if not runs:
        raise UserError(
            f"no run {prefix!r}: expected the first 4 or more characters of an id that"
            " `./p5lab list runs` shows"
        )
    if len(runs) > 1:
        raise UserError(f"{prefix!r} matches {len(runs)} runs: {', '.join(sorted(runs))}")
    return next(iter(runs.values()))
