# SPDX-License-Identifier: MIT
"""Finds and stores the checkpoint for a run.

A checkpoint is the state of the machine at the guest's ready marker. The file `key.json` in the
checkpoint's directory lists the inputs of the checkpoint. The digest of this list is the name of
the checkpoint. The list does not contain inputs that have an effect only after the marker: caches,
buses, memory timing and the job; of the CPU model only whether it is P5CPU, which boots itself.
"""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from p5lab.engines.gem5.setup import Setup
from p5lab.engines.gem5.versions import CHIP
from p5lab.errors import UserError
from p5lab.files import sha256_of

KEY = "key.json"
# The machine values that affect a boot on which no access takes time.
BEFORE = (
    "cpu.clock_mhz",
    "cpu.bus_mhz",
    "dram.size",
    "l1d.line",
    "io.isa_ns",
    "io.pci_ns",
    "itlb.entries",
    "itlb.ways",
    "itlb.replacement",
    "dtlb.entries",
    "dtlb.ways",
    "dtlb.replacement",
    "dtlb_large.entries",
    "dtlb_large.ways",
    "dtlb_large.replacement",
)
BOOT_FILES = ("kernel", "initramfs", "disk")


def key(
    setup: Setup, *, gem5: str, version: str, extras: bool, sources: Iterable[Path]
) -> dict[str, str]:
    """All inputs of a checkpoint by name. `gem5`: the digest of the gem5 program. `sources`: the
    directories of these configurations."""
    parts = {
        "gem5": gem5,
        "gem5 version": version,
        "extras": "yes" if extras else "no",
        "configs/gem5": digest_of(sources),
        "command line": setup.command_line,
        "processor": CHIP if setup.boots_on_chip else "atomic",
    }
    parts |= {role: sha256_of(setup.path(role)) for role in BOOT_FILES if role in setup.files}
    return parts | {name: str(setup.machine[name]) for name in BEFORE}


def name(parts: Mapping[str, str]) -> str:
    """The name of the checkpoint with these inputs: 16 hexadecimal digits."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check(directory: Path, parts: Mapping[str, str]) -> None:
    """Raises UserError if a checkpoint has other inputs. The message names the first input that
    differs."""
    try:
        made_of = json.loads((directory / KEY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise UserError(
            f"{directory}: expected a checkpoint of these configurations (no readable {KEY})"
        ) from None
    for part in sorted({*parts, *made_of}):
        there, here = made_of.get(part, "nothing"), parts.get(part, "nothing")
        if there != here:
            raise UserError(
                f"{directory}: this checkpoint was made with another {part}: {there}; this run has"
                f" {here}"
            )


def find(store: Path, parts: Mapping[str, str], make: Callable[[Path], None]) -> tuple[Path, bool]:
    """The checkpoint with these inputs, and True if this call made the checkpoint. `make`: the
    function that makes a checkpoint in a given directory. If several runs need the checkpoint at
    the same time, one run makes it and the others wait."""
    directory = store / name(parts)
    store.mkdir(parents=True, exist_ok=True)
    with _alone(store / f"{directory.name}.lock"):
        made = not directory.is_dir()
        if made:
            unfinished = store / f"{directory.name}.new"
            shutil.rmtree(unfinished, ignore_errors=True)
            try:
                make(unfinished)
                (unfinished / KEY).write_text(json.dumps(parts, indent=1) + "\n", encoding="utf-8")
                unfinished.rename(directory)
            finally:
                shutil.rmtree(unfinished, ignore_errors=True)
        check(directory, parts)
        os.utime(directory)  # the time of its last use, for `p5lab gc`
    return directory, made


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        # A boot can continue to write after its parent process has ended. So the boot also holds
        # the lock.
        os.set_inheritable(file.fileno(), True)
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def digest_of(directories: Iterable[Path]) -> str:
    """The digest of the names and contents of all Python files in and below these directories."""
    total = hashlib.sha256()
    for directory in directories:
        for path in sorted(directory.rglob("*.py")):
            total.update(f"{path.relative_to(directory)} {sha256_of(path)}\n".encode())
    return total.hexdigest()
