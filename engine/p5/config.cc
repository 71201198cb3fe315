// SPDX-License-Identifier: MIT
#include "p5/config.hh"

#include <cmath>

#include "base/declared.hh"

namespace p5 {
namespace {

void read_geometry(Settings& settings, const std::string& prefix, CacheConfig* cache) {
  cache->size = uint32_t(settings.number(prefix + ".size"));
  cache->ways = uint32_t(settings.number(prefix + ".ways"));
  cache->line = uint32_t(settings.number(prefix + ".line"));
  cache->policy = settings.text(prefix + ".replacement");
}

void read_writes(Settings& settings, const std::string& prefix, CacheConfig* cache) {
  cache->write_back = settings.text(prefix + ".write_policy") == "write-back";
  cache->write_allocate = settings.flag(prefix + ".write_allocate");
}

TlbConfig read_tlb(Settings& settings, const std::string& prefix) {
  TlbConfig tlb;
  tlb.entries = uint32_t(settings.number(prefix + ".entries"));
  tlb.ways = uint32_t(settings.number(prefix + ".ways"));
  tlb.policy = settings.text(prefix + ".replacement");
  return tlb;
}

void read_patterns(Settings& settings, const std::string& prefix, BusPattern* read,
                   BusPattern* write) {
  parse_burst(settings.text(prefix + ".read"), &read->burst);
  parse_burst(settings.text(prefix + ".write"), &write->burst);
  read->single_read = uint32_t(settings.number(prefix + ".single_read"));
  write->single_write = uint32_t(settings.number(prefix + ".single_write"));
}

// Reads the ratio of core and bus clock, which is a multiple of one half (3/2, 2/1, 5/2).
void read_ratio(double core, double bus, MemoryConfig* memory) {
  const auto halves = uint32_t(std::lround(2 * core / bus));
  memory->core_clocks = halves % 2 ? halves : halves / 2;
  memory->bus_clocks = halves % 2 ? 2 : 1;
}

}  // namespace

Config Config::read(Settings& settings) {
  Config c;
  base::check(settings, base::declared::p5);
  if (!settings.error().empty()) return c;
  c.clock_mhz = settings.real("cpu.clock_mhz");
  c.bus_mhz = settings.real("cpu.bus_mhz");
  read_ratio(c.clock_mhz, c.bus_mhz, &c.memory);

  read_geometry(settings, "l1i", &c.l1i);
  read_geometry(settings, "l1d", &c.l1d);
  read_writes(settings, "l1d", &c.l1d);
  c.write_once = settings.flag("l1d.write_once");
  c.itlb = read_tlb(settings, "itlb");
  c.dtlb = read_tlb(settings, "dtlb");
  c.dtlb_large = read_tlb(settings, "dtlb_large");

  c.memory.l2_present = settings.flag("l2.present");
  read_geometry(settings, "l2", &c.memory.l2);
  read_writes(settings, "l2", &c.memory.l2);
  read_patterns(settings, "l2", &c.memory.l2_read, &c.memory.l2_write);
  read_patterns(settings, "dram", &c.memory.dram_read, &c.memory.dram_write);

  c.memory.dram_page = uint32_t(settings.number("dram.page"));
  c.memory.page_miss = uint32_t(settings.number("dram.page_miss"));
  c.memory.pipelined = settings.flag("dram.pipelined");
  c.memory.refresh_interval = uint32_t(settings.real("dram.refresh_us") * c.clock_mhz + 0.5);
  c.memory.refresh_clocks = uint32_t(settings.number("dram.refresh_bus_clocks"));

  c.memory.post_buffer = uint32_t(settings.number("bus.post_buffer_qwords"));
  c.memory.snoop_clocks = uint32_t(settings.number("bus.snoop_bus_clocks"));
  c.miscounts = settings.flag("counters.miscounts");

  c.btb.entries = uint32_t(settings.number("btb.entries"));
  c.btb.ways = uint32_t(settings.number("btb.ways"));
  c.btb.by_pair = settings.text("btb.index") == "pair";
  c.fetch_ahead = settings.flag("fetch.ahead");
  c.mispredict_clocks = uint32_t(settings.number("penalty.mispredict"));
  c.mispredict_v_clocks = uint32_t(settings.number("penalty.mispredict_v"));

  c.prefix_clocks = uint32_t(settings.number("penalty.prefix"));
  c.agi_clocks = uint32_t(settings.number("penalty.agi"));
  c.misaligned_clocks = uint32_t(settings.number("penalty.misaligned"));
  c.memory.miss_overhead = uint32_t(settings.number("penalty.l1_miss"));
  c.memory.walk_overhead = uint32_t(settings.number("penalty.walk"));

  c.isa_clocks = uint32_t(settings.real("io.isa_ns") * c.clock_mhz / 1000 + 0.5);
  c.isa16_clocks = uint32_t(settings.real("io.isa16_ns") * c.clock_mhz / 1000 + 0.5);
  c.ide_clocks = uint32_t(settings.real("io.ide_ns") * c.clock_mhz / 1000 + 0.5);
  c.pci_clocks = uint32_t(settings.real("io.pci_ns") * c.clock_mhz / 1000 + 0.5);
  c.memory.uncached_clocks = c.pci_clocks;
  c.inta_clocks =
      uint32_t(settings.number("io.inta_bus_clocks")) * c.memory.core_clocks / c.memory.bus_clocks;
  c.read_video(settings);
  c.read_ideal(settings);
  base::parse_ranges(settings.text("memory.uncached"), &c.uncached);
  c.dram_bytes = uint32_t(settings.number("dram.size"));
  return c;
}

void Config::read_video(Settings& settings) {
  // The PCI clock is half of the bus clock [INTEL-290479].
  const uint32_t pci_clock = 2 * memory.core_clocks, unit = memory.bus_clocks;
  const auto cycle = [&](const char* key) {
    return (uint32_t(settings.number(key)) * pci_clock + unit - 1) / unit;
  };
  const uint32_t read = cycle("video.pci_read"), write = cycle("video.pci_write");
  const std::string bus = settings.text("video.bus");
  if (bus == "pci") video = {4, read, write, true};
  if (bus == "isa") video = {2, isa16_clocks, isa16_clocks, false};
}

void Config::read_ideal(Settings& settings) {
  const bool at_once = settings.flag("ideal.memory");
  ideal.known_code = settings.flag("ideal.l1i");
  ideal.code_lines = at_once || settings.flag("ideal.l1i");
  ideal.data_lines = at_once || settings.flag("ideal.l1d");
  ideal.itlb = at_once || settings.flag("ideal.itlb");
  ideal.dtlb = at_once || settings.flag("ideal.dtlb");
  ideal.pairing = settings.flag("ideal.pairing");
  memory.ideal_l2 = settings.flag("ideal.l2");
  memory.ideal_writes = settings.flag("ideal.write_buffers");
  if (settings.flag("ideal.btb")) mispredict_clocks = mispredict_v_clocks = 0;
  if (at_once) memory.answer_at_once();
}

Config Config::without_feedback() const {
  Config c = *this;
  c.feedback = false;
  c.memory.answer_at_once();
  c.memory.uncached_clocks = 0;
  c.video.read = c.video.write = 0;
  return c;
}

Config Config::without_clocks() const {
  Config c = without_feedback();
  c.flat = true;
  c.prefix_clocks = c.agi_clocks = c.misaligned_clocks = 0;
  c.mispredict_clocks = c.mispredict_v_clocks = 0;
  c.isa_clocks = c.isa16_clocks = c.ide_clocks = c.pci_clocks = c.inta_clocks = 0;
  return c;
}

}  // namespace p5
