# SPDX-License-Identifier: MIT
"""Pictures of graphics modes. A boot sector of our own (draw.S) draws a pattern in each kind of
mode. The expected dots follow from the pattern and from the layout of video memory, without the
emulator."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from boot_sector import assembled, bootable, new_runs, record
from PIL import Image

from p5lab.cli import main as cli

SOURCE = Path(__file__).with_name("draw.S")
BANK, STEP = 0x10000, 0x1234


@pytest.fixture
def boot(own_lab, tmp_path):
    """Boots the code of a boot sector to a limit of one second. Returns the run directory.

    status: the expected exit status of the command; None for 0 or 1.
    """

    def boot(code, *words, status=0):
        floppy = tmp_path / "my.img"
        floppy.write_bytes(bootable(assembled(code, tmp_path)))
        (made,) = new_runs(own_lab, "--floppy", floppy, "--limit", 1, *words, status=status)
        return made

    return boot


@dataclass(frozen=True)
class Pattern:
    """A pattern of draw.S. `columns`: bytes of a row. `depth`: bits of a dot, for VBE modes."""

    mode: int
    kind: str
    columns: int = 0
    rows: int = 0
    depth: int = 0

    @property
    def banks(self):
        return -(-640 * 480 * -(-self.depth // 8) // BANK)

    @property
    def code(self):
        values = f"MODE={self.mode} COLUMNS={self.columns} ROWS={self.rows} BANKS={self.banks}"
        lines = [f".set {one.replace('=', ', ')}" for one in values.split()]
        return "\n".join([*lines, f".set KIND, {self.kind}", SOURCE.read_text()])


def levels(values, bits):
    """Returns levels of some bits as levels of 8 bits."""
    most = 2**bits - 1
    return np.floor_divide(values * 255 * 2 + most, 2 * most)


def dac(codes):
    """Returns the colours that draw.S gives to these numbers."""
    parts = codes * 3 % 64, codes * 5 % 64, codes // 4
    return np.stack([levels(part, 6) for part in parts], axis=-1)


def doubled(codes):
    """Returns each dot twice in each direction."""
    return codes.repeat(2, axis=0).repeat(2, axis=1)


def bytes_of(pattern):
    """Returns dots with a byte each: colour x + y."""
    y, x = np.mgrid[0:200, 0:320]
    return dac(doubled((x + y) % 256))


def planes(pattern):
    """Returns dots with a bit in each plane."""
    y, x = np.mgrid[0 : pattern.rows, 0 : pattern.columns * 8]
    colour = (x // 8 + y) % 16
    return dac(np.where(x % 8 < 4, colour, 15 - colour))


def small_planes(pattern):
    return doubled(planes(pattern))


def cga_byte(y, column):
    offset = y % 2 * 0x2000 + y // 2 * 80 + column
    return (offset ^ offset >> 8) & 0xFF


def four_colours(pattern):
    y, x = np.mgrid[0:200, 0:320]
    return dac(doubled(cga_byte(y, x // 4) >> (6 - x % 4 * 2) & 3))


def two_colours(pattern):
    y, x = np.mgrid[0:200, 0:640]
    return dac((cga_byte(y, x // 8) >> (7 - x % 8) & 1).repeat(2, axis=0))


def vbe(pattern):
    """Returns the dots of a frame buffer of 640 x 480 dots."""
    words = np.arange(0, pattern.banks * BANK, 2)
    words = ((words % BANK + words // BANK * STEP) % 0x10000).astype("<u2")
    size = -(-pattern.depth // 8)
    memory = words.view(np.uint8)[: 640 * 480 * size].astype(int).reshape(480, 640, size)
    if pattern.depth == 8:
        return dac(memory[..., 0])
    if size > 2:
        return memory[..., 2::-1]
    word, green = memory[..., 0] + memory[..., 1] * 256, pattern.depth - 10
    parts = (word >> (5 + green) & 31, 5), (word >> 5 & (2**green - 1), green), (word & 31, 5)
    return np.stack([levels(*part) for part in parts], axis=-1)


PATTERNS = {
    "13h": (Pattern(0x13, "CHAINED", 320, 200), bytes_of),
    "X": (Pattern(0x13, "UNCHAINED", 80, 200), bytes_of),
    "12h": (Pattern(0x12, "PLANES", 80, 480), planes),
    "10h": (Pattern(0x10, "PLANES", 80, 350), planes),
    "0Dh": (Pattern(0x0D, "PLANES", 40, 200), small_planes),
    "4h": (Pattern(4, "CGA"), four_colours),
    "6h": (Pattern(6, "CGA"), two_colours),
    "102h": (Pattern(0x102, "PLANES", 100, 600), planes),
    "101h": (Pattern(0x101, "BANKED", depth=8), vbe),
    "110h": (Pattern(0x110, "BANKED", depth=15), vbe),
    "111h": (Pattern(0x111, "BANKED", depth=16), vbe),
    "112h": (Pattern(0x112, "BANKED", depth=24), vbe),
    "142h": (Pattern(0x142, "BANKED", depth=32), vbe),
    "101h-linear": (Pattern(0x101, "LINEAR", depth=8), vbe),
    "142h-linear": (Pattern(0x142, "LINEAR", depth=32), vbe),
}


# Other patterns have their layouts: 10h and 102h that of 12h, 142h-linear those of 142h and of
# 101h-linear.
LIKE_OTHERS = ("10h", "102h", "142h-linear")


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.full] * (one in LIKE_OTHERS)) for one in PATTERNS],
)
def test_the_picture_has_the_dots_that_the_guest_drew(boot, name):
    pattern, expected = PATTERNS[name]
    made = boot(pattern.code, "--model", "off")
    with Image.open(made / "screen.png") as image:
        found = np.asarray(image.convert("RGB")).astype(int)
    assert found.shape == expected(pattern).shape
    assert (found == expected(pattern)).all()
    rows, columns, _ = found.shape
    assert (made / "screen.txt").read_text() == (
        f"(a graphics mode: {columns} dots x {rows} lines)\n"
    )
    assert not list(made.glob("*.ppm")) + list(made.glob("*.part"))


HEAD = ".code16\n.globl _start\n_start:\n"
STOP = "\ncli\n1: hlt\njmp 1b\n"


def mode(number):
    return f"movw ${number}, %ax\nint $0x10\n"


def out(index, value):
    """Returns the code that writes a register of the card's VBE extension."""
    return (
        f"movw $0x1CE, %dx\nmovw ${index}, %ax\noutw %ax, %dx\n"
        f"incw %dx\nmovw ${value}, %ax\noutw %ax, %dx\n"
    )


def test_a_text_mode_has_no_picture(boot):
    made = boot(HEAD + mode(0x13) + mode(3) + STOP)
    assert "graphics" not in (made / "screen.txt").read_text()
    assert not (made / "screen.png").exists()


def test_a_dark_screen_is_black(boot):
    # Bit 5 of the first register of the sequencer switches the screen off.
    white = "movw $0xA000, %ax\nmovw %ax, %es\nmovb $15, %es:0\n"
    off = "movw $0x3C4, %dx\nmovw $0x2101, %ax\noutw %ax, %dx\n"
    made = boot(HEAD + mode(0x13) + white + off + STOP)
    with Image.open(made / "screen.png") as image:
        assert image.size == (640, 400)
        assert image.convert("RGB").getcolors() == [(640 * 400, (0, 0, 0))]


def test_a_run_that_fails_has_a_picture(boot):
    made = boot(HEAD + mode(0x12) + STOP, "--until", "never", status=1)
    found = record(made)
    assert found["status"] == "failed"
    assert "halted with interrupts off" in found["reason"]
    with Image.open(made / "screen.png") as image:
        assert image.size == (640, 480)
    # The emulator panics at an unknown number of the extension.
    made = boot(HEAD + mode(0x13) + out(0, 0x1234) + STOP, status=1)
    found = record(made)
    assert found["status"] == "failed"
    assert "the emulator stopped: VBE unknown Display Interface 1234" in found["reason"]
    with Image.open(made / "screen.png") as image:
        assert image.size == (640, 400)


def test_a_step_in_a_graphics_mode_keeps_a_picture(boot, tmp_path, own_lab, capsys):
    """The guest waits for a key in a text mode, and then in a graphics mode."""
    script = tmp_path / "steps.toml"
    script.write_text(
        'schema_version = 1\n[[script]]\npause = 0.2\n[[script]]\npress = "enter"\n'
        "[[script]]\npause = 0.2\n"
    )
    key = "xorb %ah, %ah\nint $0x16\n"
    made = boot(HEAD + "sti\n" + mode(3) + key + mode(0x13) + key, "--script", str(script))
    assert not (made / "step-1.png").exists()
    with Image.open(made / "step-3.png") as image:
        assert image.size == (640, 400)
    capsys.readouterr()
    assert cli.main(["show", made.name], own_lab) == 0
    assert "  picture: step-3.png\n" in capsys.readouterr().out


# Every mode of the BIOS, again and again.
EVERY_MODE = f"""{HEAD}
1:      xorw %cx, %cx
2:      movw %cx, %ax
        pushw %cx
        int $0x10
        popw %cx
        incw %cx
        cmpw $0x14, %cx
        jne 2b
        movw $0x100, %cx
3:      movw $0x4F02, %ax
        movw %cx, %bx
        orw $0x8000, %bx  # the memory is not cleared, which takes time of the host
        pushw %cx
        int $0x10
        popw %cx
        incw %cx
        cmpw $0x160, %cx
        jne 3b
        jmp 1b
"""


def check_screen(made):
    """Checks that a run has left one screen that is complete."""
    text = (made / "screen.txt").read_text()
    assert text
    assert (made / "screen.png").exists() == text.startswith("(a graphics mode: ")
    if (made / "screen.png").exists():
        with Image.open(made / "screen.png") as image:
            image.load()
            columns, rows = image.size
        assert text == f"(a graphics mode: {columns} dots x {rows} lines)\n"
    assert not list(made.glob("*.ppm")) + list(made.glob("*.part"))


def test_a_guest_that_sets_every_mode_in_a_loop(boot):
    made = boot(EVERY_MODE, "--model", "off")
    found = record(made)
    assert (found["status"], found["reason"]) == ("ok", "virtual-time limit of 1.000 s reached")
    check_screen(made)


def noise(seed):
    """Returns a guest that writes numbers without a meaning to the registers of the video card and
    of its VBE extension, and to the window of the video memory. `seed`: of its generator."""
    # A register behind each of these ports is chosen by the number that the port gets first.
    pairs = "0x3C4, 0x3CE, 0x3D4"
    return f"""{HEAD}
        movw $0xA000, %ax
        movw %ax, %es
        movl ${seed}, %ebp
1:
.irp port, {pairs}
        call next
        movw $\\port, %dx
        outw %ax, %dx
.endr
        call next
        andw $7, %ax
        incw %ax
        movw $0x1CE, %dx
        outw %ax, %dx
        call next
        movw %ax, %bx
        call next
        andw %bx, %ax
        incw %dx
        outw %ax, %dx
        call next
        movw %ax, %di
        movw %es:(%di), %bx
        stosw
        jmp 1b
next:   imull $1103515245, %ebp, %ebp
        addl $12345, %ebp
        movl %ebp, %eax
        shrl $12, %eax
        ret
"""


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.full)])
def test_a_guest_that_writes_anything_to_the_video_card(boot, seed):
    made = boot(noise(seed), "--model", "off", status=None)
    found = record(made)
    limit, panic = "virtual-time limit of 1.000 s reached", "the emulator stopped: "
    assert found["reason"] == limit or found["reason"].startswith(panic)
    check_screen(made)


def test_a_width_of_zero_is_ignored(boot):
    made = boot(HEAD + "movw $0x4F02, %ax\nmovw $0x101, %bx\nint $0x10\n" + out(6, 0) + STOP)
    with Image.open(made / "screen.png") as image:
        assert image.size == (640, 480)
