// SPDX-License-Identifier: MIT
// Which lines do the L1 caches hold, and which accesses go to the bus?
#pragma once

#include <cstdint>
#include <memory>

#include "p5/cache.hh"
#include "p5/core.hh"
#include "p5/memory.hh"

namespace p5 {

class Caches {
 public:
  static constexpr uint32_t kNoLine = ~0u;

  explicit Caches(Core& core);

  // Whether a cache may hold memory at this address.
  bool cacheable(uint32_t physical) const {
    const uint32_t page = physical >> 12;
    return page < pages_ && cacheable_[page];
  }
  // Core clocks of an access to memory that no cache may hold. `end`: the address after the access.
  uint32_t uncached_clocks(uint32_t physical, uint32_t end, bool write) const {
    const Config& config = core_.config;
    return config.video.clocks(physical, end, write, config.dram_bytes,
                               config.memory.uncached_clocks);
  }
  // Sets whether the L1 caches fill lines (CR0.CD and TR12.CI).
  void set_caching(bool on) { caching_ = on, plain_fill_ = page_fill(0); }
  // Returns the state of a line after its fill. The line is in a page with these PageBits.
  Fill fill_state(uint32_t attributes) const {
    return attributes ? page_fill(attributes) : plain_fill_;
  }
  // Returns the state of a line after a write. The line is in a page with these PageBits. A shared
  // line becomes exclusive, except in a page with PWT [INTEL-DM 3].
  Fill write_state(uint32_t attributes) const {
    if (attributes) return page_fill(attributes);
    return caching_ ? Fill::Exclusive : Fill::None;
  }

  enum class Line : uint8_t { Code, Data };
  // How a line was read: the clock at which the bus was free, the component of the CPI stack to
  // which the transaction before it belongs, and whether DRAM delivered the line. Only a run that
  // counts the CPI stack has these values.
  struct Grant {
    uint64_t clock = 0;
    Event by = CpiBusReads;
    bool from_dram = false;
  };

  Memory::Line read_line(uint32_t physical, Line line) {
    missed = kNoLine;
    if (__builtin_expect(core_.fills_instrumented, 0)) return fill_instrumented(physical, line);
    return memory.read_line(physical, core_.clock, *core_.bank);
  }
  // Reads a line of code ahead of its execution, at clock `from` or later, `overhead` core clocks
  // after the bus is free.
  Memory::Line read_ahead(uint32_t physical, uint64_t from, uint32_t overhead);
  // The grant of the last line that was read.
  const Grant& grant() const { return grant_; }
  // Waits until the requested bytes of the last read_line() arrive at clock `until`. In the CPI
  // stack, the time until the bus was free belongs to the transaction before the read.
  void wait_for_line(uint64_t until, Event stall, Event from_l2, Event from_dram) {
    wait_for_line(until, stall, from_l2, from_dram, grant_);
  }
  void wait_for_line(uint64_t until, Event stall, Event from_l2, Event from_dram,
                     const Grant& grant) {
    if (__builtin_expect(core_.explains, 0)) explain_line(until, stall, from_l2, from_dram, grant);
    core_.wait(until, stall);
  }
  // Reads a page-table entry. The read fills no line of an L1 cache. `component`: the component of
  // the CPI stack for the wait. With `ideal`, the read takes no time.
  void read_table(uint32_t physical, Event component, bool ideal = false) {
    missed = kNoLine;
    if (ideal) return memory.count_read(physical, *core_.bank, Fill::Exclusive);
    core_.wait(memory.read_single(physical, core_.clock, *core_.bank), StallWalk, component);
  }
  // Reads memory that is not cacheable now (CR0.CD) or in this page (PCD).
  void read_noncacheable(uint32_t physical, Event stall) {
    core_.count(UncachedReads);
    missed = kNoLine;
    core_.wait(memory.read_noncacheable(physical, core_.clock, *core_.bank), stall, CpiUncached);
  }
  // Writes a dirty line of L1D back. The write-back can start on the bus at clock `when` or later.
  void write_back(uint32_t line, uint64_t when) {
    core_.count(L1dWritebacks);
    if (__builtin_expect(core_.config.ideal.data_lines, 0))
      return memory.count_write(line, *core_.bank);
    memory.write_line(line, when, *core_.bank);
  }
  // Removes a line from L1D now. A dirty line is written back.
  void take_from_l1d(uint32_t physical) {
    if (l1d.invalidate(physical)) write_back(physical, core_.clock);
  }
  // A locked read and write. The read and the write go to the bus, and the line is removed from L1D
  // [INTEL-DM 3].
  void locked_access(uint32_t physical, uint32_t end);
  // A locked cycle of the page unit, which sets an accessed or dirty bit.
  void table_update(uint32_t physical);
  // Another bus master (DMA) reads or writes memory.
  void bus_master(uint32_t physical, uint32_t bytes, bool write);
  void flush(bool write_back);  // WBINVD, INVD

  Cache l1d, l1i;
  Memory memory;  // the bus, L2 and DRAM
  // The line of the last write that missed and filled no line. kNoLine: a cache has filled a line
  // since then.
  uint32_t missed = kNoLine;

 private:
  // read_line() for a run that counts the CPI stack, or for an ideal cache: its lines arrive at
  // once, and the bus is free.
  Memory::Line fill_instrumented(uint32_t physical, Line line);
  template <class Read>
  Memory::Line explained(const Read& read);
  void explain_line(uint64_t until, Event stall, Event from_l2, Event from_dram,
                    const Grant& grant);
  Fill page_fill(uint32_t attributes) const {
    if (!rule(Rule::PageNoCache)) attributes &= ~kNoCache;
    if (!rule(Rule::PageWriteThrough)) attributes &= ~kWriteThrough;
    if (!caching_ || attributes & kNoCache) return Fill::None;
    const bool once = rule(Rule::WriteOnce) && core_.machine.write_once;
    return once || attributes & kWriteThrough ? Fill::Shared : Fill::Exclusive;
  }

  Core& core_;
  bool caching_ = false;
  Grant grant_;
  Fill plain_fill_ = Fill::None;          // for a page without PageBits
  uint32_t line_;                         // bytes in a line of L1D
  uint32_t pages_;                        // number of DRAM pages; no page above is cacheable
  std::unique_ptr<uint8_t[]> cacheable_;  // [physical page]
};

}  // namespace p5
