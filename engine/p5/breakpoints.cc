// SPDX-License-Identifier: MIT
#include "p5/breakpoints.hh"

namespace p5 {

void Breakpoints::set(const std::array<Linear, 4>& addresses, uint32_t control) {
  watching_ = false;
  for (unsigned i = 0; i < 4; i++) {
    const uint32_t kind = control >> (16 + 4 * i);
    Breakpoint& breakpoint = breakpoints_[i];
    breakpoint.linear = addresses[i];
    breakpoint.what = decltype(breakpoint.what)(kind & 3);
    breakpoint.bytes = 1 + (kind >> 2 & 3);
    breakpoint.enabled = control >> (2 * i) & 3;
    watching_ |= addresses[i] != 0;
  }
}

void Breakpoints::match_code(const Insn& insn, Linear linear) {
  for (unsigned i = 0; i < 4; i++) {
    const Breakpoint& breakpoint = breakpoints_[i];
    // For an instruction in V, the chip compares only the enabled breakpoints.
    if (breakpoint.what == Breakpoint::Code && breakpoint.linear && breakpoint.linear == linear &&
        (breakpoint.enabled || !pipes_.joins(insn))) {
      core_.count(Event(BreakpointMatch0 + i));
    }
  }
}

void Breakpoints::match_data(Linear linear, uint32_t bytes, DataKind kind) {
  for (unsigned i = 0; i < 4; i++) {
    const Breakpoint& breakpoint = breakpoints_[i];
    const bool watched = breakpoint.what == Breakpoint::Accesses ||
                         (breakpoint.what == Breakpoint::Writes && kind != DataKind::Read);
    const Linear first = breakpoint.linear & ~Linear(breakpoint.bytes - 1);
    if (breakpoint.linear && watched && linear < first + breakpoint.bytes &&
        first < linear + bytes) {
      core_.count(Event(BreakpointMatch0 + i));
    }
  }
}

}  // namespace p5
