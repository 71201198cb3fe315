# SPDX-License-Identifier: MIT
"""The bytes and the text of each instruction of a program, as the host's objdump prints them."""

import re
import subprocess
from pathlib import Path

_LINE = re.compile(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t([^\t\n]*)$", re.MULTILINE)
# The target of a jump, such as `100005 <sum+0x5>`.
_TARGET = re.compile(r"\b[0-9a-f]+ <([^>]*)>")


def texts(path: Path, *options: str, first: int = 0, end: int = 0) -> dict[int, str]:
    """The texts of `instructions`."""
    decoded = instructions(path, *options, first=first, end=end)
    return {address: text for address, (_, text) in decoded.items()}


def instructions(
    path: Path, *options: str, first: int = 0, end: int = 0
) -> dict[int, tuple[bytes, str]]:
    """The instructions of an ELF file by their addresses; only those from `first` to before `end`,
    if `end` is given. Jumps go to names. `options`: more options of objdump. Empty without
    objdump, and for a file that it refuses."""
    words = ["objdump", "-d", "-w", *options]
    if end:
        words += [f"--start-address={first:#x}", f"--stop-address={end:#x}"]
    try:
        done = subprocess.run([*words, str(path)], capture_output=True, text=True, errors="replace")
    except OSError:
        return {}
    if done.returncode != 0:
        return {}
    return {
        int(at, 16): (bytes.fromhex(code), _TARGET.sub(r"\1", " ".join(text.split("#")[0].split())))
        for at, code, text in _LINE.findall(done.stdout)
    }
