# SPDX-License-Identifier: MIT
"""What an engine can do, as the engine itself declares it.

An engine is a module or a package below p5lab.engines, or below `engines/` of a directory that
P5LAB_PATH names. It is found there by its name. What is described here knows no engine: it asks
`capabilities`.
"""

import importlib
import os
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from p5lab.describe.observation import Kind, Observation
from p5lab.errors import UserError, unknown
from p5lab.lab import VARIABLE

DEFAULT = "bochs"  # where the command line names none; its model is the one that claims are about
PACKAGE = "p5lab.engines"
# What the notes of a record are about (run.json: notes).
INSTRUCTIONS, UNCOUNTED, DEVIATIONS = "instructions", "uncounted", "deviations"


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do.

    guests: the levels of cpu.isa whose guests it runs; empty: all. without_clocks: the levels for
    which it counts events but has no clocks. rings: it reports the ring of a cycle and the vectors
    of interrupts. simulates: it models a machine and a guest that are described; otherwise it
    measures this host. feedback, model: it can leave these out. observations: the kinds of
    p5lab.describe.observation that it knows. repeatable: identical inputs give identical events.
    portable: its plan's inputs are all it needs, wherever they are. alone: a run wants this host
    for itself. notes: what its notes are about. cached: its files in the cache, by pattern, and
    what `./p5lab gc` calls them.
    """

    guests: tuple[str, ...] = ()
    without_clocks: tuple[str, ...] = ()
    rings: bool = True
    simulates: bool = True
    feedback: bool = False
    model: bool = False
    observations: tuple[type[Kind], ...] = ()
    repeatable: bool = True
    portable: bool = False
    alone: bool = False
    notes: str = INSTRUCTIONS
    cached: Mapping[str, str] = field(default_factory=dict)


def names() -> list[str]:
    """Of all engines, those from outside of the checkout included."""
    return sorted(_modules(os.environ.get(VARIABLE, "")))


def plugged_in(name: str) -> Any:  # noqa: ANN401
    """The class of an engine: ENGINE of its module, or of the module `engine` of its package.
    Raises UserError for a name that no engine has."""
    found = _modules(os.environ.get(VARIABLE, ""))
    if name not in found:
        raise unknown("engine", name, found)
    module = importlib.import_module(found[name])
    try:
        return module.ENGINE
    except AttributeError:
        raise UserError(
            f"{module.__file__}: expected ENGINE = the class of the engine (see p5lab/engines)"
        ) from None


def capabilities(name: str) -> Capabilities:
    """Of an engine. Raises UserError for a name that no engine has."""
    return plugged_in(name).can


def recorded(name: str) -> Capabilities:
    """Of the engine that a record names, which may be gone since then: what most engines can."""
    return capabilities(name) if name in names() else Capabilities()


def check(name: str, observation: Observation) -> None:
    """Raises UserError for a wish that an engine does not know."""
    can = capabilities(name)
    for wish in observation:
        if type(wish) not in can.observations:
            raise refused(name, wish.option, type(wish))


def refused(name: str, option: str, kind: type[Kind] | None = None) -> UserError:
    """The error for an option that an engine does not have; `kind`: what the option asks for."""
    if not capabilities(name).simulates:
        return UserError(f"{option}: expected without --engine {name}: the host is as it is")
    if kind is None:
        return UserError(f"{option}: expected with the engine {DEFAULT}, which has that")
    others = [one for one in names() if kind in capabilities(one).observations]
    return UserError(f"{option}: expected with the engine {' or '.join(others)}, which has that")


@lru_cache
def _modules(path: str) -> dict[str, str]:
    """The modules of all engines, by the engines' names; `path` as P5LAB_PATH has it. Python finds
    those from outside as parts of the package too."""
    package = importlib.import_module(PACKAGE)
    own = list(package.__path__)[:1]
    outside = [Path(place).absolute() / "engines" for place in path.split(os.pathsep) if place]
    package.__path__ = [*own, *(str(place) for place in outside if place.is_dir())]
    return {
        found.name: f"{PACKAGE}.{found.name}" + (".engine" if found.ispkg else "")
        for found in pkgutil.iter_modules(package.__path__)
    }
