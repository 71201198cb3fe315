# SPDX-License-Identifier: MIT
"""The script of a run in boot.conf and job.conf: the keys run.step.* (engine/session/step.hh)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from p5lab.describe.boot import Boot
from p5lab.describe.markers import BOOT_PHASE, WINDOW_PHASE
from p5lab.describe.script import BOOT, READY, Script, ScriptStep


@dataclass(frozen=True)
class Lines:
    """Some steps of a script. `steps`: the lines that can change a result. `titles`: the lines with
    the title of each step for the engine's messages."""

    steps: dict[str, str]
    titles: dict[str, str]


def lines(boot: Boot) -> tuple[Lines, Lines]:
    """The steps of the boot, up to the ready point, and those of the job. Without a ready point,
    the boot has none. The text of --until is the last step."""
    steps, shared = (boot.script.steps, boot.script.boot) if boot.script else ((), ())
    each = [_step(boot.script, step, boot) for step in steps if boot.script]
    titles = list(boot.script.titles) if boot.script else []
    if boot.until:
        each.append({"wait": boot.until})
        # The only step of --until has an empty title.
        titles.append(f'step {len(each)}, until "{boot.until}"' if titles else "")
    first = len(shared)
    return _lines(each[:first], titles[:first]), _lines(each[first:], titles[first:], first)


def beside_program(script: Script) -> Lines:
    """The steps of a script that runs beside a program."""
    return _lines([_step(script, step) for step in script.steps], script.titles)


def _lines(steps: Sequence[Mapping[str, str]], titles: Sequence[str], first: int = 0) -> Lines:
    return Lines(
        {
            f"run.step.{number}.{key}": value
            for number, step in enumerate(steps, first)
            for key, value in step.items()
        },
        {f"run.step.{number}.title": title for number, title in enumerate(titles, first)},
    )


def _step(script: Script, step: ScriptStep, boot: Boot | None = None) -> dict[str, str]:
    """The lines of a step. `boot`: the boot from media, whose floppies the step can insert."""
    lines = {}
    if step.chords:
        lines["keys"] = " ".join("+".join(chord) for chord in step.chords)
    elif step.floppy and boot:
        floppy = boot.floppy(step.floppy)
        drive = boot.drive_number(step.floppy.role)
        lines["insert"] = f"{drive} {floppy.role}.img"
    elif step.action == "move":
        lines["move"] = "{} {}".format(*step.way)
        if step.buttons:
            lines["holding"] = str(step.buttons[0])
    elif step.action == "click":
        lines["click"] = " ".join(map(str, step.buttons))
    elif step.action == READY:
        lines["ready"] = "on"
    elif step.action == "pause":
        lines["pause_us"] = str(step.microseconds)
    elif step.action in ("begin", "end"):
        is_boot = step.value == BOOT
        number = BOOT_PHASE if is_boot else WINDOW_PHASE + script.windows.index(step.value)
        lines[step.action] = str(number)
    else:
        lines[step.action] = step.value
    if step.within:
        lines["within_us"] = str(step.within)
    return lines
