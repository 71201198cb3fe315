# SPDX-License-Identifier: MIT
"""`./p5lab image`: the command line of mmdebstrap, a tarball as source, and bad input."""

import hashlib
import json
import os
import stat
import tarfile
from pathlib import Path

import pytest
from test_rootfs import LIBC, SYSTEM, packed

from p5lab.cli import main as cli
from p5lab.describe import guest
from p5lab.errors import UserError
from p5lab.host import image
from p5lab.lab import Lab

REPO = Path(__file__).resolve().parents[2]
SUITE_GUEST = """
schema_version = 1
name = "{name}64"
title = "a distribution"
structure = "monolithic"
isa = "pentium"
clock_vector = 48
[image]
distribution = "{name}"
suite = "{suite}"
options = {options}
[boot]
protocol = "linux"
kernel = "build/guests/linux/bzImage"
disk = "build/guests/{name}64/disk.img"
cmdline = "root=/dev/sda"
"""
UBUNTU = {
    **SYSTEM,
    "usr/lib/os-release": b'PRETTY_NAME="Ubuntu 24.04 LTS"\nID=ubuntu\nVERSION_ID="24.04"\n',
    "usr/lib/x86_64-linux-gnu/libc.so.6": LIBC.replace(b"2.36", b"2.39"),
}
# Like mmdebstrap, this script writes the archive to standard output.
MMDEBSTRAP = """#!/bin/sh
[ "$1" = --version ] && {{ echo "mmdebstrap 1.2.3"; exit; }}
printf '%s\\n' "$@" >'{place}/arguments'
echo "$SOURCE_DATE_EPOCH" >'{place}/epoch'
echo 'I: downloading packages with apt...' >&2
{then}
"""


@pytest.fixture
def lab(tmp_path):
    root = tmp_path / "lab"
    for name, suite, options in (
        ("debian", "bookworm", '["--hook-dir=/h"]'),
        ("ubuntu", "noble", "[]"),
    ):
        folder = root / f"guest-images/{name}64"
        folder.mkdir(parents=True)
        text = SUITE_GUEST.format(name=name, suite=suite, options=options)
        (folder / "guest.toml").write_text(text)
    (root / "sources.toml").write_text("schema_version = 1\n")
    return Lab(root)


@pytest.fixture
def mmdebstrap(tmp_path, monkeypatch):
    """Puts our own mmdebstrap before the host's program in PATH. Returns a function that writes our
    mmdebstrap with the given last actions.
    """

    def install(then):
        program = tmp_path / "bin/mmdebstrap"
        program.parent.mkdir(exist_ok=True)
        program.write_text(MMDEBSTRAP.format(place=tmp_path, then=then))
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    return install


def made(lab, distribution="debian", **request):
    return image.make(lab, image.ImageRequest(distribution, **request), lambda step: None)


def ubuntu_tarball(tmp_path):
    tarball = packed(tmp_path / "ubuntu-base.tar.gz", files=UBUNTU, mode="w:gz")
    return {"tarball": tarball, "sha256": hashlib.sha256(tarball.read_bytes()).hexdigest()}


def left_in(lab):
    return sorted(path.name for path in (lab.root / "build").rglob("*") if path.is_file())


# --- command lines --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("distribution", "suite", "entry"),
    [
        ("debian", "bookworm", "deb http://deb.example.org/debian bookworm main contrib\n"),
        (
            "ubuntu",
            "noble",
            "deb [signed-by=/k.gpg] http://ubuntu.example.org/ubuntu/ noble-updates main universe\n"
            "deb http://security.example.org/ubuntu noble-security main\n",
        ),
    ],
)
def test_the_mirror_is_the_hosts_own(lab, tmp_path, monkeypatch, distribution, suite, entry):
    monkeypatch.delenv("P5LAB_MIRROR", raising=False)
    (tmp_path / "sources.list").write_text(entry)
    monkeypatch.setattr(image.Fetcher, "here", lambda root: image.Fetcher({}, etc=tmp_path))
    line = image.source_line(lab, distribution, suite, "", None)
    expected = {
        "debian": "deb http://deb.example.org/debian bookworm main",
        "ubuntu": "deb [signed-by=/k.gpg] http://ubuntu.example.org/ubuntu noble main",
    }
    assert line == expected[distribution]
    other = {"debian": "ubuntu", "ubuntu": "debian"}[distribution]
    with pytest.raises(UserError, match=f"image {other}: this host's apt configuration names no"):
        image.source_line(lab, other, "x", "", None)


def test_a_mirror_and_a_keyring_of_the_users_own(lab):
    line = image.source_line(lab, "ubuntu", "jammy", "https://m.example.org/u/", Path("/k/u.gpg"))
    assert line == "deb [signed-by=/k/u.gpg] https://m.example.org/u jammy main"
    for wrong in ("m.example.org/ubuntu", "http://a b", "gopher://x"):
        with pytest.raises(UserError, match="--mirror: expected an address such as"):
            image.source_line(lab, "ubuntu", "jammy", wrong, None)


def test_the_command_has_the_hosts_way_to_its_mirror(monkeypatch):
    monkeypatch.setattr(
        image.apt,
        "host_settings",
        lambda: [
            'Acquire::http::Proxy "http://proxy.example.org:1";',
            'Acquire::Languages "none";',
            'Acquire::Retries "2";',
        ],
    )
    ubuntu = guest.Image("ubuntu", "noble", ("--hook-dir=/h",))
    assert image.command("noble", "deb http://m noble main", ubuntu) == [
        "mmdebstrap",
        "--variant=essential",
        "--architectures=amd64",
        "--format=tar",
        "--hook-dir=/h",
        '--aptopt=Acquire::http::Proxy "http://proxy.example.org:1";',
        '--aptopt=Acquire::Retries "2";',
        "noble",
        "-",
        "deb http://m noble main",
    ]


def test_another_architecture_and_more_packages(monkeypatch):
    monkeypatch.setattr(image.apt, "host_settings", list)
    debian = guest.Image("debian", "bookworm", (), "i386")
    words = image.command("bookworm", "deb http://m bookworm main", debian, ("tk", "g++"))
    assert words[1:5] == [
        "--variant=essential",
        "--architectures=i386",
        "--format=tar",
        "--include=tk,g++",
    ]


# --- with mmdebstrap ------------------------------------------------------------------------


def test_what_mmdebstrap_writes_is_taken(lab, tmp_path, mmdebstrap, monkeypatch):
    archive = packed(tmp_path / "made.tar")
    mmdebstrap(f"cat '{archive}'")
    steps = []
    request = image.ImageRequest("debian", mirror="http://m.example.org/debian")
    result = image.make(lab, request, steps.append)
    assert "downloading packages with apt..." in steps
    arguments = (tmp_path / "arguments").read_text().splitlines()
    assert arguments[:4] == [
        "--variant=essential",
        "--architectures=amd64",
        "--format=tar",
        "--hook-dir=/h",
    ]
    assert arguments[-3:] == ["bookworm", "-", "deb http://m.example.org/debian bookworm main"]
    assert (tmp_path / "epoch").read_text() == "788918400\n"

    record = json.loads((lab.root / "build/images/debian64/rootfs.json").read_text())
    assert record["origin"] == {"mmdebstrap": "mmdebstrap 1.2.3", "suite": "bookworm"}
    assert record["os_release"]["ID"] == "debian"
    assert record["size"] == 128 << 20
    content = lab.rootfs("debian64").read_bytes()
    assert record["sha256"] == result.sha256 == hashlib.sha256(content).hexdigest()
    assert b"m.example.org" not in content + json.dumps(record).encode()


def test_a_keyring_is_readable_for_apts_own_user(lab, tmp_path, mmdebstrap):
    archive = packed(tmp_path / "made.tar")
    keyring = tmp_path / "private.gpg"
    keyring.write_bytes(b"key")
    keyring.chmod(0o600)
    mmdebstrap(
        f"""for word; do case $word in deb*)
        file=${{word#*signed-by=}}; stat -c %a "${{file%%]*}}" >'{tmp_path}/mode';; esac; done
        cat '{archive}'"""
    )
    made(lab, mirror="http://m.example.org/debian", keyring=keyring)
    assert int((tmp_path / "mode").read_text(), 8) & stat.S_IROTH
    with pytest.raises(UserError, match="--keyring /not/there: No such file"):
        made(lab, mirror="http://m.example.org/debian", keyring=Path("/not/there"))


def test_what_mmdebstrap_complains_about_is_passed_on(lab, mmdebstrap):
    mmdebstrap("echo 'E: apt-get update failed' >&2; echo 'I: removing' >&2; echo half; exit 1")
    with pytest.raises(UserError, match=r"mmdebstrap: apt-get update failed \(log: .*\)") as caught:
        made(lab, mirror="http://m.example.org/debian")
    assert caught.value.status == 1
    assert left_in(lab) == ["mmdebstrap.log"]


def test_without_mmdebstrap(lab, monkeypatch):
    monkeypatch.setattr(image.shutil, "which", lambda name: None)
    with pytest.raises(UserError, match="mmdebstrap is not installed; install it with `apt-get"):
        made(lab, mirror="http://m.example.org/debian")


# --- with a tarball -------------------------------------------------------------------------


def test_a_tarball_of_the_users_own(lab, tmp_path):
    given = ubuntu_tarball(tmp_path)
    result = made(lab, "ubuntu", **given, size=64 << 20)
    assert (result.guest, result.contents.glibc) == ("ubuntu64", "2.39")
    assert left_in(lab) == ["rootfs.json", "rootfs.tar"]
    record = json.loads((lab.root / "build/images/ubuntu64/rootfs.json").read_text())
    assert record["origin"] == {"tarball": given["sha256"]}
    assert record["size"] == 64 << 20
    with tarfile.open(lab.rootfs("ubuntu64")) as tar:
        assert "usr/bin/sort" in tar.getnames()
    first = lab.rootfs("ubuntu64").read_bytes()
    made(lab, "ubuntu", **given)
    assert lab.rootfs("ubuntu64").read_bytes() == first


def test_a_tarball_of_another_distribution(lab, tmp_path):
    given = ubuntu_tarball(tmp_path)
    with pytest.raises(UserError, match="os-release: ID: expected debian, found ubuntu"):
        made(lab, "debian", **given)
    assert left_in(lab) == []


def test_a_tarball_that_leads_out(lab, tmp_path):
    tarball = packed(tmp_path / "evil.tar", files={**UBUNTU, "../../evil": b"x"})
    digest = hashlib.sha256(tarball.read_bytes()).hexdigest()
    with pytest.raises(UserError, match=r"evil\.tar: .*leads out of the archive"):
        made(lab, "ubuntu", tarball=tarball, sha256=digest)
    assert left_in(lab) == []
    assert not list(tmp_path.rglob("evil"))


# --- bad input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["debain"], "unknown distribution 'debain'; did you mean 'debian'?"),
        (["ubuntu", "--tarball", "{tarball}"], "--tarball: expected together with"),
        (
            ["ubuntu", "--tarball", "{tarball}", "--sha256", "12"],
            "--tarball: expected together with",
        ),
        (["ubuntu", "--tarball", "{tarball}", "--sha256", "0" * 64], "has SHA-256 "),
        (["ubuntu", "--tarball", "/not/there", "--sha256", "0" * 64], "/not/there: no such file"),
        (["ubuntu", "--sha256", "0" * 64], "--sha256: expected only with --tarball"),
        (["ubuntu", "--tarball", "{tarball}", "--suite", "jammy"], "--suite: expected without --t"),
        (
            ["ubuntu", "--tarball", "{tarball}", "--mirror", "http://m"],
            "--mirror: expected without",
        ),
        (["debian", "--size", "8M"], "--size: expected a size from 32M to 2G, such as 256M"),
        (["debian", "--size", "big"], "--size: expected a size from 32M to 2G"),
        (["debian", "--mirror", "m.example.org"], "--mirror: expected an address"),
    ],
)
def test_bad_input_gets_one_line(lab, tmp_path, capsys, mmdebstrap, words, message):
    mmdebstrap("exit 1")
    tarball = str(ubuntu_tarball(tmp_path)["tarball"])
    words = [word.replace("{tarball}", tarball) for word in words]
    assert cli.main(["image", *words], lab) == 2
    lines = capsys.readouterr().err.splitlines()
    assert message in lines[-1]
    assert lines[-1].startswith("p5lab: ")
    assert "rootfs.tar" not in left_in(lab)


def test_a_guest_without_its_root_says_which_command_makes_it(lab):
    system = guest.load(lab, "debian64")
    with pytest.raises(UserError, match=r"guest debian64: .* make it with `./p5lab image debian`"):
        image.check(lab, system)
    archive = lab.rootfs("debian64")
    archive.parent.mkdir(parents=True)
    archive.touch()
    about = {"origin": {"packages": ["sqlite3"]}, "packages": {"sqlite3": "3.40", "make": "4.3"}}
    archive.with_name("rootfs.json").write_text(json.dumps(about))
    image.check(lab, system, ["make"])
    again = r"lacks gcc; .* `./p5lab image debian --packages sqlite3,make,gcc`"
    with pytest.raises(UserError, match=again):
        image.check(lab, system, ["make", "gcc"])


def test_a_variant_has_the_root_of_its_base(lab):
    base, variant = (guest.load(Lab(REPO), name) for name in ("debian32", "debian32-x"))
    assert base.image.packages == () != variant.image.packages
    assert (base.image_of, variant.image_of) == ("debian32", "debian32")
    assert image.guests(Lab(REPO), "i386") == {"debian": base}
    command = r"`./p5lab image debian --arch i386 --packages xserver-xorg-core,"
    with pytest.raises(UserError, match=rf"make it with {command}"):
        image.check(lab, variant)
    archive = lab.rootfs("debian32")
    archive.parent.mkdir(parents=True)
    archive.touch()
    about = {"origin": {}, "packages": {"bash": "5"}}
    archive.with_name("rootfs.json").write_text(json.dumps(about))
    image.check(lab, base)
    with pytest.raises(UserError, match=rf"lacks xserver-xorg-core, .* {command}"):
        image.check(lab, variant)


@pytest.mark.parametrize("name", ["debian64", "ubuntu64"])
def test_the_guests_of_the_repository(name):
    system = guest.load(Lab(REPO), name)
    assert system.initramfs is None
    assert system.image.distribution == name.removesuffix("64")
    assert system.record == REPO / f"build/guests/{name}/guest.json"
    assert {"root=/dev/sda", "init=/p5/init"} <= set(system.cmdline.split())
