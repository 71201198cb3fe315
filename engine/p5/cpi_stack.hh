// SPDX-License-Identifier: MIT
// What does the processor spend each clock on? The CPI stack divides the busy clocks of a ring and
// address space into components, the events cpi.* (events.toml). The sum of the components equals
// the busy clocks.
//
// All parts of the chip count the clocks that they add to the clock, except the clocks of the
// instructions themselves, in a component (Core::spend). Therefore the difference between clock and
// explained clocks grows only while an instruction is issued. This class measures the growth for
// each instruction and gives it to components: the first clock to a pair or to the reason why the
// instruction is alone, and the further clocks to the kind of the instruction.
//
// The reason is known only when the next instruction begins. Until then the first clock is open.
#pragma once

#include <cstdint>

#include "core.hh"
#include "insn.hh"
#include "pipes.hh"

namespace p5 {

class CpiStack {
 public:
  // Call begin() before an instruction is retired, and end() after that.
  void begin(const Core& core, const Pipes& pipes) {
    before_ = core.clock - core.explained;
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
  void close(Core& core, Event component);
  Event reason(const Pipes& pipes, const Insn& next) const;

  uint64_t before_ = 0;         // clocks without component before the instruction
  uint64_t paired_before_ = 0;  // InstructionsV before the instruction
  uint16_t blocks_ = 0;         // Pipes::blocks() before the instruction
  bool open_ = false;           // the last instruction in U has a clock without component
  bool lent_ = false;           // settle() has counted this clock in CpiSingleOther
  bool alone_ = false;          // the last instruction in U takes no companion
};

}  // namespace p5
