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
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "p5/core.hh"
#include "p5/insn.hh"
#include "p5/pipes.hh"

namespace p5 {

class CpiStack {
 public:
  // The stack begins: all clocks so far are outside of it.
  void start(Core& core) {
    core.explained = core.clock;
    enter(core);
  }
  // Another bank counts from now on.
  void enter(const Core& core);
  // Call begin() before an instruction is retired. After that, call end() with the result of
  // Pipes::blocks() before the instruction.
  void begin(Core& core) { add_iterations(core); }
  void end(Core& core, const Pipes& pipes, const Insn& insn, PairMask blocks) {
    const uint64_t clocks = core.clock - core.explained;
    core.explained = core.clock;
    if (pipes.pipe() == Pipe::V) return pair(core, insn, clocks);
    if (clocks) alone(core, pipes, insn, blocks, clocks);  // 0: the emulator continues a REP
  }

  // The banks are read: all clocks so far must be in a component. The result of end() for the next
  // instruction does not depend on these calls.
  void settle(Core& core);
  // The same, but from now on another bank counts, or a marker is written. The last instruction
  // does not pair any more in the stack.
  void finish(Core& core);

  // The number of the open clock that settle() has counted in CpiSingleOther; 0: there is none.
  uint64_t lent() const { return lent_ ? lends_ : 0; }
  // `hear` is called when such a clock leaves CpiSingleOther for its component, while lent() is its
  // number. So a reader of the banks can do the same with the place at which it was counted.
  void tell(std::function<void(Event)> hear) { hear_.push_back(std::move(hear)); }

 private:
  // The kind of further clocks of an instruction.
  static Event further(const Insn& insn) {
    if (insn.flags & kFpu) return CpiX87;
    return insn.segment_loads ? CpiSegments : CpiLong;
  }
  void add_iterations(Core& core) {
    const uint64_t clocks = core.clock - core.explained;
    if (__builtin_expect(clocks != 0, 0)) core.explain(CpiStrings, clocks);
  }
  void add_stalls(Core& core);
  // The instruction has gone into V, and adds `clocks` to the pair.
  void pair(Core& core, const Insn& insn, uint64_t clocks) {
    close(core, CpiPairs);
    if (clocks) core.count(further(insn), clocks);
  }
  // The instruction has gone into U.
  void alone(Core& core, const Pipes& pipes, const Insn& insn, PairMask blocks, uint64_t clocks) {
    if (open_) close(core, reason(pipes, insn, blocks));
    if (__builtin_expect(insn.flags & kWhole, 0)) return core.count(whole(insn), clocks);
    open_ = true;
    alone_ = insn.as_u == kNothingJoins;
    if (clocks != 1) core.count(further(insn), clocks - 1);
  }
  void close(Core& core, Event component) {
    if (!open_) return;
    core.count(component);
    if (__builtin_expect(lent_, 0)) take_back(core, component);
    open_ = lent_ = false;
  }
  void take_back(Core& core, Event component);
  // Why `next` has not gone into V, beside the last instruction. `blocks`: what that instruction
  // prevented.
  Event reason(const Pipes& pipes, const Insn& next, PairMask blocks) const {
    if (alone_) return CpiSingleFirst;
    const PairMask both = blocks & next.as_v;
    if (both == 0) return pipes.in_new_code() ? CpiSingleNewCode : CpiSingleOther;
    if (blocks == kNothingJoins) return CpiSingleOther;  // control has gone to another place
    return both & (kAlways | kFx | kNotFx) ? CpiSingleSecond : CpiSingleRegisters;
  }
  // All clocks of an instruction with one of these flags belong to the component whole().
  static constexpr uint16_t kWhole = kFar | kSerializing | kIo | kRep;
  static Event whole(const Insn& insn);

  uint64_t stalled_[std::size(kStalls)] = {};  // the stalls that are in components
  bool open_ = false;   // the last instruction in U has a clock without component
  bool lent_ = false;   // settle() has counted this clock in CpiSingleOther
  bool alone_ = false;  // the last instruction in U takes no companion
  uint64_t lends_ = 0;
  std::vector<std::function<void(Event)>> hear_;
};

}  // namespace p5
