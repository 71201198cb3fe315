# SPDX-License-Identifier: MIT
"""The board: gem5's PC with the machine's clocks, port latencies, memory map and IDE disks."""

from pathlib import Path

import m5
from gem5.components.boards.x86_board import X86Board
from gem5.components.cachehierarchies.classic.abstract_classic_cache_hierarchy import (
    AbstractClassicCacheHierarchy,
)
from gem5.components.processors.abstract_processor import AbstractProcessor
from m5.objects import (
    CowDiskImage,
    IdeController,
    IdeDisk,
    PciBarNone,
    PciIoBar,
    PciLegacyIoBar,
    RawDiskImage,
    Root,
    SrcClockDomain,
    X86E820Entry,
    X86E820Table,
    X86IntelMPIOIntAssignment,
)

from p5lab.engines.gem5.parameters import Parameters
from p5lab.engines.gem5.setup import Setup
from p5lab.engines.gem5.workload import layout

from .memory import PentiumMemory

# Types of a range in the BIOS's map of memory (ACPI specification, system address map interfaces).
USABLE, RESERVED, ACPI_DATA = 1, 2, 3
# The BIOS of the embedded engine reports these ranges (rombios.c, INT 15h, E820h; rombios.h:
# ACPI_DATA_SIZE). So the kernel maps the same memory with pages of the same size, and its tables of
# ranges have the same size.
BIOS_DATA, VIDEO, BIOS, HIGH_MEMORY, TABLES = 0x9F000, 0xA0000, 0xE8000, 0x100000, 0x10000
FLASH, TOP = 0xFFFC0000, 1 << 32  # gem5's operations lie in it
# The PCI functions that the kernel finds on the embedded engine: device, function, vendor, number,
# class, subclass and programming interface. Here it finds the same, so its drivers are the same and
# its own data have the same places in memory. gem5's IDE controller becomes that of the PIIX, which
# Linux drives at ISA addresses by PIO; gem5's own number is that of a later chip, which Linux
# drives by bus mastering.
PCI = {
    "host_bridge": (0, 0, 0x8086, 0x0122, 6, 0, 0),
    "isa_bridge": (1, 0, 0x8086, 0x122E, 6, 1, 0),
    "ide": (1, 1, 0x8086, 0x1230, 1, 1, 0x80),
    "scsi_adapter": (3, 0, 0x104B, 0x1040, 1, 0, 0),
}
MULTIFUNCTION = 0x80  # a header type: of device 1
IO_SPACE = 1  # in a function's command register
IDE_BUS_MASTER = 0xC000  # an I/O address
# Buses in gem5's table of interrupts, and the last interrupt line of a PC.
PCI_BUS, ISA_BUS, LAST_LINE = 0, 1, 15
HEADER_FILE = "bootparams.bin"


def memory_map(memory: int) -> list[tuple[int, int, int]]:
    """Return start, end and type of each range. `memory` and addresses are in bytes."""
    return [
        (0, BIOS_DATA, USABLE),
        (BIOS_DATA, VIDEO, RESERVED),
        (BIOS, HIGH_MEMORY, RESERVED),
        (HIGH_MEMORY, memory - TABLES, USABLE),
        (memory - TABLES, memory, ACPI_DATA),
        (FLASH, TOP, RESERVED),
    ]


class PentiumBoard(X86Board):
    """gem5's X86Board for this machine. `clk_domain` is the clock of the core, and `bus_clk_domain`
    is the clock of the external bus."""

    def __init__(
        self,
        parameters: Parameters,
        processor: AbstractProcessor,
        cache_hierarchy: AbstractClassicCacheHierarchy,
    ) -> None:
        self._parameters = parameters
        super().__init__(
            clk_freq=f"{parameters.core_hz}Hz",
            processor=processor,
            memory=PentiumMemory(parameters),
            cache_hierarchy=cache_hierarchy,
        )
        self.cache_line_size = parameters.line
        self.exit_on_work_items = True  # markers begin and end

    def _setup_io_devices(self) -> None:
        super()._setup_io_devices()
        self.bus_clk_domain = SrcClockDomain(
            clock=f"{self._parameters.bus_hz}Hz", voltage_domain=self.clk_domain.voltage_domain
        )
        self.iobus.clk_domain = self.bus_clk_domain
        self.workload.e820_table = X86E820Table(
            entries=[
                X86E820Entry(addr=start, size=f"{end - start}B", range_type=kind)
                for start, end, kind in memory_map(self._parameters.memory_bytes)
            ]
        )
        self.bridge.delay = "0ns"  # the devices' latency includes the bridge
        south = self.pc.south_bridge
        isa = (
            south.pic1,
            south.pic2,
            south.cmos,
            south.dma1,
            south.keyboard,
            south.pit,
            south.speaker,
            self.pc.com_1,
        )
        for device in isa:
            device.pio_latency = f"{self._parameters.isa_port}ps"
        south.ide.pio_latency = f"{self._parameters.pci_port}ps"
        # Answers at its I/O addresses at once, as behind a BIOS.
        south.ide.Command = IO_SPACE
        south.ide.BAR4 = PciLegacyIoBar(addr=IDE_BUS_MASTER, size="16B")
        for name, (device, function, vendor, number, kind, subclass, interface) in PCI.items():
            endpoint = south.ide if name == "ide" else self._bare_function(name)
            endpoint.pci_bus, endpoint.pci_dev, endpoint.pci_func = 0, device, function
            endpoint.VendorID, endpoint.DeviceID = vendor, number
            endpoint.ClassCode, endpoint.SubClassCode, endpoint.ProgIF = kind, subclass, interface
            endpoint.InterruptPin = endpoint.InterruptLine = 0
            endpoint.HeaderType = MULTIFUNCTION if device == PCI["ide"][0] else 0
        self.pc.scsi_adapter.BAR0 = PciIoBar(size="4B")
        self._connect_last_line()

    def _connect_last_line(self) -> None:
        """gem5's table of interrupts has the line of a PCI slot that is empty here, and lacks line
        15 of a PC. The kernel makes an object for each line behind those of a PC."""
        for entry in self.workload.intel_mp_table.base_entries:
            if isinstance(entry, X86IntelMPIOIntAssignment) and int(entry.source_bus_id) == PCI_BUS:
                entry.source_bus_id = ISA_BUS
                entry.source_bus_irq = entry.dest_io_apic_intin = LAST_LINE

    def _bare_function(self, name: str) -> IdeController:
        """A PCI function that only answers configuration accesses: in gem5, an IDE controller
        without disks and addresses."""
        endpoint = IdeController(disks=[], **{f"BAR{bar}": PciBarNone() for bar in range(5)})
        setattr(self.pc, name, endpoint)
        endpoint.pio = self.get_io_bus().mem_side_ports
        endpoint.dma = self.get_io_bus().cpu_side_ports
        return endpoint

    def load(self, setup: Setup, outdir: Path) -> None:
        """Attach kernel, RAM disk, command line, disk and job. Writes one small file to `outdir`.
        Raises UserError if kernel and RAM disk do not fit into memory."""
        kernel = setup.path("kernel")
        initramfs = setup.path("initramfs") if "initramfs" in setup.files else None
        place = layout(kernel, initramfs, self._parameters.memory_bytes)
        header = outdir / HEADER_FILE
        header.write_bytes(place.header)
        self._set_fullsystem(True)
        self.workload.object_file = str(kernel)
        self.workload.command_line = setup.command_line
        self.workload.extras = [str(header)]
        self.workload.extras_addrs = [place.header_address]
        if initramfs:
            self.workload.extras = [str(header), str(initramfs)]
            self.workload.extras_addrs = [place.header_address, place.initramfs_address]
        self.readfile = str(setup.path("job").absolute())
        if "disk" in setup.files:
            image = RawDiskImage(image_file=setup.files["disk"], read_only=True)
            self.pc.south_bridge.ide.disks = [
                IdeDisk(driveID="device0", image=CowDiskImage(child=image, read_only=False))
            ]

    def instantiate(self, checkpoint: Path | None) -> None:
        """Make gem5's objects, in the state of the checkpoint if there is one."""
        if self._pre_instantiate() is None:  # later states of gem5 make the root there
            Root(full_system=True, board=self)
        m5.instantiate(str(checkpoint) if checkpoint else None)
        self._post_instantiate()
