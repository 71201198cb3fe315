// SPDX-License-Identifier: MIT
// What does a shadow report about each access to its caches and TLBs? The classes of misses
// (miss_classes.hh) and the trace of accesses (access_trace.hh) implement this interface.
#pragma once

#include <cstdint>

#include "p5/cache.hh"

namespace measure {

// The bits of an address below a page and below a large page.
constexpr unsigned kPageShift = 12, kLargeShift = 22;

// DtlbLarge is the data TLB for large pages.
enum class Level : uint8_t { L1d, L1i, L2, Dtlb, DtlbLarge, Itlb };
constexpr unsigned kLevels = 6;

// Why an entry was loaded or removed: for code, for data, for page tables, by another bus master,
// or by an instruction that empties the array.
enum class Use : uint8_t { Code, Data, Table, Device, Flush };

class AccessListener {
 public:
  virtual ~AccessListener() = default;
  // `address`: physical, and linear for a TLB. `may_fill`: the array loads the entry after a read
  // miss. A cache also loads the line after a write miss if the cache allocates on writes.
  // `result.victim`: the entry that the new one replaces.
  virtual void access(Level level, uint32_t address, bool write, const p5::CacheAccess& result,
                      bool may_fill) = 0;
  // The array does not contain the entry any more.
  virtual void invalidated(Level level, uint32_t address, Use by) = 0;
  // If L1D contains the line, the line is now clean.
  virtual void cleaned(uint32_t address) = 0;
  // All caches (flushed) or all TLBs (flushed_tlbs) are now empty.
  virtual void flushed() = 0;
  virtual void flushed_tlbs() = 0;
};

}  // namespace measure
