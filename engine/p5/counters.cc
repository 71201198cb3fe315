// SPDX-License-Identifier: MIT
#include "p5/counters.hh"

#include <algorithm>
#include <iterator>

namespace p5 {

Bank& Counters::bank(Space cr3, uint8_t ring) {
  Bank*& found = index_[{cr3, ring}];
  if (!found) {
    banks_.push_back(std::make_unique<Bank>());
    found = banks_.back().get();
    found->cr3 = cr3;
    found->ring = ring;
  }
  return *found;
}

namespace {

// An error changes the count of an event code: the chip adds or subtracts another count [INTEL-DM
// table 16-24]. The key `codes` in events.toml describes the counts without errors.
struct Error {
  uint8_t code;
  bool event;  // true: `which` is an Event; false: `which` is a Miscount
  uint8_t which;
  int8_t times;
};
constexpr Error error(uint8_t code, Miscount which, int8_t times) {
  return {code, false, which, times};
}
constexpr Error error(uint8_t code, Event which, int8_t times) {
  return {code, true, uint8_t(which), times};
}
constexpr Error kErrors[] = {
    error(0x01, WriteParts, -1),      error(0x02, DtlbMissFaults, 1),
    error(0x03, MisalignedMisses, 1), error(0x0B, MisalignedStores, 1),
    error(0x0D, ItlbMissFaults, 1),   error(0x1A, MisalignedReads, -1),
    error(0x1B, StallWriteME, -1),  // the chip counts only stalls for EWBE#; no board here has them
    error(0x1E, IoReads, 1),          error(0x28, WriteParts, -1),
    error(0x29, MisalignedMisses, 1),
};

// ES is bits 5:0, CC is bits 8:6 and PC is bit 9. The bits from 16 control CTR1 in the same way.
constexpr uint32_t kCesrMask = 0x03FF03FF;

}  // namespace

bool CounterMsrs::supported(unsigned es) {
  return std::any_of(std::begin(kEventCodes), std::end(kEventCodes),
                     [=](const EventCode& one) { return one.code == es; });
}

uint64_t CounterMsrs::source(unsigned counter) const {
  const uint32_t half = cesr_ >> (16 * counter) & 0x3FF;
  const uint32_t es = half & 0x3F, cc = half >> 6 & 7;
  const uint32_t rings = (cc & 1 ? 0x7 : 0) | (cc & 2 ? 0x8 : 0);  // 01: CPL 0-2, 10: CPL 3
  if (!rings) return 0;                                            // stopped
  if (cc & 4) return counters_.total(CyclesBusy, rings) + counters_.total(CyclesIdle, rings);
  uint64_t sum = 0;
  for (const EventCode& one : kEventCodes) {
    if (one.code == es) sum += counters_.total(one.event, rings);
  }
  for (const Error& error : kErrors) {
    if (!miscounts_ || error.code != es) continue;
    const uint64_t total = error.event ? counters_.total(Event(error.which), rings)
                                       : counters_.total(Miscount(error.which), rings);
    sum += uint64_t(int64_t(error.times)) * total;
  }
  return sum;
}

uint64_t CounterMsrs::read(unsigned counter) const {
  return (value_[counter] + source(counter) - base_[counter]) & kMask;
}

void CounterMsrs::write_cesr(uint32_t value) {
  for (unsigned i = 0; i < 2; i++) value_[i] = read(i);  // a write to CESR clears no counter
  cesr_ = value & kCesrMask;
  for (unsigned i = 0; i < 2; i++) base_[i] = source(i);
}

void CounterMsrs::write(unsigned counter, uint64_t value) {
  value_[counter] = value & kMask;
  base_[counter] = source(counter);
}

}  // namespace p5
