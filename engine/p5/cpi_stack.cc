// SPDX-License-Identifier: MIT
#include "cpi_stack.hh"

namespace p5 {
namespace {

// Returns the component of all clocks of an instruction. kEventCount: the first clock is a clock of
// the pipes, and further() gives the component of the others.
Event whole(const Insn& insn) {
  if (insn.flags & kFar) return CpiTransfers;
  if (insn.flags & kSerializing) return CpiSerializing;
  if (insn.flags & kIo) return CpiPorts;
  if (insn.flags & kRep) return CpiStrings;
  return kEventCount;
}

Event further(const Insn& insn) {
  if (insn.flags & kFpu) return CpiX87;
  return insn.segment_loads ? CpiSegments : CpiLong;
}

}  // namespace

void CpiStack::enter(const Core& core) {
  remained_ = remaining(core);
  for (size_t i = 0; i < std::size(kStalls); i++) stalled_[i] = core.bank->count[kStalls[i].event];
}

// Adds the stalls since the last call to their usual components.
void CpiStack::add_stalls(Core& core) {
  for (size_t i = 0; i < std::size(kStalls); i++) {
    const uint64_t now = core.bank->count[kStalls[i].event];
    core.count(kStalls[i].component, now - stalled_[i]);
    stalled_[i] = now;
  }
}

void CpiStack::end(Core& core, const Pipes& pipes, const Insn& insn) {
  const uint64_t clocks = remaining(core) - remained_;
  core.explained += clocks;
  if (core.bank->count[InstructionsV] != paired_before_) {
    close(core, CpiPairs);
    return core.count(further(insn), clocks);
  }
  if (clocks == 0) return;  // the emulator continues a REP
  close(core, reason(pipes, insn));
  const Event component = whole(insn);
  if (component != kEventCount) return core.count(component, clocks);
  open_ = true;
  alone_ = insn.as_u == kNothingJoins;
  core.count(further(insn), clocks - 1);
}

// Why `next` has not gone into V, beside the last instruction.
Event CpiStack::reason(const Pipes& pipes, const Insn& next) const {
  if (alone_) return CpiSingleFirst;
  const uint16_t both = blocks_ & next.as_v;
  if (both == 0) return pipes.in_new_code() ? CpiSingleNewCode : CpiSingleOther;
  if (blocks_ == kNothingJoins) return CpiSingleOther;  // control has gone to another place
  return both & (kAlways | kFx | kNotFx) ? CpiSingleSecond : CpiSingleRegisters;
}

void CpiStack::close(Core& core, Event component) {
  if (open_) core.count(component);
  if (lent_) core.count(CpiSingleOther, uint64_t(-1));
  open_ = lent_ = false;
}

void CpiStack::settle(Core& core) {
  add_iterations(core);
  add_stalls(core);
  if (!open_ || lent_) return;
  if (alone_) return close(core, CpiSingleFirst);
  core.count(CpiSingleOther);
  lent_ = true;
}

void CpiStack::finish(Core& core) {
  add_iterations(core);
  add_stalls(core);
  close(core, alone_ ? CpiSingleFirst : CpiSingleOther);
}

}  // namespace p5
