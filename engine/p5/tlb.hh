// SPDX-License-Identifier: MIT
// Which pages does a translation lookaside buffer (TLB) hold? A TLB is one set-associative array of
// page numbers. The P54C has three TLBs with 4 ways each. The code TLB has 32 entries and divides a
// page of 4 MB into pages of 4 KB. One data TLB has 64 entries for pages of 4 KB. The other data
// TLB has 8 entries for pages of 4 MB. All TLBs have 3-bit pseudo-LRU and no address-space tags
// [INTEL-DM ch. 2, 3].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "p5/isa.hh"
#include "p5/replacement.hh"
#include "p5/shortcut.hh"

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
  static constexpr Linear kNone = ~Linear(0);

  explicit Tlb(const TlbConfig& config);

  // Whether the page is the last-used page of its set and has no PageBits. A use of this page
  // changes nothing. `page` is the page number: the linear address >> 12, or >> kLargePageShift in
  // an array of large pages.
  bool quick(Linear page) const { return shortcut_.reads(page); }
  Shortcut& shortcut() { return shortcut_; }

  // Whether the TLB holds the page. A hit updates the replacement state.
  bool lookup(Linear page);

  // PageBits of the page that the last successful lookup() found.
  uint32_t attributes() const { return attributes_; }

  // Adds a page after a miss, and returns the page that it replaces, or kNone. flush_local() keeps
  // a global page.
  Linear insert(Linear page, uint32_t attributes = 0, bool global = false);

  void invalidate(Linear page);  // INVLPG
  void flush();                  // a CR3 load of the Pentium
  void flush_local();            // a CR3 load with CR4.PGE, which the Pentium does not have

 private:
  // A tag contains the page number in its low bits and the PageBits in its highest bits.
  static constexpr uint32_t kAttributeShift = 8 * sizeof(Linear) - 2;
  static constexpr Linear kPage = (Linear(1) << kAttributeShift) - 1;

  // The shortcut contains only pages without PageBits.
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
