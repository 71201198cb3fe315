# SPDX-License-Identifier: MIT
"""Guests: guest-images/NAME/guest.toml.

A guest with a `base` is a variant. If a variant does not set a key, it inherits the key from its
base. In [boot], a variant may replace the whole `cmdline`. A variant may instead remove words of
the base's command line (`cmdline_remove`) and append words (`cmdline_add`). The entries in [lacks]
and [cannot] of a variant are added to the entries of the base.

`has` lists the capabilities of the guest. workloads/capabilities.toml defines all capabilities,
each with the general reason why a workload does not run on a guest without the capability. [lacks]
lists capabilities that the guest does not have, each with a reason that replaces the general
reason. [cannot] lists workloads that do not run on the guest, each with its own reason.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from p5lab.describe import media, script, tomlfile
from p5lab.describe.media import MediumFile
from p5lab.describe.script import Script
from p5lab.describe.tomlfile import TomlTable, Where, begin
from p5lab.describe.workload import Workload, capabilities
from p5lab.errors import UserError, unknown
from p5lab.lab import Lab

STRUCTURES = ("monolithic", "server", "microkernel", "single address space")
LINUX, MULTIBOOT, BIOS = PROTOCOLS = ("linux", "multiboot", "bios")
BIOS_CLOCK_VECTOR = 8  # IRQ 0 as the BIOS programs the interrupt controller
X86_64, CMOV = "x86-64", "pentium+cmov"
ISAS = ("pentium", CMOV, X86_64)
AMD64, I386 = ARCHITECTURES = ("amd64", "i386")  # of distributions, as Debian names them
KEYS = (
    *("name", "title", "structure", "isa", "clock_vector", "programs", "boot", "image", "media"),
    *("script", "calls", "has", "lacks", "cannot"),
)
BOOT_KEYS = ("protocol", "kernel", "initramfs", "modules", "disk", "cmdline", "screen", "until")
# The graphics modes of `screen` and their numbers. [VBE 2.0, "VBE Mode Numbers"] has the modes of
# 8 and 16 bits a dot.
SCREENS = {
    "640x480x8": 0x101,
    "640x480x16": 0x111,
    "800x600x8": 0x103,
    "800x600x16": 0x114,
    "1024x768x8": 0x105,
    "1024x768x16": 0x117,
}
NO_PROGRAMS = "boots from its own media, where p5lab has no programs yet"
CMDLINE_CHANGES = ("cmdline_remove", "cmdline_add")  # keys of a variant


@dataclass(frozen=True)
class Image:
    """The root file system on a guest's disk. The user makes this file system with `./p5lab image`
    (p5lab.host.image). `brings`: the guest's init takes files that a run brings along
    (p5lab.describe.archive). `packages`: what the disk must have beside the essential packages."""

    distribution: str  # ID in os-release
    suite: str
    options: tuple[str, ...] = ()  # further options of mmdebstrap
    architecture: str = AMD64
    brings: bool = False
    packages: tuple[str, ...] = ()

    def command(self, packages: Collection[str] = ()) -> str:
        """The command that makes the file system with these packages."""
        arch = "" if self.architecture == AMD64 else f" --arch {self.architecture}"
        more = f" --packages {','.join(packages)}" if packages else ""
        return f"./p5lab image {self.distribution}{arch}{more}"


@dataclass(frozen=True)
class Call:
    """The cost of a call that does not wait. This cost follows from the system's design. `domains`:
    the number of address spaces that take part, including the address space of the caller.
    `ring_crossings`: the number of ring changes by instructions. `cr3_loads`: the number of changes
    of CR3."""

    domains: int
    ring_crossings: int
    cr3_loads: int


@dataclass(frozen=True, kw_only=True)
class Guest:
    """An operating system that can be booted: an ImageGuest or a MediaGuest. p5lab has programs
    for an ImageGuest."""

    name: str
    title: str
    structure: str
    isa: str
    clock_vector: int  # interrupt vector of the guest's clock tick
    has: frozenset[str] = frozenset()  # capabilities
    lacks: Mapping[str, str] = field(default_factory=dict)  # special reasons by capability

    def why_not(self, workload: Workload, parameters: Mapping[str, int | str]) -> str:
        """The reason why a workload with these parameters does not run on this guest; empty if the
        workload runs."""
        return NO_PROGRAMS

    def why_never(self, workload: Workload) -> str:
        """The reason why a workload never runs on this guest, with any parameters. The result is
        empty if the workload runs with some parameters."""
        return NO_PROGRAMS

    def takes(self, program: str, known: Mapping[str, Workload]) -> bool:
        """Whether a program is built for this guest. `known` contains the workloads by name. If a
        program is not in `known`, it needs no capability."""
        return False


@dataclass(frozen=True, kw_only=True)
class MediaGuest(Guest):
    """A guest that the BIOS boots from the user's own media. p5lab has no programs for it."""

    media: tuple[MediumFile, ...]
    until: str = ""  # the text that ends a boot; empty: the script or the limit ends it
    script: Script | None = None  # the steps of a boot


@dataclass(frozen=True, kw_only=True)
class ImageGuest(Guest):
    """A guest that p5lab builds: its files, its programs and its limits. The boot ROM loads it."""

    protocol: str
    kernel: Path
    programs: str  # the directory of build/workloads with the guest's programs
    initramfs: Path | None = None  # None: the root is on the disk
    disk: Path | None = None  # image of the first disk
    cmdline: str = ""
    # Reasons by `workload` or `workload parameter=value`.
    cannot: Mapping[str, str] = field(default_factory=dict)
    image: Image | None = None
    modules: tuple[tuple[Path, str], ...] = ()  # of a multiboot kernel: file and command line
    calls: Mapping[str, Call] = field(default_factory=dict)  # by workload and its parameters
    screen: str = ""  # the graphics mode of SCREENS that the kernel sets; empty: a text mode

    def why_not(self, workload: Workload, parameters: Mapping[str, int | str]) -> str:
        """As for every guest: a reason of [cannot], or a missing capability."""
        for what, reason in self.cannot.items():
            name, *settings = what.split()
            pairs = (setting.partition("=") for setting in settings)
            if name == workload.name and all(
                str(parameters.get(key)) in values.split("|") for key, _, values in pairs
            ):
                return reason
        return self._missing(workload.needed(parameters))

    def why_never(self, workload: Workload) -> str:
        """As for every guest."""
        return self.cannot.get(workload.name) or self._missing(workload.needs.items())

    def _missing(self, needed: Iterable[tuple[str, str]]) -> str:
        for capability, reason in needed:
            if capability not in self.has:
                return self.lacks.get(capability, reason)
        return ""

    def takes(self, program: str, known: Mapping[str, Workload]) -> bool:
        """As for every guest."""
        if program not in known:
            return program not in self.cannot
        return not self.why_never(known[program])

    @property
    def bin(self) -> str:
        """The directory in the guest where the engine delivers programs, a file system in memory
        (guest-images/parts/rootfs/init.c)."""
        return "/bin" if self.initramfs or self.modules else "/p5/bin"

    @property
    def image_of(self) -> str:
        """The guest whose root file system this guest has: itself, or its base."""
        return self.disk.parent.name if self.disk else self.name

    @property
    def files(self) -> dict[str, Path]:
        """The files that p5lab builds and that the guest boots from, by role."""
        files = {"kernel": self.kernel, "initramfs": self.initramfs, "disk": self.disk}
        modules = {f"module{number}": path for number, (path, _) in enumerate(self.modules)}
        return {role: path for role, path in files.items() if path} | modules

    @property
    def record(self) -> Path:
        """The record that the build wrote about the guest, beside the root file system."""
        modules = [path for path, _ in self.modules]
        return (self.initramfs or self.disk or (modules or [self.kernel])[0]).with_name(
            "guest.json"
        )


def built(guest: Guest) -> ImageGuest:
    """The guest, for what only a built guest has. Raises UserError for another guest."""
    if not isinstance(guest, ImageGuest):
        raise UserError(f"guest {guest.name} {NO_PROGRAMS}")
    return guest


def names(lab: Lab) -> list[str]:
    """The names of all guests, in alphabetical order."""
    return list(lab.files("guest"))


def load(lab: Lab, name: str, place: Where = "") -> Guest:
    """One guest, with the keys of its base filled in. `place`: what names it, for the message about
    an unknown name. Raises UserError if no guest has this name or if the guest's file is wrong."""
    if name not in names(lab):
        raise unknown("guest", name, names(lab), where=begin(place, "guests"))
    return _guest(lab, _resolved(lab, name, ()))


def media_guest(lab: Lab, name: str) -> MediaGuest:
    """As `load`, for a guest that boots from its own media. Raises UserError for another guest."""
    guest = load(lab, name)
    if not isinstance(guest, MediaGuest):
        raise UserError(f"guest {name} has no [media] to boot from")
    return guest


def _guest(lab: Lab, table: TomlTable) -> Guest:
    boot = table.table("boot")
    if boot.choice("protocol", PROTOCOLS) == BIOS or "media" in table.data:
        return _from_media(lab, table, boot)
    for key, place in (("until", boot), (script.KEY, table)):
        if key in place.data:
            raise UserError(f"{place.at(key)}: expected only for a guest with [media]")
    initramfs, disk = boot.text("initramfs", ""), boot.text("disk", "")
    protocol, modules = boot.choice("protocol", PROTOCOLS), boot.texts("modules", [])
    _check_boot(boot, protocol, initramfs, disk, modules)
    has, lacks = _capabilities(lab, table)
    guest = ImageGuest(
        name=table.text("name"),
        title=table.text("title"),
        structure=table.choice("structure", STRUCTURES),
        isa=table.choice("isa", ISAS),
        clock_vector=table.number("clock_vector"),
        programs=table.text("programs", table.text("name")),
        protocol=protocol,
        kernel=lab.root / boot.text("kernel"),
        initramfs=lab.root / initramfs if initramfs else None,
        disk=lab.root / disk if disk else None,
        cmdline=boot.text("cmdline"),
        cannot=table.table("cannot", {}).pairs(),
        image=_image(table.table("image")) if "image" in table.data else None,
        modules=tuple(_module(lab, text) for text in modules),
        calls=_calls(table.table("calls", {})),
        has=has,
        lacks=lacks,
        screen=boot.choice("screen", tuple(SCREENS)) if "screen" in boot.data else "",
    )
    if not 0 <= guest.clock_vector <= 255:
        raise UserError(f"{table.at('clock_vector')}: expected a vector, 0 to 255")
    for key, text in (
        ("cmdline", guest.cmdline),
        *(("modules", text) for _, text in guest.modules),
    ):
        if not text.isascii() or not text.isprintable():
            raise UserError(f"{boot.at(key)}: expected printable ASCII")
    return guest


def _check_boot(
    boot: TomlTable, protocol: str, initramfs: str, disk: str, modules: Sequence[str]
) -> None:
    """Raises UserError if the boot protocol does not fit the files of [boot], or if a file for the
    root file system is missing."""
    if protocol == MULTIBOOT and (initramfs or not modules or not all(modules)):
        raise UserError(f"{boot.where}: a multiboot kernel needs modules, each `FILE TEXT`")
    if protocol != LINUX and "screen" in boot.data:
        raise UserError(f'{boot.at("screen")}: expected only for protocol = "{LINUX}"')
    if protocol != MULTIBOOT and modules:
        raise UserError(f"{boot.at('modules')}: expected only for a multiboot kernel")
    if not initramfs and not modules and not disk:
        raise UserError(f"{boot.where}: expected initramfs or disk, for the root file system")


def _from_media(lab: Lab, table: TomlTable, boot: TomlTable) -> MediaGuest:
    """A guest that the BIOS boots from floppies, IDE disks or a CD-ROM."""
    if boot.text("protocol") != BIOS or "media" not in table.data:
        raise UserError(f'{boot.where}: expected protocol = "{BIOS}" and a table [media] together')
    boot.only(("protocol", "until"))
    until = boot.text("until", "")
    script.check_text(until, boot.at("until"))
    has, lacks = _capabilities(lab, table)
    return MediaGuest(
        name=table.text("name"),
        title=table.text("title"),
        structure=table.choice("structure", STRUCTURES),
        isa=table.choice("isa", ("pentium",)),
        clock_vector=table.number("clock_vector", BIOS_CLOCK_VECTOR),
        has=has,
        lacks=lacks,
        media=media.read(table.table("media")),
        until=until,
        script=script.read(table),
    )


def _capabilities(lab: Lab, table: TomlTable) -> tuple[frozenset[str], dict[str, str]]:
    """The capabilities that the guest has, and the capabilities in its table [lacks] with their
    reasons."""
    has, lacks = set(table.texts("has", [])), table.table("lacks", {}).pairs()
    if not has and not lacks:
        return frozenset(), {}
    known = capabilities(lab)
    for key, names_of_it in (("has", has), ("lacks", lacks)):
        for name in names_of_it:
            if name not in known:
                raise unknown("capability", name, known, where=table.at(key))
    return frozenset(has - lacks.keys()), lacks


def _calls(table: TomlTable) -> dict[str, Call]:
    calls = {}
    for name, described in table.inner().items():
        calls[name] = call = described.record(Call)
        if call.domains < 1 or min(call.ring_crossings, call.cr3_loads) < 0:
            raise UserError(
                f"{described.where}: expected at least one domain, and no negative number"
            )
    return calls


def _module(lab: Lab, text: str) -> tuple[Path, str]:
    """The file and the command line of a multiboot module. `text` contains the file and the
    arguments of the module. The command line consists of the file's name and these arguments."""
    file, _, rest = text.partition(" ")
    return lab.root / file, f"{Path(file).name} {rest.strip()}".rstrip()


def _beside(table: TomlTable, directory: Path) -> None:
    """Replaces ./ at the beginning of a file name with the directory of guest.toml. All other names
    are relative to the checkout."""
    table.table("boot", {}).beside(directory, "kernel", "initramfs", "disk", "modules")
    for medium in table.table("media", {}).inner().values():
        medium.beside(directory, "file")
    script.place(table, directory)


def _image(table: TomlTable) -> Image:
    table.choice("architecture", ARCHITECTURES, AMD64)
    return table.record(Image)


def _resolved(lab: Lab, name: str, variants: tuple[str, ...]) -> TomlTable:
    """The table of a guest, with the keys of its base filled in. `variants`: the guests that have
    this guest as a base, directly or through other bases. If a base is one of these guests, the
    bases form a cycle."""
    path = lab.files("guest")[name]
    table = tomlfile.load(path)
    table.choice("name", (name,))
    table.text("title")  # a variant needs its own title
    boot = table.table("boot", {})
    _beside(table, path.parent)
    if "base" not in table.data:
        table.only(KEYS)
        boot.only(BOOT_KEYS)
        return table
    table.only(("base", *KEYS))
    boot.only((*BOOT_KEYS, *CMDLINE_CHANGES))
    base_name = table.text("base")
    if base_name not in names(lab):
        raise unknown("guest", base_name, names(lab), where=table.at("base"))
    if base_name in (name, *variants):
        raise UserError(f"{table.at('base')}: {base_name!r} is itself a variant of {name!r}")
    base = _resolved(lab, base_name, (name, *variants))
    base_guest = _guest(lab, base)  # an error message about the base names the base
    merged: dict[str, Any] = {
        **base.data,
        **table.data,
        "boot": {**base.table("boot").data, **boot.data},
        "lacks": {**base_guest.lacks, **table.table("lacks", {}).data},
    }
    if "image" in base.data:
        merged["image"] = {**base.table("image").data, **table.table("image", {}).data}
    if isinstance(base_guest, ImageGuest):
        merged = {"programs": base_guest.programs, **merged}
        merged["boot"]["cmdline"] = _cmdline(boot, base_guest)
        merged["cannot"] = {**base_guest.cannot, **table.table("cannot", {}).data}
    return table.with_data(merged)


def _cmdline(boot: TomlTable, base: ImageGuest) -> str:
    """The kernel command line of a variant."""
    changes = [key for key in CMDLINE_CHANGES if key in boot.data]
    if "cmdline" in boot.data:
        if changes:
            raise UserError(
                f"{boot.at(changes[0])}: expected without cmdline, which replaces all words"
            )
        return boot.text("cmdline")
    if not changes:
        return base.cmdline
    words = base.cmdline.split()
    for word in boot.texts("cmdline_remove", []):
        if word not in words:
            raise unknown("word", word, words, where=boot.at("cmdline_remove"))
        words.remove(word)
    return " ".join([*words, *boot.texts("cmdline_add", [])])
