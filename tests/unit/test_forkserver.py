# SPDX-License-Identifier: MIT
"""What a forked run reports: its status, and its host time without the boot."""

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from p5lab.execute import forkserver

BOOT_SECONDS = 0.3


@pytest.fixture
def server(tmp_path):
    """A server whose engine boots for BOOT_SECONDS and then answers each request at once."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = forkserver.Server.__new__(forkserver.Server)
    server.directory, server._socket = tmp_path, ours

    def engine():
        _, (answer, lock), _, _ = socket.recv_fds(theirs, 100, 2)
        time.sleep(BOOT_SECONDS)
        os.write(answer, b"pid 1\n")
        os.write(answer, b"status 0\n")
        os.close(answer)
        os.close(lock)

    thread = threading.Thread(target=engine)
    thread.start()
    yield server
    thread.join()
    ours.close()
    theirs.close()


def test_the_time_of_a_forked_run_excludes_the_boot(server, tmp_path):
    start = time.monotonic()
    with (tmp_path / "lock").open("w") as lock:
        status, seconds = server.run(Path(tmp_path), lock.fileno(), (), lambda: False)
    assert status == 0
    # The whole time includes the boot. The time of the run does not include the boot, even on a
    # slow host.
    assert seconds + BOOT_SECONDS <= time.monotonic() - start + 0.002
