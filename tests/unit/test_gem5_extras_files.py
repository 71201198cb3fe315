# SPDX-License-Identifier: MIT
"""configs/gem5/extras as far as it can be seen without a gem5: tests/e2e has the rest."""

import ast
import re
import runpy
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
EXTRAS = TREE / "configs/gem5/extras"


def sim_objects():
    """Name and class attributes of each SimObject of P5Objects.py."""
    found = {}
    for node in ast.parse((EXTRAS / "P5Objects.py").read_text()).body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = {
                statement.targets[0].id: statement.value.value
                for statement in node.body
                if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
            }
    return found


def test_the_build_names_every_file():
    listed = (EXTRAS / "SConscript").read_text()
    for file in EXTRAS.glob("*.cc"):
        assert f'Source("{file.name}")' in listed
    named = re.search(r"sim_objects=\[([^]]*)\]", listed)[1]
    assert set(re.findall(r'"(\w+)"', named)) == set(sim_objects())
    for file in re.findall(r'"([\w.]+[.](?:py|cc))"', listed):
        assert (EXTRAS / file).is_file(), file


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
    events = re.findall(r'^  X\(\w+, +"([\w.]+)"', (TREE / "engine/p5/events.hh").read_text(), re.M)
    traced = re.findall(r"^  X\((\w+),", (EXTRAS / "p5tracer.hh").read_text(), re.M)
    assert len(traced) == len(set(traced)) == 18
    assert set(traced) <= {event.replace(".", "_") for event in events}


def test_the_readme_names_the_releases():
    releases = runpy.run_path(str(EXTRAS / "p5extras.py"))["RELEASES"]
    readme = (EXTRAS / "README.md").read_text()
    for release in releases:
        assert release in readme
