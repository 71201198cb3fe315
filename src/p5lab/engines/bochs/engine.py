# SPDX-License-Identifier: MIT
"""Bochs with our Pentium model: build/engine/p5bochs, and p5bochs64 for x86-64 guests.

p5bochs64 models the same caches and TLBs for an x86-64 processor. It counts clocks only with
--clocks nominal.
"""

import hashlib
import re
import struct
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from p5lab.describe import delivery, media, observation, seeds
from p5lab.describe import guest as guests
from p5lab.describe import outputs as files
from p5lab.describe.boot import packed, remarks
from p5lab.describe.engine import Capabilities
from p5lab.describe.guest import MULTIBOOT, X86_64, Guest, MediaGuest
from p5lab.describe.plan import PlanPart
from p5lab.describe.run import ImageRun, MediaRun, Run
from p5lab.engines import EVENTS, Engine, Outcome, Plan, check_inputs
from p5lab.engines.bochs import bochsrc, boot, pictures, saved_state, script
from p5lab.errors import UserError
from p5lab.lab import Lab, relative
from p5lab.logs import last_line, last_line_about, panic, printable, signal_name
from p5stats import StatsError, events

# Exit statuses of the engine (engine/bochs).
BAD_CONFIG, GUEST_FAILED, TIME_LIMIT, OUTPUT_FAILED = 2, 3, 4, 5
ABORTED = "the guest program aborted"  # as engine/session/markers.cc says it
CONSOLE, SERIAL, OUTPUT, LOG = map(files.file, ("console", "serial", "output", "log"))
SCREEN, PICTURE = files.file("screen"), files.file("picture")
BOOT_CONF, JOB_CONF, SETUP = "boot.conf", "job.conf", "setup.bin"
# The names of the lines of these files in the identity of a run, as in the first version.
CONF, JOB = "engine.conf", "job"
STATE = "state"  # the role of a saved state
PROGRAM = "program"  # the role of the user's program
DELIVERED = "delivered"  # the role of the archive that the engine delivers
SERVE = b"run.serve = on\n"  # the job of a boot that several runs share
LIVE = b"run.live = on\n"  # a person drives the machine
STEP_SCREENS = files.file("step_screens")
# The ends of the messages about limits.
LONGER = "`run --limit SECONDS` sets another limit"
OF_STEP, LONGER_STEP = "limit of the step", "`within` of the step sets another limit"

ENVIRONMENT = {"LC_ALL": "C"}


class Bochs(Engine):
    """The engine that this checkout builds. This engine is the default for a run."""

    can = Capabilities(
        guests=tuple(bochsrc.PROCESSORS),
        without_clocks=(X86_64,),
        feedback=True,
        model=True,
        observations=observation.KINDS,
        portable=True,
        media=True,
    )
    outputs = (
        EVENTS,
        SERIAL,
        OUTPUT,
        LOG,
        CONSOLE,
        SCREEN,
        STEP_SCREENS,
        PICTURE,
        saved_state.ARCHIVE,
        *media.CHANGED.values(),
        *observation.outputs(observation.KINDS),
    )

    def targets(self, lab: Lab, guests: Collection[Guest]) -> tuple[str, ...]:
        """The engines for the guests' processors, the BIOS images, the boot ROM, the formatted
        disk, and the guests themselves. A guest with media can also have a saved state."""
        engines = {_program(lab, guest.isa) for guest in guests}
        made = {lab.short(path) for engine in engines for path in (engine, lab.record_of(engine))}
        if any(isinstance(guest, MediaGuest) for guest in guests):
            made.add(lab.short(lab.restorer))
        ours = (*sorted(made), "build/engine/bios", "build/bootrom", "build/disks")
        return (*ours, *super().targets(lab, guests))

    def examine(self, lab: Lab, runs: Sequence[Run]) -> list[str]:
        """As for every engine. Also raises UserError for an observation that the machine does not
        allow, and returns remarks on media with an unknown content."""
        said = super().examine(lab, runs)
        for run in runs:
            run.observation.check(run)
            if not isinstance(run, MediaRun):
                continue
            said += packed(run.boot)
            if run.guest.name in guests.names(lab):
                said += remarks(run.guest.media, run.boot)
        return list(dict.fromkeys(said))

    def prepare(self, lab: Lab, run: Run, directory: Path) -> Plan:
        """The plan of a run: boot.conf, job.conf, bochsrc and setup.bin in the run directory, and
        the engine's command. Raises UserError for a missing file and for an observation that the
        machine does not allow."""
        run.observation.check(run)
        if isinstance(run, MediaRun):
            return _of_media(lab, run, directory)
        assert isinstance(run, ImageRun)
        return _of_image(lab, run, directory)

    def collect(self, directory: Path, status: int) -> Outcome:
        """The outcome, from the exit status, the end line of the events and the logs. Also converts
        the pictures of the screen to PNG."""
        pictures.convert(directory)
        saved_state.pack(directory)
        end = events.end_line(directory / EVENTS)
        said = end[1] if end else last_line(directory / CONSOLE)
        if status < 0:
            return Outcome("failed", f"engine killed by {signal_name(-status)}")
        if status == TIME_LIMIT:
            longer = LONGER_STEP if OF_STEP in said else LONGER
            return Outcome("timeout", f"{said or 'virtual-time limit reached'}; {longer}")
        if status == OUTPUT_FAILED:
            return Outcome("failed", f"engine could not write its output: {said}")
        if status == BAD_CONFIG:
            said = last_line_about(directory / CONSOLE, BOOT_CONF, JOB_CONF)
            return Outcome("failed", f"engine refused its configuration: {said}")
        if status == GUEST_FAILED:
            why = panic(directory / SERIAL)
            if not why and said.startswith(ABORTED):
                why = f"last output: {self.last_output(directory)}"
            return Outcome("failed", f"{said}: {why}" if why else said or "guest failed")
        if status != 0:
            return Outcome("failed", f"engine ended with status {status}: {said}")
        return Outcome(*end) if end else Outcome("failed", _why_no_end(directory / EVENTS))

    def last_output(self, directory: Path) -> str:
        """The last line of the workload's output, safe for a terminal."""
        return last_line(directory / OUTPUT)


def _of_image(lab: Lab, run: ImageRun, directory: Path) -> Plan:
    """The plan of a run of a guest that p5lab has built."""
    guest = run.guest
    boot_inputs = _machine_inputs(lab, run, lab.bootrom) | guest.files
    if guest.protocol == MULTIBOOT:
        boot_inputs["multiboot"] = lab.multiboot
    job_inputs = {}
    if delivered := delivery.archived(lab, run):
        job_inputs[DELIVERED] = delivered
    if run.program and run.program.delivered:
        job_inputs[PROGRAM] = run.program.delivered
    paths = _paths(boot_inputs | job_inputs, directory)
    try:
        kernel = guest.kernel.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {guest.kernel}: {error.strerror}") from None
    layout = _layout(lab, run, kernel)
    conf = _boot_conf(run, boot_inputs) | layout.conf()
    if guest.screen:
        conf |= {"run.screen": SCREEN, "run.serial": OUTPUT, "run.step_screens": STEP_SCREENS}
    job = {"run.job": run.job, **run.observation.job()}
    if delivered:
        job["run.program"] = DELIVERED
    titles: dict[str, str] = {}
    if run.program and run.program.script:
        beside = script.beside_program(run.program.script)
        job, titles = job | beside.steps, beside.titles
    emulator = bochsrc.make(lab, run.machine, paths, disk=guest.disk)
    observed = run.observation.inputs(lab, run)
    return Plan(
        boot=PlanPart(
            boot_inputs,
            {
                CONF: conf,
                "bochsrc": emulator.values,
                # The digest of this file depends on the kernel's command line. No other setting
                # contains this command line.
                SETUP: _sha256(layout.setup),
            },
            {
                BOOT_CONF: conf_text(conf, paths),
                "bochsrc": emulator.text.encode(),
                SETUP: layout.setup,
            },
        ),
        # Files of observations matter to the run itself, which begins at the ready marker.
        job=PlanPart(
            job_inputs,
            {JOB: job, **{name: _sha256(content) for name, content in observed.items()}},
            {JOB_CONF: conf_text(job | titles, paths), **observed},
        ),
        command=(paths["engine"], "-q", "-f", "bochsrc"),
        environment=ENVIRONMENT,
        versions={"guest kernel": _kernel_version(kernel)},
        built_from={"engine": lab.record_of(boot_inputs["engine"]), "guest": guest.record},
        server={JOB_CONF: SERVE},
    )


def _of_media(lab: Lab, run: MediaRun, directory: Path) -> Plan:
    """The plan of a run that boots from media. Each floppy gets a private copy in the run
    directory, because the emulator writes to the file of a floppy."""
    boot = run.boot
    late_roles = {medium.role for medium in boot.inserted} - {*boot.early}
    files = {medium.role: medium.path for medium in (*boot.media, *boot.inserted)}
    boot_inputs = _machine_inputs(lab, run, lab.cache_rom) | {
        role: path for role, path in files.items() if role not in late_roles
    }
    job_inputs = {role: files[role] for role in files if role in late_roles}
    if boot.state:
        job_inputs |= {STATE: boot.state, "restore": lab.restorer}
    paths = _paths(boot_inputs | job_inputs, directory)
    early, late = script.lines(boot)
    conf = _boot_conf(run, boot_inputs) | _media_conf(run) | early.steps
    job = {"run.job": run.job, **late.steps}
    if boot.save_state:
        job["run.save_state"] = saved_state.DIRECTORY
    emulator = bochsrc.make(lab, run.machine, paths, boot)
    job_text = conf_text(job | late.titles, paths)
    # Without a ready point, the job begins at reset, and no run can share the boot.
    shares = boot.has_ready_point and not boot.save_state and not boot.state
    from_reset = {} if boot.has_ready_point else job
    return Plan(
        boot=PlanPart(
            boot_inputs,
            {CONF: conf | from_reset, "bochsrc": emulator.values},
            {
                BOOT_CONF: conf_text(conf | early.titles, paths),
                "bochsrc": emulator.text.encode(),
                **{f"{medium.role}.img": medium.path.read_bytes() for medium in boot.floppies},
            },
        ),
        job=PlanPart(job_inputs, {JOB: job} if boot.has_ready_point else {}, {JOB_CONF: job_text}),
        command=(
            (paths["restore"], saved_state.IMAGE)
            if boot.state
            else (paths["engine"], "-q", "-f", "bochsrc")
        ),
        environment=ENVIRONMENT,
        versions={},
        built_from={"engine": lab.record_of(boot_inputs["engine"])},
        # A run that saves or continues a state is not forked.
        server={JOB_CONF: SERVE} if shares else {},
        state=STATE if boot.state else "",
        live={JOB_CONF: job_text + LIVE},
        shared={
            # The screens of the steps before the ready point have these titles.
            "titles": list(early.titles.values()),
            # A drive must take all floppies of its run.
            "drives": [boot.drive(role) for role in media.FLOPPIES],
        },
    )


def _media_conf(run: MediaRun) -> dict[str, str]:
    """The lines of boot.conf about a boot from media, without its steps."""
    boot = run.boot
    conf = {"run.media": "on", "run.screen": SCREEN, "run.serial": SERIAL}
    if boot.script:
        conf["run.step_screens"] = STEP_SCREENS
    if boot.has_ready_point:
        conf["run.floppies"] = " ".join(f"{role}.img" for role in boot.early)
    if boot.keep in media.DISKS:
        drives = [medium.role for medium in boot.media if medium.role in media.DISKS]
        conf["run.keep"] = media.CHANGED[boot.keep]
        conf["run.keep_drive"] = str(drives.index(boot.keep))
    # The observations of such a guest begin at reset.
    return conf | run.observation.job()


def _program(lab: Lab, isa: str) -> Path:
    """The engine's program for a level of cpu.isa."""
    return lab.engine64 if isa in Bochs.can.without_clocks else lab.engine


def _machine_inputs(lab: Lab, run: Run, bootrom: Path) -> dict[str, Path]:
    """The input files of the machine, without those of the guest, by role."""
    inputs = {
        "engine": _program(lab, str(run.machine.values["cpu.isa"])),
        "bochsrc.in": lab.bochsrc,
        "bios": lab.bios,
        "vgabios": lab.vgabios,
        "bootrom": bootrom,
    }
    if run.machine.values["disk.count"]:
        inputs["scsi"] = lab.formatted_disk
    if run.has_clocks:
        inputs["timing"] = lab.timing(str(run.machine.values["cpu.timing"]))
    return inputs


def _paths(inputs: Mapping[str, Path], directory: Path) -> dict[str, str]:
    """The path of each input from a run directory. Raises UserError for a missing file."""
    check_inputs(inputs)
    return {role: relative(path, directory) for role, path in inputs.items()}


def _layout(lab: Lab, run: ImageRun, kernel: bytes) -> boot.BootLayout:
    """The layout of memory for the boot ROM. In the layout, the role of each file replaces the path
    of the file."""
    guest, memory = run.guest, int(run.machine.values["dram.size"])
    cmdline = f"{guest.cmdline} p5seed={run.seed}" if run.seed else guest.cmdline
    if guest.protocol == MULTIBOOT:
        modules = [
            boot.Module(Path(f"module{number}"), file.stat().st_size, text)
            for number, (file, text) in enumerate(guest.modules)
        ]
        loader = lab.multiboot.read_bytes()
        return boot.multiboot(kernel, Path("kernel"), modules, cmdline, memory, loader, Path(SETUP))
    size = guest.initramfs.stat().st_size if guest.initramfs else 0
    return boot.linux(
        kernel,
        Path("kernel"),
        Path("initramfs"),
        size,
        cmdline,
        memory,
        Path(SETUP),
        guests.SCREENS.get(guest.screen, 0),
    )


def _boot_conf(run: Run, inputs: Collection[str]) -> dict[str, str]:
    """The lines of boot.conf. In these lines, the role of each file replaces the path. So the lines
    are the same in every run directory."""
    conf: dict[str, str] = {
        **run.machine.engine_conf(),
        "run.events": EVENTS,
        "run.output": OUTPUT,
        "run.limit_cycles": str(run.limit_cycles),
        "run.timing": "on" if run.model else "off",
        "run.feedback": "on" if run.feedback and run.has_clocks else "off",
    }
    if "timing" in inputs:
        conf["run.timing_table"] = "timing"
    if "scsi" in inputs:
        conf["disk.image"] = "scsi"
    if run.seed:
        conf["run.phase"] = str(seeds.phase(run.seed, run.machine.clock_hz))
    conf |= run.observation.boot()
    if run.machine.values["net.card"] != "none":
        conf["net.seed"] = str(run.seed)
    return conf


def conf_text(lines: Mapping[str, str], paths: Mapping[str, str]) -> bytes:
    """The text of boot.conf or job.conf. The path of each file replaces the role of the file."""
    text = []
    for key, value in lines.items():
        if key.startswith("boot.blob."):
            place, _, role = value.rpartition(" ")
            value = f"{place} {paths.get(role, role)}"
        elif key in ("run.timing_table", "run.program", "disk.image"):
            value = paths[value]
        text.append(f"{key} = {value}\n")
    return "".join(text).encode()


def _kernel_version(kernel: bytes) -> str:
    """The version text in a kernel. In a bzImage, the field kernel_version at 0x20E points to this
    text (boot.rst)."""
    if kernel[:4] == b"\x7fELF":
        match = re.search(rb"GNU Mach [\x20-\x7e]+", kernel)
        return match[0].decode("ascii") if match else "unknown"
    start = struct.unpack_from("<H", kernel, 0x20E)[0] + 0x200
    return printable(kernel[start : start + 200].split(b"\0")[0].decode("ascii", "replace"))


def _why_no_end(path: Path) -> str:
    """The reason why the file of events has no valid end line: the message of the parser."""
    try:
        events.parse(path)
    except StatsError as error:
        return str(error).replace(f"{path.parent}/", "")
    return f"{path.name}: no end line"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


ENGINE = Bochs
