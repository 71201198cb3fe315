// SPDX-License-Identifier: MIT
#include "measure/shadow.hh"

#include <algorithm>
#include <numeric>

#include "base/bits.hh"
#include "p5/policies.hh"

namespace measure {
namespace {

bool equal(const p5::CacheConfig& a, const p5::CacheConfig& b) {
  return a.size == b.size && a.ways == b.ways && a.line == b.line && a.policy == b.policy &&
         a.write_back == b.write_back && a.write_allocate == b.write_allocate;
}

bool equal(const p5::TlbConfig& a, const p5::TlbConfig& b) {
  return a.entries == b.entries && a.ways == b.ways && a.policy == b.policy;
}

bool same_front(const p5::Config& a, const p5::Config& b) {
  return equal(a.l1d, b.l1d) && equal(a.l1i, b.l1i) && equal(a.itlb, b.itlb) &&
         equal(a.dtlb, b.dtlb) && equal(a.dtlb_large, b.dtlb_large);
}

uint32_t sets(const p5::CacheConfig& cache) { return cache.size / (cache.ways * cache.line); }
uint32_t sets(const p5::TlbConfig& tlb) { return tlb.entries / tlb.ways; }

// Returns the filter for one array (cache or TLB) of these geometries.
template <class Array>
Recent recent(const std::vector<p5::Config>& configs, Array p5::Config::* array) {
  uint32_t smallest = ~0u;
  bool two = true;
  for (const p5::Config& config : configs) {
    const Array& one = config.*array;
    smallest = std::min(smallest, sets(one));
    two = two && one.ways > 1 &&
          (one.policy == p5::PolicyName<p5::Lru>::name ||
           one.policy == p5::PolicyName<p5::Plru>::name);
  }
  return Recent(smallest, two);
}

template <class Test>
bool every(const std::vector<p5::Config>& configs, Test test) {
  return std::all_of(configs.begin(), configs.end(), test);
}

}  // namespace

Shadows::Shadows(const std::vector<p5::Config>& configs, bool filter, AccessListener* listener)
    : filter_(filter && !listener),
      write_back_(every(configs, [](const p5::Config& c) { return c.l1d.write_back; })),
      all_allocate_(every(configs, [](const p5::Config& c) { return c.l1d.write_allocate; })),
      none_allocates_(every(configs, [](const p5::Config& c) { return !c.l1d.write_allocate; })),
      line_shift_(base::log2_of(configs[0].l1d.line)),
      lines_(recent(configs, &p5::Config::l1d)),
      code_(recent(configs, &p5::Config::l1i)),
      pages_(recent(configs, &p5::Config::dtlb)),
      large_pages_(recent(configs, &p5::Config::dtlb_large)),
      code_pages_(recent(configs, &p5::Config::itlb)) {
  recorded_.references.reserve(kBatch);
  std::vector<const p5::Config*> of_front;  // [front] first configuration with it
  for (const p5::Config& config : configs) {
    size_t front = 0, behind = 0;
    while (front < fronts_.size() && !same_front(*of_front[front], config)) front++;
    if (front == fronts_.size()) {
      fronts_.emplace_back(config, filter_, listener);
      of_front.push_back(&config);
    }
    if (config.memory.l2_present) {
      const p5::CacheConfig& l2 = config.memory.l2;
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

void Shadows::attach(const p5::Shortcuts& shortcuts) {
  lines_.join(&shortcuts.data);
  code_.join(&shortcuts.code);
  pages_.join(&shortcuts.pages);
  large_pages_.join(&shortcuts.large_pages);
}

void Shadows::use(const p5::Bank& bank) {
  if (&bank == bank_) return;
  bank_ = &bank;
  bank_known_ = false;
  last_write_ = kNone;
  const auto [known, first] = numbers_.insert({&bank, uint32_t(banks_.size())});
  if (first) {
    banks_.push_back(&bank);
    commons_.push_back(std::make_unique<MissCounts>());
    (*commons_.back())[p5::WriteHitsME] -= bank.count[p5::WriteHitsME];
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

void Shadows::use_all() {
  used_.resize(banks_.size());
  std::iota(used_.begin(), used_.end(), 0);
  is_used_.assign(banks_.size(), true);
}

void Shadows::record(Reference::Kind kind, uint32_t address, p5::Fill fill, bool flag) {
  if (recorded_.references.size() + 2 > kBatch || !filter_) play();
  if (!bank_known_) {
    recorded_.references.push_back({Reference::UseBank, p5::Fill::None, false, 1, number_});
    bank_known_ = true;
  }
  last_write_ = kNone;
  recorded_.references.push_back({kind, fill, flag, 1, address});
}

void Shadows::play() {
  last_write_ = kNone;
  if (!filter_) {  // a listener sees each reference when the chip reports it
    play(recorded_);
    recorded_.references.clear();
    recorded_.walks.clear();
    return;
  }
  Batch batch = std::exchange(recorded_, Batch());
  recorded_.references.reserve(kBatch);
  std::unique_lock lock(mutex_);
  taken_.wait(lock, [this] { return batches_.size() < kBatches; });
  batches_.push_back(std::move(batch));
  if (std::exchange(plays_, true)) return;
  lock.unlock();
  playing_ = std::async(std::launch::async, [this] { play_batches(); });
}

// Plays batches until none waits.
void Shadows::play_batches() {
  for (;;) {
    std::unique_lock lock(mutex_);
    plays_ = !batches_.empty();
    if (!plays_) return;
    const Batch batch = std::move(batches_.front());
    batches_.pop_front();
    lock.unlock();
    taken_.notify_one();
    play(batch);
  }
}

void Shadows::play(const Batch& batch) {
  for (size_t front = 0; front < fronts_.size(); front++) {
    fronts_[front].play(batch.references, batch.walks);
    for (Behind& behind : behind_) {
      if (behind.front == front) behind.l2s->play(fronts_[front].bus(behind.bus).accesses);
    }
  }
}

MissCounts Shadows::counts(size_t shadow, size_t bank) {
  if (!recorded_.references.empty()) play();
  wait();
  MissCounts sum = *commons_[bank];
  sum[p5::WriteHitsME] += banks_[bank]->count[p5::WriteHitsME];
  const auto& [board, front, behind] = shadows_[shadow];
  sum += fronts_[front].counts(bank);
  if (!board.l2_present) {
    sum[p5::DramReads] = std::exchange(sum[p5::L2Reads], 0);
    sum[p5::DramWrites] = std::exchange(sum[p5::L2Writes], 0);
    return sum;
  }
  const L2Misses misses = behind_[behind].l2s->misses(board.l2, bank);
  sum[p5::L2ReadMisses] = sum[p5::DramReads] = misses.reads;
  sum[p5::L2WriteMisses] = misses.writes;
  sum[p5::DramWrites] = board.l2.write_back ? misses.dram_writes : sum[p5::L2Writes];
  return sum;
}

}  // namespace measure
