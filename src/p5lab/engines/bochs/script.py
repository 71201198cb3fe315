# SPDX-License-Identifier: MIT
"""The script of a boot from media in engine.conf: the keys run.step.* (engine/session/step.hh)."""

from p5lab.describe import media
from p5lab.describe.from_media import BOOT_PHASE
from p5lab.describe.media import Boot
from p5lab.describe.script import BOOT, Script, Step


def conf(boot: Boot) -> dict[str, str]:
    """The lines that can change a result. The text of --until is the last step."""
    lines: dict[str, str] = {}
    steps = boot.script.steps if boot.script else ()
    for number, step in enumerate(steps):
        own = _step(boot, step)
        lines |= {f"run.step.{number}.{key}": value for key, value in own.items()}
    if boot.until:
        lines[f"run.step.{len(steps)}.wait"] = boot.until
    return lines


def titles(boot: Boot) -> dict[str, str]:
    """The title of each step for the engine's messages. The only step of --until has an empty
    title."""
    titles = [step.title for step in boot.script.steps] if boot.script else []
    if boot.until:
        titles.append(f'step {len(titles) + 1}, until "{boot.until}"' if titles else "")
    return {f"run.step.{number}.title": title for number, title in enumerate(titles)}


def _step(boot: Boot, step: Step) -> dict[str, str]:
    lines = {}
    if step.chords:
        lines["keys"] = " ".join("+".join(chord) for chord in step.chords)
    elif step.floppy:
        floppy = boot.floppy(step.floppy)
        drive = media.FLOPPIES.index(step.floppy.role)
        lines["insert"] = f"{drive} {floppy.role}.img"
    elif step.action == "pause":
        lines["pause_us"] = str(step.microseconds)
    elif boot.script and step.action in ("begin", "end"):
        lines[step.action] = str(_phase(boot.script, step.value))
    else:
        lines[step.action] = step.value
    if step.within:
        lines["within_us"] = str(step.within)
    return lines


def _phase(script: Script, window: str) -> int:
    """The number of a window's bracket."""
    return BOOT_PHASE if window == BOOT else BOOT_PHASE + 1 + script.windows.index(window)
