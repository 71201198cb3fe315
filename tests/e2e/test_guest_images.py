# SPDX-License-Identifier: MIT
"""Parts of guests: boot ROM, cpio archive, programs, and the check of instruction sets."""

import functools
import importlib.util
import io
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import hostcc
import pytest

from p5lab.describe import workload
from p5lab.lab import Lab

LAB = Lab.here()
ROOT = LAB.root
CHECK_ISA = ROOT / "guest-images/check_isa.py"
SOURCES = sorted(
    source
    for part in ("apps", "micro", "net", "tests")
    for source in (ROOT / "workloads" / part).glob("*/*.c")
)
assert SOURCES
# A program with a header that the build makes is built only for its own runs.
ON_REQUEST = {name for name, one in workload.load(LAB).items() if one.headers}
PROGRAMS = sorted({source.stem for source in SOURCES} - ON_REQUEST)


def module(path):
    """Imports one of the build scripts."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = loaded  # dataclasses need this entry
    spec.loader.exec_module(loaded)
    return loaded


def assembled(tmp_path, text, name="f"):
    """Returns an ELF object of 32-bit code in one function."""
    source = tmp_path / "code.s"
    source.write_text(f".text\n.globl {name}\n.type {name}, @function\n{name}:\n{text}\nret\n")
    target = tmp_path / f"{name}.o"
    subprocess.run(["as", "--32", "-o", target, source], check=True)
    return target


def check_isa(*arguments):
    return subprocess.run(
        [sys.executable, CHECK_ISA, *arguments], capture_output=True, text=True, check=False
    )


REFUSED = (
    "cmove %eax, %ebx",
    "fcmove %st(1), %st",
    "fcomi %st(1), %st",
    "paddb %mm1, %mm0",
    "movd %eax, %mm0",
    "emms",
    "addps %xmm1, %xmm0",
    "sysenter",
    "rdpmc",
    "nopl 0(%eax)",
    ".byte 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00",
    "lfence",
    "prefetcht0 (%eax)",
    "fxsave (%eax)",
    "fisttpl (%eax)",
    "endbr32",
)
ACCEPTED = (
    "lock cmpxchg8b (%esi)",
    "rdtsc\nrdmsr\nwrmsr\ncpuid",
    "rep movsl\nrepne scasb",
    "nop\nxchg %ax, %ax\nlea 0(%esi), %esi",
    "bswap %eax\nxadd %eax, (%ebx)\nsetne %al",
    "fldpi\nfsincos\nfucompp\nfnstsw %ax",
    "mov %cr4, %eax\nlgdt (%eax)\nlcall $8, $0",
    "pause",
)


def test_check_isa_refuses_and_accepts(tmp_path):
    """Each refused instruction stands in the function of its object."""
    refused = [assembled(tmp_path, code, f"no{number}") for number, code in enumerate(REFUSED)]
    accepted = [assembled(tmp_path, code, f"yes{number}") for number, code in enumerate(ACCEPTED)]
    result = check_isa(*refused, *accepted)
    assert result.returncode != 0
    found = re.findall(r"\.o: \.text (\w+) at .*: not a Pentium instruction", result.stderr)
    assert found == [one.stem for one in refused]
    assert check_isa(*accepted).returncode == 0


def test_check_isa_exceptions(tmp_path):
    code = assembled(tmp_path, "cmove %eax, %ebx")
    exceptions = tmp_path / "exceptions.txt"
    exceptions.write_text("f behind a test of X86_FEATURE_CMOV\n")
    assert check_isa("--exceptions", exceptions, code).returncode == 0
    exceptions.write_text("f\n")
    result = check_isa("--exceptions", exceptions, code)
    assert result.returncode != 0
    assert "exceptions.txt:1" in result.stderr


def test_check_isa_needs_code(tmp_path):
    empty = tmp_path / "empty"
    empty.write_text("")
    assert check_isa(empty).returncode != 0


def test_programs_are_pentium_code():
    """The program test-ud executes other instructions, and no other program has any."""
    result = check_isa(*(LAB.program("linux", name) for name in ("init", *PROGRAMS)))
    assert result.stderr
    others = [line for line in result.stderr.splitlines() if "/test-ud" not in line]
    assert others == []


@pytest.mark.full  # the build makes the first check
def test_kernel_is_pentium_code():
    exceptions = ROOT / "guest-images/linux/isa-exceptions.txt"
    kernel = ROOT / "build/guests/linux/vmlinux"
    result = check_isa("--exceptions", exceptions, kernel)
    assert result.returncode == 0, result.stderr
    # The check passes only with the list of exceptions. Without the list, the check finds code that
    # runs only after a test of the processor.
    assert check_isa(kernel).returncode != 0


def test_boot_rom(tmp_path):
    rom = LAB.bootrom.read_bytes()
    assert rom[:3] == b"\x55\xaa\x04"
    assert len(rom) == rom[2] * 512
    assert sum(rom) % 256 == 0


def test_boot_rom_limits():
    finish = module(ROOT / "guest-images/parts/bootrom/build_bootrom.py").finish_rom
    with pytest.raises(ValueError, match="55 AA"):
        finish(b"\0" * 16)
    with pytest.raises(ValueError, match="limit"):
        finish(b"\x55\xaa\x04" + b"\0" * 2048)


class TestCpio:
    cpio = module(ROOT / "guest-images/parts/rootfs/mkcpio.py")

    def test_same_bytes_in_any_order(self):
        entries = self.cpio.parse_list("dir /bin 0755\nnod /console 0600 c 5 1\n", "x")
        entries.append(self.cpio.Entry("/bin/a", 0o100755, b"abc"))
        assert self.cpio.archive(entries) == self.cpio.archive(entries[::-1])

    def test_entries(self):
        entries = [
            self.cpio.Entry("/d", 0o040755),
            self.cpio.Entry("/d/file", 0o100644, b"hello"),
            self.cpio.Entry("/node", 0o020600, device=(5, 1)),
        ]
        data = self.cpio.archive(entries)
        found, offset = {}, 0
        while True:
            assert data[offset : offset + 6] == b"070701"
            fields = [int(data[offset + 6 + 8 * n : offset + 14 + 8 * n], 16) for n in range(13)]
            name = data[offset + 110 : offset + 110 + fields[11] - 1].decode()
            content = offset + 110 + fields[11] + -(110 + fields[11]) % 4
            if name == "TRAILER!!!":
                break
            found[name] = (fields[1], data[content : content + fields[6]], (fields[9], fields[10]))
            assert fields[5] == 0  # time 0
            offset = content + fields[6] + -fields[6] % 4
        assert found == {
            "d": (0o040755, b"", (0, 0)),
            "d/file": (0o100644, b"hello", (0, 0)),
            "node": (0o020600, b"", (5, 1)),
        }

    @pytest.mark.parametrize("text", ["dir /bin", "nod /x 0600 q 1 1", "file /x"])
    def test_wrong_list(self, text):
        with pytest.raises(ValueError, match="list:1"):
            self.cpio.parse_list(text, "list")

    def test_missing_directory(self):
        with pytest.raises(ValueError, match="directory /bin"):
            self.cpio.archive([self.cpio.Entry("/bin/a", 0o100755)])


class TestDisk:
    disk = module(ROOT / "guest-images/parts/rootfs/mkdisk.py")

    def test_same_bytes_and_sound(self, tmp_path):
        for name in ("a", "b"):
            self.disk.make(tmp_path / name, 16 * self.disk.CYLINDER // 1024)
        image = (tmp_path / "a").read_bytes()
        assert image == (tmp_path / "b").read_bytes()
        assert image == (ROOT / "build/guests/linux/disk.img").read_bytes()
        assert len(image) == 16 * 504 * 1024
        assert image[1024 + 56 : 1024 + 58] == b"\x53\xef"  # magic number of ext2
        assert image[1024 + 24 : 1024 + 28] == bytes(4)  # blocks of 1 KB

    def test_what_mke2fs_says_is_passed_on(self, tmp_path):
        with pytest.raises(self.disk.DiskError, match=r"mke2fs: .*invalid blocks"):
            self.disk.make(tmp_path / "none", 0)

    def test_missing_mke2fs(self, tmp_path, monkeypatch):
        monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
        with pytest.raises(self.disk.DiskError, match="install the package e2fsprogs"):
            self.disk.make(tmp_path / "none", 8064)


class TestRootDisk:
    disk = sys.modules["mkdisk"]  # mkrootfs imports it from its own directory
    root = module(ROOT / "guest-images/parts/rootfs/mkrootfs.py")

    def archive(self, path, more=()):
        """Returns a root file system like those of p5lab.host.rootfs, with one link."""

        def member(name, kind=tarfile.REGTYPE, **values):
            info = tarfile.TarInfo(name)
            info.type, info.mode = kind, 0o755
            for key, value in values.items():
                setattr(info, key, value)
            return info

        content = {"bin/su": b"su" * 40000, "etc/a name": b"text\n"}
        with tarfile.open(path, "w") as tar:
            for name in ("bin", "etc"):
                tar.addfile(member(name, tarfile.DIRTYPE))
            tar.addfile(
                member("bin/su", mode=0o4755, gid=42, size=80000), io.BytesIO(content["bin/su"])
            )
            tar.addfile(
                member("etc/a name", mode=0o600, uid=7, size=5), io.BytesIO(content["etc/a name"])
            )
            tar.addfile(member("etc/link", tarfile.SYMTYPE, linkname="../bin/su"))
            for name, kind in more:
                tar.addfile(member(name, kind))
        return path

    def ask(self, image, command):
        done = subprocess.run(
            ["/sbin/debugfs", "-R", command, image], capture_output=True, text=True, check=True
        )
        return done.stdout

    def test_same_bytes_and_sound(self, tmp_path):
        programs = {"p5/init": tmp_path / "init", "p5/bin/run": tmp_path / "init"}
        (tmp_path / "init").write_bytes(b"first process")
        images = [tmp_path / "one.img", tmp_path / "two.img"]
        for image in images:
            archive = self.archive(tmp_path / f"{image.stem}.tar")
            self.root.make(image, archive, 16 << 20, programs)
            (tmp_path / "init").touch()
        one, two = images
        assert one.read_bytes() == two.read_bytes()
        size = one.stat().st_size
        assert size % self.disk.CYLINDER == 0
        assert size <= 16 << 20 < size + self.disk.CYLINDER
        assert self.ask(one, 'cat "/etc/a name"') == "text\n"
        assert self.ask(one, "cat /p5/bin/run") == "first process"
        su, link = self.ask(one, "stat /bin/su"), self.ask(one, "stat /etc/link")
        assert re.search(r"Type: regular +Mode: +04755 ", su)
        assert re.search(r"User: +0 +Group: +42 +.*Size: 80000\n", su)
        assert set(re.findall(r"time: (0x\w+)", su + link)) == {f"{int(self.disk.TIME):#x}"}
        assert 'Fast link dest: "../bin/su"' in link
        for directory in ("data", "dev", "proc", "sys", "tmp", "p5/bin"):
            assert re.search(r"Type: directory +Mode: +0755 ", self.ask(one, f"stat /{directory}"))

    def test_what_does_not_fit(self, tmp_path):
        big = tmp_path / "big"
        big.write_bytes(bytes(range(256)) * (20 << 12))
        with pytest.raises(self.disk.DiskError, match=r"20 MB do not fit into 16 MB; .*--size"):
            self.root.make(
                tmp_path / "disk.img", self.archive(tmp_path / "a.tar"), 16 << 20, {"bin/big": big}
            )
        assert not (tmp_path / "disk.img").exists()

    @pytest.mark.parametrize("name", ["etc/a\nquit", 'etc/a" b'])
    def test_a_name_is_never_a_command(self, tmp_path, name):
        archive = self.archive(tmp_path / "a.tar", [(name, tarfile.DIRTYPE)])
        with pytest.raises(self.disk.DiskError, match="expected a name of printable characters"):
            self.root.make(tmp_path / "disk.img", archive, 16 << 20, {})

    def test_a_device_is_refused(self, tmp_path):
        archive = self.archive(tmp_path / "a.tar", [("etc/disk", tarfile.BLKTYPE)])
        with pytest.raises(self.disk.DiskError, match="etc/disk: expected a file"):
            self.root.make(tmp_path / "disk.img", archive, 16 << 20, {})


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    """Returns a function that compiles a workload for the host by its name. It compiles each
    workload once.
    """
    if not shutil.which("cc"):
        pytest.fail("no C compiler `cc` on this host")
    target = tmp_path_factory.mktemp("native")
    sources = {source.stem: source for source in SOURCES}

    @functools.cache
    def program(name):
        subprocess.run(
            [
                "cc",
                "-std=gnu11",
                "-O2",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-I",
                ROOT / "workloads/lib",
                "-I",
                ROOT / "guest-images/linux/p5ctr",
                "-o",
                target / name,
                sources[name],
            ],
            check=True,
        )
        return target / name

    return program


def run_native(program, *arguments, directory=None):
    return subprocess.run(
        [program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=directory,
    )


@pytest.mark.full
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_hosts_compiler_takes_it(native, name):
    assert native(name).exists()


@pytest.mark.parametrize(
    "name",
    [
        "getpid",
        "dup",
        "exec-static",
        "fork",
        "cswitch",
        "pipe",
        "mmap-fault",
        "cached-read",
        "create",
    ],
)
def test_native_run(native, name, tmp_path):
    if name == "exec-static":
        native("true-static")  # the program that it executes, in the same directory
    result = run_native(native(name), "iterations=3", "warmup=1", directory=tmp_path)
    assert result.returncode == 0, result.stderr
    assert not list(tmp_path.iterdir())


def test_native_mem_read(native):
    result = run_native(native("mem-read"), "placement=guest", "iterations=1000")
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif(Path("/dev/p5ctr").exists(), reason="this host has the counter device")
@pytest.mark.parametrize("name", ["null", "mem-read", "counted"])
def test_native_without_the_device(native, name):
    result = run_native(native(name))
    assert result.returncode == 77
    assert "/dev/p5ctr" in result.stderr


def test_panic_needs_consent(native):
    assert run_native(native("test-panic")).returncode == 2


@pytest.mark.parametrize(
    "argument",
    [
        "iterations",
        "iterations=",
        "iterations=x",
        "iterations=0",
        "iterations=3G",
        "iterations=-1",
        "iter=3",
    ],
)
def test_wrong_arguments(native, argument):
    result = run_native(native("getpid"), argument)
    assert result.returncode == 2
    assert argument in result.stderr


# Mach's own calls exist only on the Mach guests. test_mach.py tests the programs with these calls.
@pytest.mark.parametrize(
    "name", sorted(name for name in workload.load(LAB) if not name.startswith("mach-"))
)
def test_described_parameters_are_the_programs_own(native, name):
    """The description and the program agree on names and defaults of all parameters. Most programs
    have already been built for the host, for engine `native`.
    """
    described = workload.load(LAB)[name].parameters
    if name in ("test-panic", "test-ud"):  # these do not parse arguments
        return
    built = ROOT / "build/workloads/native" / name
    usage = run_native(built if built.exists() else native(name), "?").stderr
    shown = dict(re.findall(r"^  ([a-z0-9_]+)=(\S+)", usage, re.MULTILINE))
    assert shown == {key: str(parameter.default) for key, parameter in described.items()}


def test_program_does_not_depend_on_paths(tmp_path, lab):
    """Two copies of the sources at other paths give the same program as the checkout."""
    built = []
    for place in (tmp_path / "a", tmp_path / "long name" / "b"):
        shutil.copytree(ROOT / "workloads", place / "workloads")
        shutil.copytree(ROOT / "guest-images/linux/p5ctr", place / "p5ctr")
        includes, source = ("workloads/lib", "p5ctr"), place / "workloads/micro/null/null.c"
        hostcc.for_guests(place / "null", source, [place / one for one in includes])
        built.append((place / "null").read_bytes())
    assert built[0] == built[1] == LAB.program("linux", "null").read_bytes()
