// SPDX-License-Identifier: MIT
// A set-associative TLB. The base class X86TLB is one fully associative array that gem5's page
// walker fills directly. Here that array only holds the translations, and additional arrays of tags
// determine whether a look-up hits. If a page has no tag, its translation is removed before a
// look-up, so that the look-up misses. When the page walker has added a translation, the page gets
// a tag before the next look-up. This tag replaces an older tag, and the translation of the older
// tag is removed. When gem5 flushes a page, the page loses its tag.
//
// The P54C has such TLBs: 32 entries for code, 64 for data and 8 for data in large pages. All are
// 4-way, with a tree of three bits for each set. Code in large pages uses entries for 4 KB pages
// [INTEL-DM ch. 2, 3].
#pragma once

#include <cstdint>
#include <vector>

#include "arch/x86/tlb.hh"
#include "params/P5TLB.hh"

namespace gem5::p5lab {

class P5TLB : public X86ISA::TLB {
 public:
  PARAMS(P5TLB);
  explicit P5TLB(const Params& params);

  Fault translateAtomic(const RequestPtr& request, ThreadContext* thread,
                        BaseMMU::Mode mode) override;
  void translateTiming(const RequestPtr& request, ThreadContext* thread,
                       BaseMMU::Translation* translation, BaseMMU::Mode mode) override;
  void demapPage(Addr address, uint64_t space) override;
  void unserialize(CheckpointIn& checkpoint) override;

 private:
  using Entry = X86ISA::TlbEntry;

  struct Tag {
    Addr page;
    uint64_t used;  // time of the last hit or fill
  };
  struct Array {
    unsigned page_bits = 0, sets = 0, ways = 0;  // 0 sets: the TLB has no such array
    std::vector<Tag> tags;                       // [set][way]

    Tag* set_of(Addr page) { return &tags[(page & (sets - 1)) * ways]; }
    Tag* find(Addr page);
  };
  // A look-up that has missed and waits for the page walk. The wait is limited, because a page walk
  // that ends in a fault adds no translation.
  struct Miss {
    Addr address;
    unsigned patience;  // number of look-ups after which the wait ends
  };

  Array make_array(const char* what, unsigned page_bits, unsigned entries, unsigned ways) const;
  bool hit(Array& array, Addr address);
  void look_up(const RequestPtr& request);
  void settle();
  void enter(Addr address, const Entry& entry);
  Tag* victim(Tag* set, unsigned ways) const;
  bool tagged(const Entry& entry);
  void forget_flushed(Array& array);
  void drop(Entry& entry);

  const bool tree_;  // plru, otherwise lru
  Array small_, large_;
  uint64_t clock_ = 0;
  std::vector<Miss> misses_;
  size_t free_;  // number of free entries of X86TLB at the last check
};

}  // namespace gem5::p5lab
