// SPDX-License-Identifier: MIT
// How does another simulator get the accesses to the caches and their results? The trace of
// accesses contains this data (docs/reference/formats.md, accesses.bin). A shadow with the
// machine's geometry reports the accesses. The caches of this shadow are empty when the trace
// begins.
#pragma once

#include <cstdint>
#include <cstdio>

#include "measure/access_listener.hh"

namespace measure {

class AccessTrace : public AccessListener {
 public:
  // Writes at most `limit` accesses of L1, and the accesses of L2 that follow from them, into
  // `file`. `line` is the length of a line in bytes.
  AccessTrace(std::FILE* file, uint32_t line, uint64_t limit);

  bool full() const { return accesses_ > limit_; }

  void access(Level level, uint32_t address, bool write, const p5::CacheAccess& result,
              bool may_fill) override;
  void invalidated(Level level, uint32_t address, Use by) override;
  void cleaned(uint32_t address) override;
  void flushed() override;
  void flushed_tlbs() override {}

 private:
  enum Kind : uint8_t {
    L1dRead,
    L1dWrite,
    L1iRead,
    L2Read,
    L2Write,
    L1dRemoved,
    L1iRemoved,
    L2Removed,
    L1dCleaned,
    AllRemoved,
    L1Past,
    L2Past
  };
  void put(Kind kind, uint32_t address, bool hit = false);

  std::FILE* file_;
  uint64_t limit_, accesses_ = 0;
};

}  // namespace measure
