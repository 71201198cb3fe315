# SPDX-License-Identifier: MIT
"""The embedded engine: Bochs with our Pentium model (build/engine/p5bochs).

A guest of x86-64 gets an engine of its own (p5bochs64): the same caches and TLBs, counted under
another processor, without clocks.
"""

import hashlib
import os
import re
import struct
from pathlib import Path
from typing import Any

from p5lab.describe.experiment import Run
from p5lab.describe.guest import MULTIBOOT, X86_64
from p5lab.engines import EVENTS, Outcome, Plan
from p5lab.errors import UserError
from p5lab.execute import boot, functions
from p5lab.execute.logs import last_line, panic, printable, signal_name
from p5lab.lab import Lab
from p5stats import StatsError, events

# Exit statuses of the engine (engine/bochs).
BAD_CONFIG, GUEST_FAILED, TIME_LIMIT, OUTPUT_FAILED = 2, 3, 4, 5
CONSOLE, SERIAL, OUTPUT, LOG = "engine.out", "serial.log", "output.log", "engine.log"
CROSSINGS = "crossings.jsonl"
TRACES = {"crossings": CROSSINGS, "accesses": "accesses.bin"}
ATTRIBUTION, FUNCTIONS = "attribution.jsonl", "functions.txt"
# What the engine is told where a run records more than its counts, or ends before its program does,
# as another run of the same need not: neither takes the other's place.
_APART = (
    "run.crossings",
    "run.accesses",
    "run.vectors",
    "run.attribution",
    "run.attribution_stacks",
    "run.attribution_misses",
    "run.power_cut_us",
    "run.pcap",
)
SETUP = "setup.bin"
DISK_IMAGE = "disk.img"
CAPTURE = "wire.pcap"
VECTORS, SIMPOINTS, WEIGHTS = "simpoint.bb", "simpoint.simpoints", "simpoint.weights"
# A disk with the largest geometry that a BIOS of the time could address.
HEADS, SECTORS = 16, 63
CYLINDER = HEADS * SECTORS * 512
NO_DISK = "ata0: enabled=0"
# What the emulator plays, and the features that it adds, by cpu.isa. CMOV, FCMOV and FCOMI are its
# "p6ni"; the Athlon 64 is its processor of x86-64 with the least beside that.
PROCESSORS = {
    "pentium": ("pentium", ""),
    "pentium+cmov": ("pentium", "p6ni"),
    X86_64: ("athlon64_clawhammer", ""),
}


class Bochs:
    """prepare and collect for build/engine/p5bochs and p5bochs64."""

    outputs = (
        EVENTS,
        SERIAL,
        OUTPUT,
        LOG,
        CONSOLE,
        *TRACES.values(),
        VECTORS,
        ATTRIBUTION,
        DISK_IMAGE,
        CAPTURE,
    )
    repeatable = True
    portable = True

    def prepare(self, lab: Lab, run: Run, directory: Path) -> Plan:
        engine = lab.engine if run.has_clocks else lab.engine64
        asked = run.shadows or run.sample or "accesses" in run.trace or "misses" in run.attribute
        if asked and not run.has_clocks:
            raise UserError(
                f'guest {run.guest.name} is of {X86_64}: expected none of events = "misses",'
                " simpoint, --trace accesses and --attribute misses"
            )
        inputs = {
            "engine": engine,
            "bochsrc.in": lab.bochsrc,
            "bios": lab.bios,
            "vgabios": lab.vgabios,
            "bootrom": lab.bootrom,
            **run.guest.files,
        }
        if run.machine.values["disk.count"]:
            inputs["scsi"] = lab.formatted_disk
        if run.has_clocks:
            inputs["timing"] = lab.timing(str(run.machine.values["cpu.timing"]))
        if run.program:
            inputs |= {"program": run.program.path} if run.program.path else {}
        elif not run.shell:
            inputs["workload"] = lab.program(run.guest.programs, run.workload.name)
        if run.guest.protocol == MULTIBOOT:
            inputs["multiboot"] = lab.multiboot
        for role, path in inputs.items():
            if not path.is_file():
                raise UserError(f"missing {role}: {lab.short(path)}; run `./p5lab build`", status=1)
        try:
            kernel = run.guest.kernel.read_bytes()
        except OSError as error:
            raise UserError(f"cannot read {run.guest.kernel}: {error.strerror}") from None
        layout = _layout(lab, run, kernel)
        # Files are named by their role in what identifies the run, by their path in what runs.
        conf: dict[str, str] = {
            **run.machine.engine_conf(),
            "run.events": EVENTS,
            "run.output": OUTPUT,
            "run.limit_cycles": str(run.limit_cycles),
            "run.timing": "on" if run.model else "off",
            "run.feedback": "on" if run.feedback and run.has_clocks else "off",
            "run.trace_reads": "off",
            **layout.conf(),
        }
        if run.has_clocks:
            conf["run.timing_table"] = "timing"
        if "scsi" in inputs:
            conf["disk.image"] = "scsi"
        for number, shadow in enumerate(run.shadows):
            conf[f"shadow.{number}.name"] = shadow.name
            conf[f"shadow.{number}.set"] = " ".join(
                f"{key}={value}" for key, value in shadow.settings.items()
            )
        for kind in run.trace:
            conf[f"run.{kind}"] = TRACES[kind]
        if "accesses" in run.trace:
            conf["run.access_limit"] = str(run.accesses)
        if run.vectors:
            conf |= {"run.vectors": VECTORS, "run.vector_interval": str(run.vectors)}
        chosen, known = {}, {}
        if run.attribute:
            conf |= {
                "run.attribution": ATTRIBUTION,
                "run.functions": FUNCTIONS,
                "run.attribution_stacks": "on" if "stacks" in run.attribute else "off",
                "run.attribution_misses": "on" if "misses" in run.attribute else "off",
            }
            known = {FUNCTIONS: functions.table(lab, run).encode()}
        if run.sample:
            conf["run.sample"] = " ".join(
                f"{one.number}:{one.begin}:{one.end}:{one.weight}" for one in run.sample.intervals
            )
            conf["run.warm_up"] = str(run.sample.warm_up)
            chosen = {SIMPOINTS: run.sample.simpoints, WEIGHTS: run.sample.weights}
        if run.machine.values["net.card"] != "none":
            conf["net.seed"] = str(run.seed)
        job = {"run.job": run.job}
        if run.power_cut:
            if "scsi" not in inputs:
                raise UserError("--power-cut: expected a machine with disks: disk.count is 0")
            job |= {"run.power_cut_us": str(run.power_cut), "run.power_cut_image": DISK_IMAGE}
        if run.pcap:
            if run.machine.values["net.card"] == "none":
                raise UserError("--pcap: expected a machine with a network card: net.card is none")
            job["run.pcap"] = CAPTURE
        if "program" in inputs:
            job["run.program"] = "program"
        names = {role: os.path.relpath(path, directory) for role, path in inputs.items()}
        lines = []
        for key, value in {**conf, **job}.items():
            if key.startswith("boot.blob."):
                place, _, role = value.rpartition(" ")
                value = f"{place} {names.get(role, role)}"
            elif key in ("run.timing_table", "run.program", "disk.image"):
                value = names[value]
            lines.append(f"{key} = {value}\n")
        processor, features = PROCESSORS[str(run.machine.values["cpu.isa"])]
        values = {
            "clock_hz": str(run.machine.clock_hz),
            "ram_mb": str(int(run.machine.values["dram.size"]) >> 20),
            "chipset": str(run.machine.values["devices.chipset"]),
            "processor": processor,
            "features": features,
        }
        conf_text = "".join(lines).encode()
        if run.guest.disk:
            values["cylinders"] = str(_cylinders(lab, run.guest.disk))
        places = {role: names[role] for role in ("bios", "vgabios", "bootrom")}
        places["disk"] = _disk(names["disk"], values["cylinders"]) if run.guest.disk else NO_DISK
        return Plan(
            inputs=inputs,
            settings={
                "engine.conf": conf,
                "job": job,
                "bochsrc": values,
                # The kernel's command line is in there, and nowhere else.
                SETUP: hashlib.sha256(layout.setup).hexdigest(),
                **chosen,
                **{name: hashlib.sha256(text).hexdigest() for name, text in known.items()},
            },
            write={
                "engine.conf": conf_text,
                "bochsrc": _fill(lab.bochsrc, {**values, **places}).encode(),
                SETUP: layout.setup,
                **{name: text.encode() for name, text in chosen.items()},
                **known,
            },
            command=(names["engine"], "-q", "-f", "bochsrc"),
            environment={"P5LAB_ENGINE_CONF": "engine.conf", "LC_ALL": "C"},
            versions={"guest kernel": _kernel_version(kernel)},
            built_from={
                "engine": lab.record_of(engine),
                "guest": run.guest.record,
            },
            after_boot=frozenset({"job", "program", "workload"}),
            server={"engine.conf": conf_text + b"run.server = on\n"},
        )

    def collect(self, directory: Path, status: int) -> Outcome:
        """What the end line, the exit status and the logs say, in this order of trust."""
        end = events.end_line(directory / EVENTS)
        said = end[1] if end else last_line(directory / CONSOLE)
        if status < 0:
            return Outcome("failed", f"engine killed by {signal_name(-status)}")
        if status == TIME_LIMIT:
            return Outcome("timeout", said or "virtual-time limit reached")
        if status == OUTPUT_FAILED:
            return Outcome("failed", f"engine could not write its output: {said}")
        if status == BAD_CONFIG:
            return Outcome("failed", f"engine refused its configuration: {said}")
        if status == GUEST_FAILED:
            why = panic(directory / SERIAL)
            return Outcome("failed", f"{said}: {why}" if why else said or "guest failed")
        if status != 0:
            return Outcome("failed", f"engine ended with status {status}: {said}")
        return Outcome(*end) if end else Outcome("failed", _why_no_end(directory / EVENTS))

    def last_output(self, directory: Path) -> str:
        return last_line(directory / OUTPUT)


def apart(record: dict[str, Any]) -> dict[str, str]:
    """What sets a run apart from another of the same (run.json)."""
    settings = record["identity"].get("settings", {})
    told = settings.get("engine.conf", {}) | settings.get("job", {})
    return {key: told[key] for key in _APART if key in told}


def _why_no_end(path: Path) -> str:
    """What the parser has to say about a file from which the end line could not be had."""
    try:
        events.parse(path)
    except StatsError as error:
        return str(error).replace(f"{path.parent}/", "")
    return f"{path.name}: no end line"


def _cylinders(lab: Lab, image: Path) -> int:
    size = image.stat().st_size
    if not size or size % CYLINDER:
        raise UserError(
            f"{lab.short(image)}: {size} bytes: expected a multiple of {CYLINDER} (16 heads of 63"
            " sectors)"
        )
    return size // CYLINDER


def _disk(path: str, cylinders: str) -> str:
    """The primary IDE master; its image mode is the engine's own (engine/bochs/disk.cc)."""
    return (
        "ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14\n"
        f'ata0-master: type=disk, mode=private, path="{path}", cylinders={cylinders},'
        f" heads={HEADS}, spt={SECTORS}, translation=none"
    )


def _fill(template: Path, values: dict[str, str]) -> str:
    """The template with every @name@ replaced; unknown names are an error of the template."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise UserError(f"{template}: unknown placeholder {match[0]}")
        return values[match[1]]

    return re.sub(r"@([a-z_]+)@", value, template.read_text(encoding="utf-8"))


def _layout(lab: Lab, run: Run, kernel: bytes) -> boot.Layout:
    """What the boot ROM finds in memory, with files by their roles."""
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
    return boot.linux(kernel, Path("kernel"), Path("initramfs"), size, cmdline, memory, Path(SETUP))


def _kernel_version(kernel: bytes) -> str:
    """The version text a kernel carries (of a bzImage boot.rst: kernel_version at 0x20E)."""
    if kernel[:4] == b"\x7fELF":
        found = re.search(rb"GNU Mach [\x20-\x7e]+", kernel)
        return found[0].decode("ascii") if found else "unknown"
    start = struct.unpack_from("<H", kernel, 0x20E)[0] + 0x200
    return printable(kernel[start : start + 200].split(b"\0")[0].decode("ascii", "replace"))
