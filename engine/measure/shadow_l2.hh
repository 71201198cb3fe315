// SPDX-License-Identifier: MIT
// The L2s of the shadows (shadow.hh): the accesses that they get, and what they miss.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "access_listener.hh"
#include "cache.hh"

namespace p5 {

// What a front puts on its bus.
struct BusAccess {
  enum Kind : uint8_t { Read, Write, ReadPast, Invalidate, FlushCaches, UseBank };
  Kind kind;
  uint8_t times;     // number of equal writes, one right after the other
  uint32_t address;  // or the number of a bank
};

// What an L2 misses, and what it writes to DRAM if it is write-back. A write-through L2 holds the
// same lines, and all writes go to DRAM.
struct L2Misses {
  uint64_t reads = 0, writes = 0, dram_writes = 0;
};

// L2s behind one bus that are played together. They behave as those of Memory.
class L2s {
 public:
  virtual ~L2s() = default;
  // Adds an L2; false: it cannot be played together with these.
  virtual bool add(const CacheConfig& l2) = 0;
  virtual void play(const std::vector<BusAccess>& accesses) = 0;
  virtual L2Misses misses(const CacheConfig& l2, size_t bank) const = 0;
};

// Makes the group that this L2 is in. With a `listener` no other can be added.
std::unique_ptr<L2s> make_l2s(const CacheConfig& l2, AccessListener* listener);

}  // namespace p5
