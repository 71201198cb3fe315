// SPDX-License-Identifier: MIT
// Do the classes of misses agree with a simple model? The simple model uses a list as the fully
// associative cache.
#include "measure/miss_classes.hh"

#include <doctest/doctest.h>

#include <algorithm>
#include <list>
#include <map>
#include <set>

#include "bench.hh"
#include "trace.hh"

namespace {

using measure::Level;
using measure::MissClasses;
using p5::Cache;
using p5::CacheConfig;
using p5::Fill;

uint64_t count(const MissClasses& classes, MissClasses::Kind kind, MissClasses::Class cls) {
  return classes.counts()[size_t(kind) * MissClasses::kClasses + cls];
}

}  // namespace

TEST_CASE("classes of misses: they are equal to the classes of a simple model") {
  p5::Config config = p90();
  config.l1d.size = 1024;  // 32 lines
  MissClasses classes(config);
  classes.use(1, true);
  Cache real(config.l1d);
  std::list<uint32_t> near;  // the newest first
  std::set<uint32_t> seen, removed;
  uint64_t expected[MissClasses::kClasses] = {}, misses = 0;
  AddressStream random(7, config.l1d.size, 32);
  for (int i = 0; i < 200000; i++) {
    const uint32_t address = random.next() & 0x01FFFFFF, line = address / 32;
    if (random.below(200) == 0) {
      real.invalidate(address);
      classes.invalidated(Level::L1d, address);
      near.remove(line);
      if (seen.count(line)) removed.insert(line);
      continue;
    }
    const bool hit = real.access(address, false, Fill::Exclusive).hit;
    classes.access(Level::L1d, address, false, hit, true);
    const bool there = std::find(near.begin(), near.end(), line) != near.end();
    misses += !hit;
    if (hit && !there) expected[MissClasses::Avoided]++;
    if (!hit) {
      expected[!seen.count(line)     ? MissClasses::Compulsory
               : removed.count(line) ? MissClasses::Removed
               : there               ? MissClasses::Conflict
                                     : MissClasses::Capacity]++;
    }
    near.remove(line);
    near.push_front(line);
    if (near.size() > 32) near.pop_back();
    seen.insert(line);
    removed.erase(line);
  }
  uint64_t sum = 0;
  for (size_t cls = 0; cls < MissClasses::kClasses; cls++) {
    CHECK(count(classes, MissClasses::DataRead, MissClasses::Class(cls)) == expected[cls]);
    CHECK(expected[cls] > 100);
    if (cls != MissClasses::Avoided) sum += expected[cls];
  }
  CHECK(sum == misses);
}

TEST_CASE("classes of misses: evictions from a direct-mapped L2") {
  MissClasses classes(p90());
  const uint32_t one = 0x00105000, other = one + 256 * 1024;
  const auto miss = [&](uint32_t function, Level level, uint32_t address) {
    classes.use(function, true);
    classes.access(level, address, false, false, true);
    classes.access(Level::L2, address, false, false, true);
  };
  miss(1, Level::L1i, one);
  miss(2, Level::L1d, other);
  CHECK(classes.pairs().empty());  // both were first
  miss(1, Level::L1i, one);
  miss(1, Level::L1i, one + 32);
  REQUIRE(classes.pairs().size() == 1);
  const auto& [pair, times] = *classes.pairs().begin();
  CHECK(pair.loser.function == 1);
  CHECK(pair.loser.what == MissClasses::What::Code);
  CHECK(pair.winner.function == 2);
  CHECK(pair.winner.what == MissClasses::What::Data);
  CHECK(pair.colour == 5);
  CHECK(times == 1);
  CHECK(count(classes, MissClasses::L2Read, MissClasses::Conflict) == 1);
  CHECK(count(classes, MissClasses::L2Read, MissClasses::Compulsory) == 3);
}

TEST_CASE("classes of misses: writes that fill no line, and emptied caches") {
  p5::Config config = p90();
  MissClasses classes(config);
  classes.use(1, true);
  classes.access(Level::L1d, 0x1000, true, false, true);
  classes.access(Level::L1d, 0x1000, true, false, true);
  CHECK(count(classes, MissClasses::DataWrite, MissClasses::Compulsory) == 2);  // not filled
  classes.access(Level::L1d, 0x1000, false, false, true);
  classes.flushed();
  classes.access(Level::L1d, 0x1000, false, false, true);
  CHECK(count(classes, MissClasses::DataRead, MissClasses::Removed) == 1);
  classes.use(1, false);
  classes.access(Level::L1d, 0x2000, false, false, true);
  CHECK(count(classes, MissClasses::DataRead, MissClasses::Compulsory) == 1);  // not counted
}
