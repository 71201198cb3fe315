// SPDX-License-Identifier: MIT
// What does the processor spend each clock on? The CPI stack divides the busy clocks of a ring and
// address space into components, the events cpi.* (events.toml). The sum of the components equals
// the busy clocks.
//
// Three sources give the components. The stall events contain the waits: each stall has a usual
// component, and the parts of the chip move the clocks that belong to another one (Core::move). The
// other clocks that the parts of the chip add have their component there (Core::spend). The clocks
// that remain belong to instructions. This class measures them for each instruction and gives the
// first clock to a pair or to the reason why the instruction is alone, and the further clocks to
// the kind of the instruction. Only the iterations of a REP string instruction add clocks between
// two instructions.
//
// The reason is known only when the next instruction begins. Until then the first clock is open.
#pragma once

#include <cstdint>
#include <iterator>

#include "core.hh"
#include "insn.hh"
#include "pipes.hh"

namespace p5 {

class CpiStack {
 public:
  // The stack begins, or another bank counts from now on.
  void enter(const Core& core);
  // Call begin() before an instruction is retired, and end() after that.
  void begin(Core& core, const Pipes& pipes) {
    add_iterations(core);
    paired_before_ = core.bank->count[InstructionsV];
    blocks_ = pipes.blocks();
  }
  void end(Core& core, const Pipes& pipes, const Insn& insn);

  // The banks are read: all clocks so far must be in a component. The result of end() for the next
  // instruction does not depend on these calls.
  void settle(Core& core);
  // The same, but from now on another bank counts, or a marker is written. The last instruction
  // does not pair any more in the stack.
  void finish(Core& core);

 private:
  // Clocks without component so far, apart from a constant for each bank.
  static uint64_t remaining(const Core& core) {
    uint64_t clocks = core.clock - core.explained;
    for (const Stall& stall : kStalls) clocks -= core.bank->count[stall.event];
    return clocks;
  }
  void add_iterations(Core& core) {
    const uint64_t clocks = remaining(core) - remained_;
    if (__builtin_expect(clocks != 0, 0)) core.explain(CpiStrings, clocks);
  }
  void add_stalls(Core& core);
  void close(Core& core, Event component);
  Event reason(const Pipes& pipes, const Insn& next) const;

  uint64_t remained_ = 0;                      // remaining() after the last instruction
  uint64_t stalled_[std::size(kStalls)] = {};  // the stalls that are in components
  uint64_t paired_before_ = 0;                 // InstructionsV before the instruction
  uint16_t blocks_ = 0;                        // Pipes::blocks() before the instruction
  bool open_ = false;   // the last instruction in U has a clock without component
  bool lent_ = false;   // settle() has counted this clock in CpiSingleOther
  bool alone_ = false;  // the last instruction in U takes no companion
};

}  // namespace p5
