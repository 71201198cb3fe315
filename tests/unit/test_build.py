# SPDX-License-Identifier: MIT
"""The messages about a build. Each test has a graph with one step."""

import contextlib
import fcntl
import io
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from p5lab import engines
from p5lab.cli import main as cli
from p5lab.describe import experiment, guest
from p5lab.describe.request import Filter
from p5lab.errors import UserError
from p5lab.host import build, checkout_state
from p5lab.host.steps import COSTS, StepCost
from p5lab.lab import Lab
from p5lab.progress import Progress


@pytest.fixture
def lab(tmp_path, monkeypatch):
    monkeypatch.setenv("P5LAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1})
    (tmp_path / "cache").mkdir()
    (tmp_path / "lab").mkdir()
    return Lab(tmp_path / "lab")


@pytest.fixture
def output():
    return io.StringIO()


@pytest.fixture
def progress(output):
    return Progress(Console(file=output, width=200))


def graph(lab, *steps):
    """Writes an SConstruct. A step is (label, product, shell command)."""
    (lab.root / "SConstruct").write_text(
        "".join(
            f"Command({product!r}, [], Action({command!r}, '  {label:<9} $TARGET'))\n"
            for label, product, command in steps
        )
    )


def failure(lab, progress, *targets):
    with pytest.raises(UserError) as error:
        build.ensure(lab, progress, targets)
    assert error.value.status == 1
    return str(error.value)


def test_a_long_build_is_forecast_and_a_second_call_says_nothing(lab, progress, output):
    graph(lab, ("kernel", "one", "touch one"), ("C++", "two", "touch two"))
    build.ensure(lab, progress)
    said = output.getvalue()
    assert "To build: 2 steps, about " in said
    assert "at most 140 MB to download; 1650 MB of disk during the build" in said
    assert "Built in " in said
    output.truncate(0)
    build.ensure(lab, progress)
    assert output.getvalue() in ("", "\0" * len(output.getvalue()))


def test_a_log_gets_the_forecast_without_being_asked(lab, progress, output, monkeypatch):
    monkeypatch.delenv("P5LAB_PROGRESS")
    monkeypatch.setitem(COSTS, "kernel", StepCost(300, is_parallel=True))
    graph(lab, ("kernel", "build/guests/linux-uml/linux", "mkdir -p build; touch $TARGET"))
    build.ensure(lab, progress)
    said = output.getvalue().splitlines()
    assert re.match("To build: 1 step, about [0-9]+ min on ", said[0])
    assert " cores; nothing to download; " in said[0]
    assert " The longest steps: kernel linux-uml." in said[0]
    assert said[-1].startswith("Built in ")


def test_the_progress_names_the_step_that_runs(lab, progress, output, monkeypatch):
    """While the kernel of linux-uml was made, the line named another step that was up to date."""
    monkeypatch.setattr("p5lab.progress.PLAIN_SECONDS", 0.05)
    go_on = lab.root / "go-on"
    os.mkfifo(go_on)
    graph(
        lab,
        ("C++", "a", "touch a"),
        ("kernel", "build/guests/linux-uml/linux", "cat go-on; touch $TARGET"),
    )
    thread = threading.Thread(target=build.ensure, args=(lab, progress), daemon=True)
    thread.start()
    # SCons prints nothing while the step waits at the named pipe. On a busy host SCons starts late,
    # and the forecast is longer than 3 min.
    deadline = time.monotonic() + 600
    named = re.compile(r"step 1 of 2, about .* left: kernel linux-uml for")
    while not named.search(output.getvalue()):
        if not thread.is_alive() or time.monotonic() > deadline:
            os.write(os.open(go_on, os.O_RDWR), b"\n")  # opens without a reader, ends the step
            raise AssertionError(output.getvalue())
        time.sleep(0.01)
    go_on.write_text("")
    thread.join()
    log = (lab.root / build.LOG).read_text()
    assert "kernel    build/guests/linux-uml/linux" in log
    assert "Command execution" not in log


@pytest.mark.parametrize("targets", [(), ("a", "musl", "kernel")])
def test_the_longest_steps_begin_first(lab, progress, targets):
    """A kernel that began after all other steps had one core for itself, and the other core had
    nothing to do."""
    graph(
        lab,
        ("C++", "a", "touch a"),
        ("musl", "musl", "touch musl"),
        ("kernel", "kernel", "touch kernel"),
    )
    build.ensure(lab, progress, targets, jobs=1)
    log = (lab.root / build.LOG).read_text().splitlines()
    assert [line.split()[0] for line in log if line.startswith("  ")] == ["kernel", "musl", "C++"]


def test_only_what_is_asked_for_is_built_and_a_short_build_is_not_forecast(lab, progress, output):
    graph(lab, ("C++", "one", "touch one"), ("C++", "two", "touch two"))
    build.ensure(lab, progress, ("two",))
    assert not (lab.root / "one").exists()
    assert (lab.root / "two").exists()
    assert "To build" not in output.getvalue()


def test_sources_that_were_looked_up_first_make_the_forecast_exact(lab, progress, output):
    (lab.root / "SConstruct").write_text(
        "import os\n"
        "Command('build/sources/a.json', [], Action('touch $TARGET', '  look up   $TARGET'))\n"
        # Now that the digest is known, put the product into the cache.
        "if not os.path.exists('build/sources/a.json'):\n"
        "    Command('product', [], Action('touch $TARGET', '  kernel    $TARGET'))\n"
    )
    build.ensure(lab, progress)
    assert "To build" not in output.getvalue()


def test_products_of_the_cache_are_not_forecast_behind_a_header_of_the_cache(lab, progress, output):
    """A plan does not copy the header, so it cannot see what the header includes."""
    (lab.root / "main.c").write_text('#include "first.h"\n')
    (lab.root / "template.h").write_text('#include "second.h"\n')
    (lab.root / "second.h").write_text("int number;\n")
    (lab.root / "SConstruct").write_text(
        "from SCons.Tool import CScanner\n"
        "CacheDir('kept')\n"
        "Command('first.h', 'template.h', Copy('$TARGET', '$SOURCE'))\n"
        "copy = Action('cp $SOURCE $TARGET', '  kernel    $TARGET')\n"
        "Command('long', 'main.c', copy, source_scanner=CScanner, CPPPATH=['.'])\n"
    )
    build.ensure(lab, progress)
    assert "To build: 1 step" in output.getvalue()
    for name in ("first.h", "long", ".sconsign.dblite"):
        (lab.root / name).unlink()
    output.truncate(0)
    build.ensure(lab, progress)
    assert (lab.root / "long").exists()
    assert "To build" not in output.getvalue()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            "p5lab: digest mismatch: a has SHA-256 1, expected 2",
            "build failed: digest mismatch: a has SHA-256 1, expected 2 (log: build/build.log)",
        ),
        (
            "build_kernel: kernel.config:3: `x` became `y`",
            "build failed: kernel.config:3: `x` became `y` (log: build/build.log)",
        ),
        (
            "cc1plus: error: closing dependency file: No space left on device",
            "build failed: disk full, in ",
        ),
    ],
)
def test_the_reason_of_a_failure_is_one_line(lab, progress, monkeypatch, line, reason):
    """The next tests have the real SCons, which starts three times for a build."""
    scons = "case $1 in -q) exit 1 ;; -n) echo '  C++       one' ;; *) echo fetch: working; echo"
    command = ["sh", "-c", f"{scons} '{line}' >&2; exit 2 ;; esac", "scons"]
    monkeypatch.setattr(build, "_command", lambda: command)
    said = failure(lab, progress)
    assert said.startswith(reason)
    assert "\n" not in said


def test_an_exception_of_a_script_is_one_line(lab, progress):
    (lab.root / "tools").mkdir()
    script = lab.root / "tools/broken.py"
    script.write_text("import json\n\n\ndef main():\n    json.loads('{')\n\n\nmain()\n")
    graph(lab, ("unpack", "one", f"'{sys.executable}' tools/broken.py"))
    said = failure(lab, progress)
    assert said.startswith("build failed: tools/broken.py:5: json.decoder.JSONDecodeError: ")
    assert "build/build.log" in said
    assert "\n" not in said


def test_any_other_failure_shows_the_end_of_the_log(lab, progress):
    graph(lab, ("C++", "one", "echo error: no such type; exit 1"))
    said = failure(lab, progress)
    assert said.startswith("build failed (scons status 2), see build/build.log; it ended with\n")
    assert "  error: no such type\n" in said
    assert "error: no such type\n" in (lab.root / "build/build.log").read_text()


def test_a_disk_that_is_too_small_is_said_before_the_work(lab, progress, monkeypatch):
    graph(lab, ("kernel", "one", "touch one"))
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=10**9))
    said = failure(lab, progress)
    assert said.startswith("disk full: the build needs 1650 MB in ")
    assert said.endswith(", 1000 MB are free")
    assert not (lab.root / "one").exists()


@pytest.fixture
def waiting(lab, progress, output):
    """Returns a context in which another command holds the lock and a build waits for it. The build
    ends after the context.
    """

    @contextlib.contextmanager
    def waiting():
        (lab.root / "build").mkdir()
        with (lab.root / build.LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            thread = threading.Thread(target=build.ensure, args=(lab, progress), daemon=True)
            thread.start()
            while "Waiting for another p5lab" not in output.getvalue():
                assert thread.is_alive()
            yield
        thread.join()

    return waiting


def test_a_second_build_in_the_same_checkout_waits(lab, waiting):
    graph(lab, ("C++", "one", "touch one"))
    with waiting():
        assert not (lab.root / "one").exists()
    assert (lab.root / "one").exists()


@pytest.fixture
def readings(monkeypatch):
    """Returns a list that grows each time scons reads the build graph."""
    found, command = [], build._command
    monkeypatch.setattr(build, "_command", lambda: found.append(None) or command())
    return found


def test_the_graph_is_read_again_only_if_a_file_has_changed(lab, progress, readings, monkeypatch):
    monkeypatch.setattr(checkout_state, "SETTLED_SECONDS", 0)
    graph(lab, ("C++", "one", "touch one"))

    def read(*targets):
        before = len(readings)
        build.ensure(lab, progress, targets)
        return len(readings) - before

    # For the comparison, the forecast and the build; then for the comparison only.
    assert [read() for _ in range(3)] == [3, 1, 0]
    assert [read("one") for _ in range(2)] == [1, 0]
    assert read() == 0
    (lab.root / "one").unlink()
    assert [read() for _ in range(3)] == [3, 1, 0]
    assert (lab.root / "one").exists()
    (lab.root / "SConstruct").write_text((lab.root / "SConstruct").read_text() + "\n")
    assert [read() for _ in range(2)] == [1, 0]
    for name, content in (("results/run", "a result"), ("build/put/floppy", "of a command")):
        (lab.root / name).parent.mkdir(parents=True)
        (lab.root / name).write_text(content)
        assert read() == 0
    monkeypatch.setenv("P5LAB_CXX", "clang++")
    assert read() == 1
    (lab.root / checkout_state.FILE).write_text("{")
    assert [read() for _ in range(2)] == [1, 0]


def test_a_file_that_has_just_changed_may_change_again_unseen(lab):
    graph(lab, ("C++", "one", "touch one"))
    assert checkout_state.state(lab) == ""


def test_after_the_wait_for_another_build_the_products_are_compared_again(lab, waiting, readings):
    graph(lab, ("C++", "one", "echo built >> one"))
    with waiting():
        subprocess.run([sys.executable, "-m", "SCons", "-Q"], cwd=lab.root, check=True)
    assert len(readings) == 2
    assert (lab.root / "one").read_text() == "built\n"


def start_build(lab):
    """Starts a build in another process."""
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import io, signal; from pathlib import Path; from rich.console import Console\n"
            "from p5lab.cli import main as cli; from p5lab.host import build\n"
            "from p5lab.lab import Lab\n"
            "from p5lab.progress import Progress\n"
            "signal.signal(signal.SIGTERM, cli._Terminated())\n"
            "build.ensure(Lab(Path.cwd()), Progress(Console(file=io.StringIO())), ())",
        ],
        cwd=lab.root,
        stderr=subprocess.PIPE,
        text=True,
    )


def stop(command, begun):
    """Stops a build when the file `begun` is complete. Returns the last line on stderr."""
    deadline = time.monotonic() + 600
    while not begun.is_file() or not begun.read_text().endswith("\n"):
        assert time.monotonic() < deadline and command.poll() is None
        time.sleep(0.05)
    command.terminate()
    _, stderr = command.communicate(timeout=600)
    assert command.returncode != 0
    return stderr.splitlines()[-1]


def test_a_stopped_build_leaves_nothing_running(lab):
    """If a build is stopped, its processes also stop, and can clean up before they end."""
    script = lab.root / "slow.sh"
    script.write_text(
        'trap "echo tidy > tidied; exit 1" INT\n'
        # The build has then read that the step began.
        "until grep -q kernel build/build.log; do sleep 0.1; done\n"
        "echo $$ > begun\nwhile :; do sleep 0.1; done\n"
    )
    graph(lab, ("kernel", "one", "sh slow.sh; :"))
    begun = lab.root / "begun"
    assert stop(start_build(lab), begun) == (
        "p5lab.errors.Stopped: the build was in step 1 of 1; all finished steps are kept; the same"
        " command goes on from there, and begins anew with kernel one"
    )
    assert (lab.root / "tidied").is_file()
    assert not Path(f"/proc/{begun.read_text().strip()}").exists()


# A build graph that waits at a named pipe when it is read.
WAITING = "open('begun', 'w').write('yes\\n')\nopen('go-on').read()\n"


def test_a_stop_before_the_build_says_so(lab):
    os.mkfifo(lab.root / "go-on")
    (lab.root / "SConstruct").write_text(WAITING)
    assert stop(start_build(lab), lab.root / "begun") == (
        "p5lab.errors.Stopped: the build had not begun; the same command begins it again"
    )


def test_a_log_gets_a_line_while_the_graph_is_read(lab, progress, output, monkeypatch):
    monkeypatch.setattr("p5lab.progress.PLAIN_SECONDS", 0.02)
    os.mkfifo(lab.root / "go-on")
    (lab.root / "SConstruct").write_text(
        "import os\nif not os.path.exists('begun'):\n"
        + "".join(f"    {line}\n" for line in WAITING.splitlines())
    )
    thread = threading.Thread(target=build.ensure, args=(lab, progress), daemon=True)
    thread.start()
    deadline = time.monotonic() + 600
    while not re.search(r"build \d+ s: comparing the products with", output.getvalue()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    (lab.root / "go-on").write_text("")
    thread.join()


def test_runs_need_their_own_programs_only():
    here = Lab.here()
    starts = experiment.load(here, "smoke", Filter(workloads=("exec-static", "dup")))
    found = engines.targets(here, starts)
    programs = {target for target in found if target.startswith("build/workloads")}
    assert programs == {
        f"build/workloads/linux/{name}" for name in ("dup", "exec-static", "true-static")
    }
    ciphers = engines.targets(here, experiment.load(here, "timed-ciphers"))
    assert {"build/openssl/openssl-586.h", "build/workloads/linux/timed-ciphers"} <= set(ciphers)


def test_runs_need_their_own_guests_only():
    here = Lab.here()
    linux, uml = guest.load(here, "linux"), guest.load(here, "linux-uml")
    bochs = engines.get("bochs")
    engine = (
        "build/engine/engine.json",
        "build/engine/p5bochs",
        "build/engine/bios",
        "build/bootrom",
        "build/disks",
    )
    of_linux = ("build/guests/linux",)
    assert bochs.targets(here, [linux, linux]) == (*engine, *of_linux)
    both = ("build/guests/linux", "build/guests/linux-uml")
    assert bochs.targets(here, [linux, uml]) == (*engine, *both)
    wide = replace(linux, isa="x86-64")
    engine64 = (
        "build/engine/engine64.json",
        "build/engine/p5bochs64",
        "build/engine/bios",
        "build/bootrom",
        "build/disks",
    )
    assert bochs.targets(here, [wide]) == (*engine64, *of_linux)
    assert {*engine, *engine64} < {*bochs.targets(here, [linux, wide])}
    assert engines.get("gem5").targets(here, [linux]) == of_linux
    assert engines.get("native").targets(here, [linux]) == ("build/workloads/native",)


def test_an_unknown_target_is_refused_before_the_build(lab, capsys):
    assert cli.main(["build", "engin"], lab) == 2
    assert capsys.readouterr().err == "p5lab: unknown target 'engin'; did you mean 'engine'?\n"
