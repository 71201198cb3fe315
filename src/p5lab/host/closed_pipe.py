# SPDX-License-Identifier: MIT
"""Output to a pipe whose reader has ended, as in `./p5lab run smoke | head -1`.

The rest of the output goes nowhere. The command goes on: its runs are made and stored, and its exit
status is the same as without the pipe.
"""

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Output(io.FileIO):
    """Writes to a file descriptor, which becomes /dev/null when nobody can read it any more."""

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            with Path(os.devnull).open("wb") as nothing:
                os.dup2(nothing.fileno(), self.fileno())
            return super().write(data)


def allow() -> None:
    """Lets the readers of stdout and stderr end before this process does."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # the process was started without this file
            continue
        output = _Output(stream.fileno(), "w", closefd=False)
        wrapped = io.TextIOWrapper(
            io.BufferedWriter(output),
            encoding=stream.encoding,
            errors=stream.errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )
        setattr(sys, name, wrapped)
