// SPDX-License-Identifier: MIT
// How can other code observe the chip? An observer sees every access to caches and TLBs that
// changes an array, and every call that empties an array. An observer never changes the chip's
// behaviour or the chip's counts.
//
// The chip calls its observer on slow paths only. If an access hits the last-used entry of its set,
// a shortcut handles the access (shortcut.hh). The observer does not see these accesses. An
// observer that needs these accesses must remove entries from the shortcuts, in attach() and in the
// functions used_...().
#pragma once

#include <cstdint>

#include "p5/cache.hh"
#include "p5/counters.hh"
#include "p5/isa.hh"
#include "p5/shortcut.hh"

namespace p5 {

// The page-table entries that a translation reads, and their contents.
struct PageWalk {
  uint32_t entries[kPageLevels] = {};  // physical addresses
  uint8_t reads = 0;                   // number of entries read
  bool large = false;
  bool present = false;
  bool global = false;     // survives a CR3 load; x86-64 only
  uint8_t attributes = 0;  // PageBits
};

// The shortcuts of the chip's arrays.
struct Shortcuts {
  Shortcut &data, &code;          // L1D, L1I
  Shortcut &pages, &large_pages;  // the data TLBs
};

class MemoryObserver {
 public:
  virtual ~MemoryObserver() = default;

  // Called once, before all other calls.
  virtual void attach(const Shortcuts&) {}
  // The chip counts in this bank from now on.
  virtual void use(const Bank&) {}
  // The observer must now count all accesses that were reported so far.
  virtual void settle() {}

  // Accesses to cacheable memory, by physical address. `fill` has the same meaning as in
  // Cache::access(). The calls have the order in which the accesses reach the chip's L2: a line of
  // code that the bus reads before a waiting access comes first.
  virtual void read(uint32_t /*address*/, Fill) {}
  virtual void write(uint32_t /*address*/, Fill) {}
  virtual void code(uint32_t /*address*/, Fill) {}
  // The chip's own cache has executed an access to this line. The shortcut of the cache may now
  // contain the line.
  virtual void used_line(uint32_t /*address*/) {}
  virtual void used_code(uint32_t /*address*/) {}
  // The chip has counted a write hit that no shortcut has handled.
  virtual void counted_write_hit() {}

  // locked(): a locked read and write. table_update(): the update of an accessed or dirty bit.
  // snoop(): another bus master's access to a line.
  virtual void locked(uint32_t /*address*/) {}
  virtual void table_update(uint32_t /*address*/) {}
  virtual void snoop(uint32_t /*address*/, bool /*write*/) {}
  // Accesses to memory that is not cacheable. The chip counts the read as a cache miss, in the
  // event `miss`.
  virtual void uncached_read(Event /*miss*/) {}
  virtual void uncached_write() {}

  // Translations, by linear address. If knows_page() returns false, the chip walks the page tables
  // and calls data_page(). If knows_code_page() returns false, the chip walks the page tables and
  // calls code_page().
  virtual bool knows_page(Linear) { return true; }
  virtual bool knows_code_page(Linear) { return true; }
  virtual void data_page(Linear, const PageWalk&) {}
  virtual void code_page(Linear, const PageWalk&) {}
  // The chip has searched its data TLBs for this page. The shortcuts of the TLBs may now contain
  // the page.
  virtual void used_page(Linear) {}
  // A page fault. If `present` is true, the fault is a protection fault.
  virtual void page_fault(Linear, bool /*code*/, bool /*present*/, const PageWalk&) {}

  virtual void flush_tlbs() {}
  virtual void flush_page(Linear) {}
  virtual void flush_caches(bool /*write_back*/) {}
};

}  // namespace p5
