// SPDX-License-Identifier: MIT
#include "measure/miss_classes.hh"

#include <algorithm>

#include "base/bits.hh"

namespace measure {
namespace {

constexpr uint32_t kPageBytes = 4096;

}  // namespace

std::string MissClasses::name(size_t count) {
  static const char* const kinds[] = {"data_read_misses", "data_write_misses", "code_misses",
                                      "l2_read_misses", "l2_write_misses"};
  static const char* const classes[] = {"compulsory", "capacity", "conflict", "removed", "avoided"};
  return std::string(kinds[count / kClasses]) + "." + classes[count % kClasses];
}

MissClasses::MissClasses(const p5::Config& config) {
  const p5::CacheConfig* configs[] = {&config.l1d, &config.l1i, &config.memory.l2};
  for (size_t level = 0; level < std::size(configs); level++) {
    const p5::CacheConfig& real = *configs[level];
    Cache& cache = caches_[level];
    cache.shift = base::log2_of(real.line);
    cache.capacity = real.size / real.line;
    cache.allocates = real.write_allocate;
    cache.lines.resize(config.dram_bytes >> cache.shift);
  }
  const p5::CacheConfig& l2 = config.memory.l2;
  if (config.memory.l2_present && l2.ways == 1) {
    resident_.assign(l2.size / l2.line, kNone);
    colours_ = std::max(l2.size / kPageBytes, 1u);
  }
}

void MissClasses::access(Level level, uint32_t address, bool write, bool hit, bool may_fill) {
  Cache& cache = caches_[size_t(level)];
  const uint32_t number = address >> cache.shift;
  Line& line = cache.at(number);
  User user{function_, What::Table};
  if (level == Level::L2) {
    user.what = cause_;
    cause_ = What::Table;
  } else {
    cause_ = level == Level::L1i ? What::Code : What::Data;
  }
  if (counted_ && (!hit || !line.near)) {
    const Kind kind = level == Level::L1i   ? Code
                      : level == Level::L1d ? (write ? DataWrite : DataRead)
                                            : (write ? L2Write : L2Read);
    const Class cls = hit                                     ? Avoided
                      : !line.filled                          ? Compulsory
                      : line.removed || line.filled != epoch_ ? Removed
                      : line.near                             ? Conflict
                                                              : Capacity;
    counts_[size_t(kind) * kClasses + cls]++;
    if (cls == Conflict && level == Level::L2 && !resident_.empty()) {
      pairs_[{user, line.evicted_by, address / kPageBytes % colours_}]++;
    }
  }
  const bool fills = may_fill && (!write || cache.allocates);
  if (line.near) {
    cache.to_front(number);
  } else if (fills) {
    cache.fill(number);
  }
  if (!fills) return;
  Line& filled = cache.at(number);
  filled.filled = epoch_;
  filled.removed = false;
  if (level == Level::L2 && !resident_.empty()) replace(cache, number, user);
}

// Updates a direct-mapped L2: `line` evicts the line that is in the same place of the cache.
void MissClasses::replace(Cache& cache, uint32_t line, User user) {
  uint32_t& resident = resident_[line % resident_.size()];
  if (resident == line) return;
  if (resident != kNone) cache.at(resident).evicted_by = user;
  resident = line;
}

void MissClasses::invalidated(Level level, uint32_t address) {
  Cache& cache = caches_[size_t(level)];
  const uint32_t number = address >> cache.shift;
  Line& line = cache.at(number);
  line.removed = true;
  if (line.near) cache.drop(number);
}

void MissClasses::flushed() {
  for (Cache& cache : caches_) {
    while (cache.oldest != kNone) cache.drop(cache.oldest);
  }
  epoch_++;
}

// --- the fully associative cache ---------------------------------------------------------------

void MissClasses::Cache::unlink(uint32_t line) {
  const Line& here = lines[line];
  (here.newer == kNone ? newest : lines[here.newer].older) = here.older;
  (here.older == kNone ? oldest : lines[here.older].newer) = here.newer;
}

void MissClasses::Cache::to_front(uint32_t line) {
  if (newest == line) return;
  if (lines[line].near) unlink(line);
  lines[line].near = true;
  lines[line].newer = kNone;
  lines[line].older = newest;
  if (newest != kNone)
    lines[newest].newer = line;
  else
    oldest = line;
  newest = line;
}

void MissClasses::Cache::drop(uint32_t line) {
  unlink(line);
  lines[line].near = false;
  held--;
}

void MissClasses::Cache::fill(uint32_t line) {
  if (held == capacity) drop(oldest);
  to_front(line);
  held++;
}

}  // namespace measure
