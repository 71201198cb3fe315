// SPDX-License-Identifier: MIT
#include "session/counter_registers.hh"

namespace session {
namespace {

enum : uint32_t { kTr12 = 0x0E, kTsc = 0x10, kCesr = 0x11, kCtr0 = 0x12, kCtr1 = 0x13 };

}  // namespace

bool CounterRegisters::read(uint32_t index, uint64_t* value) {
  if (index == kTr12) {
    *value = model_.tr12();
    return true;
  }
  if (index < kCesr || index > kCtr1) return false;
  const p5::CounterMsrs& msrs = model_.msrs();
  *value = index == kCesr ? msrs.cesr() : msrs.read(index - kCtr0);
  if (trace_) trace_("rdmsr", index, *value);
  return true;
}

bool CounterRegisters::write(uint32_t index, uint64_t value) {
  if (index == kTr12) {
    model_.write_tr12(uint32_t(value));
    return true;
  }
  if (index < kCesr || index > kCtr1) return false;
  if (index == kCesr)
    model_.msrs().write_cesr(uint32_t(value));
  else
    model_.msrs().write(index - kCtr0, value);
  if (trace_) trace_("wrmsr", index, value);
  return true;
}

uint64_t CounterRegisters::time_stamp(int64_t adjust) {
  const uint64_t value = model_.clock() + uint64_t(adjust);
  if (trace_) trace_("rdtsc", kTsc, value);
  return value;
}

}  // namespace session
