// SPDX-License-Identifier: MIT
// Does the engine's cache agree with the reference at each access? The tests compare hits, fills,
// write-throughs, victims and write-backs. Between these accesses, the tests also do invalidations,
// cleaning and uncached accesses.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine_config.hh"
#include "full_set.hh"
#include "trace.hh"

namespace {

const uint32_t kAccesses = random_cases(200'000, 1'000'000);

struct Case {
  reference::Geometry geometry;
  const char* why;
};

const std::vector<Case> kCases = {
    {{8192, 2, 32, "lru", true, false}, "L1D and L1I of the P54C"},
    {{262144, 1, 32, "lru", true, false}, "board L2 of the P90"},
    {{524288, 1, 32, "lru", true, false}, "board L2, twice the size"},
    {{262144, 4, 32, "lru", true, true}, "board L2, associative and allocating"},
    {{8192, 1, 16, "lru", true, false}, "direct-mapped, short lines"},
    {{8192, 1, 32, "random", true, true}, "direct-mapped: the policy cannot matter"},
    {{8192, 2, 32, "lru", true, true}, "write-allocate"},
    {{8192, 2, 32, "lru", false, false}, "write-through, as the first Pentium reports of CD"},
    {{8192, 2, 32, "lru", false, true}, "write-through with allocation"},
    {{8192, 2, 32, "plru", true, false}, "one tree bit is exact LRU"},
    {{8192, 2, 32, "fifo", true, false}, "fifo, 2-way"},
    {{8192, 2, 32, "random", true, false}, "random, 2-way"},
    {{8192, 4, 32, "lru", true, true}, "lru, 4-way"},
    {{8192, 4, 32, "plru", true, true}, "3-bit tree"},
    {{8192, 4, 64, "fifo", true, false}, "fifo, 4-way, 64-byte lines"},
    {{8192, 4, 64, "random", true, true}, "random, 4-way"},
    {{16384, 4, 32, "plru", true, false}, "16 KB, 3-bit tree"},
    {{16384, 8, 16, "plru", true, true}, "7-bit tree, short lines"},
    {{16384, 8, 64, "lru", true, false}, "lru, 8-way"},
    {{32768, 8, 128, "plru", false, true}, "7-bit tree, long lines, write-through"},
    {{32768, 8, 128, "random", true, true}, "random, 8-way, long lines"},
    {{4096, 8, 128, "fifo", true, true}, "few sets"},
    {{256, 8, 32, "lru", true, true}, "fully associative"},
    {{256, 8, 32, "plru", true, true}, "fully associative, tree"},
    {{12288, 3, 32, "lru", true, false}, "3-way"},
    {{24576, 6, 64, "fifo", true, true}, "6-way"},
    {{20480, 5, 16, "random", true, false}, "5-way, random"},
    {{28672, 7, 128, "lru", false, false}, "7-way, write-through"},
    {{131072, 2, 64, "lru", true, true}, "128 KB, 2-way"},
    {{65536, 4, 128, "random", false, false}, "64 KB, random, write-through"},
};

// Runs the engine's cache and the reference. Returns a description of the first difference, or an
// empty text.
std::string compare(const reference::Geometry& geometry, uint32_t seed, uint32_t* hits,
                    uint32_t* write_backs) {
  p5::Cache engine(engine_config(geometry));
  p5::Cache plain(engine_config(geometry), false);  // without the shortcut's state
  reference::Cache expected(geometry);
  AddressStream stream(seed, geometry.size, geometry.line);
  std::string difference;
  uint32_t number = 0, address = 0;
  const auto differ = [&](const char* what) {
    difference = std::string(what) + " at access " + std::to_string(number) + ", address " +
                 std::to_string(address);
  };

  for (number = 0; number < kAccesses && difference.empty(); number++) {
    address = stream.next();
    const bool write = stream.below(3) == 0;
    const bool fill = stream.below(100) != 0;  // 1 in 100 is an uncached access

    // If quick_write() or quick_read() returns true, the model does not call access() of the
    // engine's cache. So the result of these functions must be right.
    const bool quick = write ? engine.quick_write(address) : engine.quick_read(address);
    const reference::Outcome outcome = expected.access(address, write, fill);
    *hits += outcome.hit;
    *write_backs += outcome.write_back;
    const auto check = [&](const p5::CacheAccess& access) {
      if (access.hit != outcome.hit) differ("hit");
      if (access.filled != outcome.filled) differ("fill");
      if (access.through != outcome.through) differ("through");
      if (access.victim_dirty != outcome.write_back) differ("write-back");
      if (access.victim != outcome.displaced.value_or(p5::CacheAccess::kNoVictim)) differ("victim");
    };
    const p5::Fill state = fill ? p5::Fill::Exclusive : p5::Fill::None;
    check(plain.access(address, write, state));
    if (!quick) {
      check(engine.access(address, write, state));
    } else if (!outcome.hit || outcome.through || outcome.filled) {
      differ("shortcut");
    }
    if (engine.holds(address) != expected.holds(address)) differ("presence");
    if (engine.dirty(address) != expected.dirty(address)) differ("dirty state");

    switch (stream.below(2000)) {
      case 0:
      case 1:
      case 2:
      case 3:  // a snoop of an address that may be cached
        address = stream.next();
        if (expected.invalidate(address) != engine.invalidate(address)) differ("invalidate");
        plain.invalidate(address);
        break;
      case 4:
      case 5:
        address = stream.next();
        if (expected.clean(address) != engine.clean(address)) differ("clean");
        plain.clean(address);
        break;
      case 6:
        if (stream.below(100) != 0) break;
        if (expected.invalidate_all() != engine.invalidate_all()) differ("flush");
        plain.invalidate_all();
        break;
      default:
        break;
    }
  }
  return difference;
}

}  // namespace

TEST_CASE("cache reference: random accesses in each geometry") {
  REQUIRE(kCases.size() >= 20);
  uint32_t seed = 1;
  for (const Case& test : kCases) {
    uint32_t hits = 0, write_backs = 0;
    const auto& g = test.geometry;
    INFO(test.why, ": ", g.size, " bytes, ", g.ways, "-way, line ", g.line, ", ", g.policy);
    CHECK(compare(g, seed++, &hits, &write_backs) == "");
    // The comparison is meaningful only if both outcomes are frequent.
    CHECK(hits > kAccesses / 10);
    CHECK(kAccesses - hits > kAccesses / 10);
    CHECK((write_backs > 100) == g.write_back);
  }
}

TEST_CASE("cache: a direct-mapped line is displaced by its alias and written back") {
  p5::CacheConfig config;
  config.size = 1024;
  config.write_allocate = true;
  p5::Cache cache(config);
  CHECK(cache.access(0x1234, true).filled);
  const p5::CacheAccess alias = cache.access(0x1234 + 1024, false);
  CHECK_FALSE(alias.hit);
  CHECK(alias.victim_dirty);
  CHECK(alias.victim == 0x1220);  // the first byte of the line
  CHECK_FALSE(cache.holds(0x1234));
}

TEST_CASE("cache: no write allocate") {  // INTEL-DM ch. 2: a write miss does not fill L1D
  p5::CacheConfig config;
  config.size = 8192;
  config.ways = 2;
  p5::Cache cache(config);
  CHECK(cache.access(0x4000, true).through);
  CHECK_FALSE(cache.holds(0x4000));
  CHECK(cache.access(0x4000, false).filled);
  CHECK_FALSE(cache.access(0x4000, true).through);
  CHECK(cache.dirty(0x4000));
}
