// SPDX-License-Identifier: MIT
#include "p5tlb.hh"

#include <algorithm>

#include "arch/x86/ldstflags.hh"
#include "arch/x86/regs/segment.hh"

namespace gem5::p5lab {
namespace {

constexpr Addr kNone = ~Addr(0);
constexpr unsigned kSmallBits = 12, kLargeBits = 21;  // 2 MB: the large page of long mode
// kPatience is a number of look-ups. Page walks can overlap in an out-of-order processor, but the
// number of look-ups in flight stays below kPatience.
constexpr unsigned kPatience = 64;

}  // namespace

P5TLB::P5TLB(const Params& params)
    : TLB(params),
      tree_(params.replacement == "plru"),
      small_(make_array("entries", kSmallBits, params.entries, params.ways)),
      large_(make_array("large_entries", kLargeBits, params.large_entries, params.large_ways)),
      free_(freeList.size()) {
  fatal_if(!tree_ && params.replacement != "lru", "%s.replacement: \"%s\" is not plru or lru",
           name(), params.replacement);
  fatal_if(params.entries == 0, "%s.entries: 0 is not at least 1", name());
  fatal_if(size <= params.entries + params.large_entries,
           "%s.size: %d is not more than entries and large_entries together, %d", name(), size,
           params.entries + params.large_entries);
}

P5TLB::Array P5TLB::make_array(const char* what, unsigned page_bits, unsigned entries,
                               unsigned ways) const {
  if (entries == 0) return {};
  const unsigned sets = ways ? entries / ways : 0;
  // fatal_if uses the text of its condition as a format string, so the condition must not contain
  // %.
  const bool fits = sets > 0 && sets * ways == entries && isPowerOf2(sets);
  fatal_if(!fits, "%s.%s: %d is not its ways, %d, times a power of two", name(), what, entries, ways);
  fatal_if(tree_ && (!isPowerOf2(ways) || ways > 8), "%s.%s: plru needs 1, 2, 4 or 8 ways, not %d",
           name(), what, ways);
  return {page_bits, sets, ways, std::vector<Tag>(entries, {kNone, 0})};
}

Fault P5TLB::translateAtomic(const RequestPtr& request, ThreadContext* thread,
                             BaseMMU::Mode mode) {
  look_up(request);
  const Fault fault = TLB::translateAtomic(request, thread, mode);
  settle();
  return fault;
}

void P5TLB::translateTiming(const RequestPtr& request, ThreadContext* thread,
                            BaseMMU::Translation* translation, BaseMMU::Mode mode) {
  look_up(request);
  TLB::translateTiming(request, thread, translation, mode);
}

void P5TLB::demapPage(Addr address, uint64_t space) {
  settle();
  TLB::demapPage(address, space);
  settle();
}

// A checkpoint contains only the translations. Sets a new tag for each restored page, in the order
// of the pages' last use.
void P5TLB::unserialize(CheckpointIn& checkpoint) {
  TLB::unserialize(checkpoint);
  std::vector<Entry*> entries;
  for (Entry& entry : tlb) {
    if (entry.trieHandle) entries.push_back(&entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry* a, const Entry* b) { return a->lruSeq < b->lruSeq; });
  for (Entry* entry : entries) {
    // The checkpoint does not show which part of a large page was in use.
    if (entry->logBytes > kSmallBits && !large_.sets) drop(*entry);
    else enter(entry->vaddr, *entry);
  }
  free_ = freeList.size();
}

P5TLB::Tag* P5TLB::Array::find(Addr page) {
  if (!sets) return nullptr;
  Tag* set = set_of(page);
  for (Tag* tag = set; tag != set + ways; tag++) {
    if (tag->page == page) return tag;
  }
  return nullptr;
}

bool P5TLB::hit(Array& array, Addr address) {
  Tag* tag = array.find(address >> array.page_bits);
  if (tag) tag->used = ++clock_;
  return tag;
}

// Makes sure that X86TLB finds a page only if the page has a tag.
void P5TLB::look_up(const RequestPtr& request) {
  settle();
  // The addresses of ports and of model-specific registers are not addresses of memory.
  if ((request->getFlags() & X86ISA::SegmentFlagMask) == X86ISA::segment_idx::Ms) return;
  const Addr address = request->getVaddr();
  if (hit(small_, address) || hit(large_, address)) return;
  if (Entry* entry = lookup(roundDown(address, 1 << kSmallBits), false)) drop(*entry);
  misses_.push_back({address, kPatience});
  free_ = freeList.size();
}

// Update the tags. Since the last look-up, the page walker may have added translations, and gem5
// may have flushed translations.
void P5TLB::settle() {
  if (freeList.size() == free_ && misses_.empty()) return;
  if (freeList.size() > free_) {
    forget_flushed(small_);
    forget_flushed(large_);
  }
  const auto over = [this](Miss& miss) {
    const Entry* entry = lookup(roundDown(miss.address, 1 << kSmallBits), false);
    if (entry) enter(miss.address, *entry);
    return entry || --miss.patience == 0;
  };
  misses_.erase(std::remove_if(misses_.begin(), misses_.end(), over), misses_.end());
  free_ = freeList.size();
}

void P5TLB::enter(Addr address, const Entry& entry) {
  Array& array = entry.logBytes > kSmallBits && large_.sets ? large_ : small_;
  const Addr page = address >> array.page_bits;
  Tag* set = array.set_of(page);
  Tag* tag = array.find(page);
  if (!tag) tag = std::find_if(set, set + array.ways, [](Tag& t) { return t.page == kNone; });
  if (tag == set + array.ways) {
    tag = victim(set, array.ways);
    Entry* replaced = lookup(tag->page << array.page_bits, false);
    tag->page = page;
    if (replaced && !tagged(*replaced)) drop(*replaced);
  }
  *tag = {page, ++clock_};
}

// With a tree, each bit points away from the half that was used last. With two ways this is exact
// LRU.
P5TLB::Tag* P5TLB::victim(Tag* set, unsigned ways) const {
  const auto older = [](const Tag& a, const Tag& b) { return a.used < b.used; };
  if (!tree_) return std::min_element(set, set + ways, older);
  while (ways > 1) {
    ways /= 2;
    const Tag* left = std::max_element(set, set + ways, older);
    const Tag* right = std::max_element(set + ways, set + 2 * ways, older);
    if (right->used < left->used) set += ways;
  }
  return set;
}

bool P5TLB::tagged(const Entry& entry) {
  if (entry.logBytes == kSmallBits) return small_.find(entry.vaddr >> kSmallBits);
  if (large_.sets) return large_.find(entry.vaddr >> kLargeBits);
  return std::any_of(small_.tags.begin(), small_.tags.end(), [&](const Tag& tag) {
    return tag.page != kNone && tag.page >> (entry.logBytes - kSmallBits) ==
                                    entry.vaddr >> entry.logBytes;
  });
}

void P5TLB::forget_flushed(Array& array) {
  for (Tag& tag : array.tags) {
    if (tag.page != kNone && !lookup(tag.page << array.page_bits, false)) tag.page = kNone;
  }
}

void P5TLB::drop(Entry& entry) {
  trie.remove(entry.trieHandle);
  entry.trieHandle = nullptr;
  freeList.push_back(&entry);
}

}  // namespace gem5::p5lab
