// SPDX-License-Identifier: MIT
// Does the assembled model agree with the reference machine? The test mixes code, data, locked and
// misaligned accesses, page-table traffic and invalidations at random. After each step every memory
// event must agree. The model's shortcuts (most recently used lines, repeated write misses, the
// code window) must not change a count.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "bench.hh"
#include "engine_config.hh"
#include "full_set.hh"
#include "reference/machine.hh"
#include "trace.hh"

namespace {

using Kind = reference::Machine::Kind;

const uint32_t kSteps = random_cases(250'000, 1'000'000);
constexpr uint32_t kLinearPages = 4096;      // 16 MB
constexpr uint32_t kDirectory = 0x01C00000;  // page tables, which are also mapped
constexpr uint32_t kTables = kDirectory + 4096;

struct Case {
  const char* what;
  reference::MachineGeometry geometry;
};

const std::vector<Case> kCases = {
    {"P90",
     {{8192, 2, 32, "lru", true, false},
      {8192, 2, 32, "lru", true, false},
      {262144, 1, 32, "lru", true, false},
      true}},
    {"no L2",
     {{8192, 2, 32, "lru", true, false},
      {8192, 2, 32, "lru", true, false},
      {262144, 1, 32, "lru", true, false},
      false}},
    {"allocating L1D, small allocating 4-way L2",
     {{8192, 2, 32, "lru", true, false},
      {8192, 2, 32, "lru", true, true},
      {16384, 4, 32, "lru", true, true},
      true}},
    {"write-through L1D and L2",
     {{8192, 2, 32, "lru", true, false},
      {8192, 2, 32, "lru", false, false},
      {262144, 2, 32, "plru", false, false},
      true}},
    {"16 KB 4-way L1 with trees, long L2 lines",
     {{16384, 4, 32, "plru", true, false},
      {16384, 4, 32, "plru", true, false},
      {524288, 1, 64, "lru", true, false},
      true}},
    {"random and fifo",
     {{8192, 4, 32, "fifo", true, false},
      {8192, 4, 32, "random", true, false},
      {262144, 2, 32, "fifo", true, false},
      true}},
};

// 4 KB pages are scattered over 32 MB. The second 4 MB of the linear space are one large page. The
// last pages map the page tables, so that the test can read and write them.
void make_page_tables(Bench& bench) {
  for (uint32_t region = 0; region < kLinearPages / 1024; region++) {
    bench.memory[kDirectory + 4 * region] =
        region == 1 ? 0x00800000 | 0x81 : (kTables + 4096 * region) | 1;
    for (uint32_t page = 0; page < 1024; page++) {
      const uint32_t number = region * 1024 + page;
      uint32_t frame = number * 2654435761u >> 19;  // of 8192 frames
      if (number >= kLinearPages - 8) frame = (kDirectory >> 12) + number % 8;
      bench.memory[kTables + 4096 * region + 4 * page] = frame << 12 | 1;
    }
  }
}

std::string run(const reference::MachineGeometry& geometry, uint32_t seed) {
  p5::Config config = p90();
  config.uncached.clear();
  config.l1i = engine_config(geometry.l1i);
  config.l1d = engine_config(geometry.l1d);
  config.memory.l2 = engine_config(geometry.l2);
  config.memory.l2_present = geometry.has_l2;
  Bench bench(config);
  make_page_tables(bench);
  reference::Machine expected(geometry, kDirectory,
                              [&](uint32_t address) { return bench.read_physical(address); });
  for (uint32_t page = 0; page < kLinearPages; page++) {
    bench.code_pages[page] = expected.translate(page << 12) >> 12;
  }
  bench.change([](p5::State& state) {
    state.cr3 = kDirectory;
    state.paging = state.large_pages = true;
  });

  // Returns the names of the reference's events by the engine's event numbers.
  std::vector<std::pair<p5::Event, uint64_t*>> events;
  for (uint32_t event = 0; event < p5::kEventCount; event++) {
    const std::string name = p5::event_name(event);
    for (const char* known :
         {"instructions",      "data_reads",     "data_writes",    "data_read_misses",
          "data_write_misses", "write_hits_me",  "l1d_writebacks", "code_reads",
          "code_misses",       "itlb_misses",    "dtlb_misses",    "walk_reads",
          "l2_reads",          "l2_read_misses", "l2_writes",      "l2_write_misses",
          "dram_reads",        "dram_writes",    "misaligned",     "locked_cycles"}) {
      if (name == known) events.emplace_back(p5::Event(event), &expected.count[name]);
    }
  }
  REQUIRE(events.size() == 20);

  const p5::Insn nop = Bench::decode_text("90"), locked_nop = [] {
    p5::Insn insn = Bench::decode_text("90");
    insn.flags |= p5::kLocked;
    insn.reach = p5::kNoReach;
    insn.as_v |= p5::kAlways;  // like every prefixed instruction
    return insn;
  }();
  AddressStream code(seed, 8192, 32), data(seed + 1, 8192, 32);
  const uint32_t space = kLinearPages << 12;
  uint32_t ip = 0x1000, last_write = 0;

  for (uint32_t step = 0; step < kSteps; step++) {
    if (code.below(6) == 0) ip = code.next() % (space - 16);
    const bool locked = data.below(200) == 0;
    bench.model.retire(locked ? locked_nop : nop, ip);
    expected.execute(ip);
    ip++;
    if (ip >= space - 16) ip = 0x1000;

    if (locked || data.below(4) != 0) {
      uint32_t address = data.next() % (space - 4096);
      uint32_t bytes = 1u << data.below(3);
      if (data.below(20) == 0) address = space - 8 * 4096 + address % (7 * 4096);
      if (data.below(50) == 0) address = ip & ~31u;  // data where code runs
      if (data.below(50) == 0) bytes = 8;
      if (data.below(10) != 0) address &= ~(bytes - 1);
      if (address % 4096 + bytes > 4096) address &= ~7u;  // two pages would be two calls
      const uint32_t what = data.below(8);
      Kind kind = what < 4 ? Kind::Read : what < 7 ? Kind::Write : Kind::ReadWrite;
      if (kind == Kind::Write) {
        // Most writes fill memory upwards, as memset does.
        if (data.below(3) != 0) address = last_write + 4, bytes = 4;
        last_write = address = address % (space - 4096) & ~3u;
      }
      if (locked) kind = Kind::Locked;
      bench.model.data(address, expected.translate(address), bytes,
                       kind == Kind::Read    ? p5::DataKind::Read
                       : kind == Kind::Write ? p5::DataKind::Write
                                             : p5::DataKind::ReadWrite);
      expected.data(address, bytes, kind);
    }

    switch (data.below(5000)) {
      case 0:
        bench.model.load_cr3(kDirectory);
        expected.load_cr3();
        break;
      case 1:
      case 2: {
        const uint32_t page = data.next() % space;
        bench.model.invalidate_page(page);
        expected.invalidate_page(page);
        break;
      }
      case 3:
        if (data.below(20) != 0) break;
        bench.model.flush_caches(true);
        expected.write_back_and_invalidate();
        break;
      case 4:
      case 5:
      case 6: {
        const uint32_t entry = kTables + 4 * data.below(4096);
        bench.model.page_table_update(entry);
        expected.mark_page(entry);
        break;
      }
      default:
        break;
    }

    for (const auto& [event, count] : events) {
      const uint64_t counted = bench.model.counters().banks().back()->count[event];
      if (counted != *count) {
        return std::string(p5::event_name(event)) + " at step " + std::to_string(step) + ": " +
               std::to_string(counted) + ", expected " + std::to_string(*count);
      }
    }
  }
  // Checks that the random steps have caused every event at least 100 times.
  for (const auto& [event, count] : events) {
    const bool board = std::string(p5::event_name(event)).rfind("l2_", 0) == 0;
    if (*count < 100 && !(board && !geometry.has_l2) &&
        !((event == p5::L1dWritebacks || event == p5::WriteHitsME) && !geometry.l1d.write_back)) {
      return std::string(p5::event_name(event)) +
             " was hardly exercised: " + std::to_string(*count);
    }
  }
  return "";
}

}  // namespace

TEST_CASE("machine reference: every memory event after each random step") {
  uint32_t seed = 300;
  for (const Case& test : kCases) {
    INFO(std::string(test.what));
    CHECK(run(test.geometry, seed++) == "");
  }
}
