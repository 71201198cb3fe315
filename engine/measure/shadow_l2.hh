// SPDX-License-Identifier: MIT
// How are the misses of the shadows' L2s (shadow.hh) counted? Each front puts its accesses on a
// bus, and the L2s behind the bus simulate these accesses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "measure/access_listener.hh"
#include "p5/cache.hh"

namespace measure {

// An access that a front puts on its bus.
struct BusAccess {
  enum Kind : uint8_t { Read, Write, ReadPast, Invalidate, FlushCaches, UseBank };
  Kind kind;
  uint8_t times;     // number of equal writes, one right after the other
  uint32_t address;  // UseBank: the number of a bank
};

// The misses of an L2, and its writes to DRAM if it is write-back. A write-through L2 contains the
// same lines, but all its writes reach DRAM.
struct L2Misses {
  uint64_t reads = 0, writes = 0, dram_writes = 0;
};

// A group of L2s behind one bus. Every L2 of the group simulates each access on the bus. These L2s
// behave like the L2 of class Memory.
class L2s {
 public:
  virtual ~L2s() = default;
  // Adds an L2. Returns false if this L2 cannot be in one group with the other L2s.
  virtual bool add(const p5::CacheConfig& l2) = 0;
  virtual void play(const std::vector<BusAccess>& accesses) = 0;
  virtual L2Misses misses(const p5::CacheConfig& l2, size_t bank) const = 0;
};

// Makes a group with this L2. A group with a `listener` contains no other L2.
std::unique_ptr<L2s> make_l2s(const p5::CacheConfig& l2, AccessListener* listener);

}  // namespace measure
