# SPDX-License-Identifier: MIT
"""Writes a script from what a person does: `shell --record FILE`.

Before each input, the script waits for the text that the guest has written before the cursor, for
example its prompt. Without such a text, the script waits for as long as the person did, in virtual
time.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from p5lab.describe.script import BUTTONS, KEY
from p5lab.describe.tomlfile import SCHEMA_VERSION
from p5lab.host.terminal_keys import Typed

THINKING_US = 1_000_000  # a longer time between two inputs begins a new step
SECOND_US = 1_000_000


@dataclass
class Recorder:
    """Collects steps. All times are virtual, in microseconds since reset. `title`: a comment at the
    beginning of the script."""

    title: str
    _steps: list[list[str]] = field(default_factory=list)  # the lines of each step
    _text: str = ""  # that the last step types; empty: the last step does not type
    _last_us: int = 0  # time of the last input
    _way: tuple[int, int] = (0, 0)  # of the mouse since the last step
    _buttons: int = 0
    _moved: bool = False  # since the buttons have changed

    def keys(self, keys: Iterable[Typed], time_us: int, prompt: str) -> None:
        """Keys that were pressed one after the other. `prompt`: new text before the cursor."""
        self._end_motion()
        for key in keys:
            goes_on = self._text and not self._text.endswith("\n") and key.action == "type"
            if not goes_on or time_us - self._last_us > THINKING_US:
                self._wait(time_us, prompt)
                self._text = ""
            self._last_us, prompt = time_us, ""
            if key.action != "type":
                self._text = ""
                self._steps.append([f"press = {json.dumps(key.value)}"])
                continue
            if self._text:
                self._steps.pop()
            self._text += key.value
            self._steps.append([f"type = {json.dumps(self._text)}"])

    def mouse(self, way: tuple[int, int], buttons: int, time_us: int) -> None:
        """A motion of the mouse in counts, and the buttons that are down afterwards."""
        if time_us - self._last_us > THINKING_US:
            self._end_motion()
            self._wait(time_us, "")
        self._text, self._last_us = "", time_us
        self._way = (self._way[0] + way[0], self._way[1] + way[1])
        self._moved |= way != (0, 0)
        if buttons == self._buttons:
            return
        self._end_motion()
        if self._buttons and not self._moved:
            self._steps.append([f'click = "{_name(self._buttons)}"'])
        self._buttons, self._moved = buttons, False

    def end(self, time_us: int, prompt: str) -> None:
        """The person leaves. The script ends when the guest is in the same state."""
        self._end_motion()
        self._wait(time_us, prompt)

    @property
    def script(self) -> str:
        """The text of the script."""
        steps = "".join(f"\n[[{KEY}]]\n" + "\n".join(lines) + "\n" for lines in self._steps)
        return f"# {self.title}\nschema_version = {SCHEMA_VERSION}\n{steps}"

    def _end_motion(self) -> None:
        """Adds the motion since the last step as a step."""
        if self._way != (0, 0):
            right, down = self._way
            held = [f'holding = "{_name(self._buttons)}"'] if self._buttons else []
            self._steps.append([f"move = [{right}, {down}]", *held])
        self._way = (0, 0)

    def _wait(self, time_us: int, prompt: str) -> None:
        if prompt:
            self._steps.append([f"wait = {json.dumps(prompt)}"])
        elif pause := time_us - self._last_us:
            self._steps.append([f"pause = {pause / SECOND_US:g}"])


def _name(buttons: int) -> str:
    """The name of a button that is down."""
    return next(name for name, bit in BUTTONS.items() if bit & buttons)
