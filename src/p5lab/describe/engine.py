# SPDX-License-Identifier: MIT
"""The capabilities of an engine, as the engine itself declares them.

An engine is a module or a package below p5lab.engines, or below `engines/` of a directory that
P5LAB_PATH names. The engine has the name of this module or package. The code of p5lab.describe
contains the name of only one engine, the default engine. To find out what an engine can do, this
code calls `capabilities`.
"""

import importlib
import os
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from p5lab.describe.observation import Kind, Observation
from p5lab.errors import UserError, unknown
from p5lab.lab import VARIABLE, Lab

DEFAULT = "bochs"  # without --engine; the claims are about its model
PACKAGE = "p5lab.engines"
# The possible subjects of the notes in a record (run.json: notes).
INSTRUCTIONS, UNCOUNTED, DEVIATIONS = "instructions", "uncounted", "deviations"


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do.

    `guests`: the engine runs guests with these levels of cpu.isa. Empty: the engine runs all
    guests. `without_clocks`: the levels of cpu.isa for which the engine counts events but no
    clocks. `rings`: the engine reports the ring of a cycle and the vectors of interrupts.
    `simulates`: the engine models the described machine and guest. Otherwise the engine
        measures this host.
    `feedback`, `model`: the engine can switch the feedback or the model off.
    `observations`: the kinds of p5lab.describe.observation that the engine supports.
    `repeatable`: identical inputs give identical events.
    `portable`: a run needs only the inputs of its plan, and these files may lie in any directory.
    `media`: the engine runs guests that boot from their own media.
    `alone`: no other program should run on the host during a run.
    `notes`: the subject of the notes that the engine writes to run.json.
    `cached`: the patterns of the engine's files in the cache, each with the name that
        `./p5lab gc` shows.
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
    media: bool = False
    alone: bool = False
    notes: str = INSTRUCTIONS
    cached: Mapping[str, str] = field(default_factory=dict)


def names() -> list[str]:
    """The names of all engines, including the engines from P5LAB_PATH."""
    return sorted(_modules(os.environ.get(VARIABLE, "")))


def plugged_in(name: str) -> Any:  # noqa: ANN401
    """The class of an engine: ENGINE in the engine's module. If the engine is a package, ENGINE is
    in the module `engine` of this package. Raises UserError for an unknown name."""
    modules = _modules(os.environ.get(VARIABLE, ""))
    if name not in modules:
        raise unknown("engine", name, modules)
    module = importlib.import_module(modules[name])
    try:
        return module.ENGINE
    except AttributeError:
        raise UserError(
            f"{module.__file__}: expected ENGINE = the class of the engine (see p5lab/engines)"
        ) from None


def chosen(name: str, lab: Lab) -> str:
    """The name of the engine that makes the runs of the engine `name` on this host."""
    return plugged_in(name)().instead(lab) or name


def capabilities(name: str) -> Capabilities:
    """The capabilities of an engine. Raises UserError for an unknown name."""
    return plugged_in(name).can


def recorded(name: str) -> Capabilities:
    """The capabilities of the engine that a record names. If that engine no longer exists, the
    result is the default of `Capabilities`."""
    return capabilities(name) if name in names() else Capabilities()


def check(name: str, observation: Observation) -> None:
    """Raises UserError for an observation that the engine does not support."""
    can = capabilities(name)
    if wish := next((wish for wish in observation if type(wish) not in can.observations), None):
        raise refused(name, wish.option, lambda other: type(wish) in other.observations)


def refused(
    name: str, option: str, supports: Callable[[Capabilities], bool] | None = None
) -> UserError:
    """The error for an option that an engine does not support. `supports`: whether an engine with
    these capabilities supports the option. Without it, only the default engine supports the
    option."""
    if not capabilities(name).simulates:
        return UserError(f"{option}: expected without --engine {name}: the host cannot be changed")
    others = (
        [other for other in names() if supports(capabilities(other))] if supports else [DEFAULT]
    )
    return UserError(f"{option}: expected with the engine {' or '.join(others)}, which supports it")


@lru_cache
def _modules(path: str) -> dict[str, str]:
    """The modules of all engines by name. `path` is the value of P5LAB_PATH, a list of directories.
    The function adds the subdirectory `engines/` of each of these directories to the package
    p5lab.engines, so that Python finds the modules there."""
    package = importlib.import_module(PACKAGE)
    own = list(package.__path__)[:1]
    outside = [Path(place).absolute() / "engines" for place in path.split(os.pathsep) if place]
    package.__path__ = [*own, *(str(place) for place in outside if place.is_dir())]
    return {
        module.name: f"{PACKAGE}.{module.name}" + (".engine" if module.ispkg else "")
        for module in pkgutil.iter_modules(package.__path__)
    }
