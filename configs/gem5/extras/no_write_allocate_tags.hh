// SPDX-License-Identifier: MIT
// Tags of a cache that does not allocate on writes: if only writes have missed a line, the cache
// does not fill this line. The P54C's L1D is such a cache [INTEL-DM table 2-5]. Most board caches
// also do not allocate on writes.
//
// gem5's cache fetches the line of a write miss even with these tags. When the cache asks the tags
// for a victim, the tags return no victim. The cache then completes the write in a temporary block
// and writes that block back to the next level. Hits, misses and contents are therefore the same as
// in a cache without write allocation. But the bus transfers a line fetch and a write-back. A
// Pentium sends only one write. The statistic passedFetches counts these fetches, so that the fetch
// and the write-back can be counted as one write (p5stats/gem5_events.py).
//
// The fetch reaches the next level as a read for ownership. If the next level also has these tags,
// its tags treat the fetch as a write. A board cache with these tags then fills no line.
//
// Locked reads and swaps allocate a line in L1D, because gem5's cache must hold the line until the
// write of the same instruction.
#pragma once

#include <unordered_map>

#include "base/statistics.hh"
#include "line_key.hh"
#include "mem/cache/tags/base_set_assoc.hh"
#include "params/NoWriteAllocateTags.hh"

namespace gem5::p5lab {

// Tags that can refuse a line. `Function` is the type of findVictim of this gem5.
template <typename Function>
class RefusingTags;
template <typename... Arguments>
class RefusingTags<CacheBlk* (BaseTags::*)(Arguments...)> : public BaseSetAssoc {
 public:
  using BaseSetAssoc::BaseSetAssoc;
  CacheBlk* findVictim(Arguments... arguments) override {
    return refuses(line_address(arguments...)) ? nullptr : BaseSetAssoc::findVictim(arguments...);
  }

 private:
  virtual bool refuses(Addr address) = 0;
};

class NoWriteAllocateTags : public RefusingTags<decltype(&BaseTags::findVictim)> {
 public:
  PARAMS(NoWriteAllocateTags);
  explicit NoWriteAllocateTags(const Params& params);

  CacheBlk* accessBlock(const PacketPtr packet, Cycles& latency) override;

 private:
  // The accesses that missed a line and wait for a place in the cache.
  struct Missed {
    bool wanted = false;   // an access other than a write
    bool fetched = false;  // an access that fetches the line; a write-back brings the line
  };
  struct Statistics : statistics::Group {
    explicit Statistics(statistics::Group* parent);
    statistics::Scalar passedFetches;
  };

  // The cache asks for a place for the line of `address`.
  bool refuses(Addr address) override;

  std::unordered_map<Addr, Missed> missed_;  // by the address of the line
  Statistics statistics_;
};

}  // namespace gem5::p5lab
