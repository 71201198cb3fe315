// SPDX-License-Identifier: MIT
// What does a shadow report about each access to its caches? The classes of misses
// (miss_classes.hh) and the trace of accesses (access_trace.hh) implement this interface.
#pragma once

#include <cstdint>

namespace measure {

enum class Level : uint8_t { L1d, L1i, L2 };

class AccessListener {
 public:
  virtual ~AccessListener() = default;
  // `may_fill`: the cache loads the line after a read miss. The cache also loads the line after a
  // write miss if the cache allocates on writes.
  virtual void access(Level level, uint32_t address, bool write, bool hit, bool may_fill) = 0;
  // The cache does not contain the line any more.
  virtual void invalidated(Level level, uint32_t address) = 0;
  // If L1D contains the line, the line is now clean.
  virtual void cleaned(uint32_t address) = 0;
  // All levels are now empty.
  virtual void flushed() = 0;
};

}  // namespace measure
