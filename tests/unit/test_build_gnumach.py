# SPDX-License-Identifier: MIT
"""How the build removes CMOV from guest mach's kernel: the moved code, and its replacement."""

import importlib.util
import subprocess
import sys

import pytest

from p5lab.lab import Lab


@pytest.fixture(scope="module")
def build():
    path = Lab.here().root / "guest-images/mach/build_gnumach.py"
    spec = importlib.util.spec_from_file_location("build_gnumach", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # for its dataclasses
    spec.loader.exec_module(module)
    return module


BASE = 0xC1001000  # like the kernel, this file has no symbols


@pytest.fixture
def code(build, tmp_path):
    """Returns the instructions of a text in Intel syntax, linked at BASE, with the bounds of one
    function.
    """

    def assemble(text):
        source, made, linked = (tmp_path / name for name in ("a.s", "a.o", "a"))
        source.write_text(".intel_syntax noprefix\n.globl _start\n_start:\n" + text)
        subprocess.run(["as", "--32", "-o", made, source], check=True)
        subprocess.run(
            ["ld", "-s", "-m", "elf_i386", "-Ttext", hex(BASE), "-o", linked, made], check=True
        )
        found = build.disassemble(linked)
        return found, [(BASE, found[-1].end)]

    return assemble


def sites(build, code, text, entered=(), kept=()):
    found, bounds = code(text)
    return [
        [one.text.split()[0] for one in site]
        for site in build.groups(found, set(entered), set(kept), bounds)
    ]


def test_a_long_cmov_moves_alone(build, code):
    assert sites(build, code, "nop\ncmove eax,[ebx+0x12345678]\nnop\n") == [["cmove"]]


def test_a_short_cmov_takes_what_follows(build, code):
    assert sites(build, code, "nop\ncmove eax,ecx\nmov esi,eax\nnop\n") == [["cmove", "mov"]]


def test_neighbours_go_together(build, code):
    text = "cmove eax,ecx\ncmovb edx,ecx\ncmovs esi,ecx\nnop\n"
    assert sites(build, code, text) == [["cmove", "cmovb", "cmovs"]]


def test_what_is_jumped_to_stays_the_first(build, code):
    text = "mov esi,eax\ncmove eax,ecx\nmov edi,eax\nnop\n"
    # A jump leads to the instruction after CMOV. So the build moves the instruction before CMOV.
    assert sites(build, code, text, entered=[BASE + 5]) == [["mov", "cmove"]]
    with pytest.raises(build.BuildError, match="no room"):
        sites(build, code, text, entered=[BASE + 2, BASE + 5])
    # A table contains the address of the first instruction. The kernel may expect a fault at this
    # instruction.
    with pytest.raises(build.BuildError, match="no room"):
        sites(build, code, text, entered=[BASE + 5], kept=[BASE])


def test_a_cmov_outside_of_functions_is_refused(build, code):
    found, _ = code("nop\ncmove eax,ecx\nnop\nnop\n")
    with pytest.raises(build.BuildError, match="in no function"):
        build.groups(found, set(), set(), [(BASE, BASE + 1)])


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("cmove eax,ecx", "75 02 8b c1"),  # jne over a mov
        ("cmovae edx,[esi+4]", "72 03 8b 56 04"),
        ("cmovg ax,cx", "7e 03 66 8b c1"),
        ("mov eax,ebx", "89 d8"),
        ("fucomip st,st(1)", "50 dd e1 df e0 9e 58 dd d8"),
    ],
)
def test_what_an_instruction_becomes(build, code, text, becomes):
    found, _ = code(f"{text}\nnop\n")
    assert build.moved(found[0], 0x5000) == bytes.fromhex(becomes)


@pytest.mark.parametrize("text", ["call there", "jmp there", "je there", "jb there"])
def test_a_branch_keeps_its_target(build, code, tmp_path, text):
    found, _ = code(f"nop\n{text}\n.skip 100,0x90\nthere: nop\n")
    place = 0x5000
    again = build.moved(found[1], place)
    target = int.from_bytes(again[-4:], "little", signed=True) + place + len(again)
    assert f"{target & 0xFFFFFFFF:x}" in found[1].text


def test_the_kernel_has_none_left(built):
    kernel = built("build/guests/mach/gnumach")
    shown = subprocess.run(["objdump", "-d", kernel], capture_output=True, text=True, check=True)
    assert "cmov" not in shown.stdout
    assert kernel.with_name("cmov-sites").read_text() == "678\n"
