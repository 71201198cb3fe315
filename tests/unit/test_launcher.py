# SPDX-License-Identifier: MIT
"""The launcher: a copy with a space in its path runs on a host whose programs are scripts.

The scripts replace the host's programs, so the tests install nothing and need no network. `python3`
makes a virtual environment that records its commands.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from p5lab import packages
from p5lab.cli import parser as parsers

REPO = Path(__file__).resolve().parents[2]
REAL = (
    "sh dirname readlink sha256sum cut df awk mkdir rmdir mktemp grep head rm cp flock cat sleep"
    " chmod mv sed sort"
).split()
BUILD = "g++ make as perl flex bison bc xz bzip2 patch".split()

PYTHON = """#!/bin/sh
# A python3 that can make environments. For each call that a test checks, this script adds a line to
# $LOG. A step waits at the named pipe $WAIT if $WAIT_IN is the name of the step.
wait_in() {
  [ "$WAIT_IN" != "$1" ] || cat "$WAIT"
}
case "$1 $2 $3" in
  "-m venv --clear")
    echo "venv" >>"$LOG"
    wait_in venv
    mkdir -p "$4/bin"
    cp "$0" "$4/bin/python"
    ;;
  "-B -m p5lab.packages")
    echo "packages $4 $STATUS" >>"$LOG"
    wait_in packages
    [ -z "$STATUS" ] || exit "$STATUS"
    cp "${0%/bin/python}/p5lab-made" "${0%/bin/python}/p5lab-stamp"
    ;;
  -c*) echo "$0" ;;
  *)
    printf '<%s>' "$@"
    echo
    echo "PYTHONPATH=$PYTHONPATH"
    echo "PATH=$PATH"
    echo "${PYTHONDONTWRITEBYTECODE-compiled modules are kept}"
    ;;
esac
"""
INSTALLED = ["venv", "packages base "]


class Host:
    def __init__(self, directory):
        self.bin = directory / "bin"
        self.bin.mkdir()
        self.root = directory / "a clone"
        self.root.mkdir()
        self.log = directory / "log"
        self.log.touch()
        shutil.copy(REPO / "p5lab", self.root)
        self.lock = self.root / "requirements/base.lock"
        self.lock.parent.mkdir()
        shutil.copy(REPO / "requirements/base.lock", self.lock)
        self.pipe = directory / "pipe"
        os.mkfifo(self.pipe)
        self.writer = None
        for name in REAL:
            (self.bin / name).symlink_to(shutil.which(name))
        for name in BUILD:
            self.script(name, "")
        self.script("python3", PYTHON)
        self.script("id", "echo 0")
        self.script("apt-get", "exit 1")

    def script(self, name, text):
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def with_commands(self):
        """The launcher reads its usage from the modules of the commands."""
        commands = self.root / "src/p5lab/cli/commands"
        commands.parent.mkdir(parents=True)
        commands.symlink_to(REPO / "src/p5lab/cli/commands")

    def without(self, *names):
        for name in names:
            (self.bin / name).unlink()

    @property
    def calls(self):
        return self.log.read_text().splitlines()

    def environment(self, **more):
        return {
            "PATH": str(self.bin),
            "LOG": str(self.log),
            "HOME": str(self.bin),
            "WAIT": str(self.pipe),
            **more,
        }

    def start(self, *arguments, program=None, **more):
        return subprocess.Popen(
            [program or self.root / "p5lab", *arguments],
            env=self.environment(**more),
            cwd=self.bin.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def wait_for(self, call):
        """Waits until the fake Python has been called and reads from the pipe. `go_on` ends its
        wait. A pipe can be opened for writing, without waiting, only if there is a reader."""
        deadline = time.monotonic() + 600
        while self.writer is None:
            assert time.monotonic() < deadline
            try:
                self.writer = os.open(self.pipe, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                time.sleep(0.01)
        assert self.calls[-1] == call

    def go_on(self):
        if self.writer is not None:
            os.close(self.writer)
            self.writer = None

    def run(self, *arguments, **options):
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=600)
        return process.returncode, out, err


@pytest.fixture
def host(tmp_path):
    if not Path("/sbin/mke2fs").exists():
        pytest.skip("the launcher finds e2fsprogs by the path of mke2fs")
    host = Host(tmp_path)
    yield host
    host.go_on()


@pytest.mark.parametrize("arguments", [(), ("help",), ("--help",), ("-h",)])
def test_help_needs_no_set_up(host, arguments):
    host.with_commands()
    host.without(*BUILD, "python3")
    status, out, err = host.run(*arguments)
    assert (status, err) == (0, "")
    assert out.startswith("usage: ./p5lab COMMAND")
    assert not (host.root / ".venv").exists()


def test_first_use_sets_up_and_hands_over(host):
    status, out, err = host.run("run", "a b", "--set=l2.size=512K", "")
    assert status == 0
    assert out.splitlines()[0] == "<-m><p5lab><run><a b><--set=l2.size=512K><>"
    assert f"PYTHONPATH={host.root}/src:{host.root}/stats-parsers" in out
    assert f"PATH={host.root}/.venv/bin:{host.bin}" in out
    assert err == (
        "p5lab: installing Python packages into .venv: about 1 minute,"
        f" {packages.GROUPS[packages.BASE].megabytes} MB of disk\n"
    )
    assert host.calls == INSTALLED


def test_progress_of_the_set_up_can_be_silent(host):
    status, _, err = host.run("list", P5LAB_PROGRESS="none")
    assert (status, err) == (0, "")
    assert host.calls == INSTALLED


@pytest.mark.parametrize(
    "arguments", [("bench", "-n", "1"), ("help", "gc"), ("run", "--program", "a b")]
)
def test_every_command_is_handed_over(host, arguments):
    _, out, _ = host.run(*arguments)
    assert out.splitlines()[0] == "<-m><p5lab>" + "".join(f"<{word}>" for word in arguments)


def test_compiled_modules_are_kept(host):
    _, out, _ = host.run("list", PYTHONDONTWRITEBYTECODE="1")
    assert out.splitlines()[-1] == "compiled modules are kept"


def test_doctor_needs_no_set_up(host):
    host.without("flex", "g++")
    status, out, err = host.run("doctor")
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "<-B><-m><p5lab.host.doctor>"
    assert f"PYTHONPATH={host.root}/src" in out
    assert host.calls == []
    assert not (host.root / ".venv").exists()


def test_doctor_takes_the_environments_python_unless_it_is_broken(host):
    host.run("list")
    host.script("python3", "exit 1")
    assert host.run("doctor")[1].startswith("<-B><-m><p5lab.host.doctor>")
    (host.root / ".venv/bin/python").write_text("#!/bin/sh\nexit 1\n")
    status, _, err = host.run("doctor")
    if not Path("/usr/bin/python3").exists():
        assert status == 1
        assert "python3-venv (of Python 3.11 to 3.14)" in err


def test_the_usage_of_the_launcher_names_the_commands_of_the_command_line(host):
    host.with_commands()
    _, out, _ = host.run("help")
    named = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert set(named) == set(parsers.names())
    assert [line for line in out.splitlines() if len(line) > 80] == []


def test_second_use_does_no_work(host):
    host.run("list")
    start = time.monotonic()
    status, out, err = host.run("list")
    assert time.monotonic() - start < 1
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "<-m><p5lab><list>"
    assert host.calls == INSTALLED


def site_packages(host):
    """Returns the directory for packages of an environment that exists already."""
    host.run("list")
    site = host.root / ".venv/lib/python3.11/site-packages"
    site.mkdir(parents=True)
    return site


def test_an_environment_that_exists_gets_the_path_file(host):
    site = site_packages(host)
    host.run("list")
    path = site / "p5lab.pth"
    assert path.read_text() == f"{host.root}/src\n{host.root}/stats-parsers\n"
    before = path.stat()
    host.run("list")
    assert path.stat().st_ino == before.st_ino  # an up-to-date file is not written again
    path.write_text("/elsewhere/src\n")
    host.run("list")
    assert path.read_text().splitlines()[0] == f"{host.root}/src"
    assert [one.name for one in site.iterdir()] == ["p5lab.pth"]
    assert host.calls == INSTALLED


def test_the_path_file_lets_python_import_p5lab(host):
    """A real Python reads the file that the launcher has written."""
    site = site_packages(host)
    host.run("list")
    for name in ("src", "stats-parsers"):
        (host.root / name).symlink_to(REPO / name)
    program = (
        "import site, sys; site.addsitedir(sys.argv[1]); import p5lab, p5stats;"
        " print(p5lab.__file__, p5stats.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", program, site], capture_output=True, text=True
    )
    assert done.stderr == ""
    assert done.stdout.split() == [
        word
        for name in ("src/p5lab", "stats-parsers/p5stats")
        for word in f"{host.root}/{name}/__init__.py".split()
    ]


def test_an_environment_that_cannot_be_written_is_no_error(host):
    site = site_packages(host)
    (site / "p5lab.pth").mkdir()  # the file cannot take the place of a directory with content
    (site / "p5lab.pth/kept").touch()
    status, _, err = host.run("list")
    assert (status, err) == (0, "")


def test_other_packages_are_installed_anew(host):
    host.run("list")
    with host.lock.open("a") as lock:
        lock.write("# another version\n")
    assert host.run("list")[0] == 0
    assert host.calls == INSTALLED * 2


def test_a_moved_clone_is_set_up_anew(host):
    host.run("list")
    host.root = host.root.rename(host.root.with_name("elsewhere"))
    assert host.run("list")[0] == 0
    assert host.calls == INSTALLED * 2


def test_an_environment_of_somebody_else_is_not_emptied(host, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "p5lab-stamp").write_text("theirs")
    (host.root / ".venv").symlink_to(theirs)
    host.run("list")
    assert [path.name for path in theirs.iterdir()] == ["p5lab-stamp"]
    assert not (host.root / ".venv").is_symlink()


def test_an_interpreter_that_has_gone(host):
    host.run("list")
    (host.root / ".venv/bin/python").unlink()
    assert host.run("list")[0] == 0
    assert host.calls == INSTALLED * 2


def test_set_up_that_failed_goes_on(host):
    status, out, _ = host.run("list", STATUS="1")
    assert (status, out) == (1, "")
    assert not (host.root / ".venv/p5lab-stamp").exists()
    assert host.run("list")[0] == 0
    assert host.calls == ["venv", "packages base 1", "packages base "]


@pytest.mark.parametrize(
    ("step", "call", "again"),
    [("venv", "venv", INSTALLED), ("packages", "packages base ", ["packages base "])],
)
def test_set_up_that_was_killed_goes_on(host, step, call, again):
    process = host.start("list", WAIT_IN=step)
    host.wait_for(call)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (host.root / ".venv/p5lab-stamp").exists()
    before = len(host.calls)
    assert host.run("list")[0] == 0
    assert host.calls[before:] == again


def test_ctrl_c_during_the_set_up_says_what_was_stopped(host):
    process = host.start("run", "smoke", WAIT_IN="venv")
    host.wait_for("venv")
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == (
        "p5lab: stopped: the Python environment .venv was being made; the same command goes on"
    )
    assert "run" not in err.splitlines()[-1]
    assert host.run("list")[0] == 0


def test_ctrl_c_during_the_packages_leaves_the_message_to_the_installer(host):
    process = host.start("run", "smoke", WAIT_IN="packages")
    host.wait_for("packages base ")
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "stopped" not in err  # packages.py prints the message


def test_two_first_uses_at_once(host):
    first = host.start("list", WAIT_IN="packages")
    host.wait_for("packages base ")
    second = host.start("list")
    waiting = second.stderr.readline()
    assert waiting == "p5lab: waiting for another p5lab that is setting up this directory\n"
    host.go_on()
    results = [process.communicate(timeout=600) for process in (first, second)]
    assert [first.returncode, second.returncode] == [0, 0]
    assert [out.splitlines()[0] for out, _ in results] == ["<-m><p5lab><list>"] * 2
    assert host.calls == INSTALLED


def test_called_through_a_link_from_anywhere(host, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(host.root / "p5lab")
    assert host.run("list", program=link)[0] == 0
    assert (host.root / ".venv/p5lab-stamp").exists()


def test_missing_packages_for_a_user(host):
    host.script("id", "echo 1000")
    host.without("flex", "patch", "g++", "make")
    status, out, err = host.run("run", "smoke")
    assert (status, out) == (1, "")
    assert err == (
        "p5lab: missing packages; install them with:"
        " sudo apt-get install build-essential flex patch\n"
    )
    assert host.calls == []


def test_missing_packages_are_noticed_after_set_up_too(host):
    host.run("list")
    host.script("id", "echo 1000")
    host.without("bc")
    assert host.run("list")[2] == (
        "p5lab: missing packages; install them with: sudo apt-get install bc\n"
    )


def test_missing_packages_without_apt(host):
    host.without("flex", "bison", "apt-get")
    status, _, err = host.run("list")
    assert status == 1
    assert err == (
        "p5lab: missing packages (with Debian's names): flex bison; install them and try again\n"
    )


APT_GET = """#!/bin/sh
echo "apt-get $*" >>"$LOG"
[ -z "$DEBIAN_FRONTEND" ] && exit 9
case " $* " in *" install "*) echo '#!/bin/sh' >BIN/flex; chmod +x BIN/flex ;; esac
"""


def test_root_installs_missing_packages_once(host):
    host.without("flex")
    host.script("apt-get", APT_GET.replace("BIN", str(host.bin)))
    status, _, err = host.run("list")
    assert status == 0
    assert "p5lab: installing system packages: flex\n" in err
    assert host.calls == [
        "apt-get -q update",
        "apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends flex",
        *INSTALLED,
    ]


def test_apt_that_fails_gives_its_reason(host):
    host.without("flex")
    host.script("apt-get", "echo 'E: Unable to locate package flex'; exit 100")
    status, _, err = host.run("list", TMPDIR=str(host.bin))
    assert status == 1
    assert "p5lab: apt-get could not install flex: E: Unable to locate package flex (log: " in err


def test_apt_that_does_not_bring_the_program(host):
    host.without("flex")
    host.script("apt-get", "exit 0")
    status, _, err = host.run("list")
    assert status == 1
    assert err.splitlines()[-1] == "p5lab: still missing after apt-get install: flex"


def test_a_full_disk_is_said_first(host):
    host.script("df", "echo header; echo /dev/x 9 9 20480 99% /")
    status, _, err = host.run("list")
    assert status == 1
    assert err == (
        f"p5lab: disk full: the Python packages need 1000 MB in {host.root}, 20 MB are free\n"
    )
    assert host.calls == []


def test_a_directory_that_cannot_be_written(host):
    host.script(
        "mkdir", "echo \"mkdir: cannot create directory 'x': Read-only file system\" >&2; exit 1"
    )
    status, _, err = host.run("list")
    assert status == 1
    assert err == f"p5lab: cannot write to {host.root}: Read-only file system\n"
