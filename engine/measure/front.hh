// SPDX-License-Identifier: MIT
// How do TLBs and L1 caches of another geometry behave? A front consists of the TLBs and L1 caches
// of a shadow. The front simulates the recorded references of the chip. The buses pass the memory
// requests of the front to the L2s (shadow_l2.hh).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "measure/access_listener.hh"
#include "measure/miss_counts.hh"
#include "measure/shadow_l2.hh"
#include "p5/cache.hh"
#include "p5/config.hh"
#include "p5/memory_observer.hh"
#include "p5/tlb.hh"

namespace measure {

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
  p5::Fill fill = p5::Fill::Exclusive;  // Read, Write, Code
  // The meaning of `flag` depends on `kind`. Read, Write: L1I may contain the line. DataFault,
  // CodeFault: the page is present. FlushCaches: dirty lines are written back. Snoop: the access is
  // a write.
  bool flag = false;
  uint8_t times = 1;  // equal writes, one right after the other
  // The physical address of a line, the linear address of a page, or the number of a bank.
  uint32_t address = 0;
};

// The bus between a front and some of its L2s. The bus drops accesses that change nothing. If an
// access uses the last-used line of a set in the smallest L2, the access hits in all L2s on the
// bus.
class Bus {
 public:
  // `l2` is the first L2 on the bus. If `filter` is false, the bus drops nothing.
  Bus(const p5::CacheConfig& l2, bool filter);

  // Whether this L2 can share the bus. The set numbers of all L2s on a bus must have many address
  // bits in common, otherwise the filter becomes small. Different line lengths, or a mix of
  // direct-mapped and associative L2s, would leave few common bits.
  bool suits(const p5::CacheConfig& l2) const;
  // Adds an L2. The address bits that all L2s use for their sets select the set of the filter.
  void add(const p5::CacheConfig& l2);

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
  // A read that does not load the line into the L2.
  void read_past(uint32_t address);
  void invalidate(uint32_t address);
  void flush_caches();
  void use_bank(uint32_t number) { accesses.push_back({BusAccess::UseBank, 1, number}); }

  std::vector<BusAccess> accesses;  // accesses that the L2s must play

 private:
  static constexpr uint32_t kNone = ~0u;
  struct Line {
    uint32_t read = kNone, modified = kNone;
  };

  bool filter_, direct_;
  uint32_t line_;
  uint32_t low_, high_ = 32;  // the first common bit, and the bit after the last common bit
  uint32_t mask_ = 0, line_mask_;
  std::vector<Line> lines_;
};

// The TLBs and L1 caches of one geometry. They work like the TLBs and L1 caches of the chip.
class Front {
 public:
  Front(const p5::Config& config, bool filter, AccessListener* listener);

  // Adds an L2 behind the front. Returns the number of its bus.
  size_t add(const p5::CacheConfig& l2);

  // Plays recorded references. `walks` has one entry for each reference to a page, in order. After
  // this call the buses contain the accesses for the L2s. The front counts these accesses as reads
  // and writes of an L2.
  void play(const std::vector<Reference>& references, const std::vector<p5::PageWalk>& walks);
  const Bus& bus(size_t number) const { return buses_[number]; }
  // Returns the counts of the front in a bank.
  MissCounts counts(size_t bank) const {
    return bank < banks_.size() ? banks_[bank] : MissCounts();
  }

 private:
  // A TLB, how the listener and the counts call it, and the bits of an address below its pages.
  struct Pages {
    p5::Tlb tlb;
    Level level;
    p5::Event misses;
    unsigned shift;
  };

  bool finds(Pages& pages, uint32_t linear);
  bool finds_quickly(const Pages& pages, uint32_t linear);
  bool tell_hit(const Pages& pages, uint32_t linear);
  void miss(Pages& pages, uint32_t linear, const p5::PageWalk& walk, bool fills);
  // `coded`: L1I may have the line.
  void read(uint32_t address, p5::Fill fill, bool coded);
  void write(uint32_t address, uint8_t times, p5::Fill fill, bool coded);
  void code(uint32_t address, p5::Fill fill);
  void locked(uint32_t address);
  void table_update(uint32_t address);
  void snoop(uint32_t address, bool write);
  void read_past(uint32_t address);
  void data_page(uint32_t linear, const p5::PageWalk& walk);
  void code_page(uint32_t linear, const p5::PageWalk& walk);
  void data_fault(uint32_t linear, const p5::PageWalk& walk, bool present);
  void code_fault(uint32_t linear, const p5::PageWalk& walk, bool present);
  void read_tables(const p5::PageWalk& walk);
  // Transfers a line over the bus.
  void read_line(uint32_t address) {
    (*bank_)[p5::L2Reads]++;
    for (Bus& bus : buses_) bus.read(address);
  }
  void write_line(uint32_t address, uint8_t times = 1) {
    (*bank_)[p5::L2Writes] += times;
    for (Bus& bus : buses_) bus.write(address, times);
  }
  void flush_page(uint32_t linear);
  void flush_tlbs();
  void flush_caches(bool write_back);
  void take_from_l1d(uint32_t address, Use by);
  void take_from_l1i(uint32_t address, Use by);
  void write_back(uint32_t line);

  p5::Cache l1d_, l1i_;
  bool write_back_;
  Pages code_pages_, pages_, large_pages_;
  bool filter_;
  AccessListener* listener_;
  std::vector<Bus> buses_;
  MissCounts* bank_ = nullptr;
  std::vector<MissCounts> banks_;
};

}  // namespace measure
