// SPDX-License-Identifier: MIT
// Why does a cache miss? This file uses the classes of Hill [M. D. Hill, Aspects of Cache Memory
// and Instruction Buffer Performance, Berkeley 1987]. For each of L1D, L1I and L2 this class
// simulates a second cache of the same size. The second cache is fully associative, has true LRU,
// and gets the same accesses. A miss of the real cache has one of these classes:
//
//   compulsory  the line has never been in the cache
//   removed     another bus master, a locked access, the other L1 or INVD has removed the line
//   conflict    the fully associative cache has the line
//   capacity    the fully associative cache does not have the line either
//
// If the fully associative cache misses and the real cache hits, the access is counted as
// `avoided`. The number of Hill's conflict misses is `conflict` minus `avoided`. Uncached and
// locked accesses do not reach the caches and have no class.
//
// For a direct-mapped L2 this class also records which function evicts the lines of another
// function. For each conflict miss the class records the function that loaded the evicting line.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/events.hh"
#include "measure/access_listener.hh"
#include "p5/config.hh"

namespace measure {

class MissClasses : public AccessListener {
 public:
  enum Kind : uint8_t { DataRead, DataWrite, Code, L2Read, L2Write, kKinds };
  enum Class : uint8_t { Compulsory, Capacity, Conflict, Removed, Avoided, kClasses };
  static constexpr size_t kCounts = size_t(kKinds) * kClasses;
  static std::string name(size_t count);  // such as "l2_read_misses.conflict"

  // The purpose for which L2 has loaded a line.
  enum class What : uint8_t { Code, Data, Table };
  struct User {
    uint32_t function = 0;
    What what = What::Table;
  };
  // A conflict miss: `loser` misses a line that `winner` has evicted. The evicted line and the
  // evicting line map to the same 4 KB page of L2. `colour` is the number of this page.
  struct Pair {
    User loser, winner;
    uint32_t colour;
    bool operator<(const Pair& other) const { return key() < other.key(); }

   private:
    std::tuple<uint32_t, What, uint32_t, What, uint32_t> key() const {
      return {loser.function, loser.what, winner.function, winner.what, colour};
    }
  };

  explicit MissClasses(const p5::Config& config);

  // From this call to the next call of use(), `function` is the function that uses the caches.
  // `counted` states whether the misses of this function are counted.
  void use(uint32_t function, bool counted) {
    function_ = function;
    counted_ = counted;
  }
  const std::array<uint64_t, kCounts>& counts() const { return counts_; }
  const std::map<Pair, uint64_t>& pairs() const { return pairs_; }

  void access(Level level, uint32_t address, bool write, bool hit, bool may_fill) override;
  void invalidated(Level level, uint32_t address) override;
  void cleaned(uint32_t) override {}
  void flushed() override;

 private:
  static constexpr uint32_t kNone = ~0u;

  struct Line {
    uint32_t newer = kNone, older = kNone;  // neighbours in the order of use, if `near`
    uint32_t filled = 0;                    // epoch of the last fill; 0: never filled
    bool near = false;                      // the fully associative cache contains the line
    bool removed = false;
    User evicted_by;
  };
  // One level: the fully associative cache, and the history of each line.
  struct Cache {
    uint32_t shift = 0, capacity = 0;
    bool allocates = false;  // a write miss loads the line
    uint32_t newest = kNone, oldest = kNone, held = 0;
    std::vector<Line> lines;  // [physical line]

    Line& at(uint32_t line) {
      if (line >= lines.size()) lines.resize(line + 1);
      return lines[line];
    }
    void unlink(uint32_t line);
    void to_front(uint32_t line);
    void drop(uint32_t line);
    void fill(uint32_t line);
  };

  void replace(Cache& cache, uint32_t line, User user);

  Cache caches_[3];                 // [Level]
  std::vector<uint32_t> resident_;  // [set] line of a direct-mapped L2; empty for other L2s
  uint32_t colours_ = 1;
  uint32_t epoch_ = 1;  // 1 plus the number of times that all caches were emptied
  uint32_t function_ = 0;
  bool counted_ = false;
  What cause_ = What::Table;  // purpose of the next L2 access
  std::array<uint64_t, kCounts> counts_{};
  std::map<Pair, uint64_t> pairs_;
};

}  // namespace measure
