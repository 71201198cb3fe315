# SPDX-License-Identifier: MIT
"""`./p5lab gc` finds and removes results and cached files that are no longer needed.

The command removes runs that failed or never started, and runs that a newer run replaces. The
command also removes cached files that were unused for some time. If the cache is then still larger
than --max-size, the command removes further cached files. The command never removes active runs.
A p5lab process holds a lock on the results directory while it executes runs. An engine holds a lock
on its run directory.
"""

import contextlib
import fcntl
import re
import shutil
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p5lab.describe import engine, observation
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.keep import index, named, store
from p5lab.keep.store import Stored
from p5lab.lab import Lab, cache_directory
from p5stats.record import program_digest

DAYS = 30  # an unused cached file is removed after this time
ABANDONED_DAYS = 1  # the same for runs without a record and files of killed builds
DAY = 86400
KILLED = "left by a killed build"
RUN_ID = re.compile(r"[0-9a-f]{16}")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True)
class Item:
    """A file or directory that can be removed. `why`: the kind of the item, for example
    `superseded`."""

    path: Path
    what: str
    why: str
    bytes: int
    used: float  # seconds since the epoch


def parse_size(text: str) -> int:
    """Returns the argument of --max-size in bytes. Raises UserError if the text is not a size."""
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]+)?)([KMGT])B?", text)
    if not match and text != "0":
        raise UserError(f"--max-size: expected a number with a unit, such as 5G; found {text!r}")
    return int(float(match[1]) * _UNITS[match[2]]) if match else 0


def parse_days(text: str) -> float:
    """Returns the argument of --older-than in days. Raises UserError if the text is not a number of
    days."""
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]+)?d?", text):
        raise UserError(f"--older-than: expected a number of days, found {text!r}")
    return float(text.rstrip("d"))


def human(size: float) -> str:
    """A size in bytes as text, in powers of 1000 like `df -H`."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 999.5 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError


# --- results ----------------------------------------------------------------------------------


def results(lab: Lab) -> list[Item]:
    """The run directories that can be removed."""
    items = [
        item
        for path in sorted(lab.results.glob("*/*"))
        if RUN_ID.fullmatch(path.name) and not (path / store.RECORD).exists()
        for item in [_item(path, path.name, "without a record")]
        if item.used < time.time() - ABANDONED_DAYS * DAY
    ]
    items += [
        _item(path, path.name, "left by a killed run")
        for left in store.LEFT_BEHIND
        for path in sorted(lab.results.glob(left))
        if not _held(path)
    ]
    newest: dict[tuple[object, ...], Stored] = {}
    for stored in index.runs(lab):
        why = _why(stored)
        if why:
            items.append(_of(stored, why))
        elif stored.status == "ok":
            asks = _asks(stored.record)
            if (other := newest.setdefault(asks, stored)) is not stored:
                older, newest[asks] = sorted((stored, other), key=lambda run: run.started)
                items.append(_of(older, "superseded"))
    return items


def _held(directory: Path) -> bool:
    """Whether an engine still runs in the directory."""
    with store.locked(directory) as lock:
        return lock is None


def _why(stored: Stored) -> str:
    if stored.status in ("failed", "timeout"):
        return "failed"
    # While a process executes runs, `gc` waits for none of them and ends (`quiet`). So nobody will
    # begin this run.
    return "never run" if stored.status == "queued" else ""


def _asks(record: dict[str, Any]) -> tuple[object, ...]:
    """Returns the values that determine whether a newer run replaces this run. If two runs have
    equal values, the newer run replaces the older run.

    p5stats.tidy.load compares the same values, except the last three: the options of recordings,
    the bytes of the user's program, and the label. A run with a label stays until one with the same
    label replaces it.
    """
    machine = record["machine"]
    return (
        record["experiment"],
        record["engine"],
        machine["name"],
        machine["geometry"],
        record["feedback"],
        record["guest"]["name"],
        record["seed"],
        record["workload"]["name"],
        tuple(sorted(record["parameters"].items())),
        tuple(sorted(observation.apart(record).items())),
        program_digest(record),
        named.of(record).labels,
    )


def _of(stored: Stored, why: str) -> Item:
    return _item(stored.directory, f"{stored.id[:10]} {stored.record['label']}", why)


# --- caches -----------------------------------------------------------------------------------


def cache(needed: Collection[str], days: float = DAYS, max_size: int | None = None) -> list[Item]:
    """Returns the files of the cache that can be removed.

    Files that were unused for `days` days can be removed, except downloads whose SHA-256 is in
    `needed`. If the remaining files have more than `max_size` bytes in total, the least recently
    used files among them can also be removed.
    """
    all_items = sorted(_cached(), key=lambda item: item.used)
    now = time.time()
    going = []
    for item in all_items:
        limit = ABANDONED_DAYS if item.why == KILLED else days
        if item.used <= now - limit * DAY and item.path.name not in needed:
            going.append(item)
    left = sum(item.bytes for item in all_items) - sum(item.bytes for item in going)
    for item in all_items:
        # A file of a killed build cannot be distinguished from a file of an active build. Only the
        # age decides whether such a file is removed.
        if max_size is not None and left > max_size and item not in going and item.why != KILLED:
            going.append(item)
            left -= item.bytes
    return going


def cache_bytes() -> int:
    """The size of all cached files in bytes."""
    return sum(item.bytes for item in _cached())


def _cached() -> Iterator[Item]:
    directory = cache_directory()
    for path in directory.glob("scons/??/*"):
        yield _item(path, path.name[:10], "build products")
    for path in directory.glob("dist/*"):
        files = ", ".join(file.name for file in path.iterdir()) if path.is_dir() else path.name
        yield _item(path, files, "downloads")
    for path in directory.glob("work/*"):
        yield _item(path, path.name, KILLED)
    for path in directory.glob("inputs/*"):
        yield _item(path, path.name[:10], KILLED if path.suffix else "inputs of clients' runs")
    for name in engine.names():
        for pattern, why in engine.capabilities(name).cached.items():
            for path in directory.glob(pattern):
                yield _item(path, path.name, why)
    # The files in such a directory refer to each other, so only the whole directory is removed.
    for name, why in (("zig", "the C compiler's library"), ("apt", "package index")):
        if (directory / name).is_dir():
            yield _item(directory / name, name, why)


# --- results and caches -----------------------------------------------------------------------


def _item(path: Path, what: str, why: str) -> Item:
    """Returns the size and the time of last use of a file or directory. The time for a directory is
    the latest time of its files."""
    size, used = 0, 0.0
    files = [path, *path.rglob("*")] if path.is_dir() else [path]
    for file in files:
        with contextlib.suppress(OSError):
            facts = file.lstat()
            if not file.is_dir() or file.is_symlink():
                size += facts.st_size
            used = max(used, facts.st_mtime)
            # A build only reads a download, so the access time of the download shows the last use.
            # The access time of a directory does not show the last use, because listing the
            # directory also changes the access time.
            if why == "downloads" and not file.is_dir():
                used = max(used, facts.st_atime)
    return Item(path, what, why, size, used)


@contextlib.contextmanager
def quiet(lab: Lab) -> Iterator[None]:
    """Holds the lock that prevents runs in this checkout. Raises UserError if a run is active."""
    with store.in_use(lab, alone=True) as alone:
        if not alone:
            raise UserError(
                "this checkout has active runs, so gc cannot remove results; try again after the"
                " runs have ended, or use --cache",
                status=STATUS_FAILED,
            )
        yield


def remove_run(item: Item) -> bool:
    """Removes a run directory and returns True. Removes nothing and returns False if an engine runs
    in the directory, or if the status of the run has changed to ok."""
    with store.locked(item.path) as lock:
        record = store.read(item.path)
        if lock is None or (record and record["status"] == "ok" and item.why != "superseded"):
            return False
        shutil.rmtree(item.path)
    with contextlib.suppress(OSError):  # the parent may still contain other runs
        item.path.parent.rmdir()
    return True


def remove_cached(item: Item) -> bool:
    """Removes an item of the cache and returns True. A build that needs the item makes the item
    again."""
    lock = cache_directory() / "fetch.lock"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # waits for the end of active downloads
        if item.path.is_dir():
            shutil.rmtree(item.path)
        else:
            item.path.unlink(missing_ok=True)
    return True
