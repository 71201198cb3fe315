// SPDX-License-Identifier: MIT
// What does the guest read and write in the chip's counter registers? These registers are test
// register 12, CESR, CTR0, CTR1 (with RDMSR and WRMSR) and the time-stamp counter.
#pragma once

#include <cstdint>
#include <functional>

#include "p5/pentium.hh"

namespace session {

class CounterRegisters {
 public:
  // The type of the function that trace() sets. CounterRegisters calls the function at every access
  // and passes the instruction ("rdmsr", "wrmsr", "rdtsc"), the register and the value.
  using Trace = std::function<void(const char* insn, uint32_t index, uint64_t value)>;

  explicit CounterRegisters(p5::Pentium& model) : model_(model) {}
  void trace(Trace trace) { trace_ = std::move(trace); }

  // These functions access MSRs 0Eh and 11h to 13h. For any other MSR these functions return false
  // and change nothing.
  bool read(uint32_t index, uint64_t* value);
  bool write(uint32_t index, uint64_t value);
  // Returns the time-stamp counter in core clocks. `adjust` is the sum that the guest has added to
  // the counter.
  uint64_t time_stamp(int64_t adjust);

 private:
  p5::Pentium& model_;
  Trace trace_;
};

}  // namespace session
