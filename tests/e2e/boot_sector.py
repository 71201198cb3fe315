# SPDX-License-Identifier: MIT
"""Boot sectors of our own, and runs that boot from them. They stand in for the media of a user."""

import json
import subprocess
from pathlib import Path

from p5lab import engines
from p5lab.cli import main as cli
from p5lab.describe import script
from p5lab.describe.request import Filter, Request, UserMedia
from p5lab.prepare import prepare

INCLUDED = Path(__file__).parent  # the directory of the files *.inc
FLOPPY = 1_474_560  # bytes
SIGNATURE = b"\x55\xaa"
# Steps for the floppy `one` of keys_floppy().
TYPING = """schema_version = 1
[[script]]
wait = ">"
[[script]]
end = "boot"
[[script]]
begin = "typing"
[[script]]
type = "abc\\n"
[[script]]
wait = "floppy one"
[[script]]
end = "typing"
"""


def assembled(source, place, *options):
    """Returns the code of an assembly source, for the address at which a BIOS loads a boot sector.

    `source`: the path of the source, or its text. `place`: a directory for temporary files.
    `options`: of the assembler.
    """
    if isinstance(source, str):
        text, source = source, place / "boot.S"
        source.write_text(text)
    built, binary = place / f"{source.stem}.o", place / f"{source.stem}.bin"
    command = ["as", "--32", "-I", INCLUDED, *options, "-o", built, source]
    subprocess.run(command, check=True)
    link = ["ld", "-m", "elf_i386", "--oformat", "binary", "-Ttext", "0x7c00"]
    subprocess.run([*link, "-o", binary, built], check=True)
    return binary.read_bytes()


def bootable(code, size=FLOPPY):
    """Returns an image of `size` bytes that begins with the code of a boot sector. The code may
    already have the signature, and more sectors may follow."""
    if len(code) < 512:
        code = code.ljust(510, b"\0") + SIGNATURE
    assert code[510:512] == SIGNATURE
    return code.ljust(size, b"\0")


def keys_floppy(place, name="one"):
    """Makes a floppy with the system of keys.S in the directory `place`. Its second sector contains
    the text `floppy NAME`. Returns the path."""
    code = assembled(INCLUDED / "keys.S", place)
    assert len(code) == 512
    path = place / f"{name}.img"
    text = f"\r\nfloppy {name}\0".encode().ljust(512, b"\0")
    path.write_bytes((code + text).ljust(FLOPPY, b"\0"))
    return path


def planned(lab, floppy, steps):
    """The run of a script on a floppy."""
    asked = UserMedia((floppy,), scripts=(script.load(steps),))
    choice = Filter(machines=("p90-premiere2",), limit=60)
    (run,) = prepare(lab, Request(asked, choice)).runs
    return run


def prepared(lab, run, place, live=False):
    """Writes the files of a run to the new directory `place`. Returns the plan. `live`: a viewer
    drives the machine after the script."""
    place.mkdir()
    plan = engines.get(run.engine).prepare(lab, run, place)
    for name, content in {**plan.write, **(plan.live if live else {})}.items():
        (place / name).write_bytes(content)
    return plan


def new_runs(lab, *words, status=0):
    """Executes `p5lab run`. Returns the directories of the new runs. `status`: the exit status of
    the command; None for 0 or 1.
    """
    before = set(lab.results.glob("*/*/run.json"))
    found = cli.main(["run", *map(str, words), "--no-build"], lab)
    assert found in ((0, 1) if status is None else (status,))
    return sorted(path.parent for path in set(lab.results.glob("*/*/run.json")) - before)


def record(directory):
    return json.loads((directory / "run.json").read_text())
