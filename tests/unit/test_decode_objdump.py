# SPDX-License-Identifier: MIT
"""Compares the decoder with GNU objdump, which other authors wrote from the same manuals.

The corpus has every one-byte and 0F opcode with all ModRM.reg values, the addressing forms that
change the length, and prefixes, in 16-bit and in 32-bit code. If objdump finds an instruction, the
lengths must agree. The classes must agree with objdump's mnemonics, in both directions.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DECODER = ROOT / "build/tests/p5decode"
TABLE = ROOT / "engine/p5/timing.csv"

RECORD = 16  # bytes of a corpus entry, filled up with NOPs
NOP = 0x90
PREFIXES = {0x26, 0x2E, 0x36, 0x3E, 0x64, 0x65, 0x66, 0x67, 0xF0, 0xF2, 0xF3}
PREFIX_SETS: list[bytes] = [
    bytes.fromhex(text) for text in ("66", "67", "6667", "f0", "f2", "f3", "26", "2e", "64", "3e66")
]
PREFIX_WORDS = re.compile(
    r"^(?:(?:data16|data32|addr16|addr32|lock|repz|repnz|rep|bnd|notrack|xacquire|xrelease"
    r"|[cdefgs]s)(?:\s+|$))*"
)
# Opcodes without ModRM. After all remaining opcodes, the corpus has a ModRM byte. This byte is
# harmless after an undefined opcode.
NO_MODRM = {
    0: {op for op in range(0x40) if op & 7 > 3}
    | set(range(0x40, 0x62))
    | {0x68, 0x6A}
    | set(range(0x6C, 0x80))
    | set(range(0x90, 0xC0))
    | {0xC2, 0xC3, *range(0xC8, 0xD0), *range(0xD4, 0xD8), *range(0xE0, 0xF6), *range(0xF8, 0xFE)},
    1: {5, 6, 7, 8, 9, 0x0B, 0x0E, *range(0x30, 0x38), 0x77, *range(0x80, 0x90)}
    | {0xA0, 0xA1, 0xA2, 0xA8, 0xA9, 0xAA, *range(0xC8, 0xD0)},
}


@dataclass(frozen=True)
class Case:
    """One corpus entry: code size in bits and the bytes."""

    bits: int
    code: bytes


@dataclass(frozen=True)
class Decoded:
    """The output of p5decode."""

    length: int
    prefixes: int
    cls: str
    flags: str


def modrm_forms(bits: int) -> Iterator[bytes]:
    """Returns every reg value with each addressing form that has its own length or rule."""
    for reg in range(8):
        for mod, rm in ((0, 0), (0, 5), (0, 6), (1, 2), (1, 6), (2, 1), (2, 5), (3, 0), (3, 4)):
            yield bytes([mod << 6 | reg << 3 | rm])
        if bits == 32:  # SIB: plain, no index, no base with 32-bit displacement
            for mod, sib in ((0, 0x90), (0, 0x25), (0, 0x8D), (1, 0x24), (1, 0x4D), (2, 0xE4)):
                yield bytes([mod << 6 | reg << 3 | 4, sib])


def tails(bits: int, table: int, opcode: int, prefixed: bool) -> Iterator[bytes]:
    """Returns the bytes after the opcode. The NOPs that fill an entry are also its immediates and
    displacements.
    """
    if opcode in NO_MODRM[table]:
        yield b""
    elif table == 0 and 0xD8 <= opcode <= 0xDF and not prefixed:
        for modrm in range(256):
            yield bytes([modrm, 0x25])
    elif prefixed:
        for reg in range(8):
            yield bytes([reg << 3 | 6])
            yield bytes([0x84 | reg << 3, 0x25])
            yield bytes([0xC1 | reg << 3])
    else:
        yield from modrm_forms(bits)


def corpus() -> list[Case]:
    cases = []
    for bits in (16, 32):
        for table in (0, 1):
            for opcode in range(256):
                if table == 0 and (opcode in PREFIXES or opcode == 0x0F):
                    continue
                code = bytes([opcode]) if table == 0 else bytes([0x0F, opcode])
                for prefix in [b"", *PREFIX_SETS]:
                    for tail in tails(bits, table, opcode, bool(prefix)):
                        text = prefix + code + tail
                        cases.append(Case(bits, text + bytes([NOP]) * (RECORD - len(text))))
    return cases


def by_p5(cases: list[Case]) -> list[Decoded | None]:
    text = "".join(f"{case.bits} {case.code.hex()}\n" for case in cases)
    done = subprocess.run([DECODER, TABLE], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers: list[Decoded | None] = []
    for line in done.stdout.splitlines():
        if line == "-":
            answers.append(None)
        else:
            length, prefixes, cls, flags = line.split()
            answers.append(Decoded(int(length), int(prefixes), cls, flags))
    assert len(answers) == len(cases)
    return answers


def by_objdump(cases: list[Case], folder: Path) -> list[tuple[int, str] | None]:
    """Returns length and text of each case's instruction, or None if objdump finds none."""
    answers: list[tuple[int, str] | None] = [None] * len(cases)
    for bits, machine in ((16, "i8086"), (32, "i386")):
        chosen = [index for index, case in enumerate(cases) if case.bits == bits]
        binary = folder / f"corpus{bits}.bin"
        binary.write_bytes(b"".join(cases[index].code for index in chosen))
        command = ["objdump", "-D", "-z", "-b", "binary", "-m", machine, "-M", "intel"]
        listing = subprocess.run(
            [*command, "--no-show-raw-insn", binary], capture_output=True, text=True, check=True
        ).stdout
        start, text = -1, ""
        for line in listing.splitlines():
            address, colon, words = line.partition(":\t")
            if not colon:
                continue
            at = int(address, 16)
            if start >= 0:
                mnemonic = PREFIX_WORDS.sub("", text)
                if mnemonic and "(bad)" not in text and not text.startswith("."):
                    answers[chosen[start // RECORD]] = (at - start, mnemonic)
            start, text = (at, words.strip()) if at % RECORD == 0 else (-1, "")
    return answers


def later_prefix(code: bytes) -> bool:
    """Returns whether later processors gave the encoding another meaning. These encodings are the
    prefixes VEX, EVEX and XOP; 0F 78 of SSE4a; and AMD's LOCK MOV CRn. The length of 0F 78 depends
    on a prefix. LOCK MOV CRn accesses CR8. A Pentium raises a fault for these encodings, so their
    length and their class have no effect.
    """
    body = code.lstrip(bytes(PREFIXES))
    return (
        (body[0] in (0x62, 0xC4, 0xC5) and body[1] >= 0xC0)
        or (body[0] == 0x8F and body[1] & 0x38 != 0)
        or body[:2] == b"\x0f\x78"
        or (code[0] == 0xF0 and body[:2] in (b"\x0f\x20", b"\x0f\x22"))
    )


# Mnemonics (objdump, Intel syntax) that have the same class for all operands.
SIMPLE = {
    mnemonic: cls
    for cls, mnemonics in {
        "nop": "pause",
        "lea": "lea",
        "pusha": "pusha pushad pushaw",
        "popa": "popa popad popaw",
        "pushf": "pushf pushfd pushfw",
        "popf": "popf popfd popfw",
        "lahf": "lahf sahf",
        "movx": "movzx movsx",
        "cbw": "cbw cwde",
        "cwd": "cwd cdq",
        "xlat": "xlat",
        "bswap": "bswap",
        "lds": "lds les lfs lgs",
        "lss": "lss",
        "aaa": "aaa aas daa das",
        "aad": "aad",
        "aam": "aam",
        "cmpxchg8b": "cmpxchg8b",
        "bound": "bound",
        "leave": "leave leaved leavew",
        "flag": "clc stc cmc cld std",
        "cli": "cli sti",
        "jcxz": "jcxz jecxz",
        "loop": "loop loopd loopw",
        "loopcc": "loope loopne loopew loopnew looped loopned",
        "int3": "int3 int1",
        "int.n": "int",
        "into": "into",
        "in": "in",
        "out": "out",
        "cpuid": "cpuid",
        "rdtsc": "rdtsc",
        "rdmsr": "rdmsr",
        "wrmsr": "wrmsr",
        "rsm": "rsm",
        "hlt": "hlt",
        "wait": "fwait",
        "clts": "clts",
        "lmsw": "lmsw",
        "smsw": "smsw",
        "lgdt": "lgdtd lgdtw lidtd lidtw",
        "sgdt": "sgdtd sgdtw sidtd sidtw",
        "lldt": "lldt",
        "sldt": "sldt",
        "ltr": "ltr",
        "str": "str",
        "lar": "lar lsl",
        "verr": "verr verw",
        "arpl": "arpl",
        "invd": "invd",
        "invlpg": "invlpg",
        "wbinvd": "wbinvd wbnoinvd",
        "fbld": "fbld",
        "fbstp": "fbstp",
        "fild": "fild",
        "fist": "fist fistp",
        "fldz": "fldz fld1",
        "fldpi": "fldpi fldl2e fldl2t fldlg2 fldln2",
        "fadd": "fadd faddp fsub fsubp fsubr fsubrp",
        "fmul": "fmul fmulp",
        "fdiv": "fdiv fdivp fdivr fdivrp",
        "fiadd": "fiadd fisub fisubr fimul",
        "fidiv": "fidiv fidivr",
        "fchs": "fchs fabs",
        "fcom": "fcom fcomp fcompp fucom fucomp fucompp fcom2 fcomp3 fcomp5",
        "ficom": "ficom ficomp",
        "ftst": "ftst",
        "fxam": "fxam",
        "fprem": "fprem",
        "fprem1": "fprem1",
        "frndint": "frndint",
        "fscale": "fscale",
        "fxtract": "fxtract",
        "fsqrt": "fsqrt",
        "fsin": "fsin fcos",
        "fsincos": "fsincos",
        "f2xm1": "f2xm1",
        "fyl2x": "fyl2x",
        "fyl2xp1": "fyl2xp1",
        "fptan": "fptan",
        "fpatan": "fpatan",
        "fnop": "fnop fneni(8087 fndisi(8087 fnsetpm(287",
        "fxch": "fxch fxch4 fxch7",
        "ffree": "ffree ffreep fincstp fdecstp",
        "fnstsw": "fnstsw",
        "fldcw": "fldcw",
        "fnstcw": "fnstcw",
        "fnclex": "fnclex",
        "fninit": "fninit",
        "fldenv": "fldenv fldenvd fldenvw",
        "fnstenv": "fnstenv fnstenvd fnstenvw",
        "fnsave": "fnsave fnsaved fnsavew",
        "frstor": "frstor frstord frstorw",
        # These opcodes are invalid on every processor, so they have no flag.
        "unknown": "ud0 ud1 ud2 frstpm(287",
    }.items()
    for mnemonic in mnemonics.split()
}
# Instructions of later processors. They must have the flag for refused instructions.
LATER = {"fcmov": r"fcmov\w+", "fcomi": r"fu?comip?", "cmov": r"cmov\w+"}
ALU = {"add": "alu", "or": "alu", "and": "alu", "sub": "alu", "xor": "alu"} | {
    "adc": "adc",
    "sbb": "adc",
}
SHIFTS = {"shl": "shift", "shr": "shift", "sar": "shift", "sal": "shift"} | {
    "rol": "rotate",
    "ror": "rotate",
    "rcl": "rcl",
    "rcr": "rcl",
}
STRINGS = {"lods", "stos", "movs", "scas", "cmps", "ins", "outs"}
SREGS = {"es", "cs", "ss", "ds", "fs", "gs"}


def is_memory(operand: str) -> bool:
    return "[" in operand or "PTR" in operand or re.match(r"[cdefgs]s:0x", operand) is not None


def is_immediate(operand: str) -> bool:
    return re.fullmatch(r"-?(0x[0-9a-f]+|\d+)", operand) is not None


def expected_class(case: Case, text: str) -> str | None:
    """Returns the class for objdump's text, or None if the P54C has no such instruction."""
    mnemonic, _, rest = text.partition(" ")
    operands = rest.strip().split(",") if rest.strip() else []
    memory = any(is_memory(operand) for operand in operands)
    first = operands[0] if operands else ""
    last = operands[-1] if operands else ""
    place = "m" if memory else "r"
    body = case.code.lstrip(bytes(PREFIXES))
    prefixes = case.code[: len(case.code) - len(body)]
    size = 32 if (case.bits == 32) != (0x66 in prefixes) else 16

    if mnemonic in SIMPLE:
        return SIMPLE[mnemonic]
    if mnemonic == "nop":
        return "nop" if body[0] == NOP else None
    if mnemonic in ALU:
        kind = "mr" if is_memory(first) else "rm" if memory else "rr"
        return f"{ALU[mnemonic]}.{kind}"
    if mnemonic == "cmp":
        return "cmp.mem" if memory else "cmp.rr"
    if mnemonic == "test":
        if not is_immediate(last):
            return "test.mem" if memory else "test.rr"
        accumulator = body[0] in (0xA8, 0xA9)
        return "test.mem-imm" if memory else "test.acc-imm" if accumulator else "test.imm"
    if mnemonic in ("inc", "dec"):
        return f"inc.{place}"
    if mnemonic in ("neg", "not"):
        return f"neg.{place}"
    if mnemonic in SHIFTS:
        count = "cl" if last == "cl" else "1" if last == "1" else "imm"
        kind = SHIFTS[mnemonic]
        if kind == "shift" and count != "cl":
            return f"shift.{place}"
        return f"{kind}.{place}-{count}"
    if mnemonic in ("shld", "shrd"):
        return f"shld.{place}"
    if mnemonic in ("bt", "bts", "btr", "btc"):
        kind = "bt" if mnemonic == "bt" else "bts"
        return f"{kind}.r" if not memory else f"{kind}.m-{'imm' if is_immediate(last) else 'r'}"
    if mnemonic in ("bsf", "tzcnt"):  # F3 0F BC: without BMI a BSF; the prefix has no effect
        return f"bsf.{place}.{size}"
    if mnemonic in ("bsr", "lzcnt"):
        return f"bsr.{place}.{size}"
    if mnemonic in ("mul", "div", "idiv") or (mnemonic == "imul" and len(operands) == 1):
        width = 8 if body[0] == 0xF6 else size
        return f"{mnemonic.replace('imul', 'mul')}.{width}"
    if mnemonic == "imul":
        return "imul.rm" if memory else "imul.rr"
    if mnemonic in ("cmpxchg", "xadd"):
        return f"{mnemonic}.{place}"
    if mnemonic == "xchg":
        if body[0] == NOP:
            return "nop"
        return "xchg.mem" if memory else "xchg.rr" if body[0] in (0x86, 0x87) else "xchg.acc"
    if mnemonic.startswith("set"):
        return f"setcc.{place}"
    if mnemonic in ("push", "pushw", "pushd"):
        if first in SREGS:
            return "push.sreg"
        return "push.m" if memory else "push.imm" if is_immediate(first) else "push.r"
    if mnemonic in ("pop", "popw", "popd"):
        if first in SREGS:
            return "pop.ss" if first == "ss" else "pop.sreg"
        return f"pop.{place}"
    if mnemonic in STRINGS:
        repeated = 0xF2 in prefixes or 0xF3 in prefixes
        return f"rep.{mnemonic}" if repeated else mnemonic
    if mnemonic in ("enter", "enterd", "enterw"):
        level = int(last, 16) % 32
        return "enter.0" if level == 0 else "enter.1" if level == 1 else "enter.n"
    if mnemonic in ("iret", "iretd", "iretw"):
        return "iretd" if size == 32 else "iret"
    if re.fullmatch(r"ret[dw]?", mnemonic):
        return "ret.imm" if operands else "ret"
    if re.fullmatch(r"retf[dw]?", mnemonic):
        return "ret.far-imm" if operands else "ret.far"
    if re.fullmatch(r"(call|jmp)[dw]?", mnemonic):
        kind = mnemonic[:4].rstrip("dw") if mnemonic.startswith("jmp") else "call"
        if re.fullmatch(r"0x[0-9a-f]+:0x[0-9a-f]+", rest.strip()):
            return f"{kind}.far"
        if body[0] == 0xFF and body[1] >> 3 & 7 in (3, 5):
            return f"{kind}.far-mem"
        return kind if is_immediate(first) else f"{kind}.ind"
    if re.fullmatch(r"j\w+", mnemonic):
        return "jcc"
    if mnemonic == "mov":
        return expected_mov(first, last, memory, body)
    if mnemonic == "fld":
        return "fld.m80" if "TBYTE" in first else "fld"
    if mnemonic in ("fst", "fstp", "fstp1", "fstp8", "fstp9"):
        return "fst.m80" if "TBYTE" in first else "fst.m" if memory else "fst.r"
    return None


def expected_mov(first: str, last: str, memory: bool, body: bytes) -> str:
    if match := re.match(r"(cr|dr|db|tr)(\d)$", first):
        kind, number = match.groups()
        if kind == "cr":
            return f"mov.to-cr{number}" if number in "0234" else "unknown"
        return "unknown" if kind == "tr" else "mov.to-dr"
    if match := re.match(r"(cr|dr|db|tr)\d$", last):
        return {"cr": "mov.from-cr", "tr": "unknown"}.get(match.group(1), "mov.from-dr")
    if "?" in (first, last):  # segment registers 6 and 7
        return "unknown"
    if last in SREGS:
        return "mov.from-sreg"
    if first in SREGS:
        if first == "cs":
            return "unknown"
        return f"mov.{'ss' if first == 'ss' else 'sreg'}{'-mem' if memory else ''}"
    if body[0] in range(0xA0, 0xA4):
        return "mov.acc-store" if is_memory(first) else "mov.acc-load"
    if is_memory(first):
        return "mov.store-imm" if is_immediate(last) else "mov.store"
    return "mov.load" if memory else "mov.rr"


@pytest.fixture(scope="module")
def decoded(tmp_path_factory, built) -> list[tuple[Case, Decoded | None, tuple[int, str] | None]]:
    built("build/tests/p5decode")
    cases = corpus()
    answers = by_objdump(cases, tmp_path_factory.mktemp("corpus"))
    return [
        entry
        for entry in zip(cases, by_p5(cases), answers, strict=True)
        if not later_prefix(entry[0].code)
    ]


def test_lengths(decoded):
    known = [(case, p5, ref) for case, p5, ref in decoded if ref is not None]
    wrong = [
        f"{case.bits}-bit {case.code.hex()}: objdump {ref}, decoder {p5}"
        for case, p5, ref in known
        if p5 is None or p5.length != ref[0]
    ]
    assert len(known) > 100_000
    assert not wrong, f"{len(wrong)} of {len(known)} differ:\n" + "\n".join(wrong[:20])


def test_classes_and_refusals(decoded):
    wrong = []
    seen = set()
    for case, p5, ref in decoded:
        if ref is None or p5 is None:
            continue
        text = ref[1]
        expected = expected_class(case, text)
        if expected is not None:
            good = p5.cls == expected and "r" not in p5.flags and "R" not in p5.flags
        else:
            # The chip refuses this instruction. The instruction has a class only if level
            # pentium+cmov executes the instruction.
            mnemonic = text.split()[0]
            cmov = re.fullmatch("|".join(LATER.values()), mnemonic) is not None
            body = case.code.lstrip(bytes(PREFIXES))
            hint = body[0] == 0x0F and (body[1] == 0x0D or 0x18 <= body[1] <= 0x1F)
            known = p5.cls == "nop.long" if hint else p5.cls.split(".")[0] in LATER
            good = (
                "r" in p5.flags and ("R" in p5.flags) != (cmov or hint) and known == (cmov or hint)
            )
        seen.add(p5.cls)
        if not good:
            wrong.append(f"{case.bits}-bit {case.code.hex()} {text}: expected {expected}, got {p5}")
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:20])
    assert len(seen) > 180


def test_operand_flags(decoded):
    """The flags for memory, displacement and immediate agree with objdump's operands."""
    wrong = []
    for case, p5, ref in decoded:
        if ref is None or p5 is None or p5.cls == "unknown" or "r" in p5.flags:
            continue
        body = case.code.lstrip(bytes(PREFIXES))
        mnemonic, _, rest = ref[1].partition(" ")
        operands = rest.strip().split(",")
        modrm_memory = any(is_memory(operand) for operand in operands)
        if (
            mnemonic in STRINGS
            or mnemonic in ("xlat", "lea", "invlpg")
            or ":0x" in rest.replace("s:0x", "")
        ):
            modrm_memory = False
        by_one = body[0] in (0xD0, 0xD1)  # the count 1 is part of the opcode
        branch = p5.cls in ("jmp", "call", "jcc", "jcxz", "loop", "loopcc")
        far = p5.cls in ("jmp.far", "call.far")
        immediate = far or (
            not branch and not by_one and any(is_immediate(operand) for operand in operands)
        )
        if ("m" in p5.flags, "i" in p5.flags) != (modrm_memory, immediate):
            # objdump omits the immediate 10 of AAD and AAM.
            if mnemonic in ("aad", "aam"):
                continue
            wrong.append(f"{case.bits}-bit {case.code.hex()} {ref[1]}: {p5}")
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:20])


def test_prefix_clocks(decoded):
    """Each prefix byte costs a clock. The byte 0F also costs a clock, except in the near Jcc."""
    for case, p5, _ in decoded:
        if p5 is None:
            continue
        body = case.code.lstrip(bytes(PREFIXES))
        near_jcc = body[0] == 0x0F and body[1] & 0xF0 == 0x80
        expected = len(case.code) - len(body) + (body[0] == 0x0F and not near_jcc)
        assert p5.prefixes == expected, f"{case.bits}-bit {case.code.hex()}: {p5}"
