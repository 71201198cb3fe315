# SPDX-License-Identifier: MIT
"""The relay of the shell, with a script as engine. The script opens the given serial line and
answers.
"""

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

# A guest that prints a prompt, echoes its input like a terminal, implements a few commands, and
# exits at the end of its input. It records its input.
ENGINE = r"""#!/bin/sh
'''exec' '@python@' "$0" "$@"
' '''
import json, os, pathlib, re, sys, termios, time, tty
log = pathlib.Path(__file__).with_name("shell.log").open("a")
print(*sys.argv[1:], sep="\n", file=log, flush=True)
conf = pathlib.Path("job.conf").read_text()
assert "run.job = @shell\n" in conf
line = os.open(re.search(r"mode=term, dev=(\S+)", " ".join(sys.argv))[1], os.O_RDWR)
tty.setraw(line)
def say(text): os.write(line, text.replace("\n", "\r\n").encode())
def end(status, reason, code):
    pathlib.Path("events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in (
        {"type": "end", "status": status, "reason": reason, "guest_status": 0, "tsc": 1},)))
    sys.exit(code)
time.sleep(0.3)
say("welcome\n/ # ")
command = b""
while True:
    byte = os.read(line, 1)
    if byte == b"\4":
        end("ok", "", 0)
    if byte not in b"\r\n":
        command += byte
        say(byte.decode("latin-1"))
        continue
    print("command", repr(command), file=log, flush=True)
    say("\n")
    if command == b"die":
        end("failed", "no more", 3)
    if command == b"slow":
        time.sleep(0.4)
    if command == b"many":
        say("x" * 70 + "\n" * 2000)
    say("did " + command.decode("latin-1") + "\n/ # ")
    command = b""
"""


@pytest.fixture
def toy(lab):
    path = lab.engine
    path.write_text(ENGINE.replace("@python@", sys.executable))
    path.chmod(0o755)
    return lab


def start(lab, *arguments, **options):
    """Starts the command in a new process, as the launcher does."""
    code = (
        "import sys; from pathlib import Path; from p5lab.cli import main as cli; "
        "from p5lab.lab import Lab;"
        f" sys.exit(cli.main(sys.argv[1:], Lab(Path({str(lab.root)!r}))))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, "shell", "toy", "--no-build", *arguments],
        stderr=subprocess.PIPE if "stdout" in options else None,
        **options,
    )


def piped(lab, text, *arguments):
    process = start(lab, *arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, err = process.communicate(text.encode(), timeout=60)
    return process.returncode, out.decode(), err.decode()


def engine_log(lab):
    return (lab.engine.parent / "shell.log").read_text()


def test_piped_commands_run_one_by_one_until_the_end_of_the_input(toy):
    status, out, err = piped(toy, "first\nslow\nlast")
    assert (status, err) == (0, "")
    expected = "".join(f"/ # {word}\ndid {word}\n" for word in ("first", "slow", "last"))
    assert out == f"welcome\n{expected}/ # "
    assert "\r" not in out
    log = engine_log(toy)
    words = ("first", "slow", "last")
    assert log.splitlines()[-3:] == [f"command {word.encode()!r}" for word in words]
    assert "com1: enabled=1, mode=term, dev=/dev/" in log
    assert "clock: sync=slowdown" in log


def test_a_lot_of_output_arrives_whole_and_nothing_of_a_session_is_kept(toy):
    status, out, _ = piped(toy, "many\n")
    assert status == 0
    assert out.count("\n") >= 2000
    assert "did many" in out
    assert not toy.results.exists()


def test_a_machine_that_fails_says_why(toy):
    status, _, err = piped(toy, "die\n")
    assert status == 1
    assert err == "p5lab: toy: failed: no more\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--machine", "p99"], "unknown machine 'p99'"),
        (["--seed", "1,2"], "--seed: expected one number for a shell"),
        (["--set", "l2.sise=1"], "unknown machine key 'l2.sise'"),
    ],
)
def test_bad_input(toy, p5lab, arguments, message):
    status, out, err = p5lab("shell", "toy", "--no-build", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"p5lab: {message}") or message in err
    assert err.count("\n") == 1


class Terminal:
    """A person at a terminal."""

    def __init__(self, lab):
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.process = start(lab, stdin=self.slave, stdout=self.slave, start_new_session=True)
        self.seen = b""

    def until(self, text, seconds=30):
        deadline = time.monotonic() + seconds
        while text.encode() not in self.seen:
            assert time.monotonic() < deadline, self.seen
            if select.select([self.master], [], [], 0.1)[0]:
                self.seen += os.read(self.master, 4096)

    def type(self, data):
        os.write(self.master, data)

    def close(self):
        """Returns the exit status. The command must have restored the settings of the terminal."""
        assert self.process.stderr is not None
        status = self.process.wait(timeout=30)
        said = self.process.stderr.read().decode()
        assert termios.tcgetattr(self.slave) == self.before
        os.close(self.master)
        os.close(self.slave)
        self.process.stderr.close()
        return status, said


@pytest.fixture
def terminal(toy):
    one = Terminal(toy)
    yield one
    one.process.kill()
    one.process.wait()


def test_every_key_reaches_the_guest(terminal, toy):
    terminal.until("/ # ")
    terminal.type(b"\x03a\x01\x01b\r")  # Ctrl-C, a, Ctrl-A, b
    terminal.until("did \x03a\x01b")
    terminal.type(b"\x04")
    status, said = terminal.close()
    assert status == 0
    assert "toy on p90-premiere2, simulated; Ctrl-A x leaves" in said
    assert "command b'\\x03a\\x01b'" in engine_log(toy)


def test_typing_before_the_guest_listens_is_kept(terminal):
    terminal.type(b"early\r")
    terminal.until("did early")
    terminal.type(b"\x01x")
    assert terminal.close()[0] == 0


def test_ctrl_a_x_leaves_and_the_engine_ends(terminal):
    terminal.until("/ # ")
    terminal.type(b"\x01?")
    terminal.type(b"\x01")
    terminal.type(b"x")
    status, said = terminal.close()
    assert status == 0
    assert said.count("Ctrl-A x leaves") == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_the_terminal_as_it_was(terminal, number):
    terminal.until("/ # ")
    terminal.process.send_signal(number)
    assert terminal.close()[0] == 130


def children_of(pid):
    """The process numbers of the children of a process."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # the process has ended
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(stat.parent.name)
    return found


def test_an_engine_whose_relay_was_killed_ends(terminal, toy):
    terminal.until("/ # ")
    children = children_of(terminal.process.pid)
    assert children
    terminal.process.kill()
    terminal.process.wait()
    deadline = time.monotonic() + 10
    while any(os.path.exists(f"/proc/{child}/root") for child in children):  # noqa: PTH110
        assert time.monotonic() < deadline
        time.sleep(0.05)
