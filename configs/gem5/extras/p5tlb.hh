// SPDX-License-Identifier: MIT
// A set-associative TLB. X86TLB, which it derives from, is one fully associative array that its
// page walker fills without asking anyone. Here that array holds the translations, and arrays of
// tags beside it decide: a page that has no tag is taken out of it before it is looked up, so that
// it misses, and what the walker has put in gets a tag before the next look-up, in place of another
// that is taken out. What gem5 flushes loses its tag.
//
// The P54C has such TLBs: 32 entries for code, 64 for data and 8 for data in large pages, all
// 4-way with a tree of three bits for each set; code in large pages is entered as 4 KB pages
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
    uint64_t used;  // when it was hit or filled last
  };
  struct Array {
    unsigned page_bits = 0, sets = 0, ways = 0;  // no sets: there is no such array
    std::vector<Tag> tags;                       // [set][way]

    Tag* set_of(Addr page) { return &tags[(page & (sets - 1)) * ways]; }
    Tag* find(Addr page);
  };
  // A page that has missed. A walk that ends in a fault enters nothing, so nothing waits for ever.
  struct Miss {
    Addr address;
    unsigned patience;  // look-ups to come before it is given up
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
  size_t free_;  // entries of X86TLB when it was looked at last
};

}  // namespace gem5::p5lab
