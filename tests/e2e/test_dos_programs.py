# SPDX-License-Identifier: MIT
"""p5lab's programs for DOS, on a boot sector that stands in for DOS (little_dos.S)."""

import struct
from pathlib import Path

import pytest
from boot_sector import assembled, bootable, new_runs

from p5lab.host import dos_programs
from p5lab.lab import Lab
from p5lab.prepare import fat_floppy
from p5stats import tidy

SOURCE = Path(__file__).with_name("little_dos.S")
END_MARKER = 3  # instructions that load its registers


@pytest.fixture(scope="module")
def image(lab):
    """The content of the floppy with the programs."""
    return fat_floppy.image({one.name.upper(): one.read_bytes() for one in dos_programs.made(lab)})


@pytest.fixture
def run(lab, image, tmp_path, capsys):
    """Runs one of the programs. Returns the directory of the run, and what the command said."""

    def run(program, *words, status=0):
        own = Lab(lab.root, results_in=tmp_path / "results")
        dos = tmp_path / "dos.img"
        dos.write_bytes(_boot_sector(tmp_path, *_place(image, program)))
        line = ["--floppy", dos, "--programs", "dos", "--limit", 5, *words]
        made = new_runs(own, *line, status=status)
        return made[0] if made else None, capsys.readouterr()

    return run


def _place(image, program):
    """The first sector of a program on the floppy, and the number of its sectors."""
    for at in range(19 * 512, 33 * 512, 32):
        if image[at : at + 11] == f"{program:8}COM".encode():
            first, size = struct.unpack_from("<HI", image, at + 26)
            return 33 + first - 2, -(-size // 512)
    raise AssertionError(program)


def _boot_sector(place, first, sectors):
    values = ("--defsym", f"FIRST={first}", "--defsym", f"SECTORS={sectors}")
    return bootable(assembled(SOURCE, place, *values))


def counts(made, phase, event):
    table = tidy.load(made)
    chosen = table[(table["phase"] == phase) & (table["event"] == event)]
    return chosen.groupby("iteration")["value"].sum().tolist()


def test_each_system_call_is_one_bracket_with_exact_counts(run):
    made, _ = run("INT21", "--args", "iterations=7 warmup=3")
    # The program's MOV, XOR and INT; three times CMP and JE, and IRET of the boot sector.
    assert counts(made, "INT 21h 59h", "instructions") == [10 + END_MARKER] * 7
    # MOV and INT; CMP, JE, PUSH, CALL, five instructions of `vector`, LES, POP, IRET.
    assert counts(made, "INT 21h 35h", "instructions") == [14 + END_MARKER] * 7
    # INT writes the flags, CS and IP. PUSH and CALL write one word each.
    for phase, writes in (("INT 21h 59h", 3), ("INT 21h 35h", 5)):
        assert counts(made, phase, "soft_interrupts") == [1] * 7
        assert counts(made, phase, "data_writes") == [writes] * 7
    assert counts(made, "empty", "instructions") == [END_MARKER] * 10


def test_each_hook_of_int_21h_adds_its_three_instructions(run):
    made, _ = run("HOOKED", "--args", "iterations=4 warmup=2")
    for hooks in (1, 2, 3):
        name = f"{hooks} hook{'s' * (hooks > 1)}"
        # CMP, JE and the far JMP of each hook.
        for function, instructions in (("59h", 10), ("35h", 14)):
            counted = counts(made, f"INT 21h {function}, {name}", "instructions")
            assert counted == [instructions + 3 * hooks + END_MARKER] * 4


@pytest.mark.parametrize("program", ["DPMI16", "DPMI32"])
def test_without_a_dpmi_host_a_client_says_so(run, program):
    made, _ = run(program)
    assert "no DPMI host for this kind of client" in (made / "output.log").read_text()
    assert not any("DPMI" in phase for phase in tidy.load(made)["phase"].unique())


def test_without_a_job_the_parameters_have_their_defaults(run, lab):
    made, _ = run("INT21")
    iterations = dos_programs.load(lab)["int21"].parameters["iterations"]
    assert len(counts(made, "INT 21h 35h", "instructions")) == iterations


def test_the_chase_of_pointers_follows_each_pointer_once(run):
    few, _ = run("MEMREAD", "--args", "loads=1000 max=512")
    more, _ = run("MEMREAD", "--args", "loads=3000 max=512")
    near = [name for name in tidy.load(more)["phase"].unique() if name.startswith("mem-read near")]
    assert near[:4] == [f"mem-read near {size}" for size in ("512 B", "768 B", "1 KB", "1.5 KB")]
    assert near[-1] == "mem-read near 32 KB"
    # LES reads the segment and the offset, and loads ES.
    for name, reads, segments in (
        *((name, 2000, 0) for name in near),
        ("mem-read far 512 B", 4000, 2000),
    ):
        assert grown(few, more, name, "data_reads") == reads
        assert grown(few, more, name, "segment_loads") == segments
        # One DEC and one JNZ for each 1000 loads.
        assert grown(few, more, name, "instructions") == 2004


def test_each_frame_is_copied_to_the_frame_buffer_once(run):
    few, _ = run("BITBLT", "--args", "frames=1")
    more, _ = run("BITBLT", "--args", "frames=3")
    phase = "bitblt, all frames"
    # 760 rows of 18 words of 32 bits. The upper 512 rows and the others are in two banks of 64 KB.
    assert grown(few, more, phase, "uncached_writes") == 2 * 760 * 18
    assert grown(few, more, phase, "io_writes") == 2 * 2 * 2


def grown(before, after, phase, event):
    """By how much the only bracket of a phase has grown."""
    return counts(after, phase, event)[0] - counts(before, phase, event)[0]


def test_a_failed_program_ends_the_run_with_its_message(run):
    _, said = run("SMALL", "--args", "files=7 directories=2", status=1)
    assert "boot ended with status 1 in the guest" in said.err
    assert "directories: expected 1 to 32 that divide the number of files" in said.err


@pytest.mark.parametrize(
    "job, expected",
    [
        ("iteration=5", "did you mean 'iterations'"),
        ("iterations", "expected iterations=NUMBER"),
        ("iterations=0", "expected iterations=NUMBER"),
        ("iterations=5K", "expected iterations=NUMBER"),
    ],
)
def test_a_wrong_parameter_is_one_line(run, job, expected):
    made, said = run("INT21", "--args", job, status=2)
    assert made is None
    (line,) = said.err.strip().split("\n")
    assert line.startswith("p5lab: --args")
    assert expected in line


def test_the_programs_are_made_once_and_have_the_same_bytes(lab, image):
    paths = dos_programs.made(lab)
    before = {path: path.stat().st_mtime_ns for path in paths if path.suffix == ".com"}
    content = {one.name.upper(): one.read_bytes() for one in dos_programs.made(lab)}
    assert fat_floppy.image(content) == image
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert {path.name for path in paths} == {
        "run.bat",
        *(f"{name}.com" for name in dos_programs.load(lab)),
    }
