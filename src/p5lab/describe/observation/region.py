# SPDX-License-Identifier: MIT
"""A function of the user's program that a run measures without markers: `--region`."""

import shlex
from dataclasses import dataclass
from typing import ClassVar

from p5lab.describe.elf import FUNCTION, Elf
from p5lab.describe.markers import REGION_PHASE
from p5lab.describe.observation import functions
from p5lab.describe.observation.kind import Kind
from p5lab.describe.observation.target import Target
from p5lab.describe.program import OwnProgram
from p5lab.errors import UserError, suggestion
from p5lab.lab import Lab

REGION = "region.txt"
ELF_EXECUTABLE = 2  # e_type of a program that runs at its linked address


@dataclass(frozen=True)
class Region(Kind):
    """Counts the events of each call of a function, from its entry to its return."""

    option = "--region"
    options: ClassVar = {
        option: {
            "default": "",
            "metavar": "FUNCTION",
            "help": "with --program: also count each call of this function of the program, from its"
            " entry to its return. The program needs its symbols, but no markers",
        }
    }
    unasked: ClassVar = {"region": ""}
    apart = ("run.region",)
    lines: ClassVar = {"run.region": REGION}  # matters only after the boot
    with_nominal = True  # a region has the counts of any run
    phase: ClassVar[int] = REGION_PHASE

    function: str

    @property
    def label(self) -> str:
        """The text "region" and the function."""
        return f"region {self.function}"

    def check(self, run: Target) -> None:
        """Raises UserError for a run without a program of the user, and for a program that does not
        contain exactly one function of this name."""
        self._place(run)

    def inputs(self, lab: Lab, run: Target) -> dict[str, bytes]:
        """region.txt: whether the program runs at its linked address, the address of the function,
        and the digest of the page that contains this address."""
        elf, address = self._place(run)
        form = "fixed" if elf.kind == ELF_EXECUTABLE else "moved"
        page = functions.pages(elf)[address & -functions.PAGE]
        return {REGION: f"{form} {address:x} {page:x} {self.function}\n".encode()}

    def _place(self, run: Target) -> tuple[Elf, int]:
        """The program and the address of the function."""
        program = run.program
        if not isinstance(program, OwnProgram):
            raise UserError("--region: expected with --program FILE")
        where = f"--region {self.function}: {program.name}"
        try:
            elf = Elf(program.path.read_bytes())
            known = {symbol.name: symbol for symbol in elf.symbols if symbol.kind == FUNCTION}
            addresses = {symbol.address for symbol in elf.symbols if symbol.name == self.function}
        except (OSError, ValueError) as error:
            raise UserError(f"{where}: {error}") from None
        if not known:
            raise UserError(
                f"{where} has no symbols: expected a program that is not stripped (link it without"
                " -s)"
            )
        if len(addresses) > 1:
            raise UserError(
                f"{where} has {len(addresses)} functions of this name: expected one; give this"
                " function a name of its own"
            )
        if not addresses:
            all_names = f"`nm {shlex.quote(str(program.path))}` lists its functions."
            hint = suggestion(self.function, known) or all_names
            raise UserError(
                f"{where} has no such function; {hint} A compiler can also put a function into its"
                " callers: __attribute__((noinline)) prevents this"
            )
        return elf, addresses.pop()
