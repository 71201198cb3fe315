// SPDX-License-Identifier: MIT
// Which pages does a translation lookaside buffer hold? It is one set-associative array of page
// numbers. The P54C has one for code (32 entries, 4-way; a 4 MB page takes entries of 4 KB pages)
// and two for data (64 entries, 4-way, for 4 KB pages; 8 entries, 4-way, for 4 MB pages). All have
// 3-bit pseudo-LRU and no address-space tags [INTEL-DM ch. 2, 3].
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

// Bits 3 and 4 of a page-table entry, which control the caching of the page [INTEL-DM 3].
enum PageBit : uint32_t { kWriteThrough = 1, kNoCache = 2 };

class Tlb {
 public:
  explicit Tlb(const TlbConfig& config);

  // Whether the page is the last used of its set and has no PageBits: then nothing changes. `page`
  // is the page number: the linear address >> 12, or >> kLargePageShift in an array of large pages.
  bool quick(Linear page) const { return shortcut_.reads(page); }
  Shortcut& shortcut() { return shortcut_; }

  // Whether the TLB holds the page. A hit updates the replacement state.
  bool lookup(Linear page);

  // PageBits of the page of the last lookup() that hit.
  uint32_t attributes() const { return attributes_; }

  // Enters a page after a miss. flush_local() keeps a global page.
  void insert(Linear page, uint32_t attributes = 0, bool global = false);

  void invalidate(Linear page);  // INVLPG
  void flush();                  // a CR3 load of the Pentium
  void flush_local();            // a CR3 load with CR4.PGE, which the Pentium does not have

 private:
  static constexpr Linear kNone = ~Linear(0);
  // A tag is a page number with the PageBits on top.
  static constexpr uint32_t kAttributeShift = 8 * sizeof(Linear) - 2;
  static constexpr Linear kPage = (Linear(1) << kAttributeShift) - 1;

  // The shortcut only holds pages without PageBits.
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
