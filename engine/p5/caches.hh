// SPDX-License-Identifier: MIT
// The L1 caches and the bus: where lines are, what moves them, and what goes over the bus.
#pragma once

#include <cstdint>
#include <memory>

#include "cache.hh"
#include "core.hh"
#include "memory.hh"

namespace p5 {

class Caches {
 public:
  static constexpr uint32_t kNoLine = ~0u;

  explicit Caches(Core& core);

  // May a cache take in memory at this address?
  bool cacheable(uint32_t physical) const {
    const uint32_t page = physical >> 12;
    return page < pages_ && cacheable_[page];
  }
  // CR0.CD and TR12.CI: do the L1 caches take lines in?
  void set_caching(bool on) { caching_ = on, plain_fill_ = page_fill(0); }
  // What a line of a page with these PageBits comes in as.
  Fill fill_state(uint32_t attributes) const {
    return attributes ? page_fill(attributes) : plain_fill_;
  }
  // What it becomes when it is written: a shared line exclusive, but not in a page of PWT
  // [INTEL-DM 3].
  Fill write_state(uint32_t attributes) const {
    if (attributes) return page_fill(attributes);
    return caching_ ? Fill::Exclusive : Fill::None;
  }

  Memory::Line read_line(uint32_t physical) {
    missed = kNoLine;
    return memory.read_line(physical, core_.clock, *core_.bank);
  }
  // A read of a page-table entry, which no L1 takes in.
  void read_table(uint32_t physical) {
    missed = kNoLine;
    core_.wait(memory.read_single(physical, core_.clock, *core_.bank), StallWalk);
  }
  // A read of memory that could be cached, but not now (CR0.CD) or not in this page (PCD).
  void read_noncacheable(uint32_t physical, Event stall) {
    core_.count(UncachedReads);
    missed = kNoLine;
    core_.wait(memory.read_noncacheable(physical, core_.clock, *core_.bank), stall);
  }
  // A dirty line leaves L1D for the bus, which takes it from clock `when` on.
  void write_back(uint32_t line, uint64_t when) {
    core_.count(L1dWritebacks);
    memory.write_line(line, when, *core_.bank);
  }
  // L1D gives a line away, now.
  void take_from_l1d(uint32_t physical) {
    if (l1d.invalidate(physical)) write_back(physical, core_.clock);
  }
  // A locked read and write. Both go to the bus and the line leaves L1D [INTEL-DM 3].
  void locked_access(uint32_t physical);
  // A locked cycle of the page unit, which sets an accessed or dirty bit.
  void table_update(uint32_t physical);
  // Another bus master (DMA) reads or writes memory.
  void bus_master(uint32_t physical, uint32_t bytes, bool write);
  void flush(bool write_back);  // WBINVD, INVD

  Cache l1d, l1i;
  Memory memory;              // the bus, L2 and DRAM
  uint32_t missed = kNoLine;  // line of the last write that missed without allocating; no cache
                              // has taken a line in since

 private:
  Fill page_fill(uint32_t attributes) const {
    if (!rule(Rule::PageNoCache)) attributes &= ~kNoCache;
    if (!rule(Rule::PageWriteThrough)) attributes &= ~kWriteThrough;
    if (!caching_ || attributes & kNoCache) return Fill::None;
    const bool once = rule(Rule::WriteOnce) && core_.machine.write_once;
    return once || attributes & kWriteThrough ? Fill::Shared : Fill::Exclusive;
  }

  Core& core_;
  bool caching_ = false;
  Fill plain_fill_ = Fill::None;          // of a page without PageBits
  uint32_t line_;                         // bytes in a line of L1D
  uint32_t pages_;                        // of DRAM; nothing beyond is cacheable
  std::unique_ptr<uint8_t[]> cacheable_;  // [physical page]
};

}  // namespace p5
