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

uint32_t log2_of(uint32_t value) {
  uint32_t log = 0;
  while (value >>= 1) log++;
  return log;
}

uint32_t sets(const CacheConfig& cache) { return cache.size / (cache.ways * cache.line); }
uint32_t sets(const TlbConfig& tlb) { return tlb.entries / tlb.ways; }

// What was used last in an array of these geometries.
template <class Array>
Recent recent(const std::vector<Config>& configs, Array Config::* array) {
  uint32_t smallest = ~0u;
  bool two = true;
  for (const Config& config : configs) {
    const Array& one = config.*array;
    smallest = std::min(smallest, sets(one));
    two = two && one.ways > 1 &&
          (one.policy == PolicyName<Lru>::name || one.policy == PolicyName<Plru>::name);
  }
  return Recent(smallest, two);
}

template <class Test>
bool every(const std::vector<Config>& configs, Test test) {
  return std::all_of(configs.begin(), configs.end(), test);
}

MissCounts* bank_of(std::vector<MissCounts>* banks, size_t number) {
  while (banks->size() <= number) banks->push_back({});
  return &(*banks)[number];
}

}  // namespace

// --- between a front and its L2s ------------------------------------------------------------

Bus::Bus(const CacheConfig& l2, bool filter)
    : filter_(filter),
      direct_(l2.ways == 1),
      line_(l2.line),
      low_(log2_of(l2.line)),
      line_mask_(~(l2.line - 1)) {
  add(l2);
}

bool Bus::suits(const CacheConfig& l2) const {
  return direct_ == (l2.ways == 1) && line_ == l2.line;
}

void Bus::add(const CacheConfig& l2) {
  high_ = std::min(high_, low_ + log2_of(sets(l2)));
  mask_ = (1u << (high_ - low_)) - 1;
  lines_.assign(size_t(mask_) + 1, Line());
}

void Bus::read_past(uint32_t address) {
  lines_[(address >> low_) & mask_] = {};  // it is used last only where it is
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

Front::Front(const Config& config, bool filter, Observer* observer)
    : l1d_(config.l1d),
      l1i_(config.l1i),
      write_back_(config.l1d.write_back),
      itlb_(config.itlb),
      dtlb_(config.dtlb),
      dtlb_large_(config.dtlb_large),
      filter_(filter),
      observer_(observer) {}

size_t Front::add(const CacheConfig& l2) {
  size_t number = 0;
  while (number < buses_.size() && !buses_[number].suits(l2)) number++;
  if (number == buses_.size())
    buses_.emplace_back(l2, filter_);
  else
    buses_[number].add(l2);
  return number;
}

void Front::play(const std::vector<Reference>& references, const std::vector<PageWalk>& walks) {
  for (Bus& bus : buses_) bus.accesses.clear();
  const PageWalk* walk = walks.data();  // of the next page
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
        itlb_.flush();
        dtlb_.flush();
        dtlb_large_.flush();
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

void Front::read(uint32_t address, Fill fill, bool coded) {
  if (!observer_ && l1d_.quick_read(address)) return;
  const CacheAccess access = l1d_.access(address, false, fill);
  if (observer_) observer_->access(Level::L1d, address, false, access.hit, fill != Fill::None);
  if (access.hit) return;
  (*bank_)[DataReadMisses]++;
  if (coded) take_from_l1i(address);
  if (!access.filled) return read_past(address);
  read_line(address);
  if (access.victim_dirty) write_back(access.victim);
}

void Front::write(uint32_t address, uint8_t times, Fill fill, bool coded) {
  if (!observer_ && l1d_.quick_write(address)) {
    (*bank_)[WriteHitsME] += times;
    return;
  }
  const CacheAccess access = l1d_.access(address, true, fill);
  if (observer_) observer_->access(Level::L1d, address, true, access.hit, fill != Fill::None);
  // The others may find a line that the first write has brought in, or made exclusive.
  const bool owned = access.hit && access.through && write_back_ && fill == Fill::Exclusive;
  const uint8_t alike = access.filled || owned ? 1 : times;
  if (!access.hit)
    (*bank_)[DataWriteMisses] += alike;
  else if (!access.through)
    (*bank_)[WriteHitsME] += alike;
  if (access.filled) {
    read_line(address);
    if (access.victim_dirty) write_back(access.victim);
  }
  if (access.through) {
    if (coded) take_from_l1i(address);
    write_line(address, alike);
  }
  if (times > alike) write(address, uint8_t(times - alike), fill, coded);
}

void Front::read_past(uint32_t address) {
  (*bank_)[UncachedReads]++;
  (*bank_)[L2Reads]++;
  for (Bus& bus : buses_) bus.read_past(address);
}

void Front::code(uint32_t address, Fill fill) {
  if (!observer_ && l1i_.quick_read(address)) return;
  const CacheAccess access = l1i_.access(address, false, fill);
  if (observer_) observer_->access(Level::L1i, address, false, access.hit, fill != Fill::None);
  if (access.hit) return;
  (*bank_)[CodeMisses]++;
  if (!access.filled) return read_past(address);
  take_from_l1d(address);
  read_line(address);
}

void Front::locked(uint32_t address) {
  take_from_l1d(address);
  take_from_l1i(address);
  read_line(address);
  write_line(address);
}

void Front::table_update(uint32_t address) {
  take_from_l1d(address);
  read_line(address);
  write_line(address);
}

void Front::snoop(uint32_t address, bool write) {
  (*bank_)[SnoopHits] += l1d_.holds(address);
  if (write) {
    for (Bus& bus : buses_) bus.invalidate(address);
    take_from_l1d(address);
    take_from_l1i(address);
  } else {
    if (observer_) observer_->cleaned(address);
    if (l1d_.share(address)) write_back(address);
  }
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
  write_line(line);
}

void Front::data_page(uint32_t linear, const PageWalk& walk) {
  const uint32_t page = linear >> 12, large_page = linear >> 22;
  if (dtlb_.quick(page) || dtlb_large_.quick(large_page)) return;
  if (dtlb_large_.lookup(large_page) || dtlb_.lookup(page)) return;
  (*bank_)[DtlbMisses]++;
  read_tables(walk);
  if (walk.large)
    dtlb_large_.insert(large_page);
  else
    dtlb_.insert(page);
}

void Front::code_page(uint32_t linear, const PageWalk& walk) {
  const uint32_t page = linear >> 12;
  if (itlb_.quick(page) || itlb_.lookup(page)) return;
  (*bank_)[ItlbMisses]++;
  read_tables(walk);
  itlb_.insert(page);
}

void Front::data_fault(uint32_t linear, const PageWalk& walk, bool present) {
  const uint32_t page = linear >> 12, large_page = linear >> 22;
  if (dtlb_.lookup(page) || dtlb_large_.lookup(large_page)) return;
  (*bank_)[DtlbMisses]++;
  if (!read_tables(walk) || !present) return;
  if (walk.large)
    dtlb_large_.insert(large_page);
  else
    dtlb_.insert(page);
}

void Front::code_fault(uint32_t linear, const PageWalk& walk, bool present) {
  const uint32_t page = linear >> 12;
  if (itlb_.lookup(page)) return;
  (*bank_)[ItlbMisses]++;
  if (read_tables(walk) && present) itlb_.insert(page);
}

// False when the page is absent.
bool Front::read_tables(const PageWalk& walk) {
  for (uint32_t i = 0; i < walk.reads; i++) {
    const uint32_t entry = walk.entries[i];
    if (observer_) observer_->cleaned(entry);
    if (l1d_.clean(entry)) write_back(entry);
    (*bank_)[WalkReads]++;
    read_line(entry);
  }
  return walk.present;
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
  for (Bus& bus : buses_) bus.flush_caches();
  if (observer_) observer_->flushed();
}

// --- all of them ----------------------------------------------------------------------------

Shadows::Shadows(const std::vector<Config>& configs, bool filter, Observer* observer)
    : filter_(filter && !observer),
      write_back_(every(configs, [](const Config& c) { return c.l1d.write_back; })),
      all_allocate_(every(configs, [](const Config& c) { return c.l1d.write_allocate; })),
      none_allocates_(every(configs, [](const Config& c) { return !c.l1d.write_allocate; })),
      line_shift_(log2_of(configs[0].l1d.line)),
      lines_(recent(configs, &Config::l1d)),
      code_(recent(configs, &Config::l1i)),
      pages_(recent(configs, &Config::dtlb)),
      large_pages_(recent(configs, &Config::dtlb_large)),
      code_pages_(recent(configs, &Config::itlb)) {
  references_.reserve(kBatch);
  std::vector<const Config*> of_front;  // the first that has it
  for (const Config& config : configs) {
    size_t front = 0, behind = 0;
    while (front < fronts_.size() && !same_front(*of_front[front], config)) front++;
    if (front == fronts_.size()) {
      fronts_.emplace_back(config, filter_, observer);
      of_front.push_back(&config);
    }
    if (config.memory.l2_present) {
      const CacheConfig& l2 = config.memory.l2;
      const size_t bus = fronts_[front].add(l2);
      while (behind < behind_.size() &&
             !(behind_[behind].front == front && behind_[behind].l2s->add(l2))) {
        behind++;
      }
      if (behind == behind_.size()) behind_.push_back({front, bus, make_l2s(l2, observer)});
    }
    shadows_.push_back({config.memory, front, behind});
  }
}

void Shadows::join(Shortcut* data, Shortcut* code, Shortcut* pages, Shortcut* large_pages) {
  lines_.join(data);
  code_.join(code);
  pages_.join(pages);
  large_pages_.join(large_pages);
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
    (*commons_.back())[WriteHitsME] -= bank.count[WriteHitsME];
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

void Shadows::record(Reference::Kind kind, uint32_t address, Fill fill, bool flag) {
  if (references_.size() + 2 > kBatch || !filter_) play();
  if (!bank_known_) {
    references_.push_back({Reference::UseBank, Fill::None, false, 1, number_});
    bank_known_ = true;
  }
  last_write_ = kNone;
  references_.push_back({kind, fill, flag, 1, address});
}

void Shadows::play() {
  for (size_t front = 0; front < fronts_.size(); front++) {
    fronts_[front].play(references_, walks_);
    for (Behind& behind : behind_) {
      if (behind.front == front) behind.l2s->play(fronts_[front].bus(behind.bus).accesses);
    }
  }
  references_.clear();
  walks_.clear();
  last_write_ = kNone;
}

MissCounts Shadows::counts(size_t shadow, size_t bank) {
  if (!references_.empty()) play();
  MissCounts sum = *commons_[bank];
  sum[WriteHitsME] += banks_[bank]->count[WriteHitsME];
  const auto& [board, front, behind] = shadows_[shadow];
  sum += fronts_[front].counts(bank);
  if (!board.l2_present) {
    sum[DramReads] = std::exchange(sum[L2Reads], 0);
    sum[DramWrites] = std::exchange(sum[L2Writes], 0);
    return sum;
  }
  const L2Misses misses = behind_[behind].l2s->misses(board.l2, bank);
  sum[L2ReadMisses] = sum[DramReads] = misses.reads;
  sum[L2WriteMisses] = misses.writes;
  sum[DramWrites] = board.l2.write_back ? misses.dram_writes : sum[L2Writes];
  return sum;
}

// --- references -----------------------------------------------------------------------------

// Before something is told of the set of `key`.
void Shadows::tell(Recent& recent, Reference::Kind kind, uint32_t key, uint32_t shift) {
  const uint32_t before = recent.untold(key);
  if (before == kNone) return;
  if (kind == Reference::DataPage || kind == Reference::CodePage) {
    record_page(kind, before << shift, PageWalk());  // it hits
  } else {
    record(kind, before << shift);
  }
}

void Shadows::read(uint32_t address, Fill fill) {
  if (holds(address)) return;
  const uint32_t line = address >> line_shift_;
  forget_code(address);  // a miss takes the line away from L1I
  tell(lines_, Reference::Read, line, line_shift_);
  record(Reference::Read, line << line_shift_, fill, coded(address));
  if (!filter_) return;
  if (fill != Fill::None || lines_.has(line))
    lines_.enter(line);
  else
    lines_.hide(line, false);
}

void Shadows::write(uint32_t address, Fill fill) {
  if (counts_write_hit(address)) return;
  const uint32_t line = address >> line_shift_;
  address = line << line_shift_;
  if (last_write_ != kNone && references_[last_write_].address == address &&
      references_[last_write_].fill == fill && references_[last_write_].times < 255 && filter_) {
    references_[last_write_].times++;
  } else {
    forget_code(address);  // a write on the bus takes the line away from L1I
    if (!lines_.has(line)) tell(lines_, Reference::Read, line, line_shift_);
    record(Reference::Write, address, fill, coded(address));
    last_write_ = uint32_t(references_.size() - 1);
  }
  if (!filter_) return;
  if (lines_.has(line) || (fill != Fill::None && all_allocate_)) {
    Recent::Entry& entry = lines_.enter(line);
    if (entry.writes < 2 && fill == Fill::Exclusive) entry.writes++;
  } else {
    lines_.hide(line, fill != Fill::None && !none_allocates_);
  }
}

void Shadows::code(uint32_t address, Fill fill) {
  if (holds_code(address)) return;
  coded_.set(address >> 12);
  const uint32_t line = address >> line_shift_;
  forget(address);  // a miss takes the line away from L1D
  tell(code_, Reference::Code, line, line_shift_);
  record(Reference::Code, line << line_shift_, fill);
  if (!filter_) return;
  if (fill != Fill::None || code_.has(line))
    code_.enter(line);
  else
    code_.hide(line, false);
}

void Shadows::locked(uint32_t address) {
  (*common_)[DataReadMisses]++;
  (*common_)[DataWriteMisses]++;
  forget(address);
  forget_code(address);
  record(Reference::Locked, address);
}

void Shadows::table_update(uint32_t address) {
  forget(address);
  record(Reference::TableUpdate, address);
}

void Shadows::snoop(uint32_t address, bool write) {
  forget(address);
  if (write) forget_code(address);
  record(Reference::Snoop, address, Fill::Exclusive, write);
}

void Shadows::forget(uint32_t address) {
  const uint32_t line = address >> line_shift_;
  if (!lines_.has(line)) return;
  tell(lines_, Reference::Read, line, line_shift_);
  lines_.remove(line);
}

void Shadows::forget_code(uint32_t address) {
  const uint32_t line = address >> line_shift_;
  if (!code_.has(line)) return;
  tell(code_, Reference::Code, line, line_shift_);
  code_.remove(line);
}

void Shadows::record_page(Reference::Kind kind, uint32_t linear, const PageWalk& walk,
                          bool present) {
  record(kind, linear, Fill::Exclusive, present);
  walks_.push_back(walk);
  // A walk makes the lines of its entries clean.
  for (uint32_t i = 0; i < walk.reads; i++) lines_.clean(walk.entries[i] >> line_shift_);
}

void Shadows::data_page(uint32_t linear, const PageWalk& walk) {
  if (holds_page(linear)) return;
  tell(pages_, Reference::DataPage, linear >> 12, 12);
  tell(large_pages_, Reference::DataPage, linear >> 22, 22);
  record_page(Reference::DataPage, linear, walk);
  if (!filter_) return;
  if (mixed(linear, walk.large)) {
    pages_.hide(linear >> 12, true);
    large_pages_.hide(linear >> 22, true);
  } else if (walk.large) {
    large_pages_.enter(linear >> 22);
  } else {
    pages_.enter(linear >> 12);
  }
}

// A page has been entered. Are there pages of both sizes in its 4 MB?
bool Shadows::mixed(uint32_t linear, bool large) {
  const uint32_t area = linear >> 22;
  auto& seen = large ? large_ : small_;
  if (!seen[area]) {
    seen.set(area);
    if (small_[area] && large_[area]) {
      const auto tell = [&](uint32_t at) { record_page(Reference::DataPage, at, PageWalk()); };
      pages_.clear([&](uint32_t page) { tell(page << 12); });
      large_pages_.clear([&](uint32_t page) { tell(page << 22); });
    }
  }
  return small_[area] && large_[area];
}

void Shadows::code_page(uint32_t linear, const PageWalk& walk) {
  if (holds_code_page(linear)) return;
  tell(code_pages_, Reference::CodePage, linear >> 12, 12);
  record_page(Reference::CodePage, linear, walk);
  if (filter_) code_pages_.enter(linear >> 12);
}

void Shadows::page_fault(uint32_t linear, bool code, bool present, const PageWalk& walk) {
  forget_pages(linear, code);
  record_page(code ? Reference::CodeFault : Reference::DataFault, linear, walk, present);
  if (!code) mixed(linear, walk.large);
}

// Nothing is known any more of the sets of an address.
void Shadows::forget_pages(uint32_t linear, bool code) {
  if (code) {
    tell(code_pages_, Reference::CodePage, linear >> 12, 12);
    code_pages_.hide(linear >> 12, true);
  } else {
    tell(pages_, Reference::DataPage, linear >> 12, 12);
    tell(large_pages_, Reference::DataPage, linear >> 22, 22);
    pages_.hide(linear >> 12, true);
    large_pages_.hide(linear >> 22, true);
  }
}

void Shadows::flush_tlbs() {
  record(Reference::FlushTlbs, 0);
  pages_.clear();
  large_pages_.clear();
  code_pages_.clear();
  small_.reset();
  large_.reset();
}

void Shadows::flush_page(uint32_t linear) {
  forget_pages(linear, false);
  forget_pages(linear, true);
  record(Reference::FlushPage, linear);
}

void Shadows::flush_caches(bool write_back) {
  record(Reference::FlushCaches, 0, Fill::Exclusive, write_back);
  lines_.clear();
  code_.clear();
}

}  // namespace p5
