// SPDX-License-Identifier: MIT
// The counts, split by address space (CR3) and privilege ring, and the P54C's own two counters
// as views on them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "events.hh"

namespace p5 {

enum class Entry : uint8_t { Irq, Fault, Soft };  // how control got to a vector

// The events of one ring in one address space.
struct Bank {
  uint32_t cr3 = 0;
  uint8_t ring = 0;
  std::array<uint64_t, kEventCount> count{};
  std::map<std::pair<Entry, uint8_t>, uint64_t> vectors;
};

class Counters {
 public:
  // The bank of a ring in an address space; made at first use, never moved.
  Bank& bank(uint32_t cr3, uint8_t ring);

  // Banks in order of first use.
  const std::vector<std::unique_ptr<Bank>>& banks() const { return banks_; }

  // Sum over all address spaces of the rings whose bit is set in `rings` (bit 0 = ring 0).
  uint64_t total(Event event, uint32_t rings = 0xF) const;

 private:
  std::vector<std::unique_ptr<Bank>> banks_;
  std::unordered_map<uint64_t, Bank*> index_;
};

// CESR, CTR0 and CTR1 (MSR 11h-13h) [INTEL-DM 16.4]. ES selects the event, CC the rings and
// whether clocks are counted, PC the pins (kept, without effect). 40-bit counters.
class CounterMsrs {
 public:
  explicit CounterMsrs(const Counters& counters) : counters_(counters) {}

  uint32_t cesr() const { return cesr_; }
  uint64_t read(unsigned counter) const;
  void write_cesr(uint32_t value);
  void write(unsigned counter, uint64_t value);

  // Can event code `es` be counted by this model yet?
  static bool supported(unsigned es);

 private:
  static constexpr uint64_t kMask = (uint64_t(1) << 40) - 1;

  uint64_t source(unsigned counter) const;  // the selected event's running total

  const Counters& counters_;
  uint32_t cesr_ = 0;  // INTEL-DM: zero at reset, the counters undefined
  uint64_t value_[2] = {0, 0};
  uint64_t base_[2] = {0, 0};
};

}  // namespace p5
