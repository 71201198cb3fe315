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

}  // namespace

// --- all of them ----------------------------------------------------------------------------

Shadows::Shadows(const std::vector<Config>& configs, bool filter, AccessListener* listener)
    : filter_(filter && !listener),
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
      fronts_.emplace_back(config, filter_, listener);
      of_front.push_back(&config);
    }
    if (config.memory.l2_present) {
      const CacheConfig& l2 = config.memory.l2;
      const size_t bus = fronts_[front].add(l2);
      while (behind < behind_.size() &&
             !(behind_[behind].front == front && behind_[behind].l2s->add(l2))) {
        behind++;
      }
      if (behind == behind_.size()) behind_.push_back({front, bus, make_l2s(l2, listener)});
    }
    shadows_.push_back({config.memory, front, behind});
  }
}

void Shadows::attach(const Shortcuts& shortcuts) {
  lines_.join(&shortcuts.data);
  code_.join(&shortcuts.code);
  pages_.join(&shortcuts.pages);
  large_pages_.join(&shortcuts.large_pages);
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

// Something in the set of `key` is about to be recorded. Records what must come before it.
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
  const uint32_t line = address >> line_shift_;
  if (lines_.find(line)) return;
  forget_code(address);  // a miss takes the line away from L1I
  tell(lines_, Reference::Read, line, line_shift_);
  record(Reference::Read, line << line_shift_, fill, coded(address));
  if (!filter_) return;
  if (fill != Fill::None || lines_.has(line))
    lines_.enter(line);
  else
    lines_.hide(line, false);
}

// A write to a line that every geometry holds modified.
bool Shadows::counts_write_hit(uint32_t address) {
  const Recent::Entry* entry = write_back_ ? lines_.find(address >> line_shift_) : nullptr;
  if (!entry || entry->writes < 2) return false;
  (*common_)[WriteHitsME]++;
  return true;
}

bool Shadows::repeats_last_write(uint32_t address, Fill fill) const {
  if (!filter_ || last_write_ == kNone) return false;
  const Reference& last = references_[last_write_];
  return last.address == address && last.fill == fill && last.times < 255;
}

void Shadows::write(uint32_t address, Fill fill) {
  if (counts_write_hit(address)) return;
  const uint32_t line = address >> line_shift_;
  address = line << line_shift_;
  if (repeats_last_write(address, fill)) {
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
  const uint32_t line = address >> line_shift_;
  if (code_.find(line)) return;
  coded_.set(address >> kPageShift);
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

void Shadows::data_page(Linear address, const PageWalk& walk) {
  if (knows_page(address)) return;
  const uint32_t linear = uint32_t(address);
  tell(pages_, Reference::DataPage, page_of(linear), kPageShift);
  tell(large_pages_, Reference::DataPage, large_page_of(linear), kLargeShift);
  record_page(Reference::DataPage, linear, walk);
  if (!filter_) return;
  if (mixed(linear, walk.large)) {
    pages_.hide(page_of(linear), true);
    large_pages_.hide(large_page_of(linear), true);
  } else if (walk.large) {
    large_pages_.enter(large_page_of(linear));
  } else {
    pages_.enter(page_of(linear));
  }
}

// A page has been entered. Are there pages of both sizes in its 4 MB?
bool Shadows::mixed(uint32_t linear, bool large) {
  const uint32_t area = large_page_of(linear);
  auto& seen = large ? large_ : small_;
  if (!seen[area]) {
    seen.set(area);
    if (small_[area] && large_[area]) {
      const auto tell = [&](uint32_t at) { record_page(Reference::DataPage, at, PageWalk()); };
      pages_.clear([&](uint32_t page) { tell(page << kPageShift); });
      large_pages_.clear([&](uint32_t page) { tell(page << kLargeShift); });
    }
  }
  return small_[area] && large_[area];
}

void Shadows::code_page(Linear address, const PageWalk& walk) {
  if (knows_code_page(address)) return;
  const uint32_t linear = uint32_t(address);
  tell(code_pages_, Reference::CodePage, page_of(linear), kPageShift);
  record_page(Reference::CodePage, linear, walk);
  if (filter_) code_pages_.enter(page_of(linear));
}

void Shadows::page_fault(Linear address, bool code, bool present, const PageWalk& walk) {
  const uint32_t linear = uint32_t(address);
  forget_pages(linear, code);
  record_page(code ? Reference::CodeFault : Reference::DataFault, linear, walk, present);
  if (!code) mixed(linear, walk.large);
}

// The sets of this address may have changed in any way.
void Shadows::forget_pages(uint32_t linear, bool code) {
  if (code) {
    tell(code_pages_, Reference::CodePage, page_of(linear), kPageShift);
    code_pages_.hide(page_of(linear), true);
  } else {
    tell(pages_, Reference::DataPage, page_of(linear), kPageShift);
    tell(large_pages_, Reference::DataPage, large_page_of(linear), kLargeShift);
    pages_.hide(page_of(linear), true);
    large_pages_.hide(large_page_of(linear), true);
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

void Shadows::flush_page(Linear address) {
  const uint32_t linear = uint32_t(address);
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
