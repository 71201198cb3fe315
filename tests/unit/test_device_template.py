# SPDX-License-Identifier: MIT
"""A device is one new folder: the template, copied into a copy of the tree as it is, has its keys,
its event and its ports, with no other file edited."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
NAME = "alarm"
FOLDERS = ("base", "p5", "measure", "devices", "devices/scsi", f"devices/{NAME}")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of what declares, builds and configures, with the template in engine/devices."""
    root = tmp_path_factory.mktemp("device") / "tree"
    for part in ("configs", "engine", "src", "stats-parsers", "tests/engine", "tools"):
        shutil.copytree(REPO / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(REPO / "tests/templates" / NAME, root / "engine/devices" / NAME)
    return root


def python(root, *arguments):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env={"PYTHONPATH": f"{root}/src:{root}/stats-parsers", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_its_keys_and_event_are_known_without_a_build(tree):
    shown = python(
        tree,
        "-c",
        "from pathlib import Path\n"
        "from p5lab.describe import declarations\n"
        "from p5stats import declared\n"
        "keys = [k for part in declarations.parts(Path('engine')) for k in part.keys]\n"
        f"print([k.name for k in keys if k.name.startswith('{NAME}.')])\n"
        "events = declared.events(Path('engine')).values()\n"
        f"print([e.name for e in events if e.part == '{NAME}'])\n",
    )
    assert shown.splitlines() == ["['alarm.present', 'alarm.irq']", "['alarm.rings']"]


def test_its_ports_interrupt_timer_and_event_work(tree, tmp_path):
    """Compiles the list of devices and the template, and runs the template's own test."""
    generated = tmp_path / "generated"
    generated.mkdir()
    python(tree, "tools/declare.py", "engine", str(generated))
    sources = [
        *(tree / "engine/base").glob("*.cc"),
        *(tree / "engine/devices").glob("*.cc"),
        *(tree / "engine/devices" / NAME).glob("*.cc"),
        # Rules of the disks use these.
        tree / "engine/devices/scsi/seek.cc",
        tree / "engine/devices/scsi/geometry.cc",
        *generated.glob("*.cc"),
        tree / "tests/engine/main.cc",
    ]
    includes = [f"-I{tree}", f"-I{generated}", *(f"-I{tree}/engine/{one}" for one in FOLDERS)]
    program = tmp_path / "test"
    flags = ["-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", *includes]
    compiled = subprocess.run(
        ["g++", *flags, "-o", str(program), *map(str, sources)],
        capture_output=True,
        text=True,
    )
    assert compiled.returncode == 0, compiled.stderr
    ran = subprocess.run([program], cwd=tree, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    assert "2 passed" in ran.stdout
