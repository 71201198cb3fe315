# SPDX-License-Identifier: MIT
"""The groups of Python packages. A script plays the part of pip, so nothing is downloaded."""

import fcntl
import importlib.metadata
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
import tomllib

import lock
import pytest
from fakelab import REPO
from stopping import stop

from p5lab import packages
from p5lab.errors import UserError
from p5lab.packages import GROUPS, Environment

# Installs what the requirements file names: a directory NAME-VERSION.dist-info with INSTALLER for
# each package, as pip does. Waits at a named pipe before the package $WAIT_AT.
PIP = """\
import os, pathlib, re, sys
arguments = sys.argv[1:]
root = pathlib.Path(os.environ["FAKE"])
site = root / ".venv/lib/python3.11/site-packages"
wanted = pathlib.Path(arguments[arguments.index("-r") + 1]).read_text()
names = re.findall(r"^([\\w.-]+)==([^ ]+)", wanted, re.M)
with (root / "calls").open("a") as calls:
    print(*(name for name, _ in names), "--require-hashes" in arguments, file=calls)
if os.environ.get("FAILS"):
    print("WARNING: Retrying", file=sys.stderr)
    sys.exit("ERROR: " + os.environ["FAILS"])
for name, version in names:
    print(f"Collecting {name}=={version} (from -r x)", flush=True)
print("Installing collected packages: x", flush=True)
for name, version in names:
    place = site / f"{name.replace('-', '_')}-{version}.dist-info"
    place.mkdir(parents=True)
    if os.environ.get("WAIT_AT") == name:
        (root / "begun").touch()
        (root / "pipe").read_text()
    (place / "INSTALLER").write_text("pip")
"""
LOCK = """\
# a comment
one==1.0 \\
    --hash=sha256:1111
a-name.with_all==2.0.post1 \\
    --hash=sha256:2222 \\
    --hash=sha256:3333
three==3 \\
    --hash=sha256:4444
"""
NAMES = "one a-name.with_all three"


@pytest.fixture
def environment(tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE", str(tmp_path))
    monkeypatch.delenv("P5LAB_PROGRESS")
    (tmp_path / "requirements").mkdir()
    for group in GROUPS:
        (tmp_path / f"requirements/{group}.lock").write_text(LOCK)
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    (tmp_path / "pip.py").write_text(PIP)
    python.write_text(f'#!/bin/sh\nshift 2\nexec "{sys.executable}" "{tmp_path}/pip.py" "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    os.mkfifo(tmp_path / "pipe")
    return Environment(tmp_path, tmp_path / ".venv", python)


def calls(environment):
    path = environment.root / "calls"
    return path.read_text().splitlines() if path.exists() else []


def test_a_missing_group_is_installed_once_with_digests(environment, capsys):
    assert len(environment.missing("report")) == 3
    packages.install(environment, "report")
    assert calls(environment) == [f"{NAMES} True"]
    assert capsys.readouterr().err == (
        "p5lab: installing Python packages for the pages of `report`: 3 packages,"
        f" up to {GROUPS['report'].megabytes} MB\n"
    )
    packages.install(environment, "report")
    assert len(calls(environment)) == 1
    assert capsys.readouterr().err == ""
    assert environment.has("report")


def test_packages_that_are_there_are_not_installed_again(environment):
    packages.install(environment, "report")
    packages.install(environment, "cluster")  # the same packages
    assert len(calls(environment)) == 1
    assert environment.has("cluster")


def test_only_what_changed_in_the_lock_is_installed(environment):
    packages.install(environment, "report")
    environment.lock_file("report").write_text(LOCK.replace("three==3", "three==4"))
    assert not environment.has("report")
    packages.install(environment, "report")
    assert calls(environment)[1:] == ["three True"]


def test_a_package_that_is_incomplete_is_installed_again(environment):
    packages.install(environment, "report")
    (site,) = environment.prefix.glob("lib/*/site-packages")
    (site / "one-1.0.dist-info/INSTALLER").unlink()
    environment.stamp_file("report").unlink()
    packages.install(environment, "report")
    assert calls(environment)[1:] == ["one True"]


def test_without_a_network_there_is_one_clear_line(environment, monkeypatch):
    monkeypatch.setenv("FAILS", "Could not find a version that satisfies the requirement one==1.0")
    with pytest.raises(UserError) as error:
        packages.install(environment, "report")
    assert error.value.status == 1
    assert str(error.value) == (
        "pip could not install the Python packages for the pages of `report`: Could not find a"
        " version that satisfies the requirement one==1.0; check the network and pip's"
        " configuration, then use the same command again"
    )
    assert not environment.has("report")


def test_a_full_disk_is_one_clear_line(environment, monkeypatch):
    free = 5_000_000
    usage = packages.shutil.disk_usage("/")._replace(free=free)
    monkeypatch.setattr(packages.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(UserError, match=r"^disk full: the Python packages for .* need .* 5 MB are"):
        packages.install(environment, "report")
    assert calls(environment) == []


def test_an_environment_of_somebody_else_is_not_changed(environment, tmp_path):
    theirs = Environment(environment.root, tmp_path / "theirs", environment.python)
    with pytest.raises(UserError, match=r"is not the environment of p5lab; .*: one==1\.0 a-name"):
        packages.install(theirs, "report")
    assert calls(environment) == []


def test_an_unknown_group_gets_a_suggestion():
    with pytest.raises(UserError, match="did you mean 'report'"):
        packages.ensure("reprot")


def start(environment, **more):
    """Starts an installation in another process, and waits until it installs the second package."""
    code = (
        "import signal, sys; from pathlib import Path; from p5lab.cli.main import main\n"
        "from p5lab import packages\n"
        "root = Path(sys.argv[1])\n"
        "here = packages.Environment(root, root / '.venv', root / '.venv/bin/python')\n"
        "packages.Environment.here = classmethod(lambda cls: here)\n"
        "sys.exit(packages.main(['report']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, environment.root],
        env={**os.environ, "WAIT_AT": "a-name.with_all", **more},
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 600
    while not (environment.root / "begun").exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_installation_says_what_is_kept_and_goes_on(environment, how):
    process = start(environment)
    assert stop(process, how)[-1] == (
        "p5lab: stopped: the Python packages were being installed; the packages that are complete"
        " are kept, and the same command goes on"
    )
    assert not environment.has("report")
    packages.install(environment, "report")
    assert calls(environment)[1:] == ["a-name.with_all three True"]


def test_two_processes_install_once(environment):
    process = start(environment)
    with (environment.prefix / "p5lab-lock").open() as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    second = threading.Thread(target=packages.install, args=(environment, "report"))
    second.start()
    (environment.root / "pipe").write_text("go on")
    second.join()
    assert process.wait(timeout=600) == 0
    process.stderr.close()
    assert len(calls(environment)) == 1
    assert environment.has("report")


def test_a_log_gets_lines_about_a_long_installation(environment, monkeypatch, capsys):
    monkeypatch.setattr(packages, "PLAIN_SECONDS", 0.01)
    monkeypatch.setenv("WAIT_AT", "three")
    thread = threading.Thread(target=packages.install, args=(environment, "report"))
    thread.start()
    shown, deadline = "", time.monotonic() + 600
    while "s: installed 2 of 3" not in shown:
        assert time.monotonic() < deadline
        time.sleep(0.01)
        shown += capsys.readouterr().err
    (environment.root / "pipe").write_text("go on")
    thread.join()


def test_progress_can_be_silent(environment, monkeypatch, capsys):
    monkeypatch.setenv("P5LAB_PROGRESS", "none")
    packages.install(environment, "report")
    assert capsys.readouterr().err == ""


# --- the lock files -----------------------------------------------------------------------------


def locks():
    return {path.stem: path.read_text() for path in (REPO / "requirements").glob("*.lock")}


def test_every_group_has_a_lock_file_and_a_list_in_pyproject():
    project = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
    wanted = {packages.BASE: project["dependencies"], **project["optional-dependencies"]}
    assert set(GROUPS) == set(locks()) == set(wanted)
    base = dict(packages.PINNED.findall(locks()[packages.BASE]))
    for group, lines in wanted.items():
        locked = base | dict(packages.PINNED.findall(locks()[group]))
        for line in lines:
            name, version = line.split("==")
            assert locked[name] == version, (group, line)


def test_the_lock_files_agree_and_have_digests():
    versions = {}
    for group, text in locks().items():
        for name, version in packages.PINNED.findall(text):
            assert versions.setdefault(name, version) == version, (group, name)
        entries = re.split(r"^(?=[a-z0-9])", text, flags=re.M)[1:]
        assert all("--hash=sha256:" in entry for entry in entries), group
    base = {name for name, _ in packages.PINNED.findall(locks()[packages.BASE])}
    for group, text in locks().items():
        if group != packages.BASE:
            assert not base & {name for name, _ in packages.PINNED.findall(text)}, group


def test_a_package_that_is_left_out_is_in_no_lock_file():
    """rfc3987-syntax takes a second to load in each process with Altair, and nothing needs it."""
    assert lock.LEFT_OUT
    for group, text in locks().items():
        assert not lock.LEFT_OUT & {name for name, _ in packages.PINNED.findall(text)}, group


def test_install_names_the_size_of_each_group():
    text = (REPO / "docs/start/install.md").read_text(encoding="utf-8")
    found = dict(re.findall(r"^\| `(\w+)` \|.*\| (\d+) \|$", text, re.MULTILINE))
    assert found == {name: str(group.megabytes) for name, group in GROUPS.items()}


@pytest.mark.parametrize("group", GROUPS)
def test_the_size_that_is_printed_is_true(group):
    """The sum of the sizes in the records of the packages, without compiled modules."""
    total = 0
    for name, _ in packages.PINNED.findall(locks()[group]):
        try:
            files = importlib.metadata.files(name)
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"{name} is not installed")
        total += sum(file.size or 0 for file in files or () if file.suffix != ".pyc")
    megabytes = total / 1e6
    assert 0.6 * GROUPS[group].megabytes <= megabytes <= GROUPS[group].megabytes


# --- what needs only the base -------------------------------------------------------------------

ONLY_BASE = """\
import sys
from importlib import metadata
from pathlib import Path
root, results = sys.argv[1], sys.argv[2]
sys.path[:0] = [f"{root}/src", f"{root}/stats-parsers", f"{root}/tests/unit"]
from p5lab.packages import BASE, GROUPS, PINNED
names = {group: {name for name, _ in PINNED.findall(Path(root, f"requirements/{group}.lock")
         .read_text())} for group in GROUPS}
others = set.union(*(names[group] for group in GROUPS)) - names[BASE]
blocked = {module for module, owners in metadata.packages_distributions().items()
           if {owner.lower().replace("_", "-") for owner in owners} <= others}
assert {"altair", "sklearn", "distributed", "h5py", "pytest", "jinja2"} <= blocked
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ImportError(f"{name} is not in the group base")
sys.meta_path.insert(0, Blocker())
import fakelab
from p5lab.cli.main import main
from p5lab.cli.parser import names as commands
lab = fakelab.FakeLab(Path(results))
for words in (["help", "run"], ["list"], ["list", "runs"], ["run", "tests", "--no-build"],
              ["run", "tests", "--no-build"], ["keys"], ["plan", "tests"],
              ["validate", "--help"], ["completion", "bash"],
              ["gc"]):
    status = main(words, lab)
    print(words, status, file=sys.stderr)
    assert status == 0, words
(run, other) = sorted(path.parent.name for path in lab.results.glob("*/*/run.json"))
for words in (["show", run], ["diff", run, other], ["rerun", run, "--no-build"]):
    assert main(words, lab) == 0, words
"""


def test_the_everyday_commands_need_only_the_base(lab):
    done = subprocess.run(
        [sys.executable, "-c", ONLY_BASE, REPO, lab.root], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "group"),
    [
        (["query", "SELECT 1"], "query"),
        (["report", "tests"], "report"),
        (["run", "tests", "--no-build", "--workers", "1"], "cluster"),
        (["simpoint", "call", "--guest", "toy", "--no-build"], "simpoint"),
        (["test", "unit", "nothing_has_this_name"], "test"),
    ],
)
def test_a_command_installs_its_group(lab, monkeypatch, words, group):
    from p5lab.cli import main as cli

    asked = []

    def ensure(name):
        asked.append(name)
        if name == group:
            raise UserError("enough")

    if group == "report":
        lab._put("configs/claims.toml", "schema_version = 1\n")
        assert cli.main(["run", "tests", "--no-build"], lab) == 0
    monkeypatch.setattr(packages, "ensure", ensure)
    assert cli.main(words, lab) == 2
    assert asked[-1] == group


@pytest.mark.parametrize(
    ("words", "message"),
    [(["cal"], "unknown workload 'cal'; did you mean 'call'"), ([], "expected workloads or --vec")],
)
def test_wrong_words_are_refused_before_packages_are_installed(
    lab, monkeypatch, capsys, words, message
):
    from p5lab.cli import main as cli

    monkeypatch.setattr(packages, "ensure", lambda group: pytest.fail(group))
    assert cli.main(["simpoint", *words, "--guest", "toy"], lab) == 2
    assert message in capsys.readouterr().err


def test_the_file_of_the_launcher_is_plain_python():
    """The launcher executes packages.py before any package is installed."""
    code = "import sys; sys.path = [p for p in sys.path if 'site-packages' not in p]\n"
    code += f"sys.path.insert(0, {str(REPO / 'src')!r}); import p5lab.packages"
    subprocess.run([sys.executable, "-I", "-c", code], check=True)
