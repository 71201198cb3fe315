// SPDX-License-Identifier: MIT
// What a shadow counts by itself, and which events of the chip hold for every shadow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "events.hh"

namespace p5 {

// A shadow has counts of its own for these events.
constexpr Event kMissEvents[] = {DataReadMisses, DataWriteMisses, WriteHitsME,  L1dWritebacks,
                                 CodeMisses,     UncachedReads,   ItlbMisses,   DtlbMisses,
                                 WalkReads,      L2Reads,         L2ReadMisses, L2Writes,
                                 L2WriteMisses,  DramReads,       DramWrites,   SnoopHits};

// The counts of one shadow in one bank.
class MissCounts {
 public:
  uint64_t& operator[](Event event) { return counts_[place(event)]; }
  uint64_t operator[](Event event) const { return counts_[place(event)]; }
  void operator+=(const MissCounts& other) {
    for (size_t i = 0; i < counts_.size(); i++) counts_[i] += other.counts_[i];
  }
  bool operator!=(const MissCounts& other) const { return counts_ != other.counts_; }

 private:
  static constexpr size_t place(Event event) {
    size_t place = 0;
    while (kMissEvents[place] != event) place++;
    return place;
  }
  std::array<uint64_t, std::size(kMissEvents)> counts_{};
};

// The chip's counts of these events hold for all geometries: they depend on no cache and no clock.
// Events in neither list depend on time, and no shadow has them.
constexpr Event kStreamEvents[] = {
    Instructions, DataReads,      DataWrites, CodeReads, UncachedWrites, Misaligned,   LockedCycles,
    IoReads,      IoWrites,       Branches,   Snoops,    Flops,          SegmentLoads, HwInterrupts,
    Exceptions,   SoftInterrupts, CrossInt,   CrossGate, CrossFar,       CrossIret,    CrossAsync,
    Cr3Changed,   Cr3Unchanged,   ModeReal,   ModeV86,   Mode16,         Mode32,       TlbFlushes};

}  // namespace p5
