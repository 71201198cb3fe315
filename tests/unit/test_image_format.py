# SPDX-License-Identifier: MIT
"""Images that are not raw: their names, the commands that convert them, and what p5lab converts."""

import bz2
import gzip
import io
import lzma
import shutil
import struct
import subprocess
import zipfile
from functools import partial

import pytest
from fakelab import REPO

from p5lab.describe import boot, disk_image, image_format, media
from p5lab.describe.media import MediumFile
from p5lab.errors import UserError
from p5lab.lab import Lab
from p5lab.prepare import imd, raw_image

SMALL, USUAL = 163_840, 1_474_560
BOOT = (b"\xeb\xfe" + bytes(508) + b"\x55\xaa").ljust(SMALL, b"\xf6")
RAW = partial(raw_image.raw, Lab(REPO), False)  # of images that are raw already
CODE = b"\x31\xc0\x8e\xd8\xbe\x1a\x7c\xac\x84\xc0\x74\x09\xb4\x0e\xbb\x07\x00\xcd\x10"


@pytest.fixture
def raw(tmp_path):
    """Returns the raw image of a file and what was done to it. The file must not change."""

    def raw(content, name="my.img", role="floppy_a", convert=False):
        path = tmp_path / name
        path.write_bytes(content)
        images = partial(raw_image.raw, Lab(tmp_path / "lab"), convert)
        wanted = MediumFile(role, str(path), "--floppy" if "floppy" in role else "--disk")
        try:
            made, done = images(wanted, path)
        finally:
            assert path.read_bytes() == content
            assert not list(tmp_path.glob("lab/build/raw/*.tmp"))
        return made.read_bytes(), done

    return raw


def zipped(**files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    return stream.getvalue()


def nameless():
    """A ZIP archive whose directory has lost the name of the file."""
    archive = zipped(a=b"")
    name = archive.index(b"PK\1\2") + 46
    return archive[:name] + b"\0" + archive[name + 1 :]


def imd_file(image, cylinders, heads, sectors, *, last=b"", interleave=1):
    """An ImageDisk file of an image, by IMD.TXT of ImageDisk 1.18."""
    data = b"IMD 1.18: 28/11/2026 12:00:00\r\na floppy\x1a"
    order = [1 + number * interleave % sectors for number in range(sectors)]
    for cylinder in range(cylinders):
        for head in range(heads):
            data += bytes([5, cylinder, head, sectors, 2, *order])
            for number in order:
                at = ((cylinder * heads + head) * sectors + number - 1) * 512
                sector = image[at : at + 512]
                data += b"\2" + sector[:1] if len(set(sector)) == 1 else b"\1" + sector
    return data + last


def vhd_footer(kind=2):
    return (b"conectix" + struct.pack(">II", 2, 0x10000)).ljust(60, b"\0") + struct.pack(">I", kind)


# --- what p5lab converts ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pack, name",
    [
        (gzip.compress, "gzip"),
        (lzma.compress, "xz"),
        (lambda data: lzma.compress(data, lzma.FORMAT_ALONE), "lzma"),
        (bz2.compress, "bzip2"),
        (lambda data: zipped(boot_img=data), "ZIP"),
        (lambda data: zipped(BOOT_IMA=data, readme_txt=b"hello"), "ZIP"),
        (lambda data: zipped(a_name_without_an_ending=data), "ZIP"),
        (lambda data: imd_file(data, 40, 1, 8), "ImageDisk (IMD)"),
        (lambda data: imd_file(data, 40, 1, 8, interleave=3), "ImageDisk (IMD)"),
        (lambda data: gzip.compress(zipped(boot_imd=imd_file(data, 40, 1, 8))), "gzip, ZIP, Image"),
    ],
)
@pytest.mark.parametrize("name_of_file", ["boot.img", "BOOT.IMZ"])
def test_packed_floppies_become_raw_images(raw, pack, name, name_of_file):
    found, done = raw(pack(BOOT), name_of_file)
    assert found == BOOT
    assert done.startswith(name)


def test_a_disk_of_dosemu_loses_its_header(raw):
    disk = BOOT * 4
    header = b"DOSEMU\0" + struct.pack("<IIII", 4, 17, 614, 128)
    assert raw(header.ljust(128, b"\0") + disk, role="disk_1") == (disk, "DOSEMU")


def test_a_medium_has_the_digest_of_its_raw_image(tmp_path):
    plain, packed = tmp_path / "a.img", tmp_path / "a.img.gz"
    plain.write_bytes(BOOT)
    packed.write_bytes(gzip.compress(BOOT))
    images = partial(raw_image.raw, Lab(tmp_path / "lab"), False)
    (one,) = media.checked([MediumFile("floppy_a", str(plain), "--floppy")], images)
    (other,) = media.checked([MediumFile("floppy_a", str(packed), "--floppy")], images)
    assert (one.sha256, one.form, one.packed) == (other.sha256, "160k", "")
    assert (other.recorded["file"], other.packed) == ("a.img.gz", "gzip")
    (said,) = boot.packed(boot.Boot((other,)))
    assert "a.img.gz is in the format gzip" in said
    assert "`gzip -dc a.img.gz > a.img`" in said


@pytest.mark.skipif(not shutil.which("qemu-img"), reason="no qemu-img on this host")
@pytest.mark.parametrize("form", ["qcow2", "qed", "vdi", "vmdk", "vpc", "vhdx", "parallels"])
def test_qemu_converts_on_request(tmp_path, raw, form):
    disk = tmp_path / "disk.raw"
    disk.write_bytes(BOOT.ljust(16 * 63 * 512 * 20, b"\0"))
    packed = tmp_path / "packed"
    words = ["qemu-img", "convert", "-f", "raw", "-O", form, str(disk), str(packed)]
    if subprocess.run(words, capture_output=True).returncode:
        pytest.skip(f"this qemu-img does not write {form}")
    content = packed.read_bytes()
    with pytest.raises(UserError, match=rf"`qemu-img convert -f {form} -O raw .*--convert"):
        raw(content, role="disk_1")
    found, _ = raw(content, role="disk_1", convert=True)
    assert found[: disk.stat().st_size] == disk.read_bytes()


# --- what it names ------------------------------------------------------------------------------


# Beginning of the file, name of its format, and a part of the command that converts it.
NAMED = [
    (b"QFI\xfb\0\0\0\3", "qcow2", "qemu-img convert -f qcow2 -O raw my.img my.raw.img"),
    (b"QFI\xfb\0\0\0\1", "qcow", "qemu-img convert -f qcow -O raw"),
    (b"<<< QEMU VM >>>".ljust(64, b"\0") + b"\x7f\x10\xda\xbe", "VDI", "-f vdi"),
    (b"KDMV\1\0\0\0", "VMDK", "-f vmdk"),
    (b"# Disk DescriptorFile\nversion=1\n", "VMDK", "-f vmdk"),
    (b"conectix", "VHD", "-f vpc"),
    (BOOT + vhd_footer().ljust(512, b"\0"), "VHD of a fixed size", "-f vpc"),
    (BOOT + vhd_footer().ljust(511, b"\0"), "VHD of a fixed size", "-f vpc"),
    (b"vhdxfile", "VHDX", "-f vhdx"),
    (b"QED\0", "QED", "-f qed"),
    (b"WithoutFreeSpace", "Parallels", "-f parallels"),
    (b"WithouFreSpacExt", "Parallels", "-f parallels"),
    (b"Bochs Virtual HD Image\0", "Bochs", "-f bochs"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstd -dc my.img"),
    (b"7z\xbc\xaf\x27\x1c", "7z", "7z x"),
    (b"Rar!\x1a\x07\1\0", "RAR", "unrar x"),
    (b"\x1f\x9d\x90", "compress", "gzip -dc"),
    (b"\x1a\x0b-lh5-", "LHA", "lha x"),
    (b"TD\0\1\x15\0\0\0\0\1", "Teledisk", "dsktrans -itype tele"),
    (b"td\0\1\x15\0\0\0\0\1", "Teledisk", "dsktrans -itype tele"),
    (b"MV - CPCEMU Disk-File\r\n", "CPC DSK", "dsktrans -itype dsk"),
    (b"EXTENDED CPC DSK File\r\n", "extended CPC DSK", "dsktrans -itype edsk"),
    (b"CQ\x14\0", "CopyQM", "dsktrans -itype copyqm"),
    (b"\xaa\x5a\xf0\0", "SaveDskF", "LOADDSKF"),
    (b"HXCPICFE\0", "HFE", "hxcfe"),
    (b"\0" + b"\xff" * 10 + b"\0\0\2\0\1", "raw sectors", "bchunk"),
]


@pytest.mark.parametrize("content, name, command", NAMED)
@pytest.mark.parametrize("role", ["floppy_a", "disk_1"])
def test_other_formats_are_named_with_their_command(raw, content, name, command, role):
    for more in (b"", bytes(997)):
        if content.startswith(BOOT) and more:
            continue
        with pytest.raises(UserError) as error:
            raw(
                content + more if content.startswith(BOOT) else content.ljust(70, b"\0") + more,
                role=role,
            )
        said = str(error.value)
        assert name in said
        assert command in said
        assert "truncate" not in said
        assert "\n" not in said


@pytest.mark.parametrize(
    "content, message",
    [
        (gzip.compress(BOOT)[:-9], "gzip: damaged or cut short"),
        (lzma.compress(BOOT)[:-9], "xz: damaged or cut short"),
        (bz2.compress(BOOT)[:-9], "bzip2: damaged or cut short"),
        (bz2.compress(BOOT)[:30] + b"xxx" + bz2.compress(BOOT)[33:], "bzip2: damaged"),
        (zipped(a_img=BOOT)[:-9], "ZIP: damaged or cut short"),
        (zipped(a_img=BOOT, b_img=BOOT), "expected one image, found a.img, b.img; `unzip my.img`"),
        (zipped(), "expected one image, found none"),
        (nameless(), "ZIP"),
        (imd_file(BOOT, 40, 1, 8)[:-1], "cut short in cylinder 39, head 0"),
        (
            imd_file(BOOT, 40, 1, 8, last=bytes([5, 40, 0, 1, 2, 1, 0])),
            "cylinder 40, head 0: sector 1",
        ),
        (imd_file(BOOT, 40, 1, 8, last=bytes([5, 40, 0, 1, 2, 1, 6, 0])), "read with an error"),
        (imd_file(BOOT, 40, 1, 8, last=bytes([5, 40, 0, 1, 1, 1, 2, 0])), "sectors of 256 bytes"),
        (
            imd_file(BOOT, 40, 1, 8, last=bytes([5, 40, 0, 1, 2, 1, 2, 0])),
            "the sectors 1 to 8, found 1",
        ),
        (b"IMD 1.18: no end", "expected 1Ah at the end of the comment"),
    ],
)
def test_damaged_files_are_one_line(raw, content, message):
    with pytest.raises(UserError) as error:
        raw(content)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_cdrom_in_the_place_of_a_disk_is_named(raw):
    iso = bytes(0x8000) + b"\1CD001\1".ljust(0x8000, b"\0")
    for role in ("disk_1", "floppy_a"):
        with pytest.raises(UserError, match=r"image of a CD-ROM .* expected with --cdrom"):
            raw(iso, role=role)
    hybrid = BOOT[:512] + iso[512:]  # as isohybrid writes it
    assert raw(hybrid, role="disk_1") == (hybrid, "")
    with pytest.raises(UserError, match=r"image of a CD-ROM"):
        raw(hybrid, role="floppy_a")
    floppy = hybrid.ljust(SMALL, b"\0")
    assert raw(floppy, role="floppy_a") == (floppy, "")
    assert raw(iso, role="cdrom") == (iso, "")


def test_any_code_can_begin_a_boot_sector(raw):
    """Two or three bytes do not decide about a floppy or about a sector with its signature."""
    for begin in (b"MZ", b"TD\0", b"\x60\xea", b"BZh", b"\x1f\x8b", b"]\0\0"):
        for content in (begin.ljust(SMALL, b"\x90"), begin + BOOT[len(begin) :] + bytes(512)):
            assert raw(content) == (content, "")


def test_an_imagedisk_file_that_is_no_floppy_of_a_pc_gets_no_advice_to_lengthen_it(tmp_path):
    path = tmp_path / "eagle.imd"
    path.write_bytes(imd_file(bytes(9 * 512), 1, 1, 9))
    with pytest.raises(
        UserError, match=r"ImageDisk.* 4,608 bytes is not the size of a floppy"
    ) as error:
        media.checked(
            [MediumFile("floppy_a", str(path), "--floppy")],
            partial(raw_image.raw, Lab(tmp_path), False),
        )
    assert "truncate" not in str(error.value)


def test_imagedisk_keeps_both_heads():
    image = b"".join(bytes([number]) * 512 for number in range(2 * 2 * 9))
    assert imd.raw(imd_file(image, 2, 2, 9, interleave=2), "test") == image


# --- floppies without a signature ---------------------------------------------------------------


def test_a_floppy_without_signature_boots_if_it_has_code(tmp_path):
    path = tmp_path / "floppy.img"
    for content, unsigned in (
        (CODE, True),
        (b"\5" + CODE, False),  # IBM's BIOS of 1986: the first byte is below 06h
        (b"\xf6" * 512, False),  # a formatted floppy: the first words are equal
        (b"", False),
        (BOOT[:512], False),
    ):
        path.write_bytes(content.ljust(USUAL, b"\0"))
        assert disk_image.has_unsigned_code(path) == unsigned
        wanted = [MediumFile("floppy_a", str(path), "--floppy")]
        if unsigned or content == BOOT[:512]:
            assert boot.Boot(media.checked(wanted, RAW)).has_unsigned_floppy == unsigned
        else:
            with pytest.raises(UserError, match="neither ends with 55 AA nor begins with code"):
                media.checked(wanted, RAW)


def cdrom(media_type, boot=BOOT, bootable=0x88):
    """A CD-ROM with a boot record, a catalog and a boot image (El Torito 1.0, figures 2, 3 and 7).
    `media_type`: 0 for no emulation, 1 to 3 for a floppy of 1.2, 1.44 and 2.88 MB, 4 for a disk."""
    record = b"\0CD001\1" + b"EL TORITO SPECIFICATION".ljust(64, b"\0") + struct.pack("<I", 19)
    validation = struct.pack("<BBH24sHBB", 1, 0, 0, b"", 0, 0x55, 0xAA)
    check = -sum(struct.unpack("<16H", validation)) & 0xFFFF
    validation = validation[:28] + struct.pack("<H", check) + validation[30:]
    entry = struct.pack("<BBHBBHI", bootable, media_type, 0, 0, 0, 1, 20)
    parts = [b"\1CD001\1", record, b"\xffCD001\1", validation + entry, boot]
    return bytes(16 * 2048) + b"".join(part + bytes(-len(part) % 2048) for part in parts)


@pytest.mark.parametrize(
    "content, drive",
    [
        (cdrom(2), 0),
        (cdrom(1), 0),
        (cdrom(0x12), 0),
        (cdrom(0), 1),
        (cdrom(4), 1),
        (cdrom(2)[: 19 * 2048 + 33], 1),
    ],
)
def test_the_second_floppy_keeps_its_letter_if_a_cdrom_is_drive_a(tmp_path, content, drive):
    disc, floppy = tmp_path / "my.iso", tmp_path / "b.img"
    disc.write_bytes(content.ljust(30 * 2048, b"\0"))
    floppy.write_bytes(BOOT)
    wanted = [
        MediumFile("cdrom", str(disc), "--cdrom"),
        MediumFile("floppy_b", str(floppy), "--put"),
    ]
    booted = boot.Boot(media.checked(wanted, RAW))
    assert booted.drive_number("floppy_b") == drive
    floppy_a = MediumFile("floppy_a", str(floppy), "--floppy")
    assert boot.Boot(media.checked([*wanted, floppy_a], RAW)).drive_number("floppy_b") == 1


def test_formats_that_are_no_raw_images_have_names():
    """Each entry has a name and its own beginning."""
    begins = [begin for begin, _ in image_format.BEGINS]
    assert len(set(begins)) == len(begins)
    for number, begin in enumerate(begins):
        assert not any(begin.startswith(earlier) for earlier in begins[:number])
