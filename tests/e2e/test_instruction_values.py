# SPDX-License-Identifier: MIT
"""What the instructions of the emulated machine compute, how the x87 reports errors, and flaws of
the chip."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from boot_sector import FLOPPY, assembled, bootable, new_runs, record

HERE = Path(__file__).parent


def printed(own_lab, program, *words):
    """Returns the lines that a program prints in the guest. `program`: a file of this directory, or
    another path."""
    (run,) = new_runs(own_lab, "--program", HERE / program, *words)
    return (run / "output.log").read_text().splitlines()


@pytest.fixture
def shown(own_lab, tmp_path):
    """Returns a function that boots a boot sector of this directory until "the end". It gives the
    record of the run and the last line of the screen."""

    def shown(source, status=0):
        image = tmp_path / "floppy.img"
        image.write_bytes(bootable(assembled(HERE / source, tmp_path)))
        words = ["--floppy", image, "--until", "the end", "--limit", 10]
        (run,) = new_runs(own_lab, *words, status=status)
        rows = [row for row in (run / "screen.txt").read_text().splitlines() if row]
        return record(run), rows[-1].strip()

    return shown


def host_program(tmp_path, source):
    """Compiles a C program of this directory for the host."""
    program = tmp_path / "host"
    subprocess.run(["gcc", "-O2", "-o", program, HERE / source], check=True)
    return program


def test_functions_are_exact_values_rounded_to_64_bits(own_lab, built, full):
    """All four rounding controls. P is set, and C1 if the magnitude was rounded up."""
    if not Path("/usr/include/mpfr.h").exists():
        pytest.skip("MPFR is missing: apt-get install libmpfr-dev")
    count = 4_000 if full else 100
    lines = printed(own_lab, "x87_functions.c", "--args", str(count))
    assert "fsincos differs" not in lines
    judged = subprocess.run(
        [built("build/tests/p5ulps"), "--check"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
    )
    assert judged.stdout == f"0 of {7 * count} are wrong\n"


def lines_of(*command):
    """Runs a program on the host. Returns the lines that it prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def compare_with_the_host(own_lab, program, source, blocks):
    """Compares the checksums of random cases. Of a difference, the test shows the cases."""
    here = lines_of(program, str(blocks))
    there = printed(own_lab, source, "--args", str(blocks), "--limit", "10000")
    assert len(here) == blocks
    for block, (expected, found) in enumerate(zip(here, there, strict=True)):
        if expected != found:
            words = ["1", str(block), "print"]
            assert printed(own_lab, source, "--args", " ".join(words)) == lines_of(program, *words)
            raise AssertionError(f"block {block} differs after other blocks only")


def test_all_encodings_of_operands_are_as_on_the_host(own_lab, tmp_path, full):
    """Random instructions of the x87 with operands of all kinds."""
    program = host_program(tmp_path, "x87_cases.c")
    compare_with_the_host(own_lab, program, "x87_cases.c", 10_000 if full else 40)


def test_integer_instructions_are_as_on_the_host(own_lab, full):
    """Random instructions of user mode. The host executes the file that was made for the guest."""
    printed(own_lab, "integer_cases.c", "--args", "1")
    made = (own_lab.root / "build/programs").glob("*/integer_cases")
    program = max(made, key=lambda path: path.stat().st_mtime_ns)
    try:
        lines_of(program, "1")
    except OSError as reason:
        pytest.skip(f"the host executes no programs of 32 bits: {reason}")
    compare_with_the_host(own_lab, program, "integer_cases.c", 10_000 if full else 40)


QUOTIENTS = """#include <stdio.h>
int main(void) {
  static const volatile double a[][2] = {
      {4195835, 3145727}, {5505001, 294911}, {5506153, 294911}, {1, 824633702441.0}, {15, 4}};
  for (int i = 0; i < 5; i++) printf("%.15g\\n", a[i][0] / a[i][1]);
  return 0;
}
"""
RIGHT = ["1.33382044913624", "18.6666519729681", "18.6705582362136", "1.21265962940867e-12"]
# 256 is missing in 4195835 - (4195835 / 3145727) * 3145727 (Coe 1995). The product of the fourth
# quotient with its divisor is 0.999999996274709702 (Nicely 1994); 18.66600093 and
# 18.66990719233938 are in Deley 1995.
WRONG = ["1.33373906890204", "18.6660009290939", "18.6699071923394", "1.21265962489116e-12"]


@pytest.mark.parametrize(
    ("signature", "expected"), [("0x522", WRONG), ("0x513", WRONG), ("0x524", RIGHT)]
)
def test_the_first_steppings_divide_with_the_flawed_table(own_lab, tmp_path, signature, expected):
    source = tmp_path / "quotients.c"
    source.write_text(QUOTIENTS)
    lines = printed(own_lab, source, "--set", f"cpu.signature={signature}")
    assert lines == [*expected, "3.75"]


def test_a_waiting_instruction_is_held_until_interrupt_13_has_run(shown):
    """The count of interrupts before and after the waiting store, what was in memory in the handler
    and after the store; the same with IGNNE#; then which errors are reported at once."""
    made, row = shown("x87_errors.S")
    assert made["status"] == "ok"
    assert row == "0000 0001 0000 3ffd 0002 3ffd 0003 0003 0004 the end"


def test_a_locked_bus_stops_the_machine(shown):
    made, row = shown("locked_bus.S", status=1)
    assert row == "before"
    assert "F0 0F C7 C8" in made["reason"]
    assert "stops a Pentium until it is reset" in made["reason"]


HANDLED = """#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
static sigjmp_buf back;
static void handler(int number) { (void)number; siglongjmp(back, 1); }
int main(int count, char** words) {
  (void)words;
  if (count < 2) signal(SIGILL, handler);
  if (sigsetjmp(back, 1)) { printf("handled\\n"); return 0; }
  asm volatile(".byte INSTRUCTION");
  printf("executed\\n");
  return 0;
}
"""


@pytest.mark.parametrize("code", ["0x0f,0x44,0xc0", "0xf0,0x0f,0xc7,0xc8"])
def test_a_program_can_handle_what_the_processor_refuses(own_lab, tmp_path, capsys, code):
    """CMOV, and the instruction that locks the bus: Linux works around it. Without a handler, the
    message names the instruction."""
    source = tmp_path / "handled.c"
    source.write_text(HANDLED.replace("INSTRUCTION", code))
    assert printed(own_lab, source) == ["handled"]
    (run,) = new_runs(own_lab, "--program", source, "--args", "none", status=1)
    assert json.loads((run / "run.json").read_text())["status"] == "failed"
    said = capsys.readouterr().err
    assert "invalid opcode (#UD) at 0x" in said
    assert ("cmov" if "44" in code else "every Pentium has this flaw") in said


def test_the_tester_of_a_386_comes_to_its_end(own_lab, tmp_path):
    """test386.asm of Marco Bortolin and others, which the user has assembled with ROM128,
    COM_PORT and BOCHS equal to 1 in its configuration. The files test386.bin and
    test386-EE-reference.txt, the reference of its results, are in a directory of P5LAB_MEDIA.

    With BOCHS it leaves out one case: ARPL with an operand that cannot be written and that it would
    not change. The emulator reports #GP, as Intel's manual lists it (241430, ARPL).
    """
    directories = [Path(name) for name in os.environ.get("P5LAB_MEDIA", "").split(":") if name]
    found = [place for place in directories if (place / "test386.bin").is_file()]
    if not found:
        pytest.skip("no directory of P5LAB_MEDIA contains test386.bin")
    image = tmp_path / "floppy.img"
    loader = bootable(assembled(HERE / "rom_loader.S", tmp_path), 512)
    image.write_bytes((loader + (found[0] / "test386.bin").read_bytes()).ljust(FLOPPY, b"\0"))
    (run,) = new_runs(own_lab, "--floppy", image, "--limit", 400)
    results = (run / "serial.log").read_text().splitlines()
    expected = (found[0] / "test386-EE-reference.txt").read_text().splitlines()
    assert [line.rstrip() for line in results] == [line.rstrip() for line in expected]
