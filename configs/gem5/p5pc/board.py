# SPDX-License-Identifier: MIT
"""The board: gem5's PC with the machine's clocks, port latencies, memory map and IDE disks."""

from pathlib import Path

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
    PciLegacyIoBar,
    RawDiskImage,
    SrcClockDomain,
    X86E820Entry,
    X86E820Table,
)

from p5lab.engines.gem5.parameters import Parameters
from p5lab.engines.gem5.setup import Setup
from p5lab.engines.gem5.workload import layout

from .memory import PentiumMemory

# Types of a range in the BIOS's map of memory (ACPI specification, system address map interfaces).
USABLE, RESERVED = 1, 2
# The BIOS of the embedded engine reports these sizes: the kernel maps the same memory with pages of
# the same size (rombios.c, INT 15h, E820h; rombios.h: ACPI_DATA_SIZE).
BIOS_DATA, HIGH_MEMORY, TABLES = 0x9F000, 0x100000, 0x10000
PCI_SPACE = 0xC0000000  # the bridge to the devices forwards addresses from here on
# The PCI functions that the kernel finds on the embedded engine: device, function, vendor, number,
# class and subclass. Here it finds the same, so its drivers are the same and its own data have the
# same places in memory. gem5's IDE controller becomes that of the PIIX, which Linux drives at ISA
# addresses by PIO; gem5's own number is that of a later chip, which Linux drives by bus mastering.
PCI = {
    "host_bridge": (0, 0, 0x8086, 0x0122, 6, 0),
    "isa_bridge": (1, 0, 0x8086, 0x122E, 6, 1),
    "ide": (1, 1, 0x8086, 0x1230, 1, 1),
    "scsi_adapter": (3, 0, 0x104B, 0x1040, 1, 0),
}
MULTIFUNCTION = 0x80  # a header type: of device 1
IO_SPACE = 1  # in a function's command register
IDE_BUS_MASTER = 0xC000  # an I/O address
M5OPS, TOP = 0xFFFF0000, 1 << 32  # addresses of gem5's operations
HEADER_FILE = "bootparams.bin"


def memory_map(memory: int) -> list[tuple[int, int, int]]:
    """Return start, end and type of each range. `memory` and addresses are in bytes.

    The space above memory is reserved. Otherwise Linux would place PCI devices in this space, but
    the bridge does not forward addresses in this space."""
    return [
        (0, BIOS_DATA, USABLE),
        (BIOS_DATA, HIGH_MEMORY, RESERVED),
        (HIGH_MEMORY, memory - TABLES, USABLE),
        (memory - TABLES, PCI_SPACE, RESERVED),
        (M5OPS, TOP, RESERVED),
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
        self.bus_clk_domain = SrcClockDomain(
            clock=f"{parameters.bus_hz}Hz", voltage_domain=self.clk_domain.voltage_domain
        )
        self.iobus.clk_domain = self.bus_clk_domain

    def _setup_io_devices(self) -> None:
        super()._setup_io_devices()
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
        for name, (device, function, vendor, number, kind, subclass) in PCI.items():
            found = south.ide if name == "ide" else self._bare_function(name)
            found.pci_bus, found.pci_dev, found.pci_func = 0, device, function
            found.VendorID, found.DeviceID = vendor, number
            found.ClassCode, found.SubClassCode = kind, subclass
            found.HeaderType = MULTIFUNCTION if device == PCI["ide"][0] else 0

    def _bare_function(self, name: str) -> IdeController:
        """A PCI function that only answers configuration accesses: in gem5, an IDE controller
        without disks and addresses."""
        found = IdeController(disks=[], **{f"BAR{bar}": PciBarNone() for bar in range(5)})
        setattr(self.pc, name, found)
        found.pio = self.get_io_bus().mem_side_ports
        found.dma = self.get_io_bus().cpu_side_ports
        return found

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
