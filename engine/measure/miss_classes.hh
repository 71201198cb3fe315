// SPDX-License-Identifier: MIT
// Why caches miss, by the classes of Hill [M. D. Hill, Aspects of Cache Memory and Instruction
// Buffer Performance, Berkeley 1987]. Beside each of L1D, L1I and L2 there is a fully associative
// cache of the same size with true LRU, which gets the same accesses. A miss of the real cache is
//
//   compulsory  the line has never been in the cache
//   removed     it was taken away since: by another bus master, a locked access, the other L1, INVD
//   conflict    the fully associative cache has it
//   capacity    the fully associative cache does not have it either
//
// Where the fully associative cache misses and the real one hits, a miss is avoided: Hill's
// conflict misses are `conflict` less `avoided`. Uncached and locked accesses do not go to the
// caches and are in no class.
//
// A direct-mapped L2 also reports who evicted whom: for each conflict miss, the function that
// brought in the line which took the place.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "access_listener.hh"
#include "config.hh"
#include "events.hh"

namespace p5 {

class MissClasses : public AccessListener {
 public:
  enum Kind : uint8_t { DataRead, DataWrite, Code, L2Read, L2Write, kKinds };
  enum Class : uint8_t { Compulsory, Capacity, Conflict, Removed, Avoided, kClasses };
  static constexpr size_t kCounts = size_t(kKinds) * kClasses;
  static std::string name(size_t count);  // "l2_read_misses.conflict"

  // What a line of L2 was brought in for.
  enum class What : uint8_t { Code, Data, Table };
  struct User {
    uint32_t function = 0;
    What what = What::Table;
  };
  // A conflict miss of `loser`, whose line `winner` has evicted; the colour of both their pages:
  // the page of L2 that they fall into.
  struct Pair {
    User loser, winner;
    uint32_t colour;
    bool operator<(const Pair& other) const { return key() < other.key(); }

   private:
    std::tuple<uint32_t, What, uint32_t, What, uint32_t> key() const {
      return {loser.function, loser.what, winner.function, winner.what, colour};
    }
  };

  explicit MissClasses(const Config& config);

  // Which function uses the caches from here on, and whether its misses count.
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
    uint32_t newer = kNone, older = kNone;  // in the order of use, if it is `near`
    uint32_t filled = 0;                    // in which epoch it came in last; 0: never
    bool near = false;                      // the fully associative cache has it
    bool removed = false;
    User evicted_by;
  };
  // One level: the fully associative cache, and what is known of each line.
  struct Cache {
    uint32_t shift = 0, capacity = 0;
    bool allocates = false;  // on a write
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

  Cache caches_[3];                 // by Level
  std::vector<uint32_t> resident_;  // [set] of a direct-mapped L2: the line; empty: it is none
  uint32_t colours_ = 1;
  uint32_t epoch_ = 1;  // number of times that all caches were emptied, and one
  uint32_t function_ = 0;
  bool counted_ = false;
  What cause_ = What::Table;  // of the next access to L2
  std::array<uint64_t, kCounts> counts_{};
  std::map<Pair, uint64_t> pairs_;
};

}  // namespace p5
