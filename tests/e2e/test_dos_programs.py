# SPDX-License-Identifier: MIT
"""p5lab's programs for DOS, on a boot sector that stands in for DOS (little_dos.S)."""

import struct
from pathlib import Path

import pytest
from boot_sector import assembled, bootable, new_runs

from p5lab.describe import fat_floppy
from p5lab.host import dos_programs
from p5lab.lab import Lab
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
    # The program's MOV, XOR and INT; CMP, JE and IRET of the boot sector.
    assert counts(made, "INT 21h 59h", "instructions") == [6 + END_MARKER] * 7
    # The same without XOR.
    assert counts(made, "INT 21h 35h", "instructions") == [5 + END_MARKER] * 7
    for phase in ("INT 21h 59h", "INT 21h 35h"):
        assert counts(made, phase, "soft_interrupts") == [1] * 7
        # INT reads the vector and writes the flags, CS and IP; IRET reads these three.
        assert counts(made, phase, "data_writes") == [3] * 7
    assert counts(made, "empty", "instructions") == [END_MARKER] * 10


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
