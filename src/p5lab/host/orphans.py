# SPDX-License-Identifier: MIT
"""No process of p5lab continues after p5lab was killed."""

from pathlib import Path
from typing import Literal

SETPRIV = Path("/usr/bin/setpriv")  # of util-linux


def dies_with_us(signal: Literal["KILL", "TERM"]) -> tuple[str, ...]:
    """Returns words to put before a command. With these words, the kernel sends `signal` to the
    command's process when the thread that started the process ends, for example because p5lab was
    killed. The result is empty if the host has no setpriv."""
    return (str(SETPRIV), "--pdeathsig", signal) if SETPRIV.exists() else ()
