# SPDX-License-Identifier: MIT
"""Tests that doctor reports each missing part, even if many parts are broken."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fakelab import REPO

from p5lab.cli import main as cli
from p5lab.host import doctor, fetch, sources


@pytest.fixture
def healthy(lab, tmp_path, monkeypatch):
    """Returns a complete checkout on a host with all programs."""
    monkeypatch.setenv("P5LAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("P5LAB_DISTDIR", raising=False)
    monkeypatch.delenv("P5LAB_GEM5", raising=False)
    for name in ("p5lab", "sources.toml"):
        shutil.copy(REPO / name, lab.root)
    shutil.copytree(REPO / "requirements", lab.root / "requirements")
    distdir = tmp_path / "dist"
    distdir.mkdir()
    for source in sources.read_sources(REPO / "sources.toml").values():
        if isinstance(source, sources.Pinned):
            (distdir / Path(source.path).name).touch()
        else:
            (distdir / f"{source.package}_{source.first}_all.deb").touch()
    monkeypatch.setenv("P5LAB_DISTDIR", str(distdir))
    monkeypatch.setattr(doctor.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(doctor, "_compiles", lambda *_: "")
    launcher = (lab.root / "p5lab").read_text()
    files = [probe for probe, _ in doctor.needs(launcher) if probe.startswith("/")]
    for file in files:
        launcher = launcher.replace(f"\n{file}=", f"\n{lab.root}/there=")
    (lab.root / "there").touch()
    (lab.root / "p5lab").write_text(launcher)
    venv = lab.root / ".venv/bin"
    venv.mkdir(parents=True)
    (venv / "python").touch()
    lock = hashlib.sha256((lab.root / "requirements/base.lock").read_bytes()).hexdigest()
    (lab.root / ".venv/p5lab-stamp").write_text(f"{lock} {lab.root}\n")
    return lab


def found(lab):
    """Returns the state and the text of each subject. The state of a subject is the worst state of
    its parts.
    """
    result = {}
    for finding in doctor.examine(lab):
        result.setdefault(finding.subject, []).append((finding.state, finding.text))
    order = ("missing", "note", "ok")
    return {name: min(many, key=lambda one: order.index(one[0])) for name, many in result.items()}


def test_nothing_is_missing(healthy, capsys):
    assert cli.main(["doctor"], healthy) == 0
    out = capsys.readouterr().out
    assert out.endswith("\np5lab: nothing is missing\n")
    for subject in ("host", "packages", "python", ".venv", "checkout", "cache", "sources", "build"):
        assert found(healthy)[subject][0] == "ok", (subject, out)


def test_missing_packages_are_named_with_the_command(healthy, monkeypatch, capsys):
    absent = ("flex", "g++", "clang++", "make")
    monkeypatch.setattr(doctor.shutil, "which", lambda name: name not in absent)
    monkeypatch.setattr(doctor.os, "geteuid", lambda: 1000)
    state, text = found(healthy)["packages"]
    assert (state, text) == (
        "missing",
        "install with: sudo apt-get install build-essential flex",
    )
    assert cli.main(["doctor"], healthy) == 1
    assert capsys.readouterr().out.endswith("\np5lab: 1 missing\n")


def test_clang_is_enough(healthy, monkeypatch):
    monkeypatch.delenv("P5LAB_CXX", raising=False)
    monkeypatch.setattr(doctor.shutil, "which", lambda name: name not in ("gcc", "g++"))
    assert found(healthy)["packages"][0] == "ok"
    compilers = [finding.text for finding in doctor.compilers(healthy)]
    assert compilers == ["clang++", "clang"]


COMPILER = """#!/bin/sh
case "$1" in
  *.cc) echo "p.cc:1:10: fatal error: thread: No such file" >&2; exit 1 ;;
  *) printf '#!/bin/sh\\nexit 127\\n' >"$3"; chmod +x "$3" ;;
esac
"""


def test_compilers_that_make_nothing_that_runs_are_named(tmp_path, monkeypatch):
    for name in ("g++", "gcc"):
        (tmp_path / name).write_text(COMPILER)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("P5LAB_CXX", str(tmp_path / "g++"))
    cxx, cc = doctor.compilers(None)
    assert (cxx.state, cc.state) == ("missing", "missing")
    assert "thread: No such file" in cxx.text
    assert str(tmp_path / "gcc") in cc.text
    assert "do not run" in cc.text


def test_a_python_without_a_module_is_named(healthy, monkeypatch):
    monkeypatch.setattr(doctor, "_imports", lambda name: name not in ("lzma", "bz2"))
    state, text = found(healthy)["python"]
    assert state == "missing"
    assert "bz2, lzma" in text
    assert "P5LAB_PYTHON" in text


def test_the_launchers_own_list_is_what_is_looked_for():
    wanted = doctor.needs((REPO / "p5lab").read_text())
    assert ("g++|clang++", "build-essential") in wanted
    assert ("/sbin/mke2fs", "e2fsprogs") in wanted
    with pytest.raises(ValueError, match="no list of packages"):
        doctor.needs("")


@pytest.mark.parametrize(
    ("breaks", "subject", "state", "text"),
    [
        (lambda lab: shutil.rmtree(lab.root / ".venv"), ".venv", "note", "not made yet"),
        (
            lambda lab: (lab.root / ".venv/bin/python").unlink(),
            ".venv",
            "note",
            "interpreter was removed",
        ),
        (lambda lab: (lab.root / ".venv/p5lab-stamp").write_text("x"), ".venv", "note", "unfini"),
        (
            lambda lab: (lab.root / "requirements/base.lock").unlink(),
            "environment",
            "missing",
            "could",
        ),
        (lambda lab: (lab.root / "p5lab").unlink(), "packages", "missing", "could not be examined"),
        (lambda lab: (lab.root / "sources.toml").unlink(), "sources", "missing", "could not be"),
        (lambda lab: lab.engine.unlink(), "build", "note", "not built yet"),
    ],
)
def test_whatever_is_broken_the_others_are_still_examined(healthy, breaks, subject, state, text):
    breaks(healthy)
    findings = found(healthy)
    assert findings[subject][0] == state
    assert text in findings[subject][1]
    assert findings["host"][0] == "ok"
    assert "gem5" in findings


def test_disks(healthy, monkeypatch):
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda path: usage._replace(free=10_000_000))
    assert found(healthy)["checkout"] == ("missing", f"{healthy.root}: 10 MB free; expected 200 MB")
    monkeypatch.setattr(doctor, "_not_writable", lambda path: "Read-only file system")
    assert "not writable: Read-only file system" in found(healthy)["cache"][1]


def test_a_cache_with_a_space_is_refused(healthy, monkeypatch, tmp_path):
    monkeypatch.setenv("P5LAB_CACHE", str(tmp_path / "a cache"))
    assert found(healthy)["cache"][0] == "missing"


@pytest.mark.parametrize(
    ("answers", "state"),
    [
        ({"http://a": ""}, "ok"),
        ({"http://a": "no answer"}, "missing"),
        ({"http://a": "no answer", "http://b": ""}, "note"),
    ],
)
def test_mirrors_matter_when_something_is_to_be_downloaded(healthy, monkeypatch, answers, state):
    assert "mirror" not in found(healthy)
    next(iter(Path(os.environ["P5LAB_DISTDIR"]).iterdir())).unlink()
    monkeypatch.setattr(fetch.Fetcher, "mirrors_reached", lambda self: answers)
    findings = found(healthy)
    assert findings["sources"][0] == "note"
    assert findings["mirror"][0] == state


def test_a_mirror_is_contacted_and_a_missing_one_is_reported(tmp_path, monkeypatch):
    if not fetch.APT_HELPER.exists():
        pytest.skip("needs apt")
    monkeypatch.setenv("P5LAB_MIRROR", f"file:{tmp_path}/mirror")
    fetcher = fetch.Fetcher({}, cache=tmp_path / "cache")
    (uri,) = reached = fetcher.mirrors_reached()
    assert uri == f"file:{tmp_path}/mirror"
    assert reached[uri]
    release = tmp_path / "mirror/dists/stable/Release"
    release.parent.mkdir(parents=True)
    release.write_text("Suite: stable\n")
    assert fetcher.mirrors_reached() == {uri: ""}


def test_gem5(healthy, monkeypatch, tmp_path):
    assert found(healthy)["gem5"][0] == "note"
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    monkeypatch.setenv("P5LAB_GEM5", str(tmp_path))
    assert "expected a program, gem5.opt" in found(healthy)["gem5"][1]
    monkeypatch.setattr(doctor.shutil, "which", lambda name: name)
    assert found(healthy)["gem5"] == ("ok", str(tmp_path))


def test_it_runs_on_a_bare_python(healthy):
    """Python runs without the packages of .venv, and is isolated from the tests' environment."""
    done = subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            f"import sys; sys.path[:0] = [{str(REPO / 'src')!r}];"
            " from p5lab.host import doctor; sys.exit(doctor.main([]))",
        ],
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    assert "python" in done.stdout
    assert done.returncode in (0, 1)
