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
// Most references change no geometry and are not written down (class Recent).
#pragma once

#include <algorithm>
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
    DataReadMisses, DataWriteMisses, WriteHitsME, L1dWritebacks, CodeMisses, UncachedReads,
    ItlbMisses,     DtlbMisses,      WalkReads,   L2Reads,       L2ReadMisses,
    L2Writes,       L2WriteMisses,   DramReads,   DramWrites,    SnoopHits};
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

// What the run counts for all geometries: no cache and no clock has a part in it. Everything that
// is in neither list depends on time and exists for no shadow.
constexpr Event kStreamEvents[] = {
    Instructions, DataReads,  DataWrites,     CodeReads,  UncachedWrites, Misaligned,
    LockedCycles, IoReads,    IoWrites,       Branches,   Snoops,         Flops,
    SegmentLoads, HwInterrupts, Exceptions,   SoftInterrupts, CrossInt,   CrossGate,
    CrossFar,     CrossIret,  CrossAsync,     Cr3Changed, Cr3Unchanged,   ModeReal,
    ModeV86,      Mode16,     Mode32,         TlbFlushes};

// The page-table entries that the translation of a linear address reads, and what they say.
struct PageWalk {
  uint32_t entries[2] = {0, 0};  // physical addresses
  uint8_t reads = 0;
  bool large = false;            // a page of 4 MB
  bool present = false;
  uint8_t attributes = 0;        // PageBits
};

// One reference as the model reports it.
struct Reference {
  enum Kind : uint8_t {
    Read, Write, Code, Locked, TableUpdate, DataPage, CodePage, DataFault, CodeFault,
    FlushTlbs, FlushPage, FlushCaches, Snoop, UseBank
  };
  Kind kind;
  Fill fill = Fill::Exclusive;  // Read, Write, Code
  bool flag = false;     // faults: the page is present; FlushCaches: dirty lines are written back;
                         // Snoop: for a write
  uint8_t times = 1;     // of a write, one right after the other
  uint32_t address = 0;  // physical line; linear address of pages; number of a bank
};

// What a front puts on its bus.
struct BusAccess {
  enum Kind : uint8_t { Read, Write, ReadPast, Invalidate, FlushCaches, UseBank };
  Kind kind;
  uint32_t address;  // or the number of a bank
  uint32_t times;
};

// What became of one access, for who wants to see each.
enum class Level : uint8_t { L1d, L1i, L2 };
class Observer {
 public:
  virtual ~Observer() = default;
  // `may_fill`: a read that misses brings its line in; a write does as the cache is configured.
  virtual void access(Level level, uint32_t address, bool write, bool hit, bool may_fill) = 0;
  virtual void invalidated(Level level, uint32_t address) = 0;  // whether it was there or not
  virtual void cleaned(uint32_t address) = 0;                   // in L1D, that stays there
  virtual void flushed() = 0;                                   // all levels
};

// The lines (or pages) that were used last in each set of an array, among the sets of the geometry
// that has the fewest. The others have a power of two times as many, which divide those: what was
// used last here was used last in its set of every geometry. A reference to it hits everywhere and
// changes no replacement order; it need not be told.
//
// With two ways or more, and true or tree LRU, the line before the last one is in every geometry as
// well. A reference to it changes the order of the two, and what counts is the order they have when
// another line of the set is referred to: only then is it told.
class Recent {
 public:
  static constexpr uint32_t kNone = ~0u;
  struct Entry {
    uint32_t key = kNone;  // number of a line or page
    uint8_t writes = 0;    // told since it came in; after two every write-back geometry has it
                           // modified (the first one may make a shared line exclusive)
  };

  Recent(uint32_t sets, bool two) : mask_(sets - 1), two_(two), sets_(sets) {}

  // The entry of a key that every geometry holds and none need be told of; null: tell().
  Entry* find(uint32_t key) {
    Set& set = sets_[key & mask_];
    if (set.order == Hidden) return nullptr;
    if (set.first.key != key) {
      if (set.second.key != key) return nullptr;
      std::swap(set.first, set.second);
      set.order = set.order == Told ? Turned : Told;
    }
    return &set.first;
  }

  // What has to be told first, when something else than the two of its set is: kNone: nothing.
  uint32_t untold(uint32_t key) {
    Set& set = sets_[key & mask_];
    if (set.order != Turned) return kNone;
    set.order = Told;
    return set.first.key;
  }

  // Is it among the two of its set?
  bool has(uint32_t key) const {
    const Set& set = sets_[key & mask_];
    return set.first.key == key || set.second.key == key;
  }

  // It was told, and every geometry has it now.
  Entry& enter(uint32_t key) {
    Set& set = sets_[key & mask_];
    if (set.first.key != key) {
      std::swap(set.first, set.second);
      if (set.first.key != key) set.first = {key, 0};
    }
    if (!two_ || set.order == Hidden) set.second = {};
    set.order = Told;
    return set.first;
  }

  // It was told, and only some geometries have it; `entered`: it may have come in just now.
  void hide(uint32_t key, bool entered) {
    Set& set = sets_[key & mask_];
    if (entered) set.first = {};
    set.second = {};
    set.order = Hidden;
  }

  // It may leave some geometry.
  void remove(uint32_t key) {
    Set& set = sets_[key & mask_];
    if (set.first.key == key) {
      set.first = set.second;
      set.order = Hidden;
    }
    set.second = {};
  }

  // It may be clean in some geometry.
  void clean(uint32_t key) {
    Set& set = sets_[key & mask_];
    for (Entry* entry : {&set.first, &set.second}) {
      if (entry->key == key) entry->writes = 0;
    }
  }

  void clear() { std::fill(sets_.begin(), sets_.end(), Set()); }

  // clear(), and what has to be told before.
  template <class Tell>
  void clear(Tell tell) {
    for (Set& set : sets_) {
      if (set.order == Turned) tell(set.first.key);
      set = {};
    }
  }

 private:
  // In the geometries `first` was used last, or `second` was, or something else may have been, and
  // there is no second then.
  enum Order : uint8_t { Told, Turned, Hidden };
  struct Set {
    Entry first, second;
    Order order = Told;
  };

  uint32_t mask_;
  bool two_;
  std::vector<Set> sets_;
};

// What a front asks of some boards behind it. An access that hits in each L2 and changes none is
// counted only: one to the line that was used last among those that share a set in any of them.
class Bus {
 public:
  // For boards like this one. `filter` false: everything is passed on.
  Bus(const MemoryConfig& board, bool filter);

  // Is a board like the others? With lines of another length or more ways their sets have few bits
  // of the address in common, and the filter would be a small one.
  bool suits(const MemoryConfig& board) const;
  // Another board. The set of an L2 is told by some bits of the address; the filter's by those that
  // all have in common.
  void add(const MemoryConfig& board);

  void read(uint32_t address) {
    Line& known = lines_[(address >> low_) & mask_];
    address &= line_mask_;
    if (known.read == address) {
      (*bank_).reads++;
      return;
    }
    known = {filter_ ? address : kNone, kNone};
    accesses.push_back({BusAccess::Read, address, 1});
  }
  void write(uint32_t address, uint32_t times) {
    Line& known = lines_[(address >> low_) & mask_];
    address &= line_mask_;
    if (known.modified == address) {
      (*bank_).writes += times;
      return;
    }
    known = {known.read == address ? address : kNone, known.read == address ? address : kNone};
    accesses.push_back({BusAccess::Write, address, times});
  }
  // A read that brings no line in.
  void read_past(uint32_t address);
  void invalidate(uint32_t address);
  void flush_caches();
  void use_bank(uint32_t number);

  // Accesses that hit in each L2, writes to lines modified before.
  struct Hits {
    uint64_t reads = 0, writes = 0;
  };
  Hits hits(size_t bank) const { return bank < banks_.size() ? banks_[bank] : Hits(); }

  std::vector<BusAccess> accesses;  // for the boards

 private:
  static constexpr uint32_t kNone = ~0u;
  struct Line {
    uint32_t read = kNone, modified = kNone;
  };

  bool filter_;
  bool present_, direct_;             // an L2, a direct-mapped one
  uint32_t line_;
  uint32_t low_ = 0, high_ = 32;      // the common bits
  uint32_t mask_ = 0, line_mask_ = 0; // without an L2 all addresses are alike
  std::vector<Line> lines_{1};
  Hits* bank_ = nullptr;
  std::vector<Hits> banks_;
};

// The TLBs and L1 caches of one geometry, as those of Pentium behave.
class Front {
 public:
  Front(const Config& config, bool filter, Observer* observer);

  // Another board behind it; the number of its bus.
  size_t add(const MemoryConfig& board);

  // Plays references, and of those to pages the walks; what goes on to the boards is in their
  // buses then.
  void play(const std::vector<Reference>& references, const std::vector<PageWalk>& walks);
  const Bus& bus(size_t number) const { return buses_[number]; }
  MissCounts counts(size_t bank) const {
    return bank < banks_.size() ? banks_[bank] : MissCounts();
  }

 private:
  void read(uint32_t address, Fill fill);
  void write(uint32_t address, uint32_t times, Fill fill);
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
  // On the bus.
  void read_line(uint32_t address) {
    for (Bus& bus : buses_) bus.read(address);
  }
  void write_line(uint32_t address, uint32_t times = 1) {
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
  Observer* observer_;
  std::vector<Bus> buses_;
  MissCounts* bank_ = nullptr;
  std::vector<MissCounts> banks_;
};

// An L2 and the DRAM behind it, as those of Memory behave. What L2s cost is the host's wrong guesses
// of what hits, so the direct-mapped ones, nearly all, are played without branches.
class Board {
 public:
  Board(const MemoryConfig& config, Observer* observer);

  void play(const std::vector<BusAccess>& accesses);
  // `hits`: those that the bus did not pass on.
  MissCounts counts(size_t bank, const Bus::Hits& hits) const;

 private:
  void read(uint32_t address, Fill fill);
  void write(uint32_t address, uint32_t times);

  void play_direct(const std::vector<BusAccess>& accesses);
  void direct_other(const BusAccess& access);

  bool present_, write_back_, write_allocate_;
  bool direct_;              // direct-mapped, and nobody wants to see each access
  Cache l2_;                 // unless direct_; then of each set the line number, and ...
  static constexpr uint32_t kDirty = 0x80000000, kNone = 0x7FFFFFFF;
  uint32_t line_shift_, set_mask_;
  std::vector<uint32_t> tags_;
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

  // A hit in every geometry, of which none need be told.
  bool holds(uint32_t address) { return lines_.find(address >> line_shift_); }
  bool holds_code(uint32_t address) { return code_.find(address >> line_shift_); }
  bool holds_page(uint32_t linear) {
    return pages_.find(linear >> 12) || large_pages_.find(linear >> 22);
  }
  bool holds_code_page(uint32_t linear) { return code_pages_.find(linear >> 12); }
  // A write to a line that every geometry holds modified; counts it.
  bool counts_write_hit(uint32_t address) {
    const Recent::Entry* entry = write_back_ ? lines_.find(address >> line_shift_) : nullptr;
    if (!entry || entry->writes < 2) return false;
    (*common_)[WriteHitsME]++;
    return true;
  }

  // Physical addresses; `fill` as Cache::access() has it.
  void read(uint32_t address, Fill fill);
  void write(uint32_t address, Fill fill);
  void code(uint32_t address, Fill fill);
  void locked(uint32_t address);
  void table_update(uint32_t address);
  void snoop(uint32_t address, bool write);  // by another bus master
  // Past all caches.
  void uncached_read(Event miss) {
    (*common_)[miss]++;
    (*common_)[UncachedReads]++;
  }
  void uncached_write() { (*common_)[DataWriteMisses]++; }

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
  // Plays what has been written down.
  void play();
  // What a shadow has counted in a bank up to now.
  MissCounts counts(size_t shadow, size_t bank);

 private:
  static constexpr uint32_t kNone = ~0u;
  static constexpr size_t kBatch = 16384;  // references: 128 KB

  Reference& record(Reference::Kind kind, uint32_t address);
  void record_page(Reference::Kind kind, uint32_t linear, const PageWalk& walk,
                   bool present = true);
  void tell(Recent& recent, Reference::Kind kind, uint32_t key, uint32_t shift);
  void forget(uint32_t address);       // a line that may leave some L1D
  void forget_code(uint32_t address);  // ... some L1I
  void forget_pages(uint32_t linear, bool code);
  bool mixed(uint32_t linear, bool large);

  std::vector<Reference> references_;
  std::vector<PageWalk> walks_;        // of those to pages
  uint32_t last_write_ = kNone;        // the last reference, if it is a write
  MissCounts* common_ = nullptr;       // of the bank in use, the same in every geometry
  const Bank* bank_ = nullptr;
  uint32_t number_ = 0;                // of that bank
  bool bank_known_ = false;            // the references say so already
  bool filter_;
  bool write_back_;                    // every L1D is
  bool all_allocate_, none_allocates_; // L1D on a write miss
  uint32_t line_shift_;
  Recent lines_, code_, pages_, large_pages_, code_pages_;
  // Areas of 4 MB of which pages of that size were seen since the TLBs were flushed. One of both
  // kinds can be in either TLB, and is not filtered.
  std::bitset<1024> small_, large_;

  struct Shadow {
    size_t front, bus, board;
  };
  std::vector<Front> fronts_;
  std::vector<Board> boards_;
  std::vector<Shadow> behind_;         // what each board is behind
  std::vector<Shadow> shadows_;
  std::vector<std::unique_ptr<MissCounts>> commons_;
  std::vector<const Bank*> banks_;
  std::unordered_map<const Bank*, uint32_t> numbers_;
  std::vector<uint32_t> used_;
  std::vector<bool> is_used_;          // [bank] is in used_
};

}  // namespace p5
