// SPDX-License-Identifier: MIT
// Shadows: further cache and TLB geometries beside the model's own, fed from one run. They count
// every miss that the geometry would have, and have no influence on the run: no time, and so no
// cycles.
//
// A geometry is a front (the TLBs and both L1 caches) and an L2 behind it. Geometries with equal
// fronts share one, and so do L2s that hold the same lines. References are written down and played
// in batches to one front after the other, and what each front puts on its bus to its L2s, so that
// the tags of one geometry stay in the host's caches.
//
// Most references change no geometry and are not written down (class Recent); nearly all of those
// end in the shortcuts of the model's own arrays and never come here.
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
#include "isa.hh"
#include "shadow_l2.hh"
#include "shortcut.hh"
#include "tlb.hh"

namespace p5 {

// What a shadow counts by itself (kMissEvents; `depends` in events.toml).
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

// The page-table entries that the translation of a linear address reads, and what they say.
struct PageWalk {
  uint32_t entries[kPageLevels] = {};  // physical addresses
  uint8_t reads = 0;
  bool large = false;
  bool present = false;
  bool global = false;     // survives a CR3 load; x86-64 only
  uint8_t attributes = 0;  // PageBits
};

// One reference as the model reports it.
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
  uint8_t times = 1;            // of a write, one right after the other
  uint32_t address = 0;         // physical line; linear address of pages; number of a bank
};

// The lines (or pages) that were used last in each set of an array, among the sets of the geometry
// that has the fewest. The others have a power of two times as many, which divide those: what was
// used last here was used last in its set of every geometry. A reference to it hits everywhere and
// changes no replacement order; it need not be told.
//
// With two ways or more, and true or tree LRU, the line before the last one is in every geometry as
// well. A reference to it changes the order of the two, and what counts is the order they have when
// another line of the set is referred to: only then is it told.
//
// With the shortcut of the model's array: what is there is the first of its set here, so that
// whoever finds it there need not ask here.
class Recent {
 public:
  static constexpr uint32_t kNone = ~0u;
  struct Entry {
    uint32_t key = kNone;  // number of a line or page
    uint8_t writes = 0;    // told since it came in; after two every write-back geometry has it
                           // modified (the first one may make a shared line exclusive)
  };

  Recent(uint32_t sets, bool two) : mask_(sets - 1), two_(two), sets_(sets) {}

  void join(Shortcut* shortcut) {
    shortcut_ = shortcut;
    shortcut->narrow(mask_ + 1);
  }
  // The model's array may have put the key into its shortcut. `writes`: all geometries are
  // write-back.
  void limit(uint32_t key, bool writes) {
    const Set& set = sets_[key & mask_];
    if (set.order == Hidden || set.first.key != key)
      shortcut_->forget(key);
    else if (!writes || set.first.writes < 2)
      shortcut_->forget_write(key);
  }

  // The entry of a key that every geometry holds and none need be told of; null: tell().
  Entry* find(uint32_t key) {
    Set& set = sets_[key & mask_];
    if (set.order == Hidden) return nullptr;
    if (set.first.key != key) {
      if (set.second.key != key) return nullptr;
      leave(key);
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
      leave(key);
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
    leave(key);
  }

  // It may leave some geometry.
  void remove(uint32_t key) {
    Set& set = sets_[key & mask_];
    if (set.first.key == key) {
      set.first = set.second;
      set.order = Hidden;
      leave(key);
    }
    set.second = {};
  }

  // It may be clean in some geometry.
  void clean(uint32_t key) {
    Set& set = sets_[key & mask_];
    for (Entry* entry : {&set.first, &set.second}) {
      if (entry->key == key) entry->writes = 0;
    }
    if (shortcut_) shortcut_->forget_write(key);
  }

  void clear() {
    std::fill(sets_.begin(), sets_.end(), Set());
    if (shortcut_) shortcut_->clear();
  }

  // clear(), and what has to be told before.
  template <class Tell>
  void clear(Tell tell) {
    for (Set& set : sets_) {
      if (set.order == Turned) tell(set.first.key);
    }
    clear();
  }

 private:
  // In the geometries `first` was used last, or `second` was, or something else may have been, and
  // there is no second then.
  enum Order : uint8_t { Told, Turned, Hidden };
  struct Set {
    Entry first, second;
    Order order = Told;
  };

  // The first of the set of a key is so no longer.
  void leave(uint32_t key) {
    if (shortcut_) shortcut_->forget(key);
  }

  uint32_t mask_;
  bool two_;
  std::vector<Set> sets_;
  Shortcut* shortcut_ = nullptr;
};

// What a front asks of some of the L2s behind it, and not what hits in each of them and changes
// none: an access to the line that was used last among those that share a set in any of them.
class Bus {
 public:
  // For L2s like this one. `filter` false: everything is passed on.
  Bus(const CacheConfig& l2, bool filter);

  // Is an L2 like the others? With lines of another length or more ways their sets have few bits of
  // the address in common, and the filter would be a small one.
  bool suits(const CacheConfig& l2) const;
  // Another L2. Its set is told by some bits of the address; the filter's by those that all have in
  // common.
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
  uint32_t low_, high_ = 32;  // the common bits
  uint32_t mask_ = 0, line_mask_;
  std::vector<Line> lines_;
};

// The TLBs and L1 caches of one geometry, as those of Pentium behave.
class Front {
 public:
  Front(const Config& config, bool filter, Observer* observer);

  // Another L2 behind it; the number of its bus.
  size_t add(const CacheConfig& l2);

  // Plays references, and of those to pages the walks; what goes on to the L2s is in their buses
  // then. All that goes on is counted as reads and writes of an L2.
  void play(const std::vector<Reference>& references, const std::vector<PageWalk>& walks);
  const Bus& bus(size_t number) const { return buses_[number]; }
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
  // On the bus.
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
  Observer* observer_;
  std::vector<Bus> buses_;
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

  // What the shortcuts of the model's arrays find none here need be told of. After the model has
  // used an array, limit_...() takes back what its shortcut may not hold.
  void join(Shortcut* data, Shortcut* code, Shortcut* pages, Shortcut* large_pages);
  void limit_line(uint32_t address) { lines_.limit(address >> line_shift_, write_back_); }
  void limit_code(uint32_t address) { code_.limit(address >> line_shift_, false); }
  void limit_page(uint32_t linear) {
    pages_.limit(linear >> 12, false);
    large_pages_.limit(linear >> 22, false);
  }
  // A write hit that the model counts, but not by its shortcut.
  void own_write_hit() { (*common_)[WriteHitsME]--; }

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

  void record(Reference::Kind kind, uint32_t address, Fill fill = Fill::Exclusive,
              bool flag = false);
  // Whether L1I may have a line.
  bool coded(uint32_t address) const { return !filter_ || coded_[address >> 12]; }
  void record_page(Reference::Kind kind, uint32_t linear, const PageWalk& walk,
                   bool present = true);
  void tell(Recent& recent, Reference::Kind kind, uint32_t key, uint32_t shift);
  void forget(uint32_t address);       // a line that may leave some L1D
  void forget_code(uint32_t address);  // ... some L1I
  void forget_pages(uint32_t linear, bool code);
  bool mixed(uint32_t linear, bool large);

  std::vector<Reference> references_;
  std::vector<PageWalk> walks_;  // of those to pages
  uint32_t last_write_ = kNone;  // the last reference, if it is a write
  // Of the bank in use, the same in every geometry. With what the bank itself has of them they are
  // the write hits.
  MissCounts* common_ = nullptr;
  const Bank* bank_ = nullptr;
  uint32_t number_ = 0;      // of that bank
  bool bank_known_ = false;  // the references say so already
  bool filter_;
  bool write_back_;                     // every L1D is
  bool all_allocate_, none_allocates_;  // L1D on a write miss
  uint32_t line_shift_;
  Recent lines_, code_, pages_, large_pages_, code_pages_;
  // Areas of 4 MB of which pages of that size were seen since the TLBs were flushed. One of both
  // kinds can be in either TLB, and is not filtered.
  std::bitset<1024> small_, large_;
  // Physical pages that code has ever come from.
  std::bitset<1 << 20> coded_;

  struct Behind {  // L2s that are played together
    size_t front, bus;
    std::unique_ptr<L2s> l2s;
  };
  struct Shadow {
    MemoryConfig board;
    size_t front, behind;
  };
  std::vector<Front> fronts_;
  std::vector<Behind> behind_;
  std::vector<Shadow> shadows_;
  std::vector<std::unique_ptr<MissCounts>> commons_;
  std::vector<const Bank*> banks_;
  std::unordered_map<const Bank*, uint32_t> numbers_;
  std::vector<uint32_t> used_;
  std::vector<bool> is_used_;  // [bank] is in used_
};

}  // namespace p5
