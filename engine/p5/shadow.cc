// SPDX-License-Identifier: MIT
#include "shadow.hh"

#include <algorithm>

namespace p5 {
namespace {

bool equal(const CacheConfig& a, const CacheConfig& b) {
  return a.size == b.size && a.ways == b.ways && a.line == b.line && a.policy == b.policy &&
         a.write_back == b.write_back && a.write_allocate == b.write_allocate;
}

bool equal(const TlbConfig& a, const TlbConfig& b) {
  return a.entries == b.entries && a.ways == b.ways && a.policy == b.policy;
}

bool same_front(const Config& a, const Config& b) {
  return equal(a.l1d, b.l1d) && equal(a.l1i, b.l1i) && equal(a.itlb, b.itlb) &&
         equal(a.dtlb, b.dtlb) && equal(a.dtlb_large, b.dtlb_large);
}

bool same_board(const Config& a, const Config& b) {
  return a.memory.l2_present == b.memory.l2_present && equal(a.memory.l2, b.memory.l2);
}

uint32_t sets(const CacheConfig& cache) { return cache.size / (cache.ways * cache.line); }
uint32_t sets(const TlbConfig& tlb) { return tlb.entries / tlb.ways; }

// One less than the smallest number of sets that any geometry has in one of its arrays.
template <class Array>
uint32_t mask(const std::vector<Config>& configs, Array Config::*array) {
  uint32_t smallest = ~0u;
  for (const Config& config : configs) smallest = std::min(smallest, sets(config.*array));
  return smallest - 1;
}

MissCounts* bank_of(std::vector<MissCounts>* banks, size_t number) {
  while (banks->size() <= number) banks->push_back({});
  return &(*banks)[number];
}

}  // namespace

// --- the TLBs and L1 caches -----------------------------------------------------------------

Front::Front(const Config& config, Observer* observer)
    : l1d_(config.l1d),
      l1i_(config.l1i),
      itlb_(config.itlb),
      dtlb_(config.dtlb),
      dtlb_large_(config.dtlb_large),
      observer_(observer) {}

void Front::play(const std::vector<Reference>& references) {
  bus.clear();
  for (const Reference& reference : references) {
    const uint32_t address = reference.address;
    switch (reference.kind) {
      case Reference::Read: read(address, reference.flag); break;
      case Reference::Write:
        write(address, 1, reference.flag);
        // The second write may find what the first one has changed; all others are as the second.
        if (reference.times > 1) write(address, reference.times - 1, reference.flag);
        break;
      case Reference::Code: code(address, reference.flag); break;
      case Reference::Locked: locked(address); break;
      case Reference::TableUpdate: table_update(address); break;
      case Reference::DataPage: data_page(reference); break;
      case Reference::CodePage: code_page(reference); break;
      case Reference::DataFault: data_fault(reference); break;
      case Reference::CodeFault: code_fault(reference); break;
      case Reference::FlushTlbs:
        itlb_.flush();
        dtlb_.flush();
        dtlb_large_.flush();
        break;
      case Reference::FlushPage: flush_page(address); break;
      case Reference::FlushCaches: flush_caches(reference.flag); break;
      case Reference::UseBank:
        bank_ = bank_of(&banks_, address);
        put(BusAccess::UseBank, address);
        break;
    }
  }
}

void Front::read(uint32_t address, bool fill) {
  if (!observer_ && l1d_.quick_read(address)) return;
  const CacheAccess access = l1d_.access(address, false, fill);
  if (observer_) observer_->access(Level::L1d, address, false, access.hit);
  if (access.hit) return;
  (*bank_)[DataReadMisses]++;
  take_from_l1i(address);
  put(BusAccess::Read, address);
  if (access.victim_dirty) write_back(access.victim);
}

void Front::write(uint32_t address, uint32_t times, bool fill) {
  const CacheAccess access = l1d_.access(address, true, fill);
  if (observer_) observer_->access(Level::L1d, address, true, access.hit);
  (*bank_)[access.hit ? WriteHitsME : DataWriteMisses] += times;
  if (access.filled) {
    put(BusAccess::Read, address);
    if (access.victim_dirty) write_back(access.victim);
  }
  if (access.through) {
    take_from_l1i(address);
    put(BusAccess::Write, address, times);
  }
}

void Front::code(uint32_t address, bool fill) {
  if (!observer_ && l1i_.quick_read(address)) return;
  const CacheAccess access = l1i_.access(address, false, fill);
  if (observer_) observer_->access(Level::L1i, address, false, access.hit);
  if (access.hit) return;
  (*bank_)[CodeMisses]++;
  take_from_l1d(address);
  put(BusAccess::Read, address);
}

void Front::locked(uint32_t address) {
  take_from_l1d(address);
  take_from_l1i(address);
  put(BusAccess::Read, address);
  put(BusAccess::Write, address);
}

void Front::table_update(uint32_t address) {
  take_from_l1d(address);
  put(BusAccess::Read, address);
  put(BusAccess::Write, address);
}

void Front::take_from_l1d(uint32_t address) {
  if (observer_) observer_->invalidated(Level::L1d, address);
  if (l1d_.invalidate(address)) write_back(address);
}

void Front::take_from_l1i(uint32_t address) {
  if (observer_) observer_->invalidated(Level::L1i, address);
  l1i_.invalidate(address);
}

void Front::write_back(uint32_t line) {
  (*bank_)[L1dWritebacks]++;
  put(BusAccess::Write, line);
}

void Front::data_page(const Reference& reference) {
  const uint32_t page = reference.address >> 12, large_page = reference.address >> 22;
  if (dtlb_.quick(page) || dtlb_large_.quick(large_page)) return;
  if (dtlb_large_.lookup(large_page) || dtlb_.lookup(page)) return;
  (*bank_)[DtlbMisses]++;
  walk(reference);
  if (reference.walk.large) dtlb_large_.insert(large_page);
  else dtlb_.insert(page);
}

void Front::code_page(const Reference& reference) {
  const uint32_t page = reference.address >> 12;
  if (itlb_.quick(page) || itlb_.lookup(page)) return;
  (*bank_)[ItlbMisses]++;
  walk(reference);
  itlb_.insert(page);
}

void Front::data_fault(const Reference& reference) {
  const uint32_t page = reference.address >> 12, large_page = reference.address >> 22;
  if (dtlb_.lookup(page) || dtlb_large_.lookup(large_page)) return;
  (*bank_)[DtlbMisses]++;
  if (!walk(reference) || !reference.flag) return;
  if (reference.walk.large) dtlb_large_.insert(large_page);
  else dtlb_.insert(page);
}

void Front::code_fault(const Reference& reference) {
  const uint32_t page = reference.address >> 12;
  if (itlb_.lookup(page)) return;
  (*bank_)[ItlbMisses]++;
  if (walk(reference) && reference.flag) itlb_.insert(page);
}

// False when the page is absent.
bool Front::walk(const Reference& reference) {
  for (uint32_t i = 0; i < reference.walk.reads; i++) {
    const uint32_t entry = reference.walk.entries[i];
    if (observer_) observer_->cleaned(entry);
    if (l1d_.clean(entry)) write_back(entry);
    (*bank_)[WalkReads]++;
    put(BusAccess::Read, entry);
  }
  return reference.walk.present;
}

void Front::flush_page(uint32_t linear) {
  itlb_.invalidate(linear >> 12);
  dtlb_.invalidate(linear >> 12);
  dtlb_large_.invalidate(linear >> 22);
}

void Front::flush_caches(bool write_back) {
  const uint32_t dirty = l1d_.invalidate_all();
  if (write_back) (*bank_)[L1dWritebacks] += dirty;
  l1i_.invalidate_all();
  put(BusAccess::FlushCaches, 0);
  if (observer_) observer_->flushed();
}

// --- the L2 ---------------------------------------------------------------------------------

Board::Board(const MemoryConfig& config, Observer* observer)
    : present_(config.l2_present), l2_(config.l2, false), observer_(observer) {}

void Board::play(const std::vector<BusAccess>& accesses) {
  for (const BusAccess& access : accesses) {
    switch (access.kind) {
      case BusAccess::Read: read(access.address); break;
      case BusAccess::Write:
        write(access.address, 1);
        if (access.times > 1) write(access.address, access.times - 1);
        break;
      case BusAccess::FlushCaches: l2_.invalidate_all(); break;
      case BusAccess::UseBank: bank_ = bank_of(&banks_, access.address); break;
    }
  }
}

void Board::read(uint32_t address) {
  MissCounts& bank = *bank_;
  if (!present_) {
    bank[DramReads]++;
    return;
  }
  bank[L2Reads]++;
  const CacheAccess access = l2_.access(address, false);
  if (observer_) observer_->access(Level::L2, address, false, access.hit);
  if (access.hit) return;
  bank[L2ReadMisses]++;
  bank[DramReads]++;
  bank[DramWrites] += access.victim_dirty;
}

void Board::write(uint32_t address, uint32_t times) {
  MissCounts& bank = *bank_;
  if (!present_) {
    bank[DramWrites] += times;
    return;
  }
  bank[L2Writes] += times;
  const CacheAccess access = l2_.access(address, true);
  if (observer_) observer_->access(Level::L2, address, true, access.hit);
  if (!access.hit) bank[L2WriteMisses] += times;
  if (access.through || access.victim_dirty) bank[DramWrites] += times;
}

// --- all of them ----------------------------------------------------------------------------

Shadows::Shadows(const std::vector<Config>& configs, bool filter, Observer* observer)
    : filter_(filter && !observer),
      write_back_(std::all_of(configs.begin(), configs.end(),
                              [](const Config& config) { return config.l1d.write_back; })),
      line_shift_(0),
      line_mask_(~(configs[0].l1d.line - 1)),
      lines_mask_(mask(configs, &Config::l1d)),
      code_mask_(mask(configs, &Config::l1i)),
      page_mask_(mask(configs, &Config::dtlb)),
      large_page_mask_(mask(configs, &Config::dtlb_large)),
      code_page_mask_(mask(configs, &Config::itlb)),
      lines_(size_t(lines_mask_) + 1),
      code_(size_t(code_mask_) + 1, kNone),
      pages_(size_t(page_mask_) + 1, kNone),
      large_pages_(size_t(large_page_mask_) + 1, kNone),
      code_pages_(size_t(code_page_mask_) + 1, kNone) {
  while (~line_mask_ >> line_shift_) line_shift_++;
  references_.reserve(kBatch);
  std::vector<const Config*> of_front, of_board;  // the first that has it
  for (const Config& config : configs) {
    size_t front = 0, board = 0;
    while (front < fronts_.size() && !same_front(*of_front[front], config)) front++;
    if (front == fronts_.size()) {
      fronts_.emplace_back(config, observer);
      of_front.push_back(&config);
    }
    while (board < boards_.size() &&
           !(behind_[board] == front && same_board(*of_board[board], config))) {
      board++;
    }
    if (board == boards_.size()) {
      boards_.emplace_back(config.memory, observer);
      behind_.push_back(front);
      of_board.push_back(&config);
    }
    shadows_.push_back({front, board});
  }
}

void Shadows::use(const Bank& bank) {
  if (&bank == bank_) return;
  bank_ = &bank;
  bank_known_ = false;
  last_write_ = kNone;
  const auto [known, first] = numbers_.insert({&bank, uint32_t(banks_.size())});
  if (first) {
    banks_.push_back(&bank);
    commons_.push_back(std::make_unique<MissCounts>());
    is_used_.push_back(false);
  }
  number_ = known->second;
  common_ = commons_[number_].get();
  if (!is_used_[number_]) used_.push_back(number_);
  is_used_[number_] = true;
}

std::vector<uint32_t> Shadows::used() {
  std::vector<uint32_t> used = std::move(used_);
  for (const uint32_t number : used) is_used_[number] = number == number_;
  used_ = {number_};
  std::sort(used.begin(), used.end());
  return used;
}

Reference& Shadows::record(Reference::Kind kind, uint32_t address) {
  if (references_.size() + 2 > kBatch || !filter_) play();
  if (!bank_known_) {
    references_.push_back({Reference::UseBank, false, number_});
    bank_known_ = true;
  }
  last_write_ = kNone;
  references_.push_back({kind, false, address});
  return references_.back();
}

void Shadows::play() {
  for (size_t front = 0; front < fronts_.size(); front++) {
    fronts_[front].play(references_);
    for (size_t board = 0; board < boards_.size(); board++) {
      if (behind_[board] == front) boards_[board].play(fronts_[front].bus);
    }
  }
  references_.clear();
  last_write_ = kNone;
}

MissCounts Shadows::counts(size_t shadow, size_t bank) {
  if (!references_.empty()) play();
  MissCounts sum = *commons_[bank];
  const Front& front = fronts_[shadows_[shadow].front];
  const Board& board = boards_[shadows_[shadow].board];
  for (const Event event : kMissEvents) {
    sum[event] += front.count(bank, event) + board.count(bank, event);
  }
  return sum;
}

// --- references -----------------------------------------------------------------------------

void Shadows::read(uint32_t address, bool fill) {
  if (holds(address)) return;
  address &= line_mask_;
  record(Reference::Read, address).flag = fill;
  forget_code(address);  // a miss takes the line away from L1I
  line(address) = {fill && filter_ ? address : kNone, kNone, kNone};
}

void Shadows::write(uint32_t address, bool fill) {
  if (counts_write_hit(address)) return;
  address &= line_mask_;
  Line& known = line(address);
  if (last_write_ != kNone && references_[last_write_].address == address &&
      references_[last_write_].flag == fill && filter_) {
    references_[last_write_].times++;
  } else {
    record(Reference::Write, address).flag = fill;
    last_write_ = uint32_t(references_.size() - 1);
    forget_code(address);  // a write on the bus takes the line away from L1I
  }
  if (known.read != address) {
    known = {};  // some geometries may hold the line, and others not
  } else if (known.written != address) {
    known.written = address;
  } else if (write_back_) {
    known.modified = address;
  }
}

void Shadows::code(uint32_t address, bool fill) {
  if (holds_code(address)) return;
  address &= line_mask_;
  record(Reference::Code, address).flag = fill;
  forget(address);  // a miss takes the line away from L1D
  code_line(address) = fill && filter_ ? address : kNone;
}

void Shadows::locked(uint32_t address) {
  address &= line_mask_;
  (*common_)[DataReadMisses]++;
  (*common_)[DataWriteMisses]++;
  record(Reference::Locked, address);
  forget(address);
  forget_code(address);
}

void Shadows::table_update(uint32_t address) {
  address &= line_mask_;
  record(Reference::TableUpdate, address);
  forget(address);
}

void Shadows::forget(uint32_t address) {
  address &= line_mask_;
  Line& known = line(address);
  if (known.read == address) known = {};
}

void Shadows::forget_code(uint32_t address) {
  if (code_line(address) == address) code_line(address) = kNone;
}

void Shadows::record_page(Reference::Kind kind, uint32_t linear, const PageWalk& walk) {
  record(kind, linear).walk = walk;
  // A walk makes the lines of its entries clean.
  for (uint32_t i = 0; i < walk.reads; i++) {
    Line& known = line(walk.entries[i]);
    if (known.read == (walk.entries[i] & line_mask_)) known.written = known.modified = kNone;
  }
}

void Shadows::data_page(uint32_t linear, const PageWalk& walk) {
  if (holds_page(linear)) return;
  record_page(Reference::DataPage, linear, walk);
  if (mixed(linear, walk.large) || !filter_) return;
  if (walk.large) large_pages_[(linear >> 22) & large_page_mask_] = linear >> 22;
  else pages_[(linear >> 12) & page_mask_] = linear >> 12;
}

// A page is about to be entered. Are there pages of both sizes in its 4 MB?
bool Shadows::mixed(uint32_t linear, bool large) {
  const uint32_t area = linear >> 22;
  auto& seen = large ? large_ : small_;
  if (!seen[area]) {
    seen.set(area);
    if (small_[area] && large_[area]) forget_pages();
  }
  return small_[area] && large_[area];
}

void Shadows::code_page(uint32_t linear, const PageWalk& walk) {
  if (holds_code_page(linear)) return;
  record_page(Reference::CodePage, linear, walk);
  if (filter_) code_pages_[(linear >> 12) & code_page_mask_] = linear >> 12;
}

void Shadows::page_fault(uint32_t linear, bool code, bool present, const PageWalk& walk) {
  record_page(code ? Reference::CodeFault : Reference::DataFault, linear, walk);
  references_.back().flag = present;
  if (code) {
    code_pages_[(linear >> 12) & code_page_mask_] = kNone;
  } else {
    mixed(linear, walk.large);
    pages_[(linear >> 12) & page_mask_] = kNone;
    large_pages_[(linear >> 22) & large_page_mask_] = kNone;
  }
}

void Shadows::flush_tlbs() {
  record(Reference::FlushTlbs, 0);
  forget_pages();
  std::fill(code_pages_.begin(), code_pages_.end(), kNone);
  small_.reset();
  large_.reset();
}

void Shadows::flush_page(uint32_t linear) {
  record(Reference::FlushPage, linear);
  pages_[(linear >> 12) & page_mask_] = kNone;
  large_pages_[(linear >> 22) & large_page_mask_] = kNone;
  code_pages_[(linear >> 12) & code_page_mask_] = kNone;
}

void Shadows::forget_pages() {
  std::fill(pages_.begin(), pages_.end(), kNone);
  std::fill(large_pages_.begin(), large_pages_.end(), kNone);
}

void Shadows::flush_caches(bool write_back) {
  record(Reference::FlushCaches, 0).flag = write_back;
  std::fill(lines_.begin(), lines_.end(), Line());
  std::fill(code_.begin(), code_.end(), kNone);
}

}  // namespace p5
