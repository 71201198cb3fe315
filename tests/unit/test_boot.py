# SPDX-License-Identifier: MIT
"""The Linux boot layout, field by field against Documentation/x86/boot.rst."""

import struct
from pathlib import Path

import pytest
from fakelab import bzimage

from p5lab import boot
from p5lab.errors import UserError

MB = 1 << 20


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
