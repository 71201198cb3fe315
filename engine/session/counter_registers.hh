// SPDX-License-Identifier: MIT
// What the guest reads and writes of the chip's counters: test register 12, CESR, CTR0 and CTR1 by
// RDMSR and WRMSR, and the time-stamp counter.
#pragma once

#include <cstdint>
#include <functional>

#include "pentium.hh"

namespace session {

class CounterRegisters {
 public:
  // Gets every access: its instruction ("rdmsr", "wrmsr", "rdtsc"), register and value.
  using Trace = std::function<void(const char* insn, uint32_t index, uint64_t value)>;

  explicit CounterRegisters(p5::Pentium& model) : model_(model) {}
  void trace(Trace trace) { trace_ = std::move(trace); }

  // MSRs 0Eh and 11h to 13h; false for any other.
  bool read(uint32_t index, uint64_t* value);
  bool write(uint32_t index, uint64_t value);
  // `adjust` is what the guest has added to the counter.
  uint64_t time_stamp(int64_t adjust);

 private:
  p5::Pentium& model_;
  Trace trace_;
};

}  // namespace session
