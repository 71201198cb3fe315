# SPDX-License-Identifier: MIT
"""tools/archives.py: what an archive may do when it is unpacked, and what it may not."""

import io
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from archives import UnsafeArchive, extract

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def member(name, kind=tarfile.REGTYPE, link="", mode=0o644):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, mode
    info.uid = info.gid = 12345
    info.size = 2 if kind == tarfile.REGTYPE else 0
    return info


def packed(tmp_path, *members):
    archive = tmp_path / "archive.tar"
    with tarfile.open(archive, "w") as tar:
        for info in members:
            tar.addfile(info, io.BytesIO(b"hi") if info.isreg() else None)
    return archive


SYMLINK, HARDLINK = tarfile.SYMTYPE, tarfile.LNKTYPE
REFUSED = {
    "absolute": ([member("/p5lab-file")], "outside"),
    "parent": ([member("a/../../file")], "outside"),
    "absolute link": ([member("a", SYMLINK, "/etc")], "/etc"),
    "link to a parent": ([member("d/a", SYMLINK, "../../x")], "../../x"),
    "link that returns": ([member("a", SYMLINK, "b/../../x")], "b/../../x"),
    "through a link": ([member("a", SYMLINK, "d"), member("a/file")], "through a link"),
    "over a link": ([member("a", SYMLINK, "d"), member("a")], "through a link"),
    "hard link to outside": ([member("a", HARDLINK, "/etc/passwd")], "/etc/passwd"),
    "hard link to a link": ([member("a", SYMLINK, "b"), member("c", HARDLINK, "a")], "no file"),
    "device": ([member("null", tarfile.CHRTYPE)], "neither"),
    "disk": ([member("sda", tarfile.BLKTYPE)], "neither"),
    "pipe": ([member("pipe", tarfile.FIFOTYPE)], "neither"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_unsafe_member_is_refused_before_anything_is_written(tmp_path, case):
    members, reason = REFUSED[case]
    archive = packed(tmp_path, member("first"), *members)
    with pytest.raises(UnsafeArchive) as raised:
        extract(archive, tmp_path / "new")
    said = str(raised.value)
    assert said.startswith(f"archive.tar: {members[-1].name}: ")
    assert reason in said
    assert "\n" not in said
    assert not (tmp_path / "new").exists()


def test_files_links_and_directories_arrive_with_plain_modes(tmp_path):
    archive = packed(
        tmp_path,
        member("d", tarfile.DIRTYPE, mode=0o7777),
        member("d/program", mode=0o6755),
        member("d/text", mode=0o666),
        member("d/e/link", SYMLINK, "../program"),
        member("d/same", HARDLINK, "d/program", mode=0o6755),
    )
    extract(archive, tmp_path / "new")
    new = tmp_path / "new/d"
    modes = {path.name: stat.S_IMODE(path.lstat().st_mode) for path in new.iterdir()}
    assert modes["program"] == modes["same"] == 0o755
    assert modes["text"] == 0o644
    assert stat.S_IMODE(new.lstat().st_mode) == 0o755
    assert (new / "e/link").resolve() == (new / "program").resolve()
    assert (new / "e/link").read_bytes() == b"hi"
    assert new.stat().st_uid != 12345


def test_only_wanted_members_are_unpacked_and_checked(tmp_path):
    archive = packed(tmp_path, member("a.h"), member("null", tarfile.CHRTYPE))
    extract(archive, tmp_path / "new", lambda name: name.endswith(".h"))
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.h"]


def test_a_tarfile_without_filters_unpacks_too(tmp_path):
    """The `tarfile` of Debian 12 knows no `filter` (Python 3.11.2)."""
    archive = packed(tmp_path, member("a.h"))
    code = (
        "import sys, tarfile; from pathlib import Path\n"
        "for name in ('data_filter', 'tar_filter', 'fully_trusted_filter'):\n"
        "    if hasattr(tarfile, name): delattr(tarfile, name)\n"
        "real = tarfile.TarFile.extractall\n"
        "def extractall(self, path='.', members=None, *, numeric_owner=False):\n"
        "    real(self, path, members, numeric_owner=numeric_owner)\n"
        "tarfile.TarFile.extractall = extractall\n"
        "from archives import extract\n"
        f"extract(Path({str(archive)!r}), Path({str(tmp_path / 'new')!r}))\n"
    )
    subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={"PYTHONPATH": str(TOOLS), "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
    )
    assert (tmp_path / "new/a.h").read_bytes() == b"hi"
