// SPDX-License-Identifier: MIT
// A translation lookaside buffer: one set-associative array of page numbers. The P54C has one
// for code (32 entries, 4-way; 4 MB pages are entered as 4 KB pages) and two for data (64 entries
// 4-way for 4 KB pages, 8 entries 4-way for 4 MB pages), all with 3-bit pseudo-LRU and no
// address-space tags [INTEL-DM ch. 2, 3].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isa.hh"
#include "replacement.hh"
#include "shortcut.hh"

namespace p5 {

struct TlbConfig {
  uint32_t entries = 0;  // ways * power of two
  uint32_t ways = 4;
  std::string policy = "plru";
};

// Bits 3 and 4 of the page-table entry: the caching of the page [INTEL-DM 3].
enum PageBit : uint32_t { kWriteThrough = 1, kNoCache = 2 };

class Tlb {
 public:
  explicit Tlb(const TlbConfig& config);

  // Hit in the most recently used entry of its set, of a page without PageBits: nothing changes.
  // `page` is the page number (linear address >> 12, or >> kLargePageShift in an array of large
  // pages).
  bool quick(Linear page) const { return shortcut_.reads(page); }
  Shortcut& shortcut() { return shortcut_; }

  // Hit anywhere; updates the replacement state.
  bool lookup(Linear page);

  // PageBits of the page of the last lookup() that hit.
  uint32_t attributes() const { return attributes_; }

  // Enters a page that missed. A global one stays in flush_local().
  void insert(Linear page, uint32_t attributes = 0, bool global = false);

  void invalidate(Linear page);  // INVLPG
  void flush();                  // the Pentium's CR3 load
  void flush_local();            // CR3 load with CR4.PGE, which the Pentium does not have

 private:
  static constexpr Linear kNone = ~Linear(0);
  // A tag is a page number with the PageBits on top.
  static constexpr uint32_t kAttributeShift = 8 * sizeof(Linear) - 2;
  static constexpr Linear kPage = (Linear(1) << kAttributeShift) - 1;

  // The shortcut is for pages without PageBits.
  void used(Linear tag) {
    if (tag <= kPage)
      shortcut_.set(tag, false);
    else
      shortcut_.forget(tag & kPage);
  }

  TlbConfig config_;
  uint32_t set_mask_;
  Shortcut shortcut_;
  std::vector<Linear> tag_;   // [set][way], kNone when invalid
  std::vector<bool> global_;  // [set][way]
  uint32_t attributes_ = 0;
  Replacement replacement_;
};

}  // namespace p5
