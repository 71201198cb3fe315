# SPDX-License-Identifier: MIT
"""Tests of configs/gem5/extras that need no gem5. The other tests are in tests/e2e."""

import ast
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from SCons.Errors import UserError

from p5lab.host.compilers import cxx
from p5stats import declared

TREE = Path(__file__).parents[2]
EXTRAS = TREE / "configs/gem5/extras"
RELEASES = runpy.run_path(str(EXTRAS / "p5extras.py"))["RELEASES"]


class Node:
    """A file, as SCons names it."""

    def __init__(self, path):
        self.path = EXTRAS / path
        self.abspath = str(self.path)

    def __str__(self):
        return self.abspath

    def srcnode(self):
        return self


def chip(name, taken):
    """Executes the file that builds P5CPU. Adds its own sources of the directory to `taken`."""

    def source(what, append=None):
        if isinstance(what, str):
            taken.sources.append(what)
        else:
            taken.wrapped.append((what, append))

    def command(target, sources, action):
        taken.commands.append((target, sources, action))
        return [target] if not isinstance(target, list) else target

    scope = {
        "Import": lambda _: None,
        "File": Node,
        "Dir": lambda path: Node(taken.made / path),
        "env": SimpleNamespace(Command=command),
        "Depends": lambda *_: None,
        "Source": source,
    }
    exec(compile((EXTRAS / name).read_text(), name, "exec"), scope)


@pytest.fixture
def build(tmp_path):
    """Returns the files that gem5's build takes from the SConscript, in a tree of the given
    release.
    """

    def run(release=RELEASES[0], x86=True):
        version = tmp_path / "version.cc"
        version.write_text(f'const char *gem5Version = "{release}";\n')
        taken = SimpleNamespace(
            sources=[], python=[], sim_objects={}, wrapped=[], commands=[], made=tmp_path / "made"
        )

        def file(name):
            path = version if name.startswith("#") else EXTRAS / name
            return SimpleNamespace(srcnode=lambda: SimpleNamespace(abspath=str(path)))

        scope = {
            "Import": lambda _: None,
            "File": file,
            "env": {"CONF": {"USE_X86_ISA": x86}},
            "Source": taken.sources.append,
            "PySource": lambda _, name: taken.python.append(name),
            "SimObject": lambda name, sim_objects: taken.sim_objects.update({name: sim_objects}),
            "SConscript": lambda name: chip(name, taken),
        }
        exec(compile((EXTRAS / "SConscript").read_text(), "SConscript", "exec"), scope)
        return taken

    return run


def sim_objects():
    """Returns the name and class attributes of each SimObject."""
    found = {}
    for file in ("P5Objects.py", "P5CPU.py"):
        for node in ast.parse((EXTRAS / file).read_text()).body:
            if isinstance(node, ast.ClassDef):
                found[node.name] = {
                    one.targets[0].id: one.value.value
                    for one in node.body
                    if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant)
                }
    return found


def test_the_build_takes_in_every_file(build):
    taken = build()
    assert sorted(taken.sources) == sorted(file.name for file in EXTRAS.glob("*.cc"))
    assert {*taken.python, *taken.sim_objects} == {file.name for file in EXTRAS.glob("*.py")}
    assert {name for names in taken.sim_objects.values() for name in names} == set(sim_objects())


def test_the_chip_is_compiled_from_the_engine_without_writing_to_it(build, monkeypatch):
    """The build of gem5 makes the headers with nothing but Python's standard library, and compiles
    each file of engine/p5 twice.
    """
    taken = build()
    names = [file.path.name for file, append in taken.wrapped if append]
    model = {file.name for file in (TREE / "engine/p5").glob("*.cc")}
    assert all(names.count(name) == 2 for name in model | {"model.cc", "settings.cc"})
    assert all(file.path.is_relative_to(taken.made) for file, _ in taken.wrapped)

    monkeypatch.setattr(sys, "executable", getattr(sys, "_base_executable", sys.executable))
    monkeypatch.setenv("PYTHONPATH", "")
    for targets, sources, action in taken.commands:
        targets = targets if isinstance(targets, list) else [targets]
        sources = sources if isinstance(sources, list) else [sources]
        for target in targets:
            target.path.parent.mkdir(parents=True, exist_ok=True)
        assert not action(targets, sources, None)
        assert all(target.path.is_file() for target in targets)
    table = (taken.made / "chip/timing_table.cc").read_text()
    rows = (TREE / "engine/p5/timing.csv").read_text().splitlines()
    assert all(f'R"({row})" "\\n"' in table for row in rows)


@pytest.mark.parametrize("processor", [(), ("-DP5_X86_64",)])
def test_the_interface_of_the_chip_compiles_beside_the_other_processor(build, processor):
    """gem5's build renames the namespaces of the engine (chip/names.hh)."""
    taken = build()
    _, _, declare = taken.commands[0]
    assert declare(None, None, None) == 0
    paths = [f"-I{path}" for path in taken.wrapped[-1][1]["CPPPATH"]]
    command = [cxx(), "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *processor]
    names = ["-include", str(EXTRAS / "chip/names.hh"), str(EXTRAS / "chip/model.cc")]
    done = subprocess.run([*command, *paths, *names], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("release", ["24.1.0.0", "[DEVELOP-FOR-24.1]"])
def test_a_newer_gem5_is_built_with_a_warning(build, capsys, release):
    assert build(release=release).sources
    assert f"gem5 {release}; the extras are tested with 24.0.0.1" in capsys.readouterr().out


def test_other_builds_of_gem5_are_refused(build):
    with pytest.raises(UserError, match=r"gem5 23\.1\.0\.0; the extras are tested with 24\.0"):
        build(release="23.1.0.0")
    with pytest.raises(UserError, match="has no X86"):
        build(x86=False)


@pytest.mark.parametrize(
    ("release", "tracing", "problem"),
    [
        (RELEASES[0], 1, None),
        (RELEASES[0], 0, "gem5.fast"),
        ("24.1.0.0", 1, None),
    ],
)
def test_a_configuration_can_ask(monkeypatch, release, tracing, problem):
    m5 = ModuleType("_m5")
    m5.core = SimpleNamespace(gem5Version=release, TRACING_ON=tracing)
    monkeypatch.setitem(sys.modules, "_m5", m5)
    message = runpy.run_path(str(EXTRAS / "p5extras.py"))["problem"]()
    assert (problem in message and "\n" not in message) if problem else message is None


@pytest.mark.parametrize("name", sim_objects())
def test_each_sim_object_is_the_class_its_header_declares(name):
    attributes = sim_objects()[name]
    assert attributes["type"] == name
    header = (EXTRAS / attributes["cxx_header"]).read_text()
    *namespace, cxx_class = attributes["cxx_class"].split("::")
    assert f"namespace {'::'.join(namespace)} {{" in header
    assert re.search(rf"^class {cxx_class} :", header, re.MULTILINE)
    assert f'#include "params/{name}.hh"' in header


def test_the_tracer_counts_events_of_the_engine():
    events = declared.events(TREE / "engine")
    traced = re.findall(r"^  X\((\w+),", (EXTRAS / "p5tracer.hh").read_text(), re.M)
    assert len(traced) == len(set(traced)) == 18
    assert set(traced) <= {event.replace(".", "_") for event in events}


def test_the_readme_names_the_releases():
    readme = (EXTRAS / "README.md").read_text()
    assert all(release in readme for release in RELEASES)
