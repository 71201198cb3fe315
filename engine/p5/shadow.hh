// SPDX-License-Identifier: MIT
// Shadows: further cache and TLB geometries beside the model's own, fed from one run. They count
// every miss that the geometry would have, and have no influence on the run: no time, and so no
// cycles.
//
// A geometry is a front (the TLBs and both L1 caches) and a board (the L2 behind it). Geometries
// that are equal in one of the two share it. References are written down and played in batches to
// one front after the other, and what each front puts on its bus to each of its boards, so that the
// tags of one geometry stay in the host's caches.
//
// Most references change no geometry and are not written down. A read of the line that was used
// last in its set, among the sets of the geometry that has the fewest, was used last in its set of
// every other: the number of sets is a power of two, so the other's sets divide that one. It hits
// everywhere and no replacement order changes. The same holds for pages and lines of code.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache.hh"
#include "config.hh"
#include "counters.hh"
#include "tlb.hh"

namespace p5 {

// What a shadow counts by itself.
constexpr Event kMissEvents[] = {
    DataReadMisses, DataWriteMisses, WriteHitsME, L1dWritebacks, CodeMisses,
    ItlbMisses,     DtlbMisses,      WalkReads,   L2Reads,       L2ReadMisses,
    L2Writes,       L2WriteMisses,   DramReads,   DramWrites};
class MissCounts {
 public:
  uint64_t& operator[](Event event) { return counts_[place(event)]; }
  uint64_t operator[](Event event) const { return counts_[place(event)]; }
  bool operator!=(const MissCounts& other) const { return counts_ != other.counts_; }

 private:
  static constexpr size_t place(Event event) {
    size_t place = 0;
    while (kMissEvents[place] != event) place++;
    return place;
  }
  std::array<uint64_t, std::size(kMissEvents)> counts_{};
};

// What the run counts for all geometries: no cache and no clock has a part in it. Everything that
// is in neither list depends on time and exists for no shadow.
constexpr Event kStreamEvents[] = {
    Instructions, DataReads,   DataWrites,     CodeReads,  UncachedReads, UncachedWrites,
    Misaligned,   LockedCycles, IoReads,       IoWrites,   Branches,      SegmentLoads,
    HwInterrupts, Exceptions,  SoftInterrupts, CrossInt,   CrossGate,     CrossFar,
    CrossIret,    CrossAsync,  Cr3Changed,     Cr3Unchanged, ModeReal,    ModeV86,
    Mode16,       Mode32,      TlbFlushes};

// The page-table entries that the translation of a linear address reads.
struct PageWalk {
  uint32_t entries[2] = {0, 0};  // physical addresses
  uint8_t reads = 0;
  bool large = false;            // a page of 4 MB
  bool present = false;
};

// One reference as the model reports it.
struct Reference {
  enum Kind : uint8_t {
    Read, Write, Code, Locked, TableUpdate, DataPage, CodePage, DataFault, CodeFault,
    FlushTlbs, FlushPage, FlushCaches, UseBank
  };
  Kind kind;
  bool flag = false;     // Read, Write, Code: a miss may allocate; faults: the page is present;
                         // FlushCaches: dirty lines are written back
  uint32_t address = 0;  // physical line; linear address of pages; number of a bank
  uint32_t times = 1;    // of a write, one right after the other
  PageWalk walk = {};    // of pages
};

// What a front puts on its bus.
struct BusAccess {
  enum Kind : uint8_t { Read, Write, FlushCaches, UseBank };
  Kind kind;
  uint32_t address;  // or the number of a bank
  uint32_t times;
};

// What became of one access, for who wants to see each.
enum class Level : uint8_t { L1d, L1i, L2 };
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void access(Level level, uint32_t address, bool write, bool hit) = 0;
  virtual void invalidated(Level level, uint32_t address) = 0;  // whether it was there or not
  virtual void cleaned(uint32_t address) = 0;                   // in L1D, that stays there
  virtual void flushed() = 0;                                   // all levels
};

// The TLBs and L1 caches of one geometry, as those of Pentium behave.
class Front {
 public:
  explicit Front(const Config& config, Observer* observer);

  // Plays references; what goes to the bus is in `bus` then.
  void play(const std::vector<Reference>& references);
  std::vector<BusAccess> bus;
  uint64_t count(size_t bank, Event event) const {
    return bank < banks_.size() ? banks_[bank][event] : 0;
  }

 private:
  void read(uint32_t address, bool fill);
  void write(uint32_t address, uint32_t times, bool fill);
  void code(uint32_t address, bool fill);
  void locked(uint32_t address);
  void table_update(uint32_t address);
  void data_page(const Reference& page);
  void code_page(const Reference& page);
  void data_fault(const Reference& page);
  void code_fault(const Reference& page);
  bool walk(const Reference& page);
  void flush_page(uint32_t linear);
  void flush_caches(bool write_back);
  void take_from_l1d(uint32_t address);
  void take_from_l1i(uint32_t address);
  void write_back(uint32_t line);
  void put(BusAccess::Kind kind, uint32_t address, uint32_t times = 1) {
    bus.push_back({kind, address, times});
  }

  Cache l1d_, l1i_;
  Tlb itlb_, dtlb_, dtlb_large_;
  Observer* observer_;
  MissCounts* bank_ = nullptr;
  std::vector<MissCounts> banks_;
};

// An L2 and the DRAM behind it, as those of Memory behave.
class Board {
 public:
  explicit Board(const MemoryConfig& config, Observer* observer);

  void play(const std::vector<BusAccess>& accesses);
  uint64_t count(size_t bank, Event event) const {
    return bank < banks_.size() ? banks_[bank][event] : 0;
  }

 private:
  void read(uint32_t address);
  void write(uint32_t address, uint32_t times);

  bool present_;
  Cache l2_;
  Observer* observer_;
  MissCounts* bank_ = nullptr;
  std::vector<MissCounts> banks_;
};

class Shadows {
 public:
  // One shadow for each configuration; their L1 lines are equally long. `filter` false: every
  // reference is played to every geometry, which must change nothing. With an observer, who sees
  // each access, there is one geometry and no filter.
  explicit Shadows(const std::vector<Config>& configs, bool filter = true,
                   Observer* observer = nullptr);

  // The bank that the model counts in from here on.
  void use(const Bank& bank);

  // A hit in every geometry that changes none.
  bool holds(uint32_t address) const { return line(address).read == (address & line_mask_); }
  bool holds_code(uint32_t address) const {
    return code_[(address >> line_shift_) & code_mask_] == (address & line_mask_);
  }
  bool holds_page(uint32_t linear) const {
    return pages_[(linear >> 12) & page_mask_] == linear >> 12 ||
           large_pages_[(linear >> 22) & large_page_mask_] == linear >> 22;
  }
  bool holds_code_page(uint32_t linear) const {
    return code_pages_[(linear >> 12) & code_page_mask_] == linear >> 12;
  }
  // A write to a line that every geometry holds modified; counts it.
  bool counts_write_hit(uint32_t address) {
    if (line(address).modified != (address & line_mask_)) return false;
    (*common_)[WriteHitsME]++;
    return true;
  }

  // Physical addresses; `fill` false: a miss does not allocate.
  void read(uint32_t address, bool fill);
  void write(uint32_t address, bool fill);
  void code(uint32_t address, bool fill);
  void locked(uint32_t address);
  void table_update(uint32_t address);
  // An access past all caches.
  void uncached(Event miss) { (*common_)[miss]++; }

  // Linear addresses, and what a walk would find.
  void data_page(uint32_t linear, const PageWalk& walk);
  void code_page(uint32_t linear, const PageWalk& walk);
  void page_fault(uint32_t linear, bool code, bool present, const PageWalk& walk);

  void flush_tlbs();
  void flush_page(uint32_t linear);
  void flush_caches(bool write_back);

  // Number of shadows, and of banks in order of their first use.
  size_t size() const { return shadows_.size(); }
  const std::vector<const Bank*>& banks() const { return banks_; }
  // The banks in use since the last call.
  std::vector<uint32_t> used();
  // What a shadow has counted in a bank up to now.
  MissCounts counts(size_t shadow, size_t bank);

 private:
  static constexpr uint32_t kNone = ~0u;  // no line and no page
  static constexpr size_t kBatch = 1024;  // references: 24 KB

  // Of a set: the line used last in every geometry, whether it was written since, and whether
  // every geometry holds it modified.
  struct Line {
    uint32_t read = kNone, written = kNone, modified = kNone;
  };
  Line& line(uint32_t address) { return lines_[(address >> line_shift_) & lines_mask_]; }
  const Line& line(uint32_t address) const {
    return lines_[(address >> line_shift_) & lines_mask_];
  }
  uint32_t& code_line(uint32_t address) { return code_[(address >> line_shift_) & code_mask_]; }
  Reference& record(Reference::Kind kind, uint32_t address);
  void record_page(Reference::Kind kind, uint32_t linear, const PageWalk& walk);
  void forget(uint32_t address);       // a line that may have left some L1D
  void forget_code(uint32_t address);  // ... some L1I
  void forget_pages();
  bool mixed(uint32_t linear, bool large);
  void play();

  std::vector<Reference> references_;
  uint32_t last_write_ = kNone;        // the last reference, if it is a write
  MissCounts* common_ = nullptr;       // of the bank in use, the same in every geometry
  const Bank* bank_ = nullptr;
  uint32_t number_ = 0;                // of that bank
  bool bank_known_ = false;            // the references say so already
  bool filter_;
  bool write_back_;                    // every L1D is
  uint32_t line_shift_, line_mask_;
  uint32_t lines_mask_, code_mask_, page_mask_, large_page_mask_, code_page_mask_;
  std::vector<Line> lines_;
  std::vector<uint32_t> code_, pages_, large_pages_, code_pages_;
  // Areas of 4 MB of which pages of that size were seen since the TLBs were flushed. One of both
  // kinds can be in either TLB, and is not filtered.
  std::bitset<1024> small_, large_;

  struct Shadow {
    size_t front, board;
  };
  std::vector<Front> fronts_;
  std::vector<Board> boards_;
  std::vector<size_t> behind_;         // the front of each board
  std::vector<Shadow> shadows_;
  std::vector<std::unique_ptr<MissCounts>> commons_;
  std::vector<const Bank*> banks_;
  std::unordered_map<const Bank*, uint32_t> numbers_;
  std::vector<uint32_t> used_;
  std::vector<bool> is_used_;          // [bank] is in used_
};

}  // namespace p5
