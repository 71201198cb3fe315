// SPDX-License-Identifier: MIT
// Translation of linear addresses: the TLBs, the page walks that fill them, and what empties them.
#pragma once

#include <cstdint>

#include "caches.hh"
#include "core.hh"
#include "tlb.hh"

namespace p5 {

class Translation {
 public:
  Translation(Core& core, Caches& caches);

  void set_paging(bool on) { paging_ = on; }
  bool paging() const { return paging_; }

  // A data access that needs no look-up: without paging, or to the entry that was used last in its
  // set, of a page without PageBits.
  bool quick_data(Linear linear) const {
    return !paging_ || dtlb_.quick(linear >> 12) || dtlb_large_.quick(linear >> kLargePageShift);
  }
  // The PageBits of a data page that needs one; `walked` becomes true if both data TLBs missed.
  uint32_t data(Linear linear, bool* walked);
  // The PageBits of a code page.
  uint32_t code(Linear linear) { return paging_ ? look_up_code(linear) : 0; }

  // The access to this address that could not be translated; `present`: a protection fault.
  void page_fault(Linear linear, bool code, bool present);

  void invalidate_page(Linear linear);  // INVLPG
  void flush(bool global_too);

  Shortcut& pages() { return dtlb_.shortcut(); }
  Shortcut& large_pages() { return dtlb_large_.shortcut(); }

 private:
  uint32_t look_up_data(Linear linear, bool* walked);
  uint32_t look_up_code(Linear linear);
  PageWalk page_walk(Linear linear);
  PageWalk walk(Linear linear);
  void insert_data(Linear linear, const PageWalk& found);
  // Code TLBs take large pages in as 4 KB pages [INTEL-DM 2].
  void insert_code(Linear linear, const PageWalk& found) {
    itlb_.insert(linear >> 12, found.attributes, found.global);
  }

  bool paging_ = false;
  Tlb dtlb_, dtlb_large_, itlb_;
  Core& core_;
  Caches& caches_;
};

}  // namespace p5
