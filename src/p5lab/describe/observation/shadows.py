# SPDX-License-Identifier: MIT
"""The misses of other geometries, counted in the same run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from p5lab.describe.observation.kind import Conf, Kind


@dataclass(frozen=True)
class Shadow:
    """A geometry whose misses a run counts beside its own: what it sets, in canonical form."""

    name: str
    settings: dict[str, str]


@dataclass(frozen=True)
class Shadows(Kind):
    """Counts the misses of other caches and TLBs beside the machine's own."""

    option = 'events = "misses"'

    geometries: tuple[Shadow, ...]

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        found = record["machine"].get("shadows", {})
        return cls(tuple(Shadow(*one) for one in found.items())) if found else None

    @property
    def needs_clocks(self) -> bool:
        return True

    @property
    def every_access(self) -> str:
        return self.option

    def conf(self) -> Conf:
        lines = {}
        for number, shadow in enumerate(self.geometries):
            settings = (f"{key}={value}" for key, value in shadow.settings.items())
            lines[f"shadow.{number}.name"] = shadow.name
            lines[f"shadow.{number}.set"] = " ".join(settings)
        return lines
