# SPDX-License-Identifier: MIT
"""The observers of `engine/observe`: one kind of observation for each."""

from dataclasses import dataclass
from typing import ClassVar

from p5lab.describe import observers
from p5lab.describe.observation import kernel_symbols
from p5lab.describe.observation.flag import Flag
from p5lab.describe.observation.kind import Conf
from p5lab.describe.observation.target import Target
from p5lab.describe.observers import DeclaredObserver
from p5lab.lab import Lab


class Plugged(Flag):
    """Divides the counts of a run by the dimensions of one observer."""

    observer: ClassVar[DeclaredObserver]
    shows_several = True

    @property
    def label(self) -> str:
        """The text of the declaration, such as "by mode"."""
        return self.observer.label

    def job(self) -> Conf:
        """The output file, and the file of the kernel's symbols."""
        symbols = {f"run.{self.name}_symbols": self._symbols} if self.observer.symbols else {}
        return {f"run.{self.name}": self.observer.file, **symbols}

    def inputs(self, lab: Lab, run: Target) -> dict[str, bytes]:
        """The symbols of the kernel that the observer needs. Raises UserError if the kernel lacks
        one of them."""
        names = self.observer.symbols
        if not names:
            return {}
        return {self._symbols: kernel_symbols.text(run.guest, names, self.option).encode()}

    @property
    def _symbols(self) -> str:
        return f"{self.name}.symbols"

    def commands(self, runs: str) -> list[str]:
        """The command that shows the counts."""
        from p5stats.observers import dimensions  # gem5's Python has no p5stats

        by = ",".join(dimensions()[self.name])
        return [f"{self.observer.title}: `./p5lab show {runs} --by {by}`"]


class ByCall(Plugged):
    """Counts software interrupts, gates, hardware interrupts and exceptions as calls."""

    def job(self) -> Conf:
        """The output file, and the registers and properties of known calls."""
        from p5stats import known_calls  # gem5's Python imports this module without p5stats

        return super().job() | {CALL_TABLE: known_calls.read().engine_text()}

    def commands(self, runs: str) -> list[str]:
        """The command that shows the counts."""
        return [f"{self.observer.title}: `./p5lab show {runs} --calls`"]


CALL_TABLE = "run.call_table"
FURTHER = {"calls": (ByCall, (CALL_TABLE,))}  # observers with further keys


def kind(observer: DeclaredObserver) -> type[Plugged]:
    """The kind of observation of an observer."""
    base, keys = FURTHER.get(observer.name, (Plugged, ()))
    members = {
        "__doc__": observer.doc,
        "__module__": __name__,
        "name": observer.name,
        "help": ". Cost: ".join(filter(None, (observer.help, observer.cost))),
        "observer": observer,
        "outputs": (observer.file,),
        "apart": (f"run.{observer.name}", *keys),
        "with_media": not observer.symbols,
        "excludes": observer.excludes,
    }
    return dataclass(frozen=True)(type(observer.name.title(), (base,), members))


KINDS = {observer.name: kind(observer) for observer in observers.here()}
# So the classes can be pickled.
globals().update({plugged.__name__: plugged for plugged in KINDS.values()})
