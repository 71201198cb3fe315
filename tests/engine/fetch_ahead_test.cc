// SPDX-License-Identifier: MIT
// What does a prefetcher (key fetch.ahead) change besides the clocks? rule_cases.cc has the clocks.
#include "p5/fetch_ahead.hh"

#include <doctest/doctest.h>

#include <memory>
#include <random>

#include "bench.hh"
#include "exercise.hh"

using namespace p5;

namespace {

Config prefetches(bool on = true) {
  Config config = p90();
  config.fetch_ahead = on;
  return config;
}

std::unique_ptr<Bench> exercised(const Config& config, bool explained, bool warming = false) {
  auto bench = std::make_unique<Bench>(config);
  if (explained) bench->model.explain_clocks();
  if (warming) bench->model.set_warming(true);
  exercise(*bench);
  return bench;
}

}  // namespace

TEST_CASE("fetch ahead: a line is read once when execution goes on, and again after a jump") {
  for (const bool on : {false, true}) {
    CAPTURE(on);
    Bench bench(prefetches(on));
    const auto reads_of = [&](uint32_t at, int instructions) {
      return bench.grows(CodeReads, [&] {
        bench.ip = at;
        for (int i = 0; i < instructions; i++) bench.insn("f7 df");  // 16 fill a line
      });
    };
    for (int pass = 0; pass < 3; pass++) {  // new code, then slow and quick hits
      CHECK(reads_of(0x30000, 1) == 1 + on);
      CHECK(reads_of(0x30000, 64) == 4 + on);
      CHECK(reads_of(0x30FE0, 16) == 1);  // the last line of its page
    }
    CHECK(bench.count(CodeMisses) == 5 + on);
  }
}

TEST_CASE("fetch ahead: uncached code is read when it is executed") {
  Bench bench(prefetches());
  const auto execute = [&] {
    for (int i = 0; i < 8; i++) bench.insn("f7 df");
  };
  bench.ip = 0xA0000;
  CHECK(bench.grows(CodeReads, execute) == 2);
  bench.change([](State& state) { state.caching = false; });
  bench.ip = 0x40000;
  CHECK(bench.grows(CodeReads, execute) == 2);
}

TEST_CASE("fetch ahead: what is written while it comes is not read from L1I") {
  Bench bench(prefetches());
  bench.ip = 0x30000;
  for (int i = 0; i < 20; i++) bench.insn("f7 df");
  bench.write(0x30040);  // the line behind
  bench.model.idle(1000);
  bench.ip = 0x30040;
  CHECK(bench.grows(CodeMisses, [&] { bench.insn("f7 df"); }) >= 1);
}

// The next writes to a line that missed need no look-up, unless a line was read since.
TEST_CASE("fetch ahead: a line that is written while it waits for the bus is then in L2") {
  Bench bench(prefetches());
  const auto misses_of_a_store = [&] {
    return bench.grows(L2WriteMisses, [&] { bench.store(0x30020); });
  };
  bench.ip = 0x30000;
  CHECK(misses_of_a_store() == 1);
  for (int i = 0; i < 3; i++) bench.insn("f7 f7");  // DIV takes 41 clocks
  CHECK(misses_of_a_store() == 0);
}

TEST_CASE("fetch ahead: a block that writes to the line ahead is the same as its single writes") {
  for (const uint32_t bytes : {1u, 2u, 4u}) {
    CAPTURE(bytes);
    Bench at_once(prefetches()), single(prefetches());
    for (Bench* bench : {&at_once, &single}) {
      bench->ip = 0x30000;
      bench->insn("f7 df");
    }
    const uint32_t to = 0x30010, count = 96 / bytes;
    Pace pace{0, ~uint64_t(0), ~0u};
    CHECK(at_once.model.block({false, 0, 0, to, to, bytes}, count, &pace) == count);
    for (uint32_t i = 0; i < count; i++) {
      single.write(to + i * bytes, bytes);
      if (i + 1 < count) single.model.repeat();
    }
    CHECK(at_once.model.clock() == single.model.clock());
    for (const Event event : {DataWrites, L2Writes, L2WriteMisses, L2Reads, DramWrites, StallWrite})
      CHECK(at_once.count(event) == single.count(event));
  }
}

TEST_CASE("fetch ahead: the CPI stack adds up and changes no clock and no count") {
  const auto plain = exercised(prefetches(), false), explained = exercised(prefetches(), true);
  CHECK(explained->model.clock() == plain->model.clock());
  for (const Event event : {CodeReads, CodeMisses, DataReadMisses, L2Reads, DramReads, BusBusy})
    CHECK(explained->count(event) == plain->count(event));
  for (const auto& bank : explained->model.counters().banks()) {
    uint64_t sum = 0;
    for (uint32_t event = CpiPairs; event <= CpiPageTables; event++) sum += bank->count[event];
    CHECK(sum == bank->count[CyclesBusy]);
  }
}

TEST_CASE("fetch ahead: executed code and its code reads do not depend on time") {
  const auto timed = exercised(prefetches(), false), warm = exercised(prefetches(), false, true);
  CHECK(warm->count(Instructions) == timed->count(Instructions));
  CHECK(warm->count(CodeReads) == timed->count(CodeReads));
  const auto off = exercised(prefetches(false), false);
  CHECK(timed->count(Instructions) == off->count(Instructions));
  CHECK(timed->model.clock() < off->model.clock());
}

TEST_CASE("fetch ahead: a pair of lines on the fast path is what a read of both leaves unchanged") {
  Cache cache(p90().l1i);
  std::mt19937 random(1);
  uint32_t pairs = 0;
  for (int i = 0; i < 20000; i++) {
    // Lines of three sets, with the set before the first one and the set behind the last one.
    const uint32_t line = (random() % 6 << 12) + (random() % 3 << 5) + 0xFE0;
    const uint32_t kind = random() % 16;
    if (kind == 0) {
      cache.invalidate(line);
    } else if (kind == 1) {
      cache.forget_quick(line);
    } else {
      if (!cache.quick_read(line)) {
        cache.access(line, false);
        cache.part(line);
      }
      if (kind < 8) cache.pair(line);
    }
    for (uint32_t at = line - 64; at <= line + 64; at += 32) {
      if (!cache.quick_pair(at)) continue;
      pairs++;
      REQUIRE(cache.quick_read(at));
      REQUIRE(cache.quick_read(at + 32));
    }
  }
  CHECK(pairs > 500);
}
