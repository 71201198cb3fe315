// SPDX-License-Identifier: MIT
// The counts, split by address space (CR3) and privilege ring, and the P54C's own two counters
// as views on them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "events.hh"
#include "isa.hh"

namespace p5 {

enum class Entry : uint8_t { Irq, Fault, Soft };  // how control got to a vector

// What the chip counts wrongly [INTEL-SU erratum 44; chen95, caveats of its event table], so far as
// it is said what it counts instead: the difference to the right count. docs/reference/counters.md.
enum Miscount : uint8_t {
  WriteParts,      // of misaligned writes, the parts beyond the first: not counted
  DtlbMissFaults,  // a miss whose access faults: counted twice
  ItlbMissFaults,
  MisalignedMisses,  // reads of two parts in one line that missed: counted twice
  MisalignedStores,  // by FST and FSTP: counted twice
  MisalignedReads,   // that hit the TLB: 2 clocks of waiting counted, not 3
  kMiscountCount
};

// The events of one ring in one address space.
struct Bank {
  Space cr3 = 0;
  uint8_t ring = 0;
  std::array<uint64_t, kEventCount> count{};
  std::array<uint64_t, kMiscountCount> miscount{};
  std::map<std::pair<Entry, uint8_t>, uint64_t> vectors;
};

class Counters {
 public:
  // The bank of a ring in an address space; made at first use, never moved.
  Bank& bank(Space cr3, uint8_t ring);

  // Banks in order of first use.
  const std::vector<std::unique_ptr<Bank>>& banks() const { return banks_; }

  // Sum over all address spaces of the rings whose bit is set in `rings` (bit 0 = ring 0).
  uint64_t total(Event event, uint32_t rings = 0xF) const {
    return sum(&Bank::count, event, rings);
  }
  uint64_t total(Miscount miscount, uint32_t rings = 0xF) const {
    return sum(&Bank::miscount, miscount, rings);
  }

 private:
  template <class Counts>
  uint64_t sum(Counts Bank::* counts, size_t index, uint32_t rings) const {
    uint64_t sum = 0;
    for (const auto& bank : banks_) {
      if (rings >> bank->ring & 1) sum += ((*bank).*counts)[index];
    }
    return sum;
  }

  std::vector<std::unique_ptr<Bank>> banks_;
  std::map<std::pair<Space, uint8_t>, Bank*> index_;
};

// CESR, CTR0 and CTR1 (MSR 11h-13h) [INTEL-DM 16.4]. ES selects the event, CC the rings and
// whether clocks are counted, PC the pins (kept, without effect). 40-bit counters.
class CounterMsrs {
 public:
  // `miscounts`: with the chip's errors.
  CounterMsrs(const Counters& counters, bool miscounts)
      : counters_(counters), miscounts_(miscounts) {}

  uint32_t cesr() const { return cesr_; }
  uint64_t read(unsigned counter) const;
  void write_cesr(uint32_t value);
  void write(unsigned counter, uint64_t value);

  // Is `es` an event code of the P54C?
  static bool supported(unsigned es);

 private:
  static constexpr uint64_t kMask = (uint64_t(1) << 40) - 1;

  uint64_t source(unsigned counter) const;  // the selected event's running total

  const Counters& counters_;
  bool miscounts_;
  uint32_t cesr_ = 0;  // INTEL-DM: zero at reset, the counters undefined
  uint64_t value_[2] = {0, 0};
  uint64_t base_[2] = {0, 0};
};

}  // namespace p5
