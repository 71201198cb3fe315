# SPDX-License-Identifier: MIT
"""The observers of `engine/observe`: one kind of observation for each."""

from dataclasses import dataclass
from typing import ClassVar

from p5lab.describe import observers
from p5lab.describe.observation.flag import Flag
from p5lab.describe.observation.kind import Conf
from p5lab.describe.observers import Observer


class Plugged(Flag):
    """Divides the counts of a run by the dimensions of one observer."""

    with_media = True
    observer: ClassVar[Observer]

    @property
    def label(self) -> str:
        """The text of the declaration, such as "by mode"."""
        return self.observer.label

    def job(self) -> Conf:
        """The output file."""
        return {f"run.{self.name}": self.observer.file}

    def remarks(self, run: str, place: str) -> list[str]:
        """The command that shows the counts."""
        from p5stats.observers import dimensions  # gem5's Python has no p5stats

        by = ",".join(dimensions()[self.name])
        return [f"{self.observer.title}: `./p5lab show {run[:8]} --by {by}`"]


def kind(observer: Observer) -> type[Plugged]:
    """The kind of observation of an observer."""
    members = {
        "__doc__": observer.doc,
        "__module__": __name__,
        "name": observer.name,
        "help": observer.help,
        "observer": observer,
        "outputs": (observer.file,),
        "apart": (f"run.{observer.name}",),
    }
    return dataclass(frozen=True)(type(observer.name.title(), (Plugged,), members))


KINDS = {one.name: kind(one) for one in observers.here()}
globals().update({found.__name__: found for found in KINDS.values()})  # so they can be pickled
