// SPDX-License-Identifier: MIT
// Reference model of a set-associative cache, from the description in INTEL-DM ch. 2. The model
// calculates the number of a set by a division. set.hh models one set.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "set.hh"

namespace reference {

struct Geometry {
  uint32_t size, ways, line;  // bytes, lines per set, bytes
  std::string policy;         // lru, plru, fifo, random
  bool write_back, write_allocate;
};

struct Outcome {
  bool hit = false;
  bool filled = false;
  bool through = false;               // a write that also goes to the next level
  std::optional<uint32_t> displaced;  // address of the displaced line ...
  bool write_back = false;            // ... and whether it was modified
};

class Cache {
 public:
  explicit Cache(const Geometry& geometry) : geometry_(geometry) {}

  Outcome access(uint32_t address, bool write, bool may_fill) {
    Outcome outcome;
    const uint32_t line = address / geometry_.line;
    Set& set = set_of(line);
    if (set.find(line)) {
      outcome.hit = true;
      set.use(line);
    } else if (may_fill && (!write || geometry_.write_allocate)) {
      outcome.filled = true;
      if (const auto gone = set.fill(line, random_)) {
        outcome.displaced = gone->number * geometry_.line;
        outcome.write_back = gone->dirty;
      }
    }
    Entry* entry = set.find(line);
    if (write && entry && geometry_.write_back) entry->dirty = true;
    if (write && !(entry && geometry_.write_back)) outcome.through = true;
    return outcome;
  }

  bool holds(uint32_t address) {
    const uint32_t line = address / geometry_.line;
    return set_of(line).find(line) != nullptr;
  }

  bool dirty(uint32_t address) {
    const uint32_t line = address / geometry_.line;
    const Entry* entry = set_of(line).find(line);
    return entry && entry->dirty;
  }

  // Writes a modified line back. The line remains in the cache. Returns whether the line was
  // modified.
  bool clean(uint32_t address) {
    const bool was_dirty = dirty(address);
    const uint32_t line = address / geometry_.line;
    if (was_dirty) set_of(line).find(line)->dirty = false;
    return was_dirty;
  }

  bool invalidate(uint32_t address) {
    const bool was_dirty = dirty(address);
    const uint32_t line = address / geometry_.line;
    set_of(line).remove(line);
    return was_dirty;
  }

  uint32_t invalidate_all() {
    uint32_t lost = 0;
    for (auto& [index, set] : sets_) {
      while (!set.entries().empty()) {
        lost += set.entries().front().dirty;
        set.remove(set.entries().front().number);
      }
    }
    return lost;
  }

 private:
  Set& set_of(uint32_t line) {
    const uint32_t sets = geometry_.size / geometry_.line / geometry_.ways;
    return sets_.try_emplace(line % sets, geometry_.policy, int(geometry_.ways)).first->second;
  }

  Geometry geometry_;
  std::map<uint32_t, Set> sets_;
  ShiftRegister random_;
};

}  // namespace reference
