// SPDX-License-Identifier: MIT
#include "measure/front.hh"

#include <algorithm>

#include "base/bits.hh"

namespace measure {
namespace {

constexpr p5::CacheAccess kHit{true, false, false, false, p5::CacheAccess::kNoVictim};

uint32_t sets(const p5::CacheConfig& cache) { return cache.size / (cache.ways * cache.line); }

MissCounts* bank_of(std::vector<MissCounts>* banks, size_t number) {
  while (banks->size() <= number) banks->push_back({});
  return &(*banks)[number];
}

}  // namespace

// --- between a front and its L2s ------------------------------------------------------------

Bus::Bus(const p5::CacheConfig& l2, bool filter)
    : filter_(filter),
      direct_(l2.ways == 1),
      line_(l2.line),
      low_(base::log2_of(l2.line)),
      line_mask_(~(l2.line - 1)) {
  add(l2);
}

bool Bus::suits(const p5::CacheConfig& l2) const {
  return direct_ == (l2.ways == 1) && line_ == l2.line;
}

void Bus::add(const p5::CacheConfig& l2) {
  high_ = std::min(high_, low_ + base::log2_of(sets(l2)));
  mask_ = (1u << (high_ - low_)) - 1;
  lines_.assign(size_t(mask_) + 1, Line());
}

void Bus::read_past(uint32_t address) {
  // This read does not load the line. Some L2s contain the line, and there the line is now the
  // last-used line. The other L2s do not change.
  lines_[(address >> low_) & mask_] = {};
  accesses.push_back({BusAccess::ReadPast, 1, address & line_mask_});
}

void Bus::invalidate(uint32_t address) {
  lines_[(address >> low_) & mask_] = {};
  accesses.push_back({BusAccess::Invalidate, 1, address & line_mask_});
}

void Bus::flush_caches() {
  std::fill(lines_.begin(), lines_.end(), Line());
  accesses.push_back({BusAccess::FlushCaches, 1, 0});
}

// --- the TLBs and L1 caches -----------------------------------------------------------------

Front::Front(const p5::Config& config, bool filter, AccessListener* listener)
    : l1d_(config.l1d),
      l1i_(config.l1i),
      write_back_(config.l1d.write_back),
      code_pages_{p5::Tlb(config.itlb), Level::Itlb, p5::ItlbMisses, kPageShift},
      pages_{p5::Tlb(config.dtlb), Level::Dtlb, p5::DtlbMisses, kPageShift},
      large_pages_{p5::Tlb(config.dtlb_large), Level::DtlbLarge, p5::DtlbMisses, kLargeShift},
      filter_(filter),
      listener_(listener) {}

size_t Front::add(const p5::CacheConfig& l2) {
  size_t number = 0;
  while (number < buses_.size() && !buses_[number].suits(l2)) number++;
  if (number == buses_.size())
    buses_.emplace_back(l2, filter_);
  else
    buses_[number].add(l2);
  return number;
}

void Front::play(const std::vector<Reference>& references, const std::vector<p5::PageWalk>& walks) {
  for (Bus& bus : buses_) bus.accesses.clear();
  const p5::PageWalk* walk = walks.data();  // walk of the next page
  for (const Reference& reference : references) {
    const uint32_t address = reference.address;
    switch (reference.kind) {
      case Reference::Read:
        read(address, reference.fill, reference.flag);
        break;
      case Reference::Write:
        write(address, reference.times, reference.fill, reference.flag);
        break;
      case Reference::Code:
        code(address, reference.fill);
        break;
      case Reference::Locked:
        locked(address);
        break;
      case Reference::TableUpdate:
        table_update(address);
        break;
      case Reference::DataPage:
        data_page(address, *walk++);
        break;
      case Reference::CodePage:
        code_page(address, *walk++);
        break;
      case Reference::DataFault:
        data_fault(address, *walk++, reference.flag);
        break;
      case Reference::CodeFault:
        code_fault(address, *walk++, reference.flag);
        break;
      case Reference::FlushTlbs:
        flush_tlbs();
        break;
      case Reference::FlushPage:
        flush_page(address);
        break;
      case Reference::FlushCaches:
        flush_caches(reference.flag);
        break;
      case Reference::Snoop:
        snoop(address, reference.flag);
        break;
      case Reference::UseBank:
        bank_ = bank_of(&banks_, address);
        for (Bus& bus : buses_) bus.use_bank(address);
        break;
    }
  }
}

void Front::read(uint32_t address, p5::Fill fill, bool coded) {
  if (!listener_ && l1d_.quick_read(address)) return;
  const p5::CacheAccess access = l1d_.access(address, false, fill);
  if (listener_) listener_->access(Level::L1d, address, false, access, fill != p5::Fill::None);
  if (access.hit) return;
  (*bank_)[p5::DataReadMisses]++;
  if (coded) take_from_l1i(address, Use::Data);
  if (!access.filled) return read_past(address);
  read_line(address);
  if (access.victim_dirty) write_back(access.victim);
}

void Front::write(uint32_t address, uint8_t times, p5::Fill fill, bool coded) {
  if (!listener_ && l1d_.quick_write(address)) {
    (*bank_)[p5::WriteHitsME] += times;
    return;
  }
  const p5::CacheAccess access = l1d_.access(address, true, fill);
  if (listener_) listener_->access(Level::L1d, address, true, access, fill != p5::Fill::None);
  // The first of the equal writes may load the line or make the line exclusive. The other writes
  // then have a different result than the first write.
  const bool owned = access.hit && access.through && write_back_ && fill == p5::Fill::Exclusive;
  const uint8_t alike = access.filled || owned ? 1 : times;
  if (!access.hit)
    (*bank_)[p5::DataWriteMisses] += alike;
  else if (!access.through)
    (*bank_)[p5::WriteHitsME] += alike;
  if (access.filled) {
    read_line(address);
    if (access.victim_dirty) write_back(access.victim);
  }
  if (access.through) {
    if (coded) take_from_l1i(address, Use::Data);
    write_line(address, alike);
  }
  if (times > alike) write(address, uint8_t(times - alike), fill, coded);
}

void Front::read_past(uint32_t address) {
  (*bank_)[p5::UncachedReads]++;
  (*bank_)[p5::L2Reads]++;
  for (Bus& bus : buses_) bus.read_past(address);
}

void Front::code(uint32_t address, p5::Fill fill) {
  if (!listener_ && l1i_.quick_read(address)) return;
  const p5::CacheAccess access = l1i_.access(address, false, fill);
  if (listener_) listener_->access(Level::L1i, address, false, access, fill != p5::Fill::None);
  if (access.hit) return;
  (*bank_)[p5::CodeMisses]++;
  if (!access.filled) return read_past(address);
  take_from_l1d(address, Use::Code);
  read_line(address);
}

void Front::locked(uint32_t address) {
  take_from_l1d(address, Use::Data);
  take_from_l1i(address, Use::Data);
  read_line(address);
  write_line(address);
}

void Front::table_update(uint32_t address) {
  take_from_l1d(address, Use::Table);
  read_line(address);
  write_line(address);
}

void Front::snoop(uint32_t address, bool write) {
  (*bank_)[p5::SnoopHits] += l1d_.holds(address);
  if (write) {
    for (Bus& bus : buses_) bus.invalidate(address);
    take_from_l1d(address, Use::Device);
    take_from_l1i(address, Use::Device);
  } else {
    if (listener_) listener_->cleaned(address);
    if (l1d_.share(address)) write_back(address);
  }
}

void Front::take_from_l1d(uint32_t address, Use by) {
  if (listener_) listener_->invalidated(Level::L1d, address, by);
  if (l1d_.invalidate(address)) write_back(address);
}

void Front::take_from_l1i(uint32_t address, Use by) {
  if (listener_) listener_->invalidated(Level::L1i, address, by);
  l1i_.invalidate(address);
}

void Front::write_back(uint32_t line) {
  (*bank_)[p5::L1dWritebacks]++;
  write_line(line);
}

void Front::data_page(uint32_t linear, const p5::PageWalk& walk) {
  if (finds_quickly(pages_, linear) || finds_quickly(large_pages_, linear)) return;
  if (finds(large_pages_, linear) || finds(pages_, linear)) return;
  miss(walk.large ? large_pages_ : pages_, linear, walk, true);
}

void Front::code_page(uint32_t linear, const p5::PageWalk& walk) {
  if (finds_quickly(code_pages_, linear) || finds(code_pages_, linear)) return;
  miss(code_pages_, linear, walk, true);
}

void Front::data_fault(uint32_t linear, const p5::PageWalk& walk, bool present) {
  if (finds(pages_, linear) || finds(large_pages_, linear)) return;
  miss(walk.large ? large_pages_ : pages_, linear, walk, walk.present && present);
}

void Front::code_fault(uint32_t linear, const p5::PageWalk& walk, bool present) {
  if (!finds(code_pages_, linear)) miss(code_pages_, linear, walk, walk.present && present);
}

// Whether a TLB holds the page of this address.
bool Front::finds(Pages& pages, uint32_t linear) {
  return pages.tlb.lookup(linear >> pages.shift) && tell_hit(pages, linear);
}

// Whether the page is the last-used one of its set.
bool Front::finds_quickly(const Pages& pages, uint32_t linear) {
  return pages.tlb.quick(linear >> pages.shift) && tell_hit(pages, linear);
}

bool Front::tell_hit(const Pages& pages, uint32_t linear) {
  if (listener_) listener_->access(pages.level, linear, false, kHit, true);
  return true;
}

// `fills`: the TLB loads the page.
void Front::miss(Pages& pages, uint32_t linear, const p5::PageWalk& walk, bool fills) {
  (*bank_)[pages.misses]++;
  p5::CacheAccess access;
  if (fills) {
    const p5::Linear victim = pages.tlb.insert(linear >> pages.shift);
    if (victim != p5::Tlb::kNone) access.victim = uint32_t(victim) << pages.shift;
  }
  if (listener_) listener_->access(pages.level, linear, false, access, fills);
  read_tables(walk);
}

// Reads the entries of a page walk.
void Front::read_tables(const p5::PageWalk& walk) {
  for (uint32_t i = 0; i < walk.reads; i++) {
    const uint32_t entry = walk.entries[i];
    if (listener_) listener_->cleaned(entry);
    if (l1d_.clean(entry)) write_back(entry);
    (*bank_)[p5::WalkReads]++;
    read_line(entry);
  }
}

void Front::flush_page(uint32_t linear) {
  for (Pages* pages : {&code_pages_, &pages_, &large_pages_}) {
    pages->tlb.invalidate(linear >> pages->shift);
    if (listener_) listener_->invalidated(pages->level, linear, Use::Flush);
  }
}

void Front::flush_tlbs() {
  for (Pages* pages : {&code_pages_, &pages_, &large_pages_}) pages->tlb.flush();
  if (listener_) listener_->flushed_tlbs();
}

void Front::flush_caches(bool write_back) {
  const uint32_t dirty = l1d_.invalidate_all();
  if (write_back) (*bank_)[p5::L1dWritebacks] += dirty;
  l1i_.invalidate_all();
  for (Bus& bus : buses_) bus.flush_caches();
  if (listener_) listener_->flushed();
}

}  // namespace measure
