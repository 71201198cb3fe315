# SPDX-License-Identifier: MIT
"""Programs of Debian that some tests need. p5lab itself does not need them."""

import os
import shutil
import subprocess

import pytest


def program(name, *others, packages):
    """Returns the path of a program. If a program is missing, the function installs all these
    programs. If the function cannot install the programs, it skips the test.
    """
    if not all(map(shutil.which, (name, *others))):
        if os.geteuid() != 0 or not shutil.which("apt-get"):
            pytest.skip(
                f"no {' and '.join((name, *others))}; Debian has them in {' and '.join(packages)}"
            )
        command = [
            "apt-get",
            "-q",
            "-y",
            "-o",
            "DPkg::Lock::Timeout=300",
            "install",
            "--no-install-recommends",
            *packages,
        ]
        done = subprocess.run(
            command,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            pytest.skip(f"apt-get could not install {' and '.join(packages)}: {reason}")
    return shutil.which(name)
