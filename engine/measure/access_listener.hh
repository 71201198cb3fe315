// SPDX-License-Identifier: MIT
// The interface of those who want to see what became of each single access to a shadow's caches:
// the classes of misses (miss_classes.hh) and the trace of accesses (access_trace.hh).
#pragma once

#include <cstdint>

namespace p5 {

enum class Level : uint8_t { L1d, L1i, L2 };

class AccessListener {
 public:
  virtual ~AccessListener() = default;
  // `may_fill`: a read that misses brings its line in; a write does as the cache is configured.
  virtual void access(Level level, uint32_t address, bool write, bool hit, bool may_fill) = 0;
  // The line was taken away, if it was there.
  virtual void invalidated(Level level, uint32_t address) = 0;
  // The line is clean now, if L1D has it.
  virtual void cleaned(uint32_t address) = 0;
  // All levels are empty.
  virtual void flushed() = 0;
};

}  // namespace p5
