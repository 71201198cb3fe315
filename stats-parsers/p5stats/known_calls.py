# SPDX-License-Identifier: MIT
"""The calls of engine/observe/calls/calls.toml: names for people, and facts for the engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from p5stats import declared
from p5stats.problems import StatsError

FILE = Path(__file__).resolve().parents[2] / "engine/observe/calls/calls.toml"
REGISTERS = ("", "ah", "ax", "eax")
KINDS = ("int", "gate", "hardware", "exception")
INT, GATE, HARDWARE, EXCEPTION = KINDS
TABLES = (INT, GATE, EXCEPTION)  # of the file
VECTORS = 256
SYSTEM_CALL = 0x80  # Linux i386: INT 80h, number in EAX, first argument in EBX
LISTS = {"functions": dict, "ends": list, "moves": list}
FIELDS = {"register": str, "decimal": bool, "name": str, "ends_at": str} | LISTS
HEX, DECIMAL = 16, 10
REGISTER = 1 << 32  # a negative number is declared by its sign and counted without


@dataclass(frozen=True)
class Interrupt:
    """A software interrupt or the gates. `register`: the register with the function number, or
    empty. `functions`: the names of functions. `ends`: functions that end their program. `moves`:
    functions that replace their address space. `ends_at`: the linear address that ends the call, or
    None."""

    register: str = ""
    decimal: bool = False
    name: str = ""
    functions: Mapping[int, str] = field(default_factory=dict)
    ends: tuple[int, ...] = ()
    moves: tuple[int, ...] = ()
    ends_at: int | None = None


@dataclass(frozen=True)
class KnownCalls:
    """All declared calls. `interrupts`: by vector. `exceptions`: the names, by vector."""

    interrupts: Mapping[int, Interrupt]
    gate: Interrupt
    exceptions: Mapping[int, str]

    def name(self, kind: str, vector: int | None, function: int | None) -> str:
        """A call in the words of a programmer, such as "INT 21h AH=3Dh open"."""
        if kind == HARDWARE:
            return f"interrupt {vector or 0:02X}h"
        if kind == EXCEPTION:
            return f"exception {vector or 0:02X}h {self.exceptions.get(vector or 0, '')}".strip()
        call = self._entry(vector)
        head = "gate" if vector is None else f"INT {vector:02X}h"
        if function is None:
            return f"{head} {call.name}".strip()
        number = str(_signed(function)) if call.decimal else _hex(function, call.register)
        return f"{head} {call.register.upper()}={number} {call.functions.get(function, '')}".strip()

    def system_call(self, vector: int | None, number: int) -> str:
        """The name of a system call by INT or, if the vector is None, by a gate."""
        return self._entry(vector).functions.get(number, f"system call {_signed(number)}")

    def short(self, kind: str, vector: int | None, function: int | None) -> str:
        """The name of a system call without its number, such as "dup", so that kernels with other
        numbers can be compared. Any other call, and a number without a name, is as in `name`."""
        is_system_call = kind == GATE or (kind == INT and vector == SYSTEM_CALL)
        own = self._entry(vector).functions if is_system_call else {}
        return (function is not None and own.get(function)) or self.name(kind, vector, function)

    def _entry(self, vector: int | None) -> Interrupt:
        """The declaration of a software interrupt, or of the gates if the vector is None."""
        return self.gate if vector is None else self.interrupts.get(vector, Interrupt())

    def engine_text(self) -> str:
        """The facts that the engine needs, as one text (engine/observe/calls/call_table.hh)."""
        words = []
        for vector, interrupt in sorted(self.interrupts.items()):
            words += _words(f"{vector:x}", interrupt)
        return " ".join([*words, *_words("gate", self.gate)])


def _signed(number: int) -> int:
    """A number of a register of 32 bits; the traps of Mach are negative."""
    return number - REGISTER if REGISTER // 2 <= number < REGISTER else number


def _hex(number: int, register: str) -> str:
    """A function number with the digits of its register: 3Dh in AH, 0300h in AX."""
    return f"{number:0{2 if register == 'ah' else 4}X}h"


def _words(place: str, interrupt: Interrupt) -> list[str]:
    words = [f"{place}:{interrupt.register}"] if interrupt.register else []
    words += [f"{place}/{number:x}:ends" for number in interrupt.ends]
    words += [f"{place}/{number:x}:moves" for number in interrupt.moves]
    return words + ([f"{place}@{interrupt.ends_at:x}"] if interrupt.ends_at is not None else [])


@cache
def read(path: Path = FILE) -> KnownCalls:
    """The declared calls. Raises StatsError with the file and the entry of the first mistake."""
    data = declared.checked(str(path), declared.load(path), dict.fromkeys(TABLES, dict))
    interrupts = {}
    for text, table in data.get(INT, {}).items():
        where = f"{path}: int.{text}"
        vector = _number(where, text, HEX)
        if vector >= VECTORS:
            raise StatsError(f"{where}: expected a vector of two hexadecimal digits")
        interrupts[vector] = _interrupt(where, table)
    where = f"{path}: exception"
    exceptions = _names(where, data.get(EXCEPTION, {}), HEX)
    return KnownCalls(interrupts, _interrupt(f"{path}: gate", data.get(GATE, {})), exceptions)


def _interrupt(where: str, value: object) -> Interrupt:
    table = declared.checked(where, value, FIELDS)
    register = table.get("register", "")
    if register not in REGISTERS:
        raise StatsError(f"{where}: register: expected one of ah, ax, eax")
    base = DECIMAL if table.get("decimal") else HEX
    ends_at = table.get("ends_at")
    return Interrupt(
        register,
        base == DECIMAL,
        table.get("name", ""),
        _names(f"{where}.functions", table.get("functions", {}), base),
        _numbers(f"{where}.ends", table.get("ends", []), base),
        _numbers(f"{where}.moves", table.get("moves", []), base),
        None if ends_at is None else _number(f"{where}.ends_at", ends_at, HEX),
    )


def _names(where: str, table: Mapping[str, object], base: int) -> dict[int, str]:
    names = declared.checked(where, table, dict.fromkeys(table, str))
    return {_number(where, key, base): name for key, name in names.items()}


def _numbers(where: str, values: Sequence[object], base: int) -> tuple[int, ...]:
    return tuple(_number(where, value, base) for value in values)


def _number(where: str, text: object, base: int) -> int:
    try:
        number = int(text, base) if isinstance(text, str) else -REGISTER
    except ValueError:
        number = -REGISTER
    if base == DECIMAL and -REGISTER < number < 0:
        number += REGISTER
    if number < 0:
        kind = "decimal" if base == DECIMAL else "hexadecimal"
        raise StatsError(f"{where}: expected a {kind} number in quotes, found {text!r}")
    return number
