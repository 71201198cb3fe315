# SPDX-License-Identifier: MIT
"""The misses of other geometries, counted in the same run: `events = "misses"`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from p5lab.describe.observation.kind import Conf, Kind


@dataclass(frozen=True)
class Shadow:
    """An additional geometry of caches and TLBs. The run counts the misses that the machine would
    have with this geometry. `settings`: the machine keys of the geometry, with canonical values."""

    name: str
    settings: dict[str, str]


@dataclass(frozen=True)
class Geometries(Kind):
    """Counts the misses of other caches and TLBs in addition to the misses of the machine."""

    option = 'events = "misses"'
    every_access = option  # the counts need a report of every access to L1

    geometries: tuple[Shadow, ...]

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        """The geometries in the record's machine; None if the record has no geometries."""
        geometries = record["machine"].get("shadows", {})
        return cls(tuple(Shadow(*shadow) for shadow in geometries.items())) if geometries else None

    def boot(self) -> Conf:
        """The name and the keys of each geometry."""
        lines = {}
        for number, shadow in enumerate(self.geometries):
            settings = (f"{key}={value}" for key, value in shadow.settings.items())
            lines[f"shadow.{number}.name"] = shadow.name
            lines[f"shadow.{number}.set"] = " ".join(settings)
        return lines
