# SPDX-License-Identifier: MIT
"""Scripts: the steps that drive a guest which boots from its own media, or a program on a guest
with a graphics screen.

A script is the array of tables [[script]] in guest.toml or in the file of `run --script`. Each step
has one action. The texts of `wait` and `wait_pattern` are searched on the screen and on the serial
line; with a program, in the output of the program. The engine executes the steps
(engine/session/script.hh).
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from p5lab.describe import keyboard, media, pattern, tomlfile
from p5lab.describe.keyboard import Chord
from p5lab.describe.markers import WINDOW_PHASE
from p5lab.describe.media import MediumFile
from p5lab.describe.tomlfile import TomlTable
from p5lab.describe.workload import EMPTY_NAME
from p5lab.errors import UserError, unknown

KEY = "script"
ACTIONS = (
    "wait",
    "wait_pattern",
    "type",
    "press",
    "move",
    "click",
    "pause",
    "insert",
    "begin",
    "end",
    "ready",
)
WAITS = ("wait", "wait_pattern")
KEYS = (*ACTIONS, "within", "holding", "name")
BUTTONS = {"left": 1, "right": 2}  # of a PS/2 mouse (engine/session/console.hh)
FARTHEST = 100_000  # counts of the mouse
BOOT = "boot"  # the window that the engine opens at reset
READY = "ready"
LONGEST = 1_000_000  # seconds
MICROSECONDS = 1_000_000  # in a second


@dataclass(frozen=True)
class ScriptStep:
    """One step. `action`: one of ACTIONS. `value`: what the file says, as text. `title`: the step
    in messages, with its file and line. `microseconds`: the length of a pause. `within`: the
    longest time of a wait in microseconds, 0 without a limit. `chords`: the keys. `floppy`: the
    medium to insert. `way`: counts of the mouse to the right and down. `buttons`: of the mouse, as
    numbers of the engine: of each click, or the buttons that are held in a motion."""

    action: str
    value: str
    title: str
    microseconds: int = 0
    within: int = 0
    chords: tuple[Chord, ...] = ()
    floppy: MediumFile | None = None
    way: tuple[int, int] = (0, 0)
    buttons: tuple[int, ...] = ()


@dataclass(frozen=True)
class Script:
    """The steps of a script. `name`: the name of its file."""

    name: str
    steps: tuple[ScriptStep, ...]

    @property
    def titles(self) -> tuple[str, ...]:
        """The steps in messages, each with its number."""
        return tuple(f"step {number}{step.title}" for number, step in enumerate(self.steps, 1))

    @property
    def boot(self) -> tuple[ScriptStep, ...]:
        """The steps up to the ready point. Empty if the script has no ready point."""
        actions = [step.action for step in self.steps]
        return self.steps[: actions.index(READY) + 1] if READY in actions else ()

    def after(self, guest: "Script") -> "Script":
        """This script, executed after the ready point of a guest's script. Raises UserError if this
        script has steps that belong before a ready point."""
        self._refuse((READY,), f"after the ready point of the guest, which is in {guest.name}")
        return Script(self.name, guest.boot + self.steps)

    def beside_program(self) -> "Script":
        """This script, executed while a program runs. Raises UserError for a step that is not
        possible then."""
        self._refuse((READY, "insert"), "while a program runs")
        return self

    def _refuse(self, actions: Sequence[str], why: str) -> None:
        """Raises UserError for a step with one of these actions, and for the end of the boot."""
        for title, step in zip(self.titles, self.steps, strict=True):
            if step.action in actions or (step.action, step.value) == ("end", BOOT):
                raise UserError(f"{title}: not possible {why}")

    @property
    def phases(self) -> dict[int, str]:
        """The names of the windows by the numbers of their brackets."""
        return dict(enumerate(self.windows, WINDOW_PHASE))

    @property
    def windows(self) -> tuple[str, ...]:
        """The names of the windows that steps begin, in the order of their first beginning."""
        return tuple(dict.fromkeys(step.value for step in self.steps if step.action == "begin"))

    @property
    def floppies(self) -> tuple[MediumFile, ...]:
        """The floppies that steps insert."""
        return tuple(step.floppy for step in self.steps if step.floppy)

    @property
    def digest(self) -> str:
        """The SHA-256 of all that the steps do, without their names and lines."""
        steps = [[step.action, step.value, step.within] for step in self.steps]
        return hashlib.sha256(json.dumps(steps).encode()).hexdigest()


def load(path: Path) -> Script:
    """The script of a file. Raises UserError for a file that is wrong. The file of a floppy is
    searched in the current directory before P5LAB_MEDIA, as a medium of the command line is."""
    table = tomlfile.load(path, (KEY,))
    place(table, path.parent)
    for floppies in _inserted(table):
        for role, file in floppies.data.items():
            if isinstance(file, str) and Path(file).exists():
                floppies.data[role] = str(Path(file).absolute())
    script = read(table)
    if script is None:
        raise UserError(f"{path}: expected one or more steps [[{KEY}]]")
    return script


def place(table: TomlTable, directory: Path) -> None:
    """Replaces ./ at the beginning of an inserted floppy's file with the directory of the
    script."""
    for floppies in _inserted(table):
        floppies.beside(directory.absolute(), *floppies.data)


def _inserted(table: TomlTable) -> list[TomlTable]:
    """The tables `insert` of all steps, each with the files of its roles."""
    return [step.table("insert", {}) for step in table.tables(KEY)]


def read(table: TomlTable) -> Script | None:
    """The script in a table of TOML; None if it has none. Raises UserError for a wrong step. Does
    not search the files of floppies."""
    steps = table.tables(KEY)
    if not steps:
        return None
    _check_windows(steps)
    return Script(Path(table.file.name).name, tuple(map(_step, steps)))


def check_text(text: str, where: str) -> None:
    """Raises UserError for a text that a step cannot wait for: it must be in one row of a
    screen. An empty text is allowed."""
    if text != text.strip() or not text.isascii() or (text and not text.isprintable()):
        raise UserError(
            f"{where}: {text!r}: expected printable ASCII in one line, without spaces at its ends"
        )


def _step(table: TomlTable) -> ScriptStep:
    table.only(KEYS)
    actions = [key for key in ACTIONS if key in table.data]
    if len(actions) != 1:
        raise UserError(
            f"{table.where}: expected one of {', '.join(ACTIONS)} in each step, found"
            f" {' and '.join(actions) or 'none'}"
        )
    (action,) = actions
    within = _microseconds(table, "within") if "within" in table.data else 0
    if within and action not in WAITS:
        raise UserError(f"{table.at('within')}: expected only with {' or '.join(WAITS)}")
    if "holding" in table.data and action != "move":
        raise UserError(f"{table.at('holding')}: expected only with move")
    value = _value(table, action)
    chords: tuple[Chord, ...] = ()
    if action == "type":
        chords = keyboard.typed(value, table.at(action))
    elif action == "press":
        chords = tuple(keyboard.pressed(keys, table.at(action)) for keys in _several(table, action))
    return ScriptStep(
        action,
        value,
        _title(table, action, value),
        _microseconds(table, action) if action == "pause" else 0,
        within,
        chords,
        _floppy(table) if action == "insert" else None,
        _way(table) if action == "move" else (0, 0),
        _buttons(table, {"move": "holding"}.get(action, action)),
    )


def _value(table: TomlTable, action: str) -> str:
    """The value of the action as a text. Raises UserError for a value of another type."""
    if action == "pause":
        return f"{_microseconds(table, action) / MICROSECONDS:g}"
    if action in ("press", "click"):
        return " ".join(_several(table, action))
    if action == "move":
        held = f" holding {table.text('holding')}" if "holding" in table.data else ""
        return "{} {}".format(*_way(table)) + held
    if action == READY:
        if table.data[READY] is not True:
            raise UserError(f"{table.at(READY)}: expected true")
        return "true"
    if action == "insert":
        floppy = _floppy(table)
        return f"{floppy.role} {Path(floppy.file).name}"
    text = table.text(action)
    if not text:
        raise UserError(f"{table.at(action)}: expected a text that is not empty")
    if action in WAITS:
        check_text(text, table.at(action))
    if action == "wait_pattern" and (why := pattern.problem(text)):
        raise UserError(
            f"{table.at(action)}: {text!r} is not an extended regular expression of POSIX: {why}"
        )
    return text


def _several(table: TomlTable, action: str) -> list[str]:
    """The names of keys or buttons: one text or a list."""
    value = table.data[action]
    names = [value] if isinstance(value, str) else table.texts(action)
    if not names or not all(names):
        kind = "keys" if action == "press" else "buttons"
        raise UserError(f"{table.at(action)}: expected the names of {kind}")
    return names


def _buttons(table: TomlTable, key: str) -> tuple[int, ...]:
    """The numbers of the buttons of a mouse."""
    if key not in ("click", "holding") or key not in table.data:
        return ()
    names = _several(table, key)
    for name in names:
        if name not in BUTTONS:
            raise unknown("button", name, BUTTONS, where=table.at(key))
    return tuple(BUTTONS[name] for name in names)


def _way(table: TomlTable) -> tuple[int, int]:
    """The motion of a mouse in counts: to the right, and down."""
    value = table.data["move"]
    numbers = [number for number in value if type(number) is int] if isinstance(value, list) else []
    if len(numbers) != 2 or len(value) != 2 or max(map(abs, numbers)) > FARTHEST:
        raise UserError(
            f"{table.at('move')}: expected [RIGHT, DOWN], two whole numbers from -{FARTHEST} to"
            f" {FARTHEST}"
        )
    return numbers[0], numbers[1]


def _microseconds(table: TomlTable, key: str) -> int:
    value = table.data[key]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UserError(
            f"{table.at(key)}: expected seconds of virtual time, a number, found"
            f" {tomlfile.type_name(value)}"
        )
    if not 1 <= value * MICROSECONDS <= LONGEST * MICROSECONDS:
        raise UserError(
            f"{table.at(key)}: expected seconds of virtual time, 0.000001 to {LONGEST}, found"
            f" {value}"
        )
    return round(value * MICROSECONDS)


def _floppy(table: TomlTable) -> MediumFile:
    inner = table.table("insert")
    inner.only(media.FLOPPIES)
    if len(inner.data) != 1:
        raise UserError(
            f"{table.at('insert')}: expected one of {' or '.join(media.FLOPPIES)}, with the file of"
            " the floppy"
        )
    ((role, _),) = inner.data.items()
    return MediumFile(role, inner.text(role), table.at("insert"))


def _title(table: TomlTable, action: str, value: str) -> str:
    name = table.text("name", "")
    if not name.isprintable():
        raise UserError(f"{table.at('name')}: expected printable text in one line")
    place = table.file.where(table.place)
    shown = value if action in ("pause", "insert", "move", READY) else json.dumps(value)
    named = f" ({name})" if name else ""
    return f"{named}, {action} {shown}, {place.rpartition('/')[2]}"


def _check_windows(steps: Sequence[TomlTable]) -> None:
    """Raises UserError if the windows do not nest: a window ends before the window around it."""
    opened = [BOOT]
    ready: TomlTable | None = None
    for step in steps:
        if "begin" in step.data:
            name = step.text("begin")
            if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name) or name in (BOOT, EMPTY_NAME):
                raise UserError(
                    f"{step.at('begin')}: {name!r}: expected a name of letters, digits, - and _"
                    f" that is not {BOOT!r} or {EMPTY_NAME!r}"
                )
            if name in opened:
                raise UserError(f"{step.at('begin')}: {name!r} has begun and not ended")
            opened.append(name)
        elif "end" in step.data:
            if not opened or step.text("end") != opened[-1]:
                inner = repr(opened[-1]) if opened else "no window"
                raise UserError(
                    f"{step.at('end')}: expected {inner}, the window that began last, found"
                    f" {step.text('end')!r}"
                )
            opened.pop()
        elif READY in step.data:
            _check_ready(step, opened, is_first=ready is None)
            ready, opened = step, []
    for name in opened[::-1]:
        if name != BOOT:
            last = next(step for step in reversed(steps) if step.data.get("begin") == name)
            raise UserError(f"{last.at('begin')}: {name!r} begins and does not end")


def _check_ready(step: TomlTable, opened: Sequence[str], *, is_first: bool) -> None:
    """Raises UserError for a second ready point, and for one inside of a window of the script."""
    if not is_first:
        raise UserError(f"{step.at(READY)}: expected once in a script")
    if opened and opened[-1] != BOOT:
        raise UserError(f"{step.at(READY)}: expected after the end of the window {opened[-1]!r}")
