// SPDX-License-Identifier: MIT
#include "p5/translation.hh"

namespace p5 {
namespace {

// Bits of a page-directory or page-table entry. kPageBits is the number of the lowest PageBit
// (PWT); PCD is the next bit.
constexpr uint32_t kPresent = 1, kPageBits = 3, kPageSize = 0x80, kGlobal = 0x100;

}  // namespace

Translation::Translation(Core& core, Caches& caches)
    : dtlb_(core.machine.dtlb),
      dtlb_large_(core.machine.dtlb_large),
      itlb_(core.machine.itlb),
      core_(core),
      caches_(caches) {}

uint32_t Translation::data(Linear linear, bool* walked) {
  MemoryObserver* observer = core_.observer;
  if (!observer) return look_up_data(linear, walked);
  const uint32_t attributes = look_up_data(linear, walked);
  if (!observer->knows_page(linear)) observer->data_page(linear, page_walk(linear));
  observer->used_page(linear);
  return attributes;
}

uint32_t Translation::look_up_data(Linear linear, bool* walked) {
  // The chip searches both arrays at the same time. An entry of a large page has priority [INTEL-DM
  // 2].
  if (dtlb_large_.lookup(linear >> kLargePageShift)) return dtlb_large_.attributes();
  if (dtlb_.lookup(linear >> 12)) return dtlb_.attributes();
  core_.count(DtlbMisses);
  *walked = true;
  const PageWalk found = walk(linear, false);
  insert_data(linear, found);
  return found.attributes;
}

void Translation::insert_data(Linear linear, const PageWalk& found) {
  if (found.large)
    dtlb_large_.insert(linear >> kLargePageShift, found.attributes, found.global);
  else
    dtlb_.insert(linear >> 12, found.attributes, found.global);
}

uint32_t Translation::look_up_code(Linear linear) {
  MemoryObserver* observer = core_.observer;
  if (observer && !observer->knows_code_page(linear)) {
    observer->code_page(linear, page_walk(linear));
  }
  const Linear page = linear >> 12;
  if (itlb_.quick(page)) return 0;
  if (itlb_.lookup(page)) return itlb_.attributes();
  core_.count(ItlbMisses);
  const PageWalk found = walk(linear, true);
  insert_code(linear, found);
  return found.attributes;
}

// Walks the page tables for an address. Returns the page-table entries that the walk reads, and the
// result of the walk.
PageWalk Translation::page_walk(Linear linear) {
  PageWalk walk;
  uint32_t table = uint32_t(core_.state.cr3) & ~0xFFFu;
  for (unsigned level = kPageLevels - 1;; level--) {
    const uint32_t index = uint32_t(linear >> (12 + kTableBits * level)) & ((1u << kTableBits) - 1);
    const uint32_t address = table | uint32_t(index * sizeof(PageEntry));
    walk.entries[walk.reads++] = address;
    const PageEntry entry = core_.platform.read_physical(address);
    if (!(entry & kPresent)) return walk;
    walk.large = level == 1 && core_.state.large_pages && entry & kPageSize;
    if (level == 0 || walk.large) {
      walk.present = true;
      walk.global = core_.state.global_pages && entry & kGlobal;
      walk.attributes = entry >> kPageBits & (kWriteThrough | kNoCache);
      return walk;
    }
    table = uint32_t(entry) & ~0xFFFu;
  }
}

// Reads the page tables over the bus. L1D does not answer these reads, but L2 may answer them. L1D
// snoops the reads and first writes a dirty line back [INTEL-DM 3, 16].
PageWalk Translation::walk(Linear linear, bool code) {
  const bool ideal = code ? core_.config.ideal.itlb : core_.config.ideal.dtlb;
  const Event component = code ? CpiItlb : CpiDtlb;
  const PageWalk found = page_walk(linear);
  for (uint32_t i = 0; i < found.reads; i++) {
    if (caches_.l1d.clean(found.entries[i])) caches_.write_back(found.entries[i], core_.clock);
    core_.count(WalkReads);
    caches_.read_table(found.entries[i], component, ideal);
  }
  return found;
}

void Translation::page_fault(Linear linear, bool code, bool present) {
  MemoryObserver* observer = core_.observer;
  const auto tell = [&] {
    if (observer) observer->page_fault(linear, code, present, page_walk(linear));
  };
  const Linear page = linear >> 12;
  const bool hit = code ? itlb_.lookup(page)
                        : dtlb_.lookup(page) || dtlb_large_.lookup(linear >> kLargePageShift);
  if (observer) observer->used_page(linear);
  if (hit) return tell();  // a protection fault on a page that the TLB holds
  core_.count(code ? ItlbMisses : DtlbMisses);
  core_.bank->miscount[code ? ItlbMissFaults : DtlbMissFaults]++;
  const PageWalk found = walk(linear, code);
  tell();
  if (!found.present || !present) return;
  if (code)
    insert_code(linear, found);
  else
    insert_data(linear, found);
  if (observer) observer->used_page(linear);
}

void Translation::invalidate_page(Linear linear) {
  if (core_.observer) core_.observer->flush_page(linear);
  itlb_.invalidate(linear >> 12);
  dtlb_.invalidate(linear >> 12);
  dtlb_large_.invalidate(linear >> kLargePageShift);
}

void Translation::flush(bool global_too) {
  core_.count(TlbFlushes);
  if (core_.observer) core_.observer->flush_tlbs();
  for (Tlb* tlb : {&itlb_, &dtlb_, &dtlb_large_}) global_too ? tlb->flush() : tlb->flush_local();
}

}  // namespace p5
