# SPDX-License-Identifier: MIT
"""Compares the decoder of 64-bit code with GNU objdump, as test_decode_objdump.py does for other
code.

The corpus has every one-byte and 0F opcode with all ModRM.reg values, the addressing forms,
prefixes, and REX in every role. A REX prefix sets W (64-bit operands), sets only bits without an
effect, or has no effect because another prefix follows it.
"""

import re
import subprocess

import pytest
from test_decode_objdump import (
    NOP,
    PREFIX_WORDS,
    PREFIXES,
    RECORD,
    Case,
    by_p5,
    expected_class,
    later_prefix,
    tails,
)

PREFIX_SETS = [bytes.fromhex(text) for text in ("66", "67", "f3", "45", "48", "6648", "4866")]
REX = range(0x40, 0x50)
REX2 = 0xD5  # a prefix of processors since 2023, which new releases of objdump know
REX_W = 8
NO_REGISTER = re.compile(r"\b(?:cr|dr|db)(?:8|9|1\d)\b")  # except CR8 in long mode
REX_WORD = re.compile(r"^rex(?:\.[WRXB]+)?\s*")
# Mnemonics that exist only in 64-bit code. For some of them, NAMES contains the name of the equal
# 32-bit instruction. For the others, CLASSES contains the class.
NAMES = {"movabs": "mov", "retfq": "retf"}
CLASSES = {
    "movsxd": "movx",
    "cdqe": "cbw",
    "cqo": "cwd",
    "jrcxz": "jcxz",
    "lgdt": "lgdt",
    "lidt": "lgdt",
    "sgdt": "sgdt",
    "sidt": "sgdt",
    "popfq": "popf",
    "pushfq": "pushf",
    "iretq": "iretd",
    "cmpxchg16b": "cmpxchg8b",
}
# Instructions without a class on the Pentium, and instructions of later processors.
LATER = {"unknown", "cmov.rr", "cmov.rm", "fcmov", "fcomi", "nop.long"}
# The classes that only 64-bit code has, without the number of elements, and their mnemonics.
FLOAT = "(?:ps|pd|ss|sd)"
LONG = {
    "syscall": "syscall",
    "sysret": "sysret[dlqw]?",
    "swapgs": "swapgs",
    "fxsave": "fxsave(?:64)?",
    "fxrstor": "fxrstor(?:64)?",
    "ldmxcsr": "ldmxcsr",
    "stmxcsr": "stmxcsr",
    "fence": "[lms]fence",
    "clflush": "clflush",
    "emms": "f?emms",
    "simd.move": "mov(?:[au]p[sd]|s[sd]|[hl]p[sd]|hlps|lhps|[dq]|dq[au]|nt.*|q2dq|dq2q)|maskmov.*",
    "simd.convert": "cvt.*",
    "simd.add": f"(?:add|sub|min|max|cmp.*){FLOAT}|u?comis[sd]|pf.*|pi2f.*|pswapd|pavgusb|pmulhrw",
    "simd.mul": f"(?:mul|rcp|rsqrt){FLOAT}",
    "simd.div": f"div{FLOAT}",
    "simd.root": f"sqrt{FLOAT}",
    "simd.product": "pmul.*|pmaddwd|psadbw",
    "simd.logic": f"(?:and|andn|or|xor|unpck[hl]|shuf|movmsk){FLOAT}|p(?!f|mul|maddwd|sadbw).*",
}


def corpus() -> list[Case]:
    cases = []
    for table in (0, 1):
        for opcode in range(256):
            if table == 0 and (opcode in PREFIXES or opcode in (0x0F, REX2) or opcode in REX):
                continue
            code = bytes([opcode]) if table == 0 else bytes([0x0F, opcode])
            for prefix in [b"", *PREFIX_SETS]:
                for tail in tails(32, table, opcode, bool(prefix)):
                    text = prefix + code + tail
                    cases.append(Case(64, text + bytes([NOP]) * (RECORD - len(text))))
    return cases


def by_objdump(cases, folder):
    """Returns length and text of each case's instruction, or None if objdump finds none."""
    binary = folder / "corpus64.bin"
    binary.write_bytes(b"".join(case.code for case in cases))
    command = ["objdump", "-D", "-z", "-b", "binary", "-m", "i386:x86-64", "-M", "intel,intel64"]
    listing = subprocess.run(
        [*command, "--no-show-raw-insn", binary], capture_output=True, text=True, check=True
    ).stdout
    answers = [None] * len(cases)
    start, text = -1, ""
    for line in listing.splitlines():
        address, colon, words = line.partition(":\t")
        if not colon:
            continue
        at = int(address, 16)
        if start >= 0:
            before = None
            while before != text:
                before, text = text, REX_WORD.sub("", PREFIX_WORDS.sub("", text))
            if text and "(bad)" not in text and not text.startswith("."):
                answers[start // RECORD] = (at - start, text)
        start, text = (at, words.partition(" #")[0].strip()) if at % RECORD == 0 else (-1, "")
    return answers


def body_of(code):
    """Returns the instruction without its prefixes, and the REX prefix that has an effect."""
    rex = at = 0
    while code[at] in PREFIXES or code[at] in REX:
        rex = code[at] if code[at] in REX else 0
        at += 1
    return code[at:], rex


@pytest.fixture(scope="module")
def decoded(tmp_path_factory, built):
    built("build/tests/p5decode")
    cases = corpus()
    answers = by_objdump(cases, tmp_path_factory.mktemp("corpus"))
    return [
        entry
        for entry in zip(cases, by_p5(cases), answers, strict=True)
        if entry[2]
        and not later_prefix(body_of(entry[0].code)[0])
        and not NO_REGISTER.search(entry[2][1])
    ]


def test_lengths(decoded):
    wrong = [
        f"{case.code.hex()}: objdump {ref}, decoder {p5}"
        for case, p5, ref in decoded
        if p5 is None or p5.length != ref[0]
    ]
    assert len(decoded) > 50_000
    assert not wrong, f"{len(wrong)} of {len(decoded)} differ:\n" + "\n".join(wrong[:20])


def test_classes(decoded):
    wrong = []
    seen = set()
    for case, p5, (_, text) in decoded:
        body, rex = body_of(case.code)
        operand = b"\x66" if 0x66 in case.code[: RECORD - len(body)] and not rex & REX_W else b""
        repeat = bytes({0xF2, 0xF3} & set(case.code[: RECORD - len(body)]))
        mnemonic, space, operands = text.partition(" ")
        as_32 = Case(32, operand + repeat + body)
        expected = CLASSES.get(mnemonic) or expected_class(
            as_32, NAMES.get(mnemonic, mnemonic) + space + operands
        )
        seen.add(p5.cls)
        family = ".".join(p5.cls.split(".")[:2])
        is_long = re.fullmatch(LONG.get(family, ""), mnemonic) is not None
        if not (p5.cls == expected or (expected is None and (p5.cls in LATER or is_long))):
            wrong.append(f"{case.code.hex()} {text}: expected {expected}, got {p5}")
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:20])
    assert len(seen) > 150


def test_nothing_is_refused(decoded):
    assert not [p5 for _, p5, _ in decoded if "r" in p5.flags.lower()]
