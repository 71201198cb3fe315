# SPDX-License-Identifier: MIT
"""Symbols of the guest's kernel, for an observer that reads the kernel's data."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from p5lab.describe.elf import Elf
from p5lab.describe.guest import Guest, ImageGuest, built
from p5lab.errors import STATUS_FAILED, UserError


def text(system: Guest, names: Sequence[str], option: str) -> str:
    """The lines `ADDRESS SIZE NAME` of these symbols, in hexadecimal. Raises UserError if the
    guest's kernel does not have one of them. `option`: the option that needs them."""
    path = vmlinux(built(system), option)
    places = _places(path)
    if lost := [name for name in names if name not in places]:
        raise UserError(
            f"{option}: the kernel of guest {system.name} has no symbol {lost[0]}; expected a guest"
            " whose kernel has it"
        )
    return "".join(f"{places[name][0]:x} {places[name][1]:x} {name}\n" for name in names)


def vmlinux(system: ImageGuest, option: str) -> Path:
    """The kernel of a guest with its symbols. Raises UserError if it is missing."""
    path = system.kernel.with_name("vmlinux")
    if not path.is_file():
        raise UserError(
            f"{path}: missing: {option} needs the kernel's symbols", status=STATUS_FAILED
        )
    return path


@lru_cache(maxsize=2)
def _places(path: Path) -> dict[str, tuple[int, int]]:
    try:
        return Elf(path.read_bytes()).places
    except ValueError as error:
        raise UserError(f"{path}: {error}", status=STATUS_FAILED) from None
