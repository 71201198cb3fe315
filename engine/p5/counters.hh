// SPDX-License-Identifier: MIT
// How often did each event happen in each address space (CR3) and privilege ring? The values of the
// P54C's two counter registers are computed from these counts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/events.hh"
#include "p5/isa.hh"

namespace p5 {

using namespace base::events;

static_assert(kX86_64 == base::kX86_64, "P5_X86_64 is defined as for Bochs");

enum class Entry : uint8_t { Irq, Fault, Soft };  // how control reached a vector

// Counts that the chip gets wrong. For each error the engine counts the difference between the
// chip's count and the correct count [INTEL-SU erratum 44; chen95, caveats of its event table]. The
// list contains only errors for which a source states what the chip counts. See
// docs/reference/counters.md.
enum Miscount : uint8_t {
  WriteParts,        // the chip does not count the second part of a misaligned write
  DtlbMissFaults,    // the chip counts a data TLB miss twice if the access faults
  ItlbMissFaults,    // the chip counts a code TLB miss twice if the fetch faults
  MisalignedMisses,  // the chip counts a read miss twice if the read has two parts in one line
  MisalignedStores,  // the chip counts a misaligned FST or FSTP twice
  MisalignedReads,   // the chip counts 2 clocks, not 3, for a misaligned read that hits the TLB
  kMiscountCount
};

// The counts of one ring in one address space.
struct Bank {
  Space cr3 = 0;
  uint8_t ring = 0;
  std::array<uint64_t, kEventCount> count{};
  std::array<uint64_t, kMiscountCount> miscount{};
  std::map<std::pair<Entry, uint8_t>, uint64_t> vectors;
};

class Counters {
 public:
  // Returns the bank of a ring in an address space. The first call creates the bank. The address of
  // the bank in memory never changes.
  Bank& bank(Space cr3, uint8_t ring);

  // The banks, in the order of their first use.
  const std::vector<std::unique_ptr<Bank>>& banks() const { return banks_; }

  // Sums an event over all address spaces. `rings` has one bit for each ring (bit 0 is ring 0);
  // only rings with a set bit are included.
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

// The registers CESR, CTR0 and CTR1 (MSR 11h-13h) [INTEL-DM 16.4]. ES selects the event. CC selects
// the rings, and selects between clocks and events. PC selects the pins. The value of PC is kept
// but has no effect. The counters have 40 bits.
class CounterMsrs {
 public:
  // With `miscounts`, the registers reproduce the chip's errors.
  CounterMsrs(const Counters& counters, bool miscounts)
      : counters_(counters), miscounts_(miscounts) {}

  uint32_t cesr() const { return cesr_; }
  uint64_t read(unsigned counter) const;
  void write_cesr(uint32_t value);
  void write(unsigned counter, uint64_t value);

  // Whether the P54C has the event code `es`.
  static bool supported(unsigned es);

 private:
  static constexpr uint64_t kMask = (uint64_t(1) << 40) - 1;

  uint64_t source(unsigned counter) const;  // running total of the selected event

  const Counters& counters_;
  bool miscounts_;
  uint32_t cesr_ = 0;  // INTEL-DM: a reset sets CESR to zero; the counters are undefined
  uint64_t value_[2] = {0, 0};
  uint64_t base_[2] = {0, 0};
};

}  // namespace p5
