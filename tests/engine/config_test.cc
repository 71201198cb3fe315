// SPDX-License-Identifier: MIT
// The engine's parameter file: what is accepted, and what each mistake is answered with.
#include "engine/p5/config.hh"

#include <doctest/doctest.h>

#include <string>

#include "engine/base/settings.hh"

using namespace p5;

namespace {

const char* const kMachine = R"(# the P90
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
dram.page_miss = 6
bus.snoop_bus_clocks = 2
counters.miscounts = true
)";

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = kMachine;
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// The error of reading a machine from `text`, empty when there is none.
std::string error_of(const std::string& text) {
  Settings settings;
  std::string error;
  if (!settings.parse(text, "engine.conf", &error)) return error;
  Config::read(settings);
  return settings.finish();
}

}  // namespace

TEST_CASE("config: a machine") {
  Settings settings;
  std::string error;
  REQUIRE(settings.parse(kMachine, "engine.conf", &error));
  const Config config = Config::read(settings);
  CHECK(settings.finish() == "");
  CHECK(config.clock_hz() == 90'000'000);
  CHECK(config.memory.core_clocks == 3);
  CHECK(config.memory.bus_clocks == 2);
  CHECK(config.l1d.ways == 2);
  CHECK(config.l1d.write_back);
  CHECK_FALSE(config.l1d.write_allocate);
  CHECK(config.dtlb.policy == "plru");
  CHECK(config.memory.dram_read.burst_total() == 19);
  CHECK(config.isa_clocks == 90);
  CHECK(config.inta_clocks == 90);
  CHECK(config.uncached.front() == std::pair(0xA0000u, 0xFFFFFu));
  CHECK(config.uncached.back() == std::pair(0x2000000u, 0xFFFFFFFFu));
}

TEST_CASE("config: the clock ratio is one of small whole numbers") {
  const auto ratio = [](const char* core, const char* bus) {
    Settings settings;
    std::string error, text = replaced("clock_mhz = 90", std::string("clock_mhz = ") + core);
    const std::string from = "bus_mhz = 60";
    text.replace(text.find(from), from.size(), std::string("bus_mhz = ") + bus);
    REQUIRE(settings.parse(text, "engine.conf", &error));
    const Config config = Config::read(settings);
    return settings.finish().empty()
               ? std::pair(config.memory.core_clocks, config.memory.bus_clocks)
               : std::pair(0u, 0u);
  };
  CHECK(ratio("100", "66.67") == std::pair(3u, 2u));
  CHECK(ratio("133", "66.67") == std::pair(2u, 1u));
  CHECK(ratio("150", "60") == std::pair(5u, 2u));
  CHECK(ratio("66", "66") == std::pair(1u, 1u));
  CHECK(ratio("90", "64.2") == std::pair(0u, 0u));
  CHECK(ratio("90", "0") == std::pair(0u, 0u));
}

TEST_CASE("config: mistakes are answered with one line: where, key, what") {
  CHECK(error_of(replaced("penalty.agi = 1\n", "")) == "engine.conf: penalty.agi: missing");
  CHECK(error_of(replaced("penalty.agi", "penalty.aig")) == "engine.conf: penalty.agi: missing");
  CHECK(error_of(std::string(kMachine) + "penalty.fgi = 1\n") ==
        "engine.conf:60: penalty.fgi: unknown key");
  CHECK(error_of(replaced("penalty.agi = 1", "penalty.agi = one")) ==
        "engine.conf:45: penalty.agi: `one` is not a whole number");
  CHECK(error_of(replaced("penalty.agi = 1", "penalty.agi = -1")) ==
        "engine.conf:45: penalty.agi: `-1` is not a whole number");
  CHECK(error_of(replaced("penalty.agi = 1", "penalty.agi 1")) ==
        "engine.conf:45: expected `key = value`");
  CHECK(error_of(replaced("penalty.agi = 1", "penalty.walk = 1")) ==
        "engine.conf:48: penalty.walk: given twice");
  CHECK(error_of(replaced("l1d.ways = 2", "l1d.ways = 3")) ==
        "engine.conf:8: l1d.size: size is not ways * line * a power of two");
  CHECK(error_of(replaced("l1d.ways = 2", "l1d.ways = 0")) ==
        "engine.conf:8: l1d.size: size is not ways * line * a power of two");
  CHECK(error_of(replaced("itlb.entries = 32", "itlb.entries = 33")) ==
        "engine.conf:25: itlb.entries: entries is not ways * a power of two");
  CHECK(error_of(replaced("replacement = plru", "replacement = mru")) ==
        "engine.conf:27: itlb.replacement: `mru` is none of lru, plru, fifo, random");
  CHECK(error_of(replaced("l2.present = true", "l2.present = yes")) ==
        "engine.conf:14: l2.present: `yes` is neither on nor off");
  CHECK(error_of(replaced("l2.read = 3-2-2-2", "l2.read = 3-2-2")) ==
        "engine.conf:21: l2.read: expected four bus clock counts such as 3-2-2-2");
  CHECK(error_of(replaced("cpu.clock_mhz = 90", "cpu.clock_mhz = fast")) ==
        "engine.conf:2: cpu.clock_mhz: `fast` is not a number");
  CHECK(error_of(replaced("memory.uncached = 0xa0000-0xfffff", "memory.uncached = video")) ==
        "engine.conf:50: memory.uncached: expected ranges such as "
        "0xA0000-0xFFFFF,0x2000000-0xFFFFFFFF");
}

TEST_CASE("settings: numbers, comments, spaces") {
  Settings settings;
  std::string error;
  REQUIRE(settings.parse("# comment\n\n  a.b =  0x524  \r\nc=yes no\nd = off\n", "f", &error));
  CHECK(settings.number("a.b") == 0x524);
  CHECK(settings.text("c") == "yes no");
  CHECK_FALSE(settings.flag("d"));
  CHECK(settings.has("d"));
  CHECK_FALSE(settings.has("e"));
  CHECK(settings.finish() == "");
  CHECK(settings.text("e") == "");
  CHECK(settings.error() == "f: e: missing");

  Settings absent;
  CHECK_FALSE(absent.load("no/such/file", &error));
  CHECK(error == "no/such/file: cannot be read: No such file or directory");
}
