// SPDX-License-Identifier: MIT
#include "measure/miss_classes.hh"

#include <algorithm>

#include "base/bits.hh"

namespace measure {
namespace {

MissClasses::Kind kind_of(Level level, bool write) {
  switch (level) {
    case Level::L1d:
      return write ? MissClasses::DataWrite : MissClasses::DataRead;
    case Level::L1i:
      return MissClasses::Code;
    case Level::L2:
      return write ? MissClasses::L2Write : MissClasses::L2Read;
    case Level::Itlb:
      return MissClasses::CodePage;
    default:
      return MissClasses::DataPage;
  }
}

}  // namespace

const char* MissClasses::name(Level level) {
  static const char* const names[] = {"L1D", "L1I", "L2", "DTLB", "DTLB", "ITLB"};
  return names[size_t(level)];
}

const char* MissClasses::name(Kind kind) {
  static const char* const names[] = {"data_read_misses", "data_write_misses", "code_misses",
                                      "l2_read_misses",   "l2_write_misses",   "dtlb_misses",
                                      "itlb_misses"};
  return names[kind];
}

const char* MissClasses::name(Class cls) {
  static const char* const names[] = {"compulsory", "capacity", "conflict", "removed", "avoided"};
  return names[cls];
}

const char* MissClasses::name(Use use) {
  static const char* const names[] = {"code", "data", "table", "device", "flush"};
  return names[size_t(use)];
}

std::string MissClasses::name(size_t count) {
  return std::string(name(Kind(count / kClasses))) + "." + name(Class(count % kClasses));
}

MissClasses::MissClasses(const p5::Config& config) {
  const auto cache = [this](Level level, const p5::CacheConfig& real) {
    Array& array = this->array(level);
    array.shift = base::log2_of(real.line);
    array.capacity = real.size / real.line;
    array.allocates = real.write_allocate;
    array.colour_shift = kPageShift;
    array.colours = std::max(real.size / real.ways >> kPageShift, 1u);
  };
  const auto tlb = [this](Level level, const p5::TlbConfig& real, unsigned page_shift) {
    Array& array = this->array(level);
    array.shift = array.colour_shift = page_shift;
    array.capacity = real.entries;
    array.colours = real.entries / real.ways;
  };
  cache(Level::L1d, config.l1d);
  cache(Level::L1i, config.l1i);
  if (config.memory.l2_present) cache(Level::L2, config.memory.l2);
  tlb(Level::Dtlb, config.dtlb, kPageShift);
  tlb(Level::DtlbLarge, config.dtlb_large, kLargeShift);
  tlb(Level::Itlb, config.itlb, kPageShift);
}

void MissClasses::access(Level level, uint32_t address, bool write, const p5::CacheAccess& result,
                         bool may_fill) {
  const bool code = level == Level::L1i || level == Level::Itlb;
  const Use use = level == Level::L2 ? use_ : code ? Use::Code : Use::Data;
  use_ = level >= Level::Dtlb ? Use::Table : use;
  Array& array = this->array(level);
  const uint32_t number = address >> array.shift;
  if (result.hit && number == array.newest) return;  // changes nothing
  Line& line = array.at(number);
  if (line.state == State::Held && line.filled != array.epoch) {
    line.lose(State::Removed, array.emptied);
  }
  const bool fills = may_fill && (!write || array.allocates);
  if (counted_ && (!result.hit || !line.near)) {
    miss({level,
          kind_of(level, write),
          class_of(line, result.hit),
          address,
          {function_, use, instruction_},
          line.loaded,
          fills || !line.told ? line.lost : Past()});
  }
  if (line.near) {
    array.to_front(number);
  } else if (fills) {
    array.fill(number);
  }
  if (!fills) {
    line.told = true;
    return;
  }
  if (!result.hit) line.loaded = past(address, use);
  line.filled = array.epoch;
  line.state = State::Held;
  if (result.victim == p5::CacheAccess::kNoVictim) return;
  Line& victim = array.at(result.victim >> array.shift);
  victim.lose(State::Evicted, line.loaded);
}

MissClasses::Class MissClasses::class_of(const Line& line, bool hit) {
  if (hit) return Avoided;
  if (line.state == State::New) return Compulsory;
  if (line.state == State::Removed) return Removed;
  return line.near ? Conflict : Capacity;
}

void MissClasses::miss(const Miss& miss) {
  counts_[size_t(miss.kind) * kClasses + miss.cls]++;
  if (miss.cls == Avoided) return;
  if (miss.lost.user) {
    const Array& array = this->array(miss.level);
    const User& winner = users_[miss.lost.user];
    const Pair pair{miss.level,
                    miss.cls,
                    {miss.user.function, miss.user.use},
                    {winner.function, winner.use},
                    (miss.address >> array.colour_shift) % array.colours};
    for (Pairs* pairs : open_) (*pairs)[pair]++;
  }
  if (trace_) trace_->missed(miss);
}

// The access that is taking place now.
MissClasses::Past MissClasses::past(uint32_t address, Use use) {
  const User user{function_, use, instruction_};
  const auto [known, first] = numbers_.insert({user, uint32_t(users_.size())});
  if (first) users_.push_back(user);
  return {known->second, address, clock_};
}

void MissClasses::invalidated(Level level, uint32_t address, Use by) {
  use_ = by;
  Array& array = this->array(level);
  const uint32_t number = address >> array.shift;
  Line& line = array.at(number);
  if (line.state == State::Held && line.filled == array.epoch) {
    line.lose(State::Removed, past(address, by));
  }
  if (line.near) array.drop(number);
}

void MissClasses::flushed() {
  for (const Level level : {Level::L1d, Level::L1i, Level::L2}) {
    array(level).empty(past(0, Use::Flush));
  }
}

void MissClasses::flushed_tlbs() {
  for (const Level level : {Level::Dtlb, Level::DtlbLarge, Level::Itlb}) {
    array(level).empty(past(0, Use::Flush));
  }
}

// --- the fully associative array ---------------------------------------------------------------

void MissClasses::Array::unlink(const Line& here) {
  (here.newer == kNone ? newest : known(here.newer).older) = here.older;
  (here.older == kNone ? oldest : known(here.older).newer) = here.newer;
}

void MissClasses::Array::to_front(uint32_t line) {
  if (newest == line) return;
  Line& here = known(line);
  if (here.near) unlink(here);
  here.near = true;
  here.newer = kNone;
  here.older = newest;
  (newest == kNone ? oldest : known(newest).newer) = line;
  newest = line;
}

void MissClasses::Array::drop(uint32_t line) {
  Line& here = known(line);
  unlink(here);
  here.near = false;
  held--;
}

void MissClasses::Array::fill(uint32_t line) {
  if (held == capacity) drop(oldest);
  to_front(line);
  held++;
}

void MissClasses::Array::empty(const Past& by) {
  while (oldest != kNone) drop(oldest);
  epoch++;
  emptied = by;
}

}  // namespace measure
