# SPDX-License-Identifier: MIT
"""Boot sectors of our own. They stand in for the media of a user."""

import subprocess

FLOPPY = 1_474_560  # bytes
SIGNATURE = b"\x55\xaa"


def assembled(source, place, *options):
    """Returns the code of an assembly source, for the address at which a BIOS loads a boot sector.

    `source`: the path of the source, or its text. `place`: a directory for temporary files.
    `options`: of the assembler.
    """
    if isinstance(source, str):
        text, source = source, place / "boot.S"
        source.write_text(text)
    built, binary = place / f"{source.stem}.o", place / f"{source.stem}.bin"
    command = ["as", "--32", "-I", source.parent, *options, "-o", built, source]
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
