# SPDX-License-Identifier: MIT
"""The boot layout of Linux, field by field as in Documentation/x86/boot.rst, and of multiboot
kernels.
"""

import struct
from pathlib import Path

import pytest
from fakelab import bzimage

from p5lab.engines.bochs import boot
from p5lab.errors import UserError

MB = 1 << 20
PAGE = 4096


def layout(kernel=None, size=5000, cmdline="quiet", memory=32 * MB):
    return boot.linux(
        kernel or bzimage(), Path("k"), Path("i"), size, cmdline, memory, Path("setup.bin")
    )


def field(data, offset, kind):
    return struct.unpack_from("<" + kind, data, offset)[0]


def test_header_fields_are_filled_in():
    setup = layout().setup
    assert field(setup, 0x210, "B") == 0xFF
    assert field(setup, 0x211, "B") == 0x81  # LOADED_HIGH | CAN_USE_HEAP
    assert field(setup, 0x224, "H") == 0xE000 - 0x200
    assert field(setup, 0x228, "I") == 0x9E000
    assert field(setup, 0x21C, "I") == 5000
    assert field(setup, 0x1FA, "H") == 0xFFFF


def test_pieces_lie_where_the_protocol_wants_them():
    kernel = bzimage()
    setup, command, code, ramdisk = (plan := layout(kernel)).blobs
    assert (setup.address, setup.length) == (0x90000, 3 * 512)
    assert (command.address, command.offset, command.length) == (0x9E000, 3 * 512, len("quiet") + 1)
    assert plan.setup[3 * 512 :] == b"quiet\0"
    assert (code.address, code.offset, code.length) == (MB, 3 * 512, 4096)
    assert ramdisk.address == field(plan.setup, 0x218, "I")
    assert ramdisk.address % 4096 == 0
    assert 32 * MB - 0x20000 - 2 * 4096 <= ramdisk.address <= 32 * MB - 0x20000 - 5000


def test_only_the_loaders_fields_differ_from_the_file():
    kernel, setup = bzimage(), layout().setup
    changed = {offset for offset in range(3 * 512) if kernel[offset] != setup[offset]}
    allowed = {0x1FA, 0x1FB, 0x210, 0x211, *range(0x218, 0x220), *range(0x224, 0x226)}
    assert changed <= allowed | set(range(0x228, 0x22C))


def test_conf_lines():
    conf = layout().conf()
    assert conf["boot.blob.0"] == "0x90000 0x0 0x600 setup.bin"
    assert conf["boot.entry"] == "0x9020:0x0000"
    assert (conf["boot.segment"], conf["boot.sp"]) == ("0x9000", "0xe000")


def test_ramdisk_stays_below_the_kernels_limit():
    kernel = bytearray(bzimage())
    struct.pack_into("<I", kernel, 0x22C, 16 * MB - 1)
    ramdisk = layout(bytes(kernel)).blobs[3]
    assert ramdisk.address + 5000 <= 16 * MB


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel": b"\0" * 9000}, "not a Linux bzImage"),
        ({"kernel": b"MZ"}, "not a Linux bzImage"),
        ({"kernel": bzimage()[:1500]}, "cut short"),
        ({"cmdline": "x" * 3000}, "command line: 3000 bytes, expected at most 2047"),
        ({"memory": 4 * MB}, "do not fit into 4194304 bytes"),
        ({"size": 31 * MB}, "do not fit"),
    ],
)
def test_what_cannot_boot_is_said(arguments, message):
    with pytest.raises(UserError, match=message):
        layout(**arguments)


# --- multiboot ------------------------------------------------------------------------------------

ENTRY, VIRTUAL, PHYSICAL = 0xC1000010, 0xC1000000, 0x1000000
TEXT_SIZE, FILE_SIZE, MEMORY_SIZE = 0x1800, 0x300, 0x2304
LOADER = b"\xeb\x12" + b"\x90" * 70


def elf_kernel(header=b"\x02\xb0\xad\x1b", segments=2):
    """Returns a multiboot kernel of two segments. The kernel is linked to high addresses and loaded
    to low addresses.
    """
    start = struct.pack("<16sHHIIII", b"\x7fELF\x01\x01", 2, 3, 1, ENTRY, 52, 0)
    start += struct.pack("<IHHHHHH", 0, 52, 32, segments, 40, 0, 0)
    text = struct.pack("<8I", 1, 0x1000, VIRTUAL, PHYSICAL, TEXT_SIZE, TEXT_SIZE, 5, PAGE)
    data = struct.pack(
        "<8I", 1, 0x3000, VIRTUAL + 0x2000, PHYSICAL + 0x2000, FILE_SIZE, MEMORY_SIZE, 6, PAGE
    )
    image = (start + text + data).ljust(0x1000, b"\0") + header
    return image.ljust(0x3000 + FILE_SIZE, b"\0")


def loaded(kernel=None, modules=((5000, "server ${host-port}"),), memory=32 * MB, cmdline="c=1"):
    named = [boot.Module(Path(f"module{n}"), size, text) for n, (size, text) in enumerate(modules)]
    return boot.multiboot(
        elf_kernel() if kernel is None else kernel,
        Path("kernel"),
        named,
        cmdline,
        memory,
        LOADER,
        Path("setup.bin"),
    )


def text_at(setup, address):
    return setup[address - 0x90000 :].split(b"\0")[0].decode()


def test_a_multiboot_kernel_is_where_its_headers_say():
    plan = loaded()
    assert plan.conf()["boot.entry"] == "0x9000:0x0000"
    places = [(blob.address, blob.offset, blob.length, str(blob.file)) for blob in plan.blobs]
    assert places[0] == (0x90000, 0, len(plan.setup), "setup.bin")
    assert places[1:3] == [
        (PHYSICAL, 0x1000, TEXT_SIZE, "kernel"),
        (PHYSICAL + 0x2000, 0x3000, FILE_SIZE, "kernel"),
    ]
    # The module comes after the kernel's memory, at a page boundary.
    assert places[3] == (PHYSICAL + 0x5000, 0, 5000, "module0")


def test_the_loader_gets_its_parameters():
    entry, information, bss, words = struct.unpack_from("<4I", loaded().setup, 4)
    assert entry == PHYSICAL + ENTRY - VIRTUAL
    assert information == 0x90000 + 80  # after the loader
    assert bss == PHYSICAL + 0x2000 + FILE_SIZE
    assert words == -(-(MEMORY_SIZE - FILE_SIZE) // 4)


def test_the_multiboot_information():
    """Multiboot Specification 0.6.96, section 3.3."""
    setup = loaded(modules=((5000, "one a b"), (PAGE, "two"))).setup
    fields = struct.unpack_from("<13I", setup, 80)
    flags, lower, upper, _, cmdline, count, table = fields[:7]
    assert flags == 1 | 1 << 2 | 1 << 3 | 1 << 6
    assert (lower, upper) == (639, (32 * MB - 0x20000 - MB) // 1024)
    assert text_at(setup, cmdline) == "c=1"
    assert count == 2
    entries = [struct.unpack_from("<4I", setup, table - 0x90000 + 16 * n) for n in range(2)]
    first = PHYSICAL + 0x5000
    assert [(begin, end) for begin, end, _, _ in entries] == [
        (first, first + 5000),
        (first + 2 * PAGE, first + 3 * PAGE),
    ]
    assert [text_at(setup, text) for _, _, text, _ in entries] == ["one a b", "two"]
    length, at = fields[11:13]
    ranges = list(struct.iter_unpack("<IQQI", setup[at - 0x90000 :][:length]))
    assert sum(size for _, _, size, kind in ranges if kind == 1) == 639 * 1024 + upper * 1024
    assert all(size == 20 for size, _, _, _ in ranges)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel": b"MZ"}, "not a multiboot kernel"),
        ({"kernel": elf_kernel(header=b"\0\0\0\0")}, "not a multiboot kernel"),
        ({"kernel": elf_kernel()[:0x3100]}, "segment 1 is cut short"),
        ({"kernel": b"\x7fELF\x02" + elf_kernel()[5:]}, "not an ELF file of 32 bits"),
        ({"kernel": elf_kernel(segments=2000)}, "program headers are cut short"),
        ({"kernel": elf_kernel(segments=0)}, "expected a segment to load"),
        ({"memory": 16 * MB}, "do not fit into 16777216 bytes"),
        ({"modules": ((31 * MB, "large"),)}, "do not fit into"),
        ({"cmdline": "x" * 60000}, "command line and module texts"),
    ],
)
def test_what_multiboot_cannot_boot_is_said(arguments, message):
    with pytest.raises(UserError, match=message):
        loaded(**arguments)


def test_a_graphics_mode_is_in_the_header():
    plan = boot.linux(
        bzimage(), Path("k"), Path("i"), 5000, "quiet", 32 * MB, Path("setup.bin"), 0x101
    )
    assert field(plan.setup, 0x1FA, "H") == 0x301  # vga=0x301 (Documentation/fb/vesafb.rst)
