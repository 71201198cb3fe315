// SPDX-License-Identifier: MIT
// How are linear addresses translated? This part contains the TLBs, the page walks that fill the
// TLBs, and the operations that empty the TLBs.
#pragma once

#include <cstdint>

#include "p5/caches.hh"
#include "p5/core.hh"
#include "p5/tlb.hh"

namespace p5 {

class Translation {
 public:
  Translation(Core& core, Caches& caches);

  void set_paging(bool on) { paging_ = on; }
  bool paging() const { return paging_; }

  // Whether a data access can skip the look-up. Without paging, no access needs a look-up. With
  // paging, the page must be the last-used entry of its set and have no PageBits.
  bool quick_data(Linear linear) const {
    return !paging_ || dtlb_.quick(linear >> 12) || dtlb_large_.quick(linear >> kLargePageShift);
  }
  // Looks up a data page and returns its PageBits. `*walked` becomes true if both data TLBs miss.
  uint32_t data(Linear linear, bool* walked);
  // The PageBits of a code page.
  uint32_t code(Linear linear) { return paging_ ? look_up_code(linear) : 0; }

  // The access to this address could not be translated. If `present` is true, the fault is a
  // protection fault.
  void page_fault(Linear linear, bool code, bool present);

  void invalidate_page(Linear linear);  // INVLPG
  void flush(bool global_too);

  Shortcut& pages() { return dtlb_.shortcut(); }
  Shortcut& large_pages() { return dtlb_large_.shortcut(); }

 private:
  uint32_t look_up_data(Linear linear, bool* walked);
  uint32_t look_up_code(Linear linear);
  PageWalk page_walk(Linear linear);
  PageWalk walk(Linear linear, bool code);
  void insert_data(Linear linear, const PageWalk& found);
  // The code TLB divides a large page into pages of 4 KB [INTEL-DM 2].
  void insert_code(Linear linear, const PageWalk& found) {
    itlb_.insert(linear >> 12, found.attributes, found.global);
  }

  bool paging_ = false;
  Tlb dtlb_, dtlb_large_, itlb_;
  Core& core_;
  Caches& caches_;
};

}  // namespace p5
