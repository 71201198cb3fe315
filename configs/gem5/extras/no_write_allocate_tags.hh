// SPDX-License-Identifier: MIT
// Tags of a cache that does not allocate on writes: a line that only writes have missed is not
// taken in. The P54C's L1D is such a cache [INTEL-DM table 2-5], most board caches are.
//
// gem5's cache fetches the line of a write miss all the same. When it asks where to put it, these
// tags offer no place; the cache then completes the write in a temporary block and writes that
// block back to the next level. So hits, misses and contents are those of a cache without write
// allocation; the bus carries a line fetch and a write-back where a Pentium sends one write.
//
// The fetch reaches the next level as a read for ownership. With these tags there as well it is
// taken for the write that it stands for, so that a board cache takes nothing in either.
//
// Locked reads and swaps do allocate in L1D, because gem5's cache keeps their line to itself until
// the write has come.
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
  // Lines that have been missed and are on their way: whether anything but writes waits for them.
  std::unordered_map<Addr, bool> wanted_;
};

}  // namespace gem5::p5lab
