# SPDX-License-Identifier: MIT
"""Installs Python packages that only some commands need, into the environment of this checkout."""

import fcntl
import hashlib
import subprocess
import sys
from pathlib import Path

from p5lab.errors import STATUS_FAILED, UserError
from p5lab.lab import Lab

PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet")
OPTIONS = ("--require-hashes", "--only-binary=:all:", "--no-deps")


def ensure(group: str) -> None:
    """Installs the packages of requirements/GROUP.lock if they are missing. A group without such a
    file is a part of requirements.lock, which the launcher has installed. Raises UserError if pip
    fails."""
    lock = Lab.here().root / f"requirements/{group}.lock"
    if not lock.is_file():
        return
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    stamp = Path(sys.prefix, f"p5lab-stamp-{group}")
    with Path(sys.prefix, "p5lab-lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text().strip() == wanted:
            return
        print(f"p5lab: installing the Python packages for {group} into .venv", file=sys.stderr)
        done = subprocess.run([sys.executable, *PIP, *OPTIONS, "-r", lock], stdout=sys.stderr)
        if done.returncode:
            raise UserError(
                f"pip could not install the Python packages of {lock} (its reason is above)",
                status=STATUS_FAILED,
            )
        stamp.write_text(wanted)
