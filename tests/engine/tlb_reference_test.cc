// SPDX-License-Identifier: MIT
// Do the engine's TLBs agree with the reference at each access? The tests use single arrays in
// several geometries, and the two data TLBs with a mixture of 4 KB and 4 MB pages.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "full_set.hh"
#include "p5/tlb.hh"
#include "reference/tlb.hh"
#include "trace.hh"

namespace {

const uint32_t kAccesses = random_cases(200'000, 1'000'000);

struct Case {
  uint32_t entries, ways;
  const char* policy;
};

const std::vector<Case> kCases = {
    {32, 4, "plru"},  // ITLB of the P54C
    {64, 4, "plru"},  // DTLB, 4 KB pages
    {8, 4, "plru"},   // DTLB, 4 MB pages
    {64, 4, "lru"},     {64, 4, "fifo"},   {64, 4, "random"}, {64, 1, "lru"},  {64, 2, "plru"},
    {64, 8, "plru"},    {8, 8, "plru"},    {4, 4, "plru"},    {128, 8, "lru"}, {256, 4, "plru"},
    {48, 3, "lru"},     {96, 6, "random"}, {40, 5, "fifo"},   {16, 1, "plru"}, {32, 2, "fifo"},
    {512, 4, "random"}, {16, 16, "lru"},
};

// The engine's array and the reference array.
class Pair {
 public:
  Pair(uint32_t entries, uint32_t ways, const std::string& policy)
      : engine_(config(entries, ways, policy)), expected_(entries, ways, policy) {}

  // Looks up a page in both arrays. Returns false if they disagree.
  bool lookup(uint32_t page, bool* hit) {
    const bool quick = engine_.quick(page);
    *hit = expected_.lookup(page);
    return (quick || engine_.lookup(page)) == *hit;
  }

  // Enters a page. Returns false if the engine and the reference have replaced different entries.
  bool insert(uint32_t page) {
    const p5::Linear replaced = engine_.insert(page);
    const auto gone = expected_.insert(page);
    p5::Tlb copy = engine_;  // a look-up would count as a use
    return replaced == (gone ? *gone : p5::Tlb::kNone) && !(gone && copy.lookup(*gone));
  }

  void invalidate(uint32_t page) {
    engine_.invalidate(page);
    expected_.invalidate(page);
  }

  void flush() {
    engine_.flush();
    expected_.flush();
  }

  // Returns true if both arrays contain the same subset of `pages`. A look-up changes the order, so
  // the function uses a copy.
  bool same_contents(const std::vector<uint32_t>& pages) {
    p5::Tlb copy = engine_;
    for (const uint32_t page : pages) {
      if (copy.lookup(page) != expected_.holds(page)) return false;
    }
    return true;
  }

 private:
  static p5::TlbConfig config(uint32_t entries, uint32_t ways, const std::string& policy) {
    p5::TlbConfig made;
    made.entries = entries;
    made.ways = ways;
    made.policy = policy;
    REQUIRE(made.entries % made.ways == 0);
    return made;
  }

  p5::Tlb engine_;
  reference::Tlb expected_;
};

}  // namespace

TEST_CASE("tlb reference: random look-ups in each geometry") {
  REQUIRE(kCases.size() >= 20);
  uint32_t seed = 100;
  for (const Case& test : kCases) {
    INFO(test.entries, " entries, ", test.ways, "-way, ", test.policy);
    Pair tlb(test.entries, test.ways, test.policy);
    AddressStream stream(seed++, test.entries * 4096, 4096);
    uint32_t hits = 0, differences = 0;
    std::vector<uint32_t> recent(512);
    for (uint32_t number = 0; number < kAccesses; number++) {
      const uint32_t page = stream.next() >> 12;
      recent[number % recent.size()] = page;
      bool hit;
      differences += !tlb.lookup(page, &hit);
      if (!hit) differences += !tlb.insert(page);
      hits += hit;
      switch (stream.below(4000)) {
        case 0:
        case 1:
        case 2:
        case 3:
          tlb.invalidate(stream.next() >> 12);
          break;
        case 4:
          if (stream.below(4) == 0) tlb.flush();
          break;
        case 5:
        case 6:
        case 7:
          differences += !tlb.same_contents(recent);
          break;
        default:
          break;
      }
    }
    CHECK(differences == 0);
    CHECK(hits > kAccesses / 10);
    CHECK(kAccesses - hits > kAccesses / 10);
  }
}

TEST_CASE("tlb reference: the data TLB pair over mixed page sizes") {
  // Every third 4 MB region is one large page. CR3 loads flush both arrays. INVLPG removes the page
  // from the array that holds it [INTEL-DM ch. 3].
  const auto is_large = [](uint32_t address) { return (address >> 22) % 3 == 0; };
  for (uint32_t seed = 200; seed < 204; seed++) {
    Pair small(64, 4, "plru"), large(8, 4, "plru");
    AddressStream low(seed, 64 * 4096, 4096), high(seed + 10, 12u << 22, 4096);
    uint32_t hits_small = 0, hits_large = 0, misses_small = 0, misses_large = 0, differences = 0;
    for (uint32_t number = 0; number < kAccesses; number++) {
      const uint32_t address = low.below(3) ? low.next() : high.next();
      bool hit_small, hit_large;
      differences += !large.lookup(address >> 22, &hit_large);
      differences += !small.lookup(address >> 12, &hit_small);
      if (!hit_small && !hit_large) {
        if (is_large(address)) {
          differences += !large.insert(address >> 22);
        } else {
          differences += !small.insert(address >> 12);
        }
      }
      hits_small += hit_small;
      hits_large += hit_large;
      (is_large(address) ? misses_large : misses_small) += !hit_small && !hit_large;
      const uint32_t event = low.below(4000);
      if (event == 0) {
        small.flush();
        large.flush();
      } else if (event < 8) {
        const uint32_t gone = event < 4 ? address : low.next();
        small.invalidate(gone >> 12);
        large.invalidate(gone >> 22);
      }
    }
    CHECK(differences == 0);
    CHECK(hits_small > kAccesses / 20);
    CHECK(hits_large > kAccesses / 20);
    CHECK(misses_small > kAccesses / 20);
    CHECK(misses_large > kAccesses / 100);
  }
}

TEST_CASE("tlb: pseudo-LRU is not LRU") {
  // A set of 4 ways gets the pages 0 1 2 3 0. LRU would replace page 1. The tree points to the half
  // with the pages 2 and 3, so it replaces page 2.
  p5::TlbConfig config;
  config.entries = 4;
  p5::Tlb tlb(config);
  for (uint32_t page = 0; page < 4; page++) tlb.insert(page);
  CHECK(tlb.lookup(0));
  tlb.insert(4);
  CHECK(tlb.lookup(1));
  CHECK_FALSE(tlb.lookup(2));
}
