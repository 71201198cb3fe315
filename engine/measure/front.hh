// SPDX-License-Identifier: MIT
// The front of a shadow: its TLBs and both L1 caches, to which recorded references are played. What
// the front asks of memory goes to its buses, and from there to the L2s (shadow_l2.hh).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "access_listener.hh"
#include "cache.hh"
#include "config.hh"
#include "miss_counts.hh"
#include "observer.hh"
#include "shadow_l2.hh"
#include "tlb.hh"

namespace p5 {

// One recorded reference of the chip.
struct Reference {
  enum Kind : uint8_t {
    Read,
    Write,
    Code,
    Locked,
    TableUpdate,
    DataPage,
    CodePage,
    DataFault,
    CodeFault,
    FlushTlbs,
    FlushPage,
    FlushCaches,
    Snoop,
    UseBank
  };
  Kind kind;
  Fill fill = Fill::Exclusive;  // Read, Write, Code
  bool flag = false;            // Read, Write: L1I may have the line; faults: the page is present;
                                // FlushCaches: dirty lines are written back; Snoop: for a write
  uint8_t times = 1;            // number of equal writes, one right after the other
  uint32_t address = 0;         // physical address of a line, linear address of a page, or the
                                // number of a bank
};

// The bus between a front and some of its L2s. It filters: an access to the line that was used
// last, in the set of the smallest of these L2s, hits in each of them and changes nothing. It is
// dropped.
class Bus {
 public:
  // For L2s like this one. `filter` false: nothing is dropped.
  Bus(const CacheConfig& l2, bool filter);

  // Can this L2 share the bus? If line lengths differ, or direct-mapped L2s are mixed with others,
  // the sets of all have few address bits in common, and the filter would be small.
  bool suits(const CacheConfig& l2) const;
  // Another L2. The filter's set is selected by the address bits that all L2s use for theirs.
  void add(const CacheConfig& l2);

  void read(uint32_t address) {
    Line& known = lines_[(address >> low_) & mask_];
    address &= line_mask_;
    if (known.read == address) return;
    known = {filter_ ? address : kNone, kNone};
    accesses.push_back({BusAccess::Read, 1, address});
  }
  void write(uint32_t address, uint8_t times) {
    Line& known = lines_[(address >> low_) & mask_];
    address &= line_mask_;
    if (known.modified == address) return;
    known = {known.read == address ? address : kNone, known.read == address ? address : kNone};
    accesses.push_back({BusAccess::Write, times, address});
  }
  // A read that brings no line in.
  void read_past(uint32_t address);
  void invalidate(uint32_t address);
  void flush_caches();
  void use_bank(uint32_t number) { accesses.push_back({BusAccess::UseBank, 1, number}); }

  std::vector<BusAccess> accesses;  // for the L2s

 private:
  static constexpr uint32_t kNone = ~0u;
  struct Line {
    uint32_t read = kNone, modified = kNone;
  };

  bool filter_, direct_;
  uint32_t line_;
  uint32_t low_, high_ = 32;  // first common bit, and the one behind the last
  uint32_t mask_ = 0, line_mask_;
  std::vector<Line> lines_;
};

// The TLBs and L1 caches of one geometry. They behave as the chip's own.
class Front {
 public:
  Front(const Config& config, bool filter, AccessListener* listener);

  // Adds an L2 behind it. Returns the number of the bus that the L2 is on.
  size_t add(const CacheConfig& l2);

  // Plays recorded references; `walks` belong to those that refer to pages, in order. The buses
  // have what goes on to the L2s afterwards. It is counted here, as reads and writes of an L2.
  void play(const std::vector<Reference>& references, const std::vector<PageWalk>& walks);
  const Bus& bus(size_t number) const { return buses_[number]; }
  // What the front has counted in a bank.
  MissCounts counts(size_t bank) const {
    return bank < banks_.size() ? banks_[bank] : MissCounts();
  }

 private:
  // `coded`: L1I may have the line.
  void read(uint32_t address, Fill fill, bool coded);
  void write(uint32_t address, uint8_t times, Fill fill, bool coded);
  void code(uint32_t address, Fill fill);
  void locked(uint32_t address);
  void table_update(uint32_t address);
  void snoop(uint32_t address, bool write);
  void read_past(uint32_t address);
  void data_page(uint32_t linear, const PageWalk& walk);
  void code_page(uint32_t linear, const PageWalk& walk);
  void data_fault(uint32_t linear, const PageWalk& walk, bool present);
  void code_fault(uint32_t linear, const PageWalk& walk, bool present);
  bool read_tables(const PageWalk& walk);
  // A line crosses the bus.
  void read_line(uint32_t address) {
    (*bank_)[L2Reads]++;
    for (Bus& bus : buses_) bus.read(address);
  }
  void write_line(uint32_t address, uint8_t times = 1) {
    (*bank_)[L2Writes] += times;
    for (Bus& bus : buses_) bus.write(address, times);
  }
  void flush_page(uint32_t linear);
  void flush_caches(bool write_back);
  void take_from_l1d(uint32_t address);
  void take_from_l1i(uint32_t address);
  void write_back(uint32_t line);

  Cache l1d_, l1i_;
  bool write_back_;
  Tlb itlb_, dtlb_, dtlb_large_;
  bool filter_;
  AccessListener* listener_;
  std::vector<Bus> buses_;
  MissCounts* bank_ = nullptr;
  std::vector<MissCounts> banks_;
};

}  // namespace p5
