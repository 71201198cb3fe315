#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that a Pentium (P5, P54C) has every instruction of the given ELF files.

Disassembles the executable sections with objdump and compares each mnemonic with the instruction
set of the Pentium: INTEL-DM (Intel Pentium Processor Family Developer's Manual, 241428-005)
vol. 3, chapter 25. All other instructions are errors, for example CMOV, MMX, SSE and the multi-byte
NOP (0F 1F).

The program does not check two sections of a Linux kernel, because no Pentium executes these
sections (SKIPPED_SECTIONS). The program also skips the functions that the exceptions file lists,
with one `FUNCTION REASON` per line. These functions execute their newer instructions only after a
test of a processor feature. The program reports an exception that no function needs, but does not
fail, because compilers inline functions in different places.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

SKIPPED_SECTIONS = {
    ".altinstr_replacement": "copied into the code only on processors that have the feature",
    ".bstext": "boot sector of the setup code, fill bytes without an EFI stub",
}

CONDITIONS = (
    "o no b nb c nc ae nae e ne z nz be nbe a na s ns p np pe po l nl ge nge le nle g ng"
).split()

PENTIUM = frozenset(
    # Integer and string instructions, INTEL-DM vol. 3 ch. 25, by their names in Intel syntax.
    """aaa aad aam aas adc add and arpl bound bsf bsr bswap bt btc btr bts call cbw cdq clc cld cli
    clts cmc cmp cmps cmpxchg cmpxchg8b cpuid cwd cwde daa das dec div enter hlt idiv imul in inc
    ins int int3 into invd invlpg iret iretd iretw jcxz jecxz jmp lahf lar lds lea leave les lfs
    lgdt lgs lidt lldt lmsw lods loop loope loopne lsl lss ltr mov movs movsx movzx mul neg nop not
    or out outs pop popa popad popaw popf popfd popfw push pusha pushad pushaw pushf pushfd pushfw
    rcl rcr rdmsr rdtsc ret retf rol ror rsm sahf sal sar sbb scas sgdt shl shld shr shrd sidt sldt
    smsw stc std sti stos str sub test verr verw wait fwait wbinvd wrmsr xadd xchg xlat xlatb xor
    """.split()
    # The same instructions with a letter for the operand size. objdump adds the letter if the size
    # is not the default of the mode.
    + "calld callw enterw jmpd jmpw leaved leavew popd pushd retd retfd retfw retw".split()
    + "lgdtd lgdtw lidtd lidtw sgdtd sgdtw sidtd sidtw".split()
    # These instructions raise the invalid-opcode exception on every processor. Linux uses these
    # instructions for BUG() and for its own markers.
    + ["ud1", "ud2"]
    # F3 0F BC: processors without SSE4 ignore the prefix and execute BSF.
    + ["tzcnt"]
    # F3 90: processors without SSE2 ignore the prefix and execute NOP.
    + ["pause"]
    # Floating point.
    + """f2xm1 fabs fadd faddp fbld fbstp fchs fclex fcom fcomp fcompp fcos fdecstp fdiv fdivp fdivr
    fdivrp ffree fiadd ficom ficomp fidiv fidivr fild fimul fincstp finit fist fistp fisub fisubr
    fld fld1 fldcw fldenv fldl2e fldl2t fldlg2 fldln2 fldpi fldz fmul fmulp fnclex fninit fnop
    fnsave fnstcw fnstenv fnstsw fpatan fprem fprem1 fptan frndint frstor fsave fscale fsin fsincos
    fsqrt fst fstcw fstenv fstp fstsw fsub fsubp fsubr fsubrp ftst fucom fucomp fucompp fxam fxch
    fxtract fyl2x fyl2xp1""".split()
    + [f"j{condition}" for condition in CONDITIONS]
    + [f"set{condition}" for condition in CONDITIONS]
)
"""Mnemonics of the Pentium in objdump's Intel syntax."""

PREFIXES = frozenset(
    "lock rep repz repnz repe repne data16 data32 addr16 addr32 cs ds es fs gs ss "
    "notrack bnd".split()
)
"""Prefixes that objdump prints before a mnemonic. A P5 supports or ignores each of them."""

SECTION = re.compile(r"Disassembly of section (\S+):")
FUNCTION = re.compile(r"[0-9a-f]+ <(.+)>:")
INSTRUCTION = re.compile(r" *([0-9a-f]+):\t(.*)")


@dataclass(frozen=True)
class Finding:
    """An instruction that a Pentium does not have, with its function and address."""

    file: str
    section: str
    function: str
    address: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}: {self.section} {self.function} at {self.address}: {self.text}"


def is_pentium(text: str) -> bool:
    """Returns whether a Pentium has this instruction. The text comes from objdump and has Intel
    syntax.

    >>> is_pentium("lock cmpxchg8b QWORD PTR [esi]"), is_pentium("cmove eax,ebx")
    (True, False)
    """
    words = text.partition("#")[0].split()
    while words and words[0] in PREFIXES:
        words.pop(0)
    if not words:  # a prefix before another prefix has its own line
        return True
    if words[0] == "nop" and len(words) > 1:  # 0F 1F /0: since the Pentium Pro
        return False
    return words[0] in PENTIUM


def disassemble(file: Path, objdump: str, machine: str) -> Iterator[str]:
    """Yields objdump's lines for the executable sections of `file`."""
    command = [objdump, "-d", "-w", "-m", machine, "-M", "intel", "--no-show-raw-insn", str(file)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise ValueError(f"{file}: objdump: {result.stderr.strip()}")
    yield from result.stdout.splitlines()


def findings(lines: Iterable[str], name: str) -> Iterator[Finding]:
    """Yields instructions that a Pentium does not have. Raises ValueError if there is no code."""
    section = function = "?"
    instructions = 0
    for line in lines:
        if match := INSTRUCTION.fullmatch(line):
            instructions += 1
            if section not in SKIPPED_SECTIONS and not is_pentium(match[2]):
                yield Finding(name, section, function, match[1], " ".join(match[2].split()))
        elif match := FUNCTION.fullmatch(line):
            function = match[1]
        elif match := SECTION.fullmatch(line):
            section, function = match[1], "?"
    if not instructions:
        raise ValueError(f"{name}: no code found")


def read_exceptions(file: Path) -> dict[str, str]:
    """Returns the reasons by function. Raises ValueError for a line without a reason."""
    exceptions = {}
    for number, line in enumerate(file.read_text().splitlines(), 1):
        function, _, reason = line.partition("#")[0].strip().partition(" ")
        if function and not reason.strip():
            raise ValueError(f"{file.name}:{number}: `{function}` has no reason")
        if function:
            exceptions[function] = reason.strip()
    return exceptions


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--exceptions", type=Path, help="functions that may use other instructions")
    parser.add_argument(
        "--machine", default="i386", choices=["i386", "i8086"], help="i8086 for 16-bit code"
    )
    parser.add_argument("--objdump", default="objdump")
    parser.add_argument("files", nargs="+", type=Path, metavar="ELF")
    args = parser.parse_args()
    try:
        exceptions = read_exceptions(args.exceptions) if args.exceptions else {}
        unused = set(exceptions)
        bad = 0
        for file in args.files:
            for finding in findings(disassemble(file, args.objdump, args.machine), str(file)):
                # The compiler names parts of a function `name.part.0` or `name.cold`.
                function = finding.function.partition(".")[0]
                unused.discard(function)
                if function not in exceptions:
                    print(f"check_isa: {finding}: not a Pentium instruction", file=sys.stderr)
                    bad += 1
        for function in sorted(unused):
            print(f"check_isa: {args.exceptions}: `{function}` excuses nothing", file=sys.stderr)
    except (ValueError, OSError) as error:
        print(f"check_isa: {error}", file=sys.stderr)
        return 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
