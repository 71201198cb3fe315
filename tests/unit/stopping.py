# SPDX-License-Identifier: MIT
"""Stops a command in another process, as Ctrl-C or `kill` does."""


def stop(process, how, times=1):
    """Sends the signal `how` to a process with a pipe as stderr, several times at once if wanted.
    The process must end with the exit status of a stopped command. Returns the lines of its stderr.
    """
    for _ in range(times):
        process.send_signal(how)
    _, stderr = process.communicate(timeout=600)
    assert process.returncode == 130, stderr
    return stderr.splitlines()
