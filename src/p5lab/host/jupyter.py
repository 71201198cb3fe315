# SPDX-License-Identifier: MIT
"""Runs JupyterLab: its address, its log and its end.

JupyterLab writes many lines that say nothing to a user. All lines go to a log file, and only errors
are also printed. JupyterLab itself writes its address and its token to a file that only the user
can read. p5lab reads the address there.
"""

import json
import os
import re
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from p5lab.errors import STATUS_FAILED, Stopped, UserError, disk_error
from p5lab.host.orphans import dies_with_us
from p5lab.logs import last_line
from p5lab.progress import Progress

LOG = "build/notebook.log"
POLL_SECONDS = 0.1  # between two looks for the address
MOST_BYTES = 1 << 20  # a longer log begins anew
# The first line of an entry in the log: its level, time and source, and the text.
ENTRY = re.compile(r"\[(?P<level>[DIWEC]) [-\d]+ [\d:.]+ \w+\] ?(?P<text>.*)")
SHOWN = "EC"  # errors and critical errors


def serve(
    command: Sequence[str], environment: Mapping[str, str], log: Path, shown: str, name: str | None
) -> int:
    """Runs JupyterLab until it ends or the user stops it, and prints its address. Returns 0.

    `log`: the file for all lines of JupyterLab; `shown`: its name in messages. `name`: the notebook
    that the address opens. Raises UserError if JupyterLab fails, and Stopped if the user stops it.
    """
    progress = Progress()
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        file = _opened(log)
    except OSError as error:
        raise disk_error(error, log) from None
    with (
        file,
        subprocess.Popen(
            [*dies_with_us("TERM"), *command],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C must reach only this process
        ) as process,
    ):
        assert process.stdout is not None
        stopping = threading.Event()
        reader = threading.Thread(target=_relay, args=(process.stdout, file, progress, stopping))
        reader.start()
        try:
            if address := _address(process, progress, name):
                print(f"JupyterLab: {address}\nCtrl-C stops JupyterLab. Log: {shown}", flush=True)
            status = process.wait()
        except BaseException as error:
            stopping.set()
            _stop(process)
            if isinstance(error, KeyboardInterrupt):
                raise Stopped("JupyterLab and its kernels; saved notebooks are kept") from None
            raise
        finally:
            reader.join()
    if status:
        raise UserError(
            f"JupyterLab ended with status {status}: {last_line(log)} (log: {shown})",
            status=STATUS_FAILED,
        )
    return 0


def _opened(log: Path) -> IO[str]:
    """Opens the log. Several servers may add lines. Only the user can read the log, because the log
    contains the token."""
    number = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    file = os.fdopen(number, "a", encoding="utf-8")
    if log.stat().st_size > MOST_BYTES:
        file.truncate(0)
    return file


def _stop(process: "subprocess.Popen[str]") -> None:
    """Ends JupyterLab, which first ends its kernels. A second Ctrl-C kills JupyterLab."""
    process.terminate()
    try:
        process.wait()
    except KeyboardInterrupt:
        process.kill()


def _relay(lines: IO[str], log: IO[str], progress: Progress, stopping: threading.Event) -> None:
    """Writes all lines to the log, and also prints the errors with the lines that follow them.

    The entry without text in its first line only repeats the address. JupyterLab reports its end as
    an error, so no line is printed after `stopping` is set.
    """
    is_shown = False
    for line in lines:
        log.write(line)
        log.flush()
        if entry := ENTRY.match(line):
            is_shown = entry["level"] in SHOWN and bool(entry["text"].strip())
        if is_shown and not stopping.is_set():
            progress.say(line.rstrip("\n"))


def _address(process: "subprocess.Popen[str]", progress: Progress, name: str | None) -> str | None:
    """Waits for the address of JupyterLab with its token. Returns None if JupyterLab ends before it
    has an address."""
    from jupyter_core.paths import jupyter_runtime_dir

    path = Path(jupyter_runtime_dir()) / f"jpserver-{process.pid}.json"
    with progress.activity("JupyterLab"):
        while True:
            has_ended = process.poll() is not None
            if server := _server(path):
                page = f"lab/tree/{name}.ipynb" if name else "lab"
                return f"{server['url']}{page}?token={server['token']}"
            if has_ended:
                return None
            threading.Event().wait(POLL_SECONDS)


def _server(path: Path) -> dict[str, Any] | None:
    """Returns what JupyterLab has written about itself, or None while the file is missing or
    incomplete."""
    try:
        server: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return server
