// SPDX-License-Identifier: MIT
// The parameter file of the tests' own machine: a 90 MHz Pentium on a 60 MHz bus, with 256 KB L2
// and 32 MB. It has all keys that have no default. Its times are no board's, so a better estimate
// for a board changes no expected clock of a test.
#pragma once

inline const char* const kMachine = R"(# the P90
cpu.clock_mhz = 90
cpu.bus_mhz = 60
l1i.size = 8192
l1i.ways = 2
l1i.line = 32
l1i.replacement = lru
l1d.size = 8192
l1d.ways = 2
l1d.line = 32
l1d.replacement = lru
l1d.write_policy = write-back
l1d.write_allocate = false
l2.present = true
l2.size = 262144
l2.ways = 1
l2.line = 32
l2.replacement = lru
l2.write_policy = write-back
l2.write_allocate = false
l2.read = 3-2-2-2
l2.write = 3-2-2-2
l2.single_read = 3
l2.single_write = 6
itlb.entries = 32
itlb.ways = 4
itlb.replacement = plru
dtlb.entries = 64
dtlb.ways = 4
dtlb.replacement = plru
dtlb_large.entries = 8
dtlb_large.ways = 4
dtlb_large.replacement = plru
dram.size = 33554432
dram.read = 7-4-4-4
dram.write = 7-4-4-4
dram.single_read = 7
dram.single_write = 9
bus.post_buffer_qwords = 4
btb.entries = 256
btb.ways = 4
btb.index = pair
penalty.mispredict = 3
penalty.mispredict_v = 4
penalty.agi = 1
penalty.misaligned = 3
penalty.l1_miss = 4
penalty.walk = 4
penalty.prefix = 1
memory.uncached = 0xa0000-0xfffff,0x2000000-0xffffffff
io.isa_ns = 1000
io.isa16_ns = 625
io.pci_ns = 150
io.inta_bus_clocks = 60
l1d.write_once = false
dram.page = 4096
dram.page_miss = 0
bus.snoop_bus_clocks = 2
counters.miscounts = true
cpu.isa = pentium
cpu.signature = 0x524
cpu.timing = p54c
fetch.ahead = false
)";
