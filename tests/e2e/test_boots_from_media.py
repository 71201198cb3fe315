# SPDX-License-Identifier: MIT
"""Boots from media: a small system of our own (boot.S) on a floppy, a disk and a CD-ROM."""

import re
import struct
from pathlib import Path

import pytest
from boot_sector import FLOPPY, assembled, bootable, new_runs, record

from p5lab.cli import main as cli
from p5lab.describe import markers
from p5lab.lab import Lab
from p5stats import events, tidy

SOURCE = Path(__file__).with_name("boot.S")
CYLINDER, CD_SECTOR = 16 * 63 * 512, 2048
TEXT = "the second sector"
CHANGED = b"written by the guest\0"


@pytest.fixture(scope="module")
def sector(tmp_path_factory):
    """The assembled boot sector."""
    place = tmp_path_factory.mktemp("boot")
    content = assembled(SOURCE, place)
    assert len(content) == 512
    return content


@pytest.fixture
def run(own_lab, capsys):
    """Executes `p5lab run`. Returns the directories of the new runs, and the command's output."""

    def run(*words, status=0):
        made = new_runs(own_lab, *words, status=status)
        return made, capsys.readouterr()

    return run


def image(place, name, sector, size, text=TEXT):
    """Writes an image with the boot sector and a text in the second sector."""
    path = place / name
    path.write_bytes((sector + f"\r\n{text}\0".encode().ljust(512, b"\0")).ljust(size, b"\0"))
    return path


def screen(directory):
    return (directory / "screen.txt").read_text().splitlines()


def test_a_disk_boots_and_its_changed_image_is_kept(run, sector, tmp_path, own_lab, capsys):
    disk, kept = image(tmp_path, "my.img", sector, 10 * CYLINDER), tmp_path / "kept.img"
    before = disk.read_bytes()
    (made,), said = run("--disk", disk, "--until", "the end", "--limit", 5, "--keep", kept)
    rows = [row for row in screen(made) if row]
    assert rows[-4:] == ["small system on drive 80", TEXT, "invalid opcode came back", "the end"]
    assert len(screen(made)) == 25
    assert "the screen at the end:" in said.err
    assert f"  {TEXT}\n" in said.err
    assert disk.read_bytes() == before
    # The guest has written its text into the third sector, and has changed nothing else.
    after = kept.read_bytes()
    assert after[1024 : 1024 + len(CHANGED)] == CHANGED
    assert after[:1024] + before[1024:1536] + after[1536:] == before

    found = record(made)
    assert found["status"] == "ok"
    assert found["reason"].startswith("`the end` on the screen at 0.")
    assert found["media"]["disk_1"]["form"] == "10/16/63 (default)"
    assert found["media"]["disk_1"]["sha256"] == found["identity"]["digests"]["disk_1"]
    parsed = events.parse(made / "events.jsonl")
    (bracket,) = parsed.brackets
    assert (bracket.phase, parsed.markers[-1].op) == (markers.BOOT_PHASE, "exit")
    # The whole boot is in ring 0: real mode, and protected mode of the BIOS.
    assert {ring for _, ring in bracket.end.banks} == {0}
    names = list(parsed.units)
    (exceptions,) = (bank[names.index("exceptions")] for bank in bracket.end.banks.values())
    assert exceptions >= 1

    assert cli.main(["show", made.name], own_lab) == 0
    assert f"  {TEXT}\n" in capsys.readouterr().out

    # The same inputs give the same events, byte for byte, and FILE is never replaced.
    again, said = run("--disk", disk, "--until", "the end", "--limit", 5, "--keep", kept, status=2)
    assert not again
    assert "the file exists already" in said.err
    kept.unlink()
    words = ("--disk", disk, "--until", "the end", "--limit", 5, "--keep", kept, "--force")
    assert run(*words)[0] == []
    assert kept.read_bytes() == after
    assert record(made)["digests"] == found["digests"]


def test_a_floppy_boots_until_a_text_on_the_serial_line(run, sector, tmp_path):
    floppy = image(tmp_path, "my.img", sector, FLOPPY)
    before = floppy.read_bytes()
    kept = tmp_path / "kept.img"
    words = ("--floppy", floppy, "--until", "serial line works", "--limit", 5)
    (made,), _ = run(*words, "--keep", f"floppy_a={kept}")
    assert record(made)["reason"].startswith("`serial line works` on the serial line at ")
    assert "small system on drive 00" in screen(made)
    assert floppy.read_bytes() == before
    assert kept.read_bytes()[1024:].startswith(CHANGED)


def test_another_content_is_another_run(run, sector, tmp_path):
    one = image(tmp_path, "one.img", sector, FLOPPY, text="same name")
    (first,), _ = run("--floppy", one, "--limit", 1)
    image(tmp_path, "one.img", sector, FLOPPY, text="another content")
    (second,), _ = run("--floppy", one, "--limit", 1)
    assert "another content" in screen(second)
    assert record(first)["media"] != record(second)["media"]


def test_a_halt_with_interrupts_off_ends_the_run(run, sector, tmp_path):
    floppy = image(tmp_path, "my.img", sector, FLOPPY)
    (made,), _ = run("--floppy", floppy, "--limit", 100_000)
    assert record(made)["reason"].startswith("the guest halted with interrupts off at 0.")
    assert record(made)["status"] == "ok"
    assert "the end" in screen(made)
    (made,), said = run("--floppy", floppy, "--limit", 100_000, "--until", "never", status=1)
    assert record(made)["status"] == "failed"
    assert "`never` did not appear: the guest halted with interrupts off at 0." in said.err
    assert f"  {TEXT}\n" in said.err


# The guest prints a letter and waits for interrupts without an end.
IDLE = """.code16
.globl _start
_start: movw $0x0E78, %ax
        movw $7, %bx
        int $0x10
1:      sti
        hlt
        jmp 1b
"""


def test_the_limit_ends_a_run_well_only_without_until(run, tmp_path):
    floppy = tmp_path / "idle.img"
    floppy.write_bytes(bootable(assembled(IDLE, tmp_path)))
    (made,), _ = run("--floppy", floppy, "--limit", 1)
    assert record(made)["reason"] == "virtual-time limit of 1.000 s reached"
    assert record(made)["status"] == "ok"
    (made,), said = run("--floppy", floppy, "--limit", 1, "--until", "never", status=1)
    assert record(made)["status"] == "timeout"
    assert "`never` did not appear: virtual-time limit of 1.000 s reached" in said.err
    assert "  x\n" in said.err


def test_a_graphics_mode_has_no_text(run, sector, tmp_path):
    floppy = tmp_path / "my.img"
    floppy.write_bytes((sector + b"@\0").ljust(FLOPPY, b"\0"))
    (made,), _ = run("--floppy", floppy, "--limit", 1)
    assert screen(made) == ["(a graphics mode: 640 dots x 400 lines)"]


def test_a_panic_of_the_bios_shows_its_message_and_the_screen(run, tmp_path):
    # A boot signature, and a partition table whose code returns to the BIOS by INT 18h.
    disk = tmp_path / "no-system.img"
    disk.write_bytes(bootable(b"\xcd\x18", CYLINDER))
    (made,), said = run("--disk", disk, "--limit", 5, status=1)
    assert record(made)["status"] == "failed"
    assert "the emulator stopped: No bootable device." in said.err
    assert "Booting from Hard Disk..." in screen(made)


def test_a_reset_is_counted(run, tmp_path):
    # The system control port resets the machine.
    code = b"\xb0\x01\xe6\x92\xeb\xfe"
    floppy = tmp_path / "reset.img"
    floppy.write_bytes(bootable(code))
    (made,), _ = run("--floppy", floppy, "--limit", 3)
    (note,) = record(made)["notes"]
    assert (note["what"], note["name"]) == ("reset", "machine")
    assert note["count"] >= 2


HEAD = ".code16\n.globl _start\n_start:\n"
# The guest prints without end.
FLOOD = f"""{HEAD}
1:      movw $0x0E78, %ax
        movw $7, %bx
        int $0x10
        jmp 1b
"""
# The guest writes beyond the limit of a segment. The handler of the BIOS returns to the same
# instruction, without end.
FAULTS = f"""{HEAD}
        movl $0x10000, %eax
        movb %al, (%eax)
"""
# The guest sets every mode of a VGA, then mode 1 with 40 columns, and prints at the right border.
MODES = f"""{HEAD}
        xorw %ax, %ax
        movw %ax, %ds
1:      pushw %ax
        int $0x10
        popw %ax
        incw %ax
        cmpw $0x14, %ax
        jne 1b
        movw $1, %ax
        int $0x10
        movw $0x0200, %ax
        movw $35, %dx
        xorw %bx, %bx
        int $0x10
        movw $text, %si
2:      lodsb
        testb %al, %al
        jz 3f
        movb $0x0E, %ah
        int $0x10
        jmp 2b
3:      cli
        hlt
        jmp 3b
text:   .asciz "right border"
"""


@pytest.mark.parametrize(
    "source, expected",
    [(FLOOD, {"x" * 80}), (MODES, {" " * 35 + "right", " border", ""})],
    ids=["flood", "modes"],
)
def test_a_guest_that_treats_its_screen_badly(run, tmp_path, source, expected):
    floppy = tmp_path / "bad.img"
    floppy.write_bytes(bootable(assembled(source, tmp_path)))
    (made,), _ = run("--floppy", floppy, "--limit", 2)
    assert record(made)["status"] == "ok"
    rows = screen(made)
    assert len(rows) == 25
    assert set(rows[:24]) == expected


def test_a_fault_without_end_does_not_fill_the_disk(run, tmp_path):
    floppy = tmp_path / "faults.img"
    floppy.write_bytes(bootable(assembled(FAULTS, tmp_path)))
    (made,), _ = run("--floppy", floppy, "--limit", 1, "--model", "off")
    assert record(made)["status"] == "ok"
    log = (made / "engine.log").read_text().splitlines()
    assert log[-1].endswith("further messages are left out")
    assert len(log) < 25_000


# The guest executes FXSAVE, an instruction of later processors. The handler follows.
REFUSED = f"""{HEAD}
        xorw %ax, %ax
        movw %ax, %ds
        movw $caught, 6 * 4
        movw %ax, 6 * 4 + 2
        movw $2000, %bx
        fxsave (0x2000)
caught:
"""
# The handler returns to the same instruction, without end. After 2000 returns it first waits for
# the next clock tick (18 in a second), because a fault takes the host long.
TOO_NEW = f"""{REFUSED}
        testw %bx, %bx
        jz 1f
        decw %bx
        iretw
1:      sti
        hlt
        iretw
"""
# The handler halts.
PROBE = f"{REFUSED} cli\n hlt\n"


def test_a_guest_that_needs_a_later_processor_is_named_at_the_limit(run, tmp_path, capsys):
    floppy = tmp_path / "new.img"
    floppy.write_bytes(bootable(assembled(TOO_NEW, tmp_path)))
    words = ("--floppy", floppy, "--limit", 1, "--model", "off")
    (made,), said = run(*words)
    (note,) = record(made)["notes"]
    # 0F AE /0 is FXSAVE [Intel 245472]. The BIOS loads the boot sector to 7C00h.
    assert (note["what"], note["name"]) == (
        "invalid-opcode",
        "0f ae 06 00 20 85 db 74 at 0x00007c10",
    )
    assert note["count"] > 1000
    assert f"{note['count']:,} invalid opcodes, the first: 0f ae 06 00 20" in said.err
    _, said = run(*words, "--until", "x", status=1)
    assert "invalid opcodes, the first: 0f ae 06 00 20" in said.err


def test_an_invalid_opcode_that_the_guest_handles_is_no_note(run, tmp_path):
    floppy = tmp_path / "probe.img"
    floppy.write_bytes(bootable(assembled(PROBE, tmp_path)))
    (made,), said = run("--floppy", floppy, "--limit", 5, "--model", "off")
    assert record(made)["notes"] == []
    assert "invalid opcode" not in said.err


def iso(sector):
    """A CD-ROM with an El Torito boot record (1.0) and nothing else. The boot image is not an
    emulated floppy: the BIOS loads one sector of 512 bytes at 0:7C00."""
    catalogue, boot = 19, 20
    volume = b"\1CD001\1".ljust(CD_SECTOR, b"\0")
    about = b"\0CD001\1" + b"EL TORITO SPECIFICATION".ljust(32, b"\0")
    about = about.ljust(0x47, b"\0") + struct.pack("<I", catalogue)
    last = b"\xffCD001\1".ljust(CD_SECTOR, b"\0")
    valid = b"\1\0\0\0" + b"p5lab".ljust(24, b"\0") + b"\0\0\x55\xaa"
    total = -sum(struct.unpack("<16H", valid)) & 0xFFFF
    valid = valid[:28] + struct.pack("<H", total) + valid[30:]
    entry = struct.pack("<BBHBBHI", 0x88, 0, 0, 0, 0, 4, boot).ljust(32, b"\0")
    sectors = [b""] * 16 + [volume, about, last, valid + entry, sector]
    return b"".join(one.ljust(CD_SECTOR, b"\0") for one in sectors).ljust(64 * CD_SECTOR, b"\0")


def test_a_cdrom_boots(run, sector, tmp_path):
    cdrom = tmp_path / "my.iso"
    cdrom.write_bytes(iso(sector))
    (made,), _ = run("--cdrom", cdrom, "--until", "the end", "--limit", 20)
    assert record(made)["status"] == "ok"
    assert "small system on drive e0" in screen(made)


GUEST = """
schema_version = 1
name = "small"
title = "a small system"
structure = "monolithic"
isa = "pentium"
[boot]
protocol = "bios"
until = "the end"
[media.floppy_a]
file = "small.img"
what = "the small system of the tests"
[media.floppy_a.known]
"""


def test_a_guest_with_media_is_run_and_repeated(sector, tmp_path, monkeypatch, capsys):
    place, mine = tmp_path / "media", tmp_path / "mine/guests/small"
    place.mkdir()
    mine.mkdir(parents=True)
    (mine / "guest.toml").write_text(f'{GUEST}"{"0" * 64}" = "first"\n')
    lab = Lab(Lab.here().root, tmp_path / "results", (tmp_path / "mine",))
    monkeypatch.setenv("P5LAB_MEDIA", str(place))
    words = ["run", "--guest", "small", "--limit", "5", "--no-build"]
    assert cli.main(words, lab) == 2
    said = capsys.readouterr().err
    assert "missing medium small.img (the small system of the tests)" in said
    assert f"put it into {place} (P5LAB_MEDIA)" in said
    assert f"known: first (sha256 {'0' * 64})" in said

    image(place, "small.img", sector, FLOPPY)
    assert cli.main(words, lab) == 0
    assert "small.img has an unknown content, sha256" in capsys.readouterr().err
    (made,) = lab.results.glob("media/*/run.json")
    digest = record(made.parent)["media"]["floppy_a"]["sha256"]
    (mine / "guest.toml").write_text(f'{GUEST}"{digest}" = "first"\n')
    assert cli.main(["rerun", made.parent.name, "--no-build"], lab) == 0
    assert "the events are the same again" in capsys.readouterr().err


# A boot sector with markers in 16-bit code. The job `again` makes it repeat its phase.
CALLS = f"""{HEAD}
        .set LEAF, 0x50354C42
        .macro marker op, argument
        movl $LEAF, %eax
        movl $\\op, %ecx
        movl \\argument, %edx
        cpuid
        .endm
        xorw %ax, %ax
        movw %ax, %ds
        movw %ax, %es
        movw $name, %si
        movl $6, %ebx
        marker 13, $7                   # the name of phase 7
        movw $job, %di
        marker 12, $16                  # the job
        movw $job, %si
        marker 11, %edx                 # its text, with the zero byte
        marker 2, $0xFFFFFFFF
        marker 3, $0xFFFFFFFF
1:      marker 2, $7
        .rept 100
        nop
        .endr
        marker 3, $7
        decb job
        cmpb $'a' - 1, job
        jge 1b
        marker {{last}}
2:      hlt
        jmp 2b
name:   .ascii "phases"
job:    .fill 16
"""


def calling(place, last):
    """Writes a floppy with CALLS. `last` is the last marker."""
    floppy = place / "calls.img"
    floppy.write_bytes(bootable(assembled(CALLS.replace("{last}", last), place)))
    return floppy


def test_brackets_and_texts_of_a_program_are_beside_the_boot(run, tmp_path):
    words = ("--floppy", calling(tmp_path, "5, $0"), "--limit", 5)
    (made,), said = run(*words, "--args", "again and again")
    assert (made / "output.log").read_bytes() == b"again and again\0"
    assert "again and again" in said.err
    parsed = events.parse(made / "events.jsonl")
    phases = [bracket.phase for bracket in parsed.brackets]
    assert phases == [0xFFFFFFFF, 7, 7, markers.BOOT_PHASE]
    assert parsed.reason == ""
    table = tidy.load(made)
    found = table[(table["phase"] == "phases") & (table["event"] == "instructions")]
    # 100 instructions, and the three that load the registers of the end marker.
    assert found["value"].tolist() == [103, 103]
    assert set(table["phase"]) == {"phases", "empty", "boot"}
    assert record(made)["parameters"]["args"] == "again,and,again"

    # Without --args the job is empty.
    (other,), _ = run(*words)
    assert (other / "output.log").read_bytes() == b"\0"
    assert len(events.parse(other / "events.jsonl").brackets) == 3


def test_a_program_ends_the_run_with_its_status(run, tmp_path):
    (made,), said = run("--floppy", calling(tmp_path, "5, $9"), "--limit", 5, status=1)
    assert "boot ended with status 9 in the guest" in said.err
    (made,), said = run("--floppy", calling(tmp_path, "2, $8"), "--limit", 5, status=1)
    assert record(made)["reason"] == "unbalanced markers: phase 8 was not ended before phase boot"


@pytest.mark.parametrize("text", ["two\nlines", " before", "\u00e9", "x" * 256])
def test_a_job_that_no_program_can_receive_is_one_line(run, sector, tmp_path, text):
    floppy = image(tmp_path, "my.img", sector, FLOPPY)
    made, said = run("--floppy", floppy, "--args", text, status=2)
    assert not made
    (line,) = said.err.strip().split("\n")
    assert line.startswith("p5lab: --args")


PAGE = Lab.here().root / "docs/reference/marker-protocol.md"


def test_the_examples_of_the_protocol_work(run, tmp_path):
    small, wide = re.findall(r"```asm\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert ".code16" in small
    # INT 21h returns at once.
    before = "xorw %ax, %ax\nmovw %ax, %ds\nmovw %ax, 0x86\nmovw $dos, 0x84\n"
    binary = tmp_path / "calls.img"
    code = assembled(f"{HEAD}{before}{small}refused: marker 5, 3\ndos: iretw\n", tmp_path)
    binary.write_bytes(bootable(code))
    (made,), _ = run("--floppy", binary, "--limit", 5)
    assert (made / "output.log").read_bytes() == b"done\r\n"
    table = tidy.load(made)
    found = table[(table["phase"] == "INT 21h, 59h") & (table["event"] == "soft_interrupts")]
    assert found["value"].sum() == 1
    assert assembled(f".globl _start\n_start:\n{wide}", tmp_path).count(b"BL5P") == 2
