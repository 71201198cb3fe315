# SPDX-License-Identifier: MIT
"""Where a program in the guest was when a signal ended it, or when its time was up: the function,
the source line, the instruction and the value that was wrong. The engine reports the program's last
way into the kernel (engine/session/program_watch.hh: KernelEntry)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from p5lab.describe import program as programs
from p5lab.describe import refused
from p5lab.describe.elf import Elf
from p5lab.describe.refused import RefusedInstruction
from p5lab.logs import signal_name
from p5stats import known_calls

NOTE = "kernel-entry"
# Signals of exceptions [Linux 6.1, arch/x86/kernel/traps.c and mm/fault.c], by vector.
PAGE_FAULT, DIVIDE, CALL = 14, 0, known_calls.SYSTEM_CALL
SIGNALS = {
    0: (8,),
    1: (5,),
    3: (5,),
    4: (11,),
    5: (11,),
    6: (4,),
    12: (7, 11),
    13: (11,),
    14: (7, 11),
    16: (8,),
    17: (7,),
}
# The register with the signal of calls that send one [asm/unistd_32.h].
SENDS = {"kill": "cx", "tkill": "cx", "tgkill": "dx"}
STREAMS = {0: "standard input", 1: "standard output", 2: "standard error"}
WRITES, PRESENT = 2, 1  # bits of the error code of a page fault
NULL = 4096  # an address in the first page comes from a null pointer
CALLERS = 4  # in a message
_RUNS = re.compile(r"the program runs at 0x([0-9a-f]+), for ([0-9.]+) s without a system call")
_WAITS = re.compile(r"the program waits for ([0-9.]+) s in system call (\d+), first argument (\d+)")
_REGISTER = re.compile(r"\be(ax|bx|cx|dx|si|di|bp|sp)\b")


def by_signal(
    number: int, notes: Sequence[Mapping[str, Any]], program: programs.Program | None
) -> str:
    """How a signal ended the program, with the place. `number`: of the signal. `notes`: of the
    engine."""
    said = f"was killed by signal {number} ({signal_name(number)}) in the guest"
    for note in notes:
        if note.get("what") == NOTE and (where := _where(number, note, program)):
            return f"{said}{where}"
    return said


def _where(number: int, note: Mapping[str, Any], program: programs.Program | None) -> str:
    """Where and why the program entered the kernel. Empty if this did not cause the signal."""
    vector = int(note["count"])
    values = dict(part.split("=", 1) for part in str(note["name"]).split())
    words = [int(word, 16) for word in values.pop("stack").split(",") if word]
    error = int(values.pop("error"))
    value = {name: int(text, 16) for name, text in values.items()}
    places = _callers(program, words)
    callers = f"; called from {', from '.join(places)}" if places else ""
    if vector == CALL:
        # The call may be one of a child, which the engine does not tell apart.
        name = known_calls.read().system_call(CALL, value["ax"])
        return f", sent by {name}{callers}" if value.get(SENDS.get(name, "")) == number else ""
    if number not in SIGNALS.get(vector, ()):
        return ""
    instruction = _instruction(program, value["at"])
    what = f": `{instruction.text}`" if instruction and instruction.text else ""
    place = instruction.where if instruction else ""
    why = _why(vector, error, value, instruction)
    return f" at {value['at']:#010x}{place}{what}{why}{callers}"


def at_limit(said: str, program: programs.Program | None) -> str:
    """The engine's message about the end of the time, with the function, line or system call."""
    if match := _RUNS.search(said):
        instruction = _instruction(program, int(match[1], 16))
        place = instruction.where if instruction else ""
        runs = f"it runs{place or f' at 0x{match[1]}'}, for {match[2]} s without a system call"
        return said.replace(match[0], runs)
    if match := _WAITS.search(said):
        seconds, call, first = match[1], int(match[2]), int(match[3])
        name = known_calls.read().system_call(CALL, call)
        of = f" of {STREAMS.get(first, f'descriptor {first}')}" if name in ("read", "write") else ""
        takes = program and program.takes_input and (name, first) == ("read", 0)
        hint = "; --stdin FILE gives it an input" if takes else ""
        return said.replace(match[0], f"it has waited for {seconds} s in {name}{of}{hint}")
    return said


def _why(
    vector: int, error: int, value: Mapping[str, int], instruction: RefusedInstruction | None
) -> str:
    """What was wrong: the address of a page fault, or the registers of the instruction."""
    names = dict.fromkeys(_REGISTER.findall(instruction.text)) if instruction else {}
    registers = ", ".join(f"e{name} = {value[name]:#x}" for name in names)
    registers = f" ({registers})" if registers else ""
    if vector == PAGE_FAULT:
        does = "writes to" if error & WRITES else "reads"
        if value["cr2"] == value["at"]:
            does = "jumps to"
        kind = ", a null pointer" if value["cr2"] < NULL else ""
        why = "whose page is protected" if error & PRESENT else "which is not mapped"
        return f" {does} address {value['cr2']:#x}, {why}{kind}{registers}"
    return f" divides by zero or overflows{registers}" if vector == DIVIDE else registers


def _instruction(program: programs.Program | None, address: int) -> RefusedInstruction | None:
    if not isinstance(program, programs.OwnProgram):
        return None
    try:
        return refused.instruction(program.path, address)
    except (OSError, ValueError):
        return None


def _callers(program: programs.Program | None, words: Sequence[int]) -> list[str]:
    """The functions with source lines to which the words of a stack return, the innermost first. A
    word is taken for a return address if the instruction before it is a call. Words that earlier
    calls have left can look the same."""
    if not isinstance(program, programs.OwnProgram):
        return []
    try:
        elf = Elf(program.path.read_bytes())
        callers = [
            f"{refused.function_at(elf, word - 1)}, {place}"
            for word in words
            if _is_after_call(elf, word) and (place := refused.place_at(elf, word - 1))
        ]
    except (OSError, ValueError):
        return []
    return list(dict.fromkeys(callers))[:CALLERS]


def _is_after_call(elf: Elf, address: int) -> bool:
    """Whether the instruction before an address is CALL rel32 (E8) or CALL r/m32 (FF /2) [Intel
    SDM, volume 2A]."""
    for segment in elf.segments:
        end = address - segment.address
        if 0 < end <= segment.size:
            code = elf.image[segment.offset : segment.offset + end][-7:]
            forms = (code[-length:] for length in (2, 3, 6, 7))
            return code[-5:-4] == b"\xe8" or any(
                form[0] == 0xFF and form[1] >> 3 & 7 == 2 for form in forms if len(form) > 1
            )
    return False
