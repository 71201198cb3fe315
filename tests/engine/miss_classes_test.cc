// SPDX-License-Identifier: MIT
// Do the classes of misses agree with a simple model? The simple model uses a list as the fully
// associative cache.
#include "measure/miss_classes.hh"

#include <doctest/doctest.h>

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bench.hh"
#include "trace.hh"

namespace {

using measure::Level;
using measure::MissClasses;
using measure::Use;
using p5::Cache;
using p5::CacheAccess;
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
      if (real.holds(address)) removed.insert(line);
      real.invalidate(address);
      classes.invalidated(Level::L1d, address, Use::Device);
      near.remove(line);
      continue;
    }
    const CacheAccess result = real.access(address, false, Fill::Exclusive);
    const bool hit = result.hit;
    classes.access(Level::L1d, address, false, result, true);
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

namespace {

constexpr CacheAccess miss(uint32_t victim = CacheAccess::kNoVictim) {
  CacheAccess access;
  access.victim = victim;
  return access;
}

constexpr CacheAccess kHit{true, false, false, false, CacheAccess::kNoVictim};

constexpr uint32_t kPhase = 3;

// The pairs of one array, as `loser use winner use cause colour: count`.
std::vector<std::string> pairs(const MissClasses& classes, Level level) {
  std::vector<std::string> texts;
  for (const auto& [pair, count] : classes.pairs().at(kPhase)) {
    if (pair.level != level) continue;
    texts.push_back(std::to_string(pair.loser.function) + " " + MissClasses::name(pair.loser.use) +
                    " " + std::to_string(pair.winner.function) + " " +
                    MissClasses::name(pair.winner.use) + " " + MissClasses::name(pair.cls) + " " +
                    std::to_string(pair.colour) + ": " + std::to_string(count));
  }
  return texts;
}

using Texts = std::vector<std::string>;

struct Seen : MissClasses::Trace {
  void missed(const MissClasses::Miss& miss) override { misses.push_back(miss); }
  std::vector<MissClasses::Miss> misses;
};

}  // namespace

TEST_CASE("classes of misses: who evicted a line of a direct-mapped L2") {
  MissClasses classes(p90());
  classes.begin(kPhase);
  const uint32_t one = 0x00105000, other = one + 256 * 1024;
  const auto use = [&](uint32_t function, Level level, uint32_t address, uint32_t victim) {
    classes.use(function, true);
    classes.access(level, address, false, miss(), true);
    classes.access(Level::L2, address, false, miss(victim), true);
  };
  use(1, Level::L1i, one, CacheAccess::kNoVictim);
  use(2, Level::L1d, other, one);
  CHECK(pairs(classes, Level::L2).empty());  // both were first
  use(1, Level::L1i, one, other);
  use(1, Level::L1i, one + 32, CacheAccess::kNoVictim);
  CHECK(pairs(classes, Level::L2) == Texts{"1 code 2 data conflict 5: 1"});
  CHECK(count(classes, MissClasses::L2Read, MissClasses::Conflict) == 1);
  CHECK(count(classes, MissClasses::L2Read, MissClasses::Compulsory) == 3);
}

TEST_CASE("classes of misses: who took a line away from L1") {
  MissClasses classes(p90());
  classes.begin(kPhase);
  const auto use = [&](uint32_t function, Level level, const CacheAccess& result) {
    classes.use(function, true);
    classes.access(level, 0x5000, false, result, true);
  };
  use(1, Level::L1d, miss());
  use(2, Level::L1i, miss());
  classes.invalidated(Level::L1d, 0x5000, Use::Code);
  classes.invalidated(Level::L1d, 0x6000, Use::Code);  // was not there
  use(3, Level::L1d, miss());
  CHECK(pairs(classes, Level::L1d) == Texts{"3 data 2 code removed 0: 1"});
  classes.access(Level::L1d, 0x6000, false, miss(0x5000), true);
  // What leaves L1D a second time was evicted.
  classes.invalidated(Level::L1d, 0x5000, Use::Code);
  use(4, Level::L1d, miss());
  CHECK(pairs(classes, Level::L1d) ==
        Texts{"4 data 3 data capacity 0: 1", "3 data 2 code removed 0: 1"});
}

TEST_CASE("classes of misses: only the first of several writes that load no line has an evictor") {
  MissClasses classes(p90());
  classes.begin(kPhase);
  classes.use(1, true);
  classes.access(Level::L1d, 0x5000, false, miss(), true);
  classes.access(Level::L1d, 0x6000, false, miss(0x5000), true);
  for (int i = 0; i < 3; i++) classes.access(Level::L1d, 0x5000, true, miss(), true);
  CHECK(pairs(classes, Level::L1d) == Texts{"1 data 1 data conflict 0: 1"});
  CHECK(count(classes, MissClasses::DataWrite, MissClasses::Conflict) == 3);
  classes.use(2, true);
  classes.access(Level::L1d, 0x5000, false, miss(0x6000), true);  // the read that pays
  CHECK(pairs(classes, Level::L1d) ==
        Texts{"1 data 1 data conflict 0: 1", "2 data 1 data conflict 0: 1"});
  classes.access(Level::L1d, 0x6000, true, miss(), true);  // and another eviction
  CHECK(pairs(classes, Level::L1d).size() == 3);
}

TEST_CASE("classes of misses: each open bracket gets the pairs") {
  MissClasses classes(p90());
  classes.use(1, true);
  classes.begin(7);
  classes.begin(kPhase);
  classes.access(Level::L1d, 0x5000, false, miss(), true);
  classes.access(Level::L1d, 0x6000, false, miss(0x5000), true);
  classes.access(Level::L1d, 0x5000, false, miss(0x6000), true);
  classes.end();
  classes.access(Level::L1d, 0x6000, false, miss(0x5000), true);
  CHECK(pairs(classes, Level::L1d) == Texts{"1 data 1 data conflict 0: 1"});
  CHECK(classes.pairs().at(7).begin()->second == 2);
}

TEST_CASE("classes of misses: TLBs, and who emptied them") {
  MissClasses classes(p90());
  classes.begin(kPhase);
  classes.use(1, true);
  classes.access(Level::Dtlb, 0xC0003000, false, miss(), true);
  classes.access(Level::L2, 0x1000, false, miss(), true);  // the walk
  classes.use(2, true);
  classes.flushed_tlbs();
  classes.use(3, true);
  classes.access(Level::Dtlb, 0xC0003000, false, miss(), true);
  classes.access(Level::Dtlb, 0xC0013000, false, miss(0xC0003000), true);
  classes.access(Level::Dtlb, 0xC0003000, false, miss(), true);
  CHECK(pairs(classes, Level::Dtlb) ==
        Texts{"3 data 3 data conflict 3: 1", "3 data 2 flush removed 3: 1"});
  CHECK(pairs(classes, Level::L2).empty());
  CHECK(count(classes, MissClasses::DataPage, MissClasses::Compulsory) == 2);
  CHECK(count(classes, MissClasses::DataPage, MissClasses::Removed) == 1);
  CHECK(count(classes, MissClasses::DataPage, MissClasses::Conflict) == 1);
}

TEST_CASE("classes of misses: a walk after a hit in L1D accesses L2 for the page tables") {
  MissClasses classes(p90());
  classes.begin(kPhase);
  classes.use(1, true);
  const auto walk = [&](uint32_t victim) {
    classes.access(Level::Itlb, 0x8000, false, miss(), true);
    classes.access(Level::L2, 0x1000, false, miss(victim), true);
  };
  walk(CacheAccess::kNoVictim);
  classes.access(Level::L1d, 0x41000, false, miss(), true);
  classes.access(Level::L2, 0x41000, false, miss(0x1000), true);
  classes.access(Level::L1d, 0x41000, false, kHit, true);
  walk(0x41000);
  CHECK(pairs(classes, Level::L2) == Texts{"1 table 1 data conflict 1: 1"});
}

TEST_CASE("classes of misses: the trace has the instructions and clocks of the last accesses") {
  MissClasses classes(p90());
  classes.begin(kPhase);
  Seen seen;
  classes.trace(&seen);
  classes.use(7, true);
  classes.at(0x100, 1000);
  classes.access(Level::L1d, 0x2040, false, miss(), true);
  classes.use(8, true);
  classes.at(0x200, 1100);
  classes.access(Level::L1d, 0x3040, false, miss(0x2040), true);
  classes.at(0x300, 1200);
  classes.access(Level::L1d, 0x2040, false, miss(), true);
  REQUIRE(seen.misses.size() == 3);
  CHECK(seen.misses[0].loaded.user == 0);
  CHECK(seen.misses[0].lost.user == 0);
  const MissClasses::Miss& last = seen.misses[2];
  CHECK(last.user.instruction == 0x300);
  CHECK(classes.user(last.loaded.user) == MissClasses::User{7, Use::Data, 0x100});
  CHECK(last.loaded.clock == 1000);
  CHECK(classes.user(last.lost.user) == MissClasses::User{8, Use::Data, 0x200});
  CHECK(last.lost.clock == 1100);
  CHECK(last.lost.address == 0x3040);
}

TEST_CASE("classes of misses: writes that fill no line, and emptied caches") {
  p5::Config config = p90();
  MissClasses classes(config);
  classes.begin(kPhase);
  classes.use(1, true);
  classes.access(Level::L1d, 0x1000, true, miss(), true);
  classes.access(Level::L1d, 0x1000, true, miss(), true);
  CHECK(count(classes, MissClasses::DataWrite, MissClasses::Compulsory) == 2);  // not filled
  classes.access(Level::L1d, 0x1000, false, miss(), true);
  classes.flushed();
  classes.access(Level::L1d, 0x1000, false, miss(), true);
  CHECK(count(classes, MissClasses::DataRead, MissClasses::Removed) == 1);
  classes.use(1, false);
  classes.access(Level::L1d, 0x2000, false, miss(), true);
  CHECK(count(classes, MissClasses::DataRead, MissClasses::Compulsory) == 1);  // not counted
}
