# SPDX-License-Identifier: MIT
"""Root file systems: accepted and refused members of an archive, and equal bytes."""

import io
import random
import tarfile

import pytest

from p5lab.errors import UserError
from p5lab.host import rootfs

LIBC = b"...GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\n..."
OS_RELEASE = b'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nHOME_URL="x?a=$b"\n'
STATUS = (
    b"Package: libc6\nStatus: install ok installed\nVersion: 2.36-9\n\nPackage: dash\nVersion: 1\n"
)
SYSTEM = {
    "usr/lib/os-release": OS_RELEASE,
    "usr/lib/x86_64-linux-gnu/libc.so.6": LIBC,
    "usr/lib64/ld-linux-x86-64.so.2": b"loader",
    "usr/bin/sort": b"sort",
    "var/lib/dpkg/status": STATUS,
}


def member(name, kind=tarfile.REGTYPE, **values):
    info = tarfile.TarInfo(name)
    info.type = kind
    for key, value in values.items():
        setattr(info, key, value)
    return info


def links():
    return [
        member("lib64", tarfile.SYMTYPE, linkname="usr/lib64"),
        member("etc/os-release", tarfile.SYMTYPE, linkname="../usr/lib/os-release"),
        member("etc/mtab", tarfile.SYMTYPE, linkname="/../../proc/self/mounts"),
    ]


def packed(path, files=SYSTEM, more=(), mode="w", prefix="./", mtime=1_700_000_000):
    """Returns an archive of files. Other members follow the files."""
    with tarfile.open(path, mode) as tar:
        for name, content in files.items():
            info = member(prefix + name, size=len(content), mode=0o755, mtime=mtime, uname="me")
            tar.addfile(info, io.BytesIO(content))
        for info in more:
            tar.addfile(info)
    return path


def repacked(tmp_path, *, name="in.tar", **options):
    """Returns the members of the new archive by name, and their contents."""
    contents = rootfs.repack(packed(tmp_path / name, **options), tmp_path / "out.tar")
    with tarfile.open(tmp_path / "out.tar") as tar:
        members = {info.name: info for info in tar}
        files = {
            info.name: tar.extractfile(info).read() for info in members.values() if info.isreg()
        }
    return contents, members, files


def test_what_a_system_says_of_itself(tmp_path):
    contents, members, files = repacked(tmp_path, more=links())
    assert contents.os_release == {"ID": "debian", "PRETTY_NAME": "Debian GNU/Linux 12 (bookworm)"}
    assert contents.glibc == "2.36"
    assert contents.packages == {"libc6": "2.36-9", "dash": "1"}
    assert (contents.files, contents.bytes) == (5, sum(map(len, SYSTEM.values())))
    assert files == SYSTEM
    assert members["lib64"].linkname == "usr/lib64"
    assert members["etc/mtab"].linkname == "/../../proc/self/mounts"  # a path of the guest


def test_order_time_and_packer_do_not_show(tmp_path):
    backwards = dict(reversed(SYSTEM.items()))
    bytes_of = []
    for number, options in enumerate(
        (
            {"files": SYSTEM, "more": links()},
            {"files": backwards, "more": links()[::-1], "mode": "w:gz", "prefix": "", "mtime": 7},
            {"files": SYSTEM, "more": links(), "mode": "w:xz"},
        )
    ):
        repacked(tmp_path, name=f"{number}.tar", **options)
        bytes_of.append((tmp_path / "out.tar").read_bytes())
    assert bytes_of[0] == bytes_of[1] == bytes_of[2]


def test_what_a_guest_does_not_read_is_left_out(tmp_path):
    unread = {
        "etc/apt/sources.list": b"deb http://mirror.example.org x main",
        "etc/hostname": b"builder",
        "etc/resolv.conf": b"nameserver",
        "etc/passwd-": b"old",
        "usr/share/doc/dash/copyright": b"",
        "usr/share/locale/de/x.mo": b"",
        "var/lib/dpkg/info/dash.list": b"",
        "var/lib/dpkg/status-old": b"",
        "var/log/dpkg.log": b"",
    }
    kept = {
        "etc/passwd": b"root",
        "usr/share/dict": b"words",
        "usr/share/doc/tk/demos/images/a.gif": b"GIF",
    }
    device = member("./dev/null", tarfile.CHRTYPE, devmajor=1, devminor=3)
    _, members, files = repacked(tmp_path, files=SYSTEM | unread | kept, more=[device])
    assert files == SYSTEM | kept
    assert members["usr/share/doc"].isdir()
    assert members["dev"].isdir()
    assert "dev/null" not in members


def test_a_hard_link_becomes_a_file(tmp_path):
    link = member("usr/bin/other", tarfile.LNKTYPE, linkname="./usr/bin/sort", mode=0o755)
    _, members, files = repacked(tmp_path, more=[link])
    assert (members["usr/bin/other"].mode, files["usr/bin/other"]) == (0o755, b"sort")


def test_owners_and_permissions_stay(tmp_path):
    setuid = member("usr/bin/su", mode=0o4755, uid=0, gid=42)
    _, members, _ = repacked(tmp_path, more=[setuid])
    kept = members["usr/bin/su"]
    assert (kept.mode, kept.uid, kept.gid, kept.mtime) == (0o4755, 0, 42, rootfs.TIME)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (member("../evil"), r"\.\./evil: leads out of the archive"),
        (member("usr/../../evil"), "leads out of the archive"),
        (member("/etc/passwd"), "leads out of the archive"),
        (member("usr/a\nquit"), "expected printable characters"),
        (member('usr/a" b'), "expected printable characters"),
        (member("usr/x", tarfile.SYMTYPE, linkname="a\nb"), "expected printable characters"),
        (member("lib64/evil"), "lib64/evil: lies below lib64, which is no directory"),
        (member("usr/bin/sort/evil"), "lies below usr/bin/sort"),
        (member("usr/l", tarfile.LNKTYPE, linkname="../../etc/passwd"), "leads out of the archive"),
        (member("usr/l", tarfile.LNKTYPE, linkname="not-there"), "expected this file before"),
        (member("usr/disk", tarfile.BLKTYPE, devmajor=8), "usr/disk: expected a file"),
        (member("usr/pipe", tarfile.FIFOTYPE), "usr/pipe: expected a file"),
    ],
)
def test_members_that_are_refused(tmp_path, bad, message):
    with pytest.raises(UserError, match=message):
        repacked(tmp_path, more=[*links(), bad])
    assert not (tmp_path / "out.tar").exists()


def without(name):
    return {path: content for path, content in SYSTEM.items() if path != name}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "no etc/os-release"),
        (without("usr/lib/os-release"), "no etc/os-release"),
        (without("usr/lib/x86_64-linux-gnu/libc.so.6"), "no glibc for x86-64"),
        (without("usr/lib64/ld-linux-x86-64.so.2"), "no glibc for x86-64"),
        (
            {**SYSTEM, "usr/lib/x86_64-linux-gnu/libc.so.6": LIBC.replace(b"2.36", b"2.30")},
            "glibc 2.30; expected 2.31 or newer",
        ),
        ({**SYSTEM, "usr/lib/os-release": b"ID=debian\n"}, "os-release: no PRETTY_NAME"),
        (
            {**SYSTEM, "usr/lib/os-release": b"ID=debian\nPRETTY_NAME=$(reboot)\n"},
            "PRETTY_NAME: expected plain text",
        ),
    ],
)
def test_archives_of_something_else(tmp_path, files, message):
    with pytest.raises(UserError, match=message):
        repacked(tmp_path, files=files)


def test_archives_that_cannot_be_read(tmp_path):
    noise = {"noise": random.Random(1).randbytes(1 << 20)}
    whole = packed(tmp_path / "whole.tar.gz", files=SYSTEM | noise, mode="w:gz").read_bytes()
    for content in (b"", b"not a tar archive" * 100, whole[:3], whole[: len(whole) // 2]):
        (tmp_path / "bad").write_bytes(content)
        with pytest.raises(UserError, match=r"bad: cannot be read as a tar archive"):
            rootfs.repack(tmp_path / "bad", tmp_path / "out.tar")
    with pytest.raises(UserError, match="No such file"):
        rootfs.repack(tmp_path / "none", tmp_path / "out.tar")
