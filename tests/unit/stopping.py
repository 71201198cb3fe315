# SPDX-License-Identifier: MIT
"""Stops a command in another process, as Ctrl-C or `kill` does."""


def stop(process, how):
    """Sends the signal `how` to a process with a pipe as stderr. The process must end with the exit
    status of a stopped command. Returns the lines of its stderr.
    """
    process.send_signal(how)
    _, stderr = process.communicate(timeout=600)
    assert process.returncode == 130, stderr
    return stderr.splitlines()
