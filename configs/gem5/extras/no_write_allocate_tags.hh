// SPDX-License-Identifier: MIT
// Tags of a cache that does not allocate on writes: it takes in no line that only writes have
// missed. The P54C's L1D is such a cache [INTEL-DM table 2-5], and most board caches are.
//
// gem5's cache fetches the line of a write miss all the same. When it looks for a victim, these
// tags offer none. The cache then completes the write in a temporary block and writes that block
// back to the next level. Hits, misses and contents are therefore those of a cache without write
// allocation, but the bus carries a line fetch and a write-back where a Pentium sends one write.
//
// The fetch reaches the next level as a read for ownership. If that level has these tags as well,
// they treat the fetch as a write, and a board cache takes in nothing either.
//
// Locked reads and swaps do allocate in L1D, because gem5's cache holds their line until the write
// has come.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "mem/cache/tags/base_set_assoc.hh"
#include "params/NoWriteAllocateTags.hh"

namespace gem5::p5lab {

class NoWriteAllocateTags : public BaseSetAssoc {
 public:
  PARAMS(NoWriteAllocateTags);
  explicit NoWriteAllocateTags(const Params& params);

  CacheBlk* accessBlock(const PacketPtr packet, Cycles& latency) override;
  CacheBlk* findVictim(Addr address, const bool secure, const std::size_t bits,
                       std::vector<CacheBlk*>& evicted, const uint64_t partition) override;

 private:
  // For each line that has missed and is on its way: whether anything but writes waits for it.
  std::unordered_map<Addr, bool> wanted_;
};

}  // namespace gem5::p5lab
