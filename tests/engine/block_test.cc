// SPDX-License-Identifier: MIT
// Do iterations of a repeated string instruction that are executed at once have the same clocks and
// counts as single iterations?
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "bench.hh"

namespace {

// Executes a block at once on one model and one by one on another model, and compares the two.
struct Pair {
  Bench at_once, single;

  void both(const std::string& hex) {
    at_once.insn(hex);
    single.insn(hex);
  }
  void read(uint32_t address) {
    at_once.read(address);
    single.read(address);
  }

  void run(const p5::Block& block, uint32_t count, p5::Pace pace) {
    p5::Pace expected = pace;
    const uint32_t executed = at_once.model.block(block, count, &pace);
    REQUIRE(executed >= 1);
    REQUIRE(executed <= count);
    for (uint32_t i = 0; i < executed; i++) {
      const uint32_t at = i * block.bytes;
      if (block.reads) single.read(block.from + at, block.bytes);
      single.write(block.to + at, block.bytes);
      if (i + 1 == executed) break;
      single.model.repeat();
      if (single.model.clock() - expected.reported < pace.interval) continue;
      CHECK(single.model.clock() < pace.due);
      expected.reported = single.model.clock();
    }
    CHECK(at_once.model.clock() == single.model.clock());
    CHECK(pace.reported == expected.reported);
    at_once.model.repeat();
    single.model.repeat();
    if (executed < count) CHECK(single.model.clock() >= pace.due);
    compare();
  }

  void compare() {
    CHECK(at_once.model.clock() == single.model.clock());
    const auto& banks = at_once.model.counters().banks();
    const auto& others = single.model.counters().banks();
    REQUIRE(banks.size() == others.size());
    for (size_t i = 0; i < banks.size(); i++) {
      CHECK(banks[i]->count == others[i]->count);
      CHECK(banks[i]->miscount == others[i]->miscount);
    }
  }
};

}  // namespace

TEST_CASE("block: iterations at once are the same as iterations one by one") {
  std::mt19937 random(21);
  const auto below = [&](uint32_t limit) { return uint32_t(random()) % limit; };
  Pair pair;
  uint32_t cut = 0;
  for (int i = 0; i < 3'000; i++) {
    for (uint32_t n = below(6); n; n--) pair.read(0x200000 + 4 * below(0x3000));
    const bool reads = below(3) == 0;
    const uint32_t bytes = 1u << below(3), count = 2 + below(200);
    // The addresses stay within a page.
    const uint32_t room = 0x1000 - count * bytes;
    const uint32_t from = 0x200000 + 0x1000 * below(8) + (below(room + 1) & ~(bytes - 1));
    const uint32_t to = 0x204000 + 0x1000 * below(8) + (below(room + 1) & ~(bytes - 1));
    pair.both(reads ? "f3 a5" : "f3 ab");
    const uint64_t now = pair.at_once.model.clock();
    const uint64_t executed_before = pair.at_once.model.bank().count[p5::DataWrites];
    pair.run({reads, from, from, to, to, bytes}, count, {now, now + 1 + below(4'000), 31});
    cut += pair.at_once.model.bank().count[p5::DataWrites] - executed_before < count;
    pair.both("40");
    pair.compare();
  }
  CHECK(cut > 100);  // a timer has often ended a block early
  CHECK(pair.at_once.model.bank().count[p5::DataWriteMisses] > 10'000);
  CHECK(pair.at_once.model.bank().count[p5::WriteHitsME] > 10'000);
}
