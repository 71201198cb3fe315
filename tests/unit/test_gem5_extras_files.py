# SPDX-License-Identifier: MIT
"""Tests of configs/gem5/extras that need no gem5. The other tests are in tests/e2e."""

import ast
import re
import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from SCons.Errors import UserError

from p5stats import declared

TREE = Path(__file__).parents[2]
EXTRAS = TREE / "configs/gem5/extras"
RELEASES = runpy.run_path(str(EXTRAS / "p5extras.py"))["RELEASES"]


@pytest.fixture
def build(tmp_path):
    """Returns the files that gem5's build takes from the SConscript, in a tree of the given
    release.
    """

    def run(release=RELEASES[0], x86=True):
        version = tmp_path / "version.cc"
        version.write_text(f'const char *gem5Version = "{release}";\n')
        taken = SimpleNamespace(sources=[], python=[], sim_objects={})

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
        }
        exec(compile((EXTRAS / "SConscript").read_text(), "SConscript", "exec"), scope)
        return taken

    return run


def sim_objects():
    """Returns the name and class attributes of each SimObject of P5Objects.py."""
    found = {}
    for node in ast.parse((EXTRAS / "P5Objects.py").read_text()).body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = {
                statement.targets[0].id: statement.value.value
                for statement in node.body
                if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
            }
    return found


def test_the_build_takes_in_every_file(build):
    taken = build()
    assert sorted(taken.sources) == sorted(file.name for file in EXTRAS.glob("*.cc"))
    assert {*taken.python, *taken.sim_objects} == {file.name for file in EXTRAS.glob("*.py")}
    assert {name for names in taken.sim_objects.values() for name in names} == set(sim_objects())


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
        ("24.1.0.0", 1, "gem5 24.1.0.0 has extras, but they are tested with"),
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
