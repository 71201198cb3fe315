# SPDX-License-Identifier: MIT
"""Gives the runs of one call of `run` their label: `run --label` and `p5lab.run(label=...)`."""

from collections.abc import Sequence
from contextlib import suppress

from p5lab.errors import UserError
from p5lab.keep import named, store
from p5lab.keep.result import Result


class Labelling:
    """Gives runs a label, each when it ends, so that also the good runs of a command that is
    stopped have it. None leaves labels as they are."""

    def __init__(self, label: str | None) -> None:
        self._label = label
        self._before: dict[str, str] = {}  # the shown label of each run

    def at_end(self, result: Result) -> None:
        """Gives a good run the label, unless another process has just taken the run."""
        if result.status == "ok":
            with suppress(UserError):
                self._give(result)

    def complete(self, results: Sequence[Result]) -> list[str]:
        """Gives the other runs the label. Returns a sentence for each label of stored runs that it
        replaces. Raises UserError if a label cannot be written."""
        for result in results:
            if result.status != "queued":
                self._give(result)
        replaced: dict[str, list[str]] = {}
        for result in results:
            before = self._before.get(result.id, self._label)
            if before != self._label and (before or result.reused):
                replaced.setdefault(before or "", []).append(result.id[:8])
        return [
            f"Stored run{'s' if len(runs) > 1 else ''} {', '.join(runs)}: {self._said(before)}."
            for before, runs in replaced.items()
        ]

    def _said(self, before: str) -> str:
        was = f"the label was {before!r}" if before else "there was no label"
        if not self._label:
            return f"{was}; it has none now"
        kept = ", which still names it" if before else ""
        return f"{was}{kept}; the label is {self._label!r} now"

    def _give(self, result: Result) -> None:
        if self._label is None or result.id in self._before:
            return
        before = named.of(store.read(result.home) or {}).label
        named.change(result.home, label=self._label)
        self._before[result.id] = before
