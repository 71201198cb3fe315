// SPDX-License-Identifier: MIT
#include "p5/cpi_stack.hh"

namespace p5 {

Event CpiStack::whole(const Insn& insn) {
  if (insn.flags & kFar) return CpiTransfers;
  if (insn.flags & kSerializing) return CpiSerializing;
  return insn.flags & kIo ? CpiPorts : CpiStrings;
}

void CpiStack::enter(const Core& core) {
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

void CpiStack::settle(Core& core) {
  add_iterations(core);
  add_stalls(core);
  if (!open_ || lent_) return;
  if (alone_) return close(core, CpiSingleFirst);
  core.count(CpiSingleOther);
  lent_ = true;
  lends_++;
}

void CpiStack::take_back(Core& core, Event component) {
  core.count(CpiSingleOther, uint64_t(-1));
  for (const auto& hear : hear_) hear(component);
}

void CpiStack::finish(Core& core) {
  add_iterations(core);
  add_stalls(core);
  close(core, alone_ ? CpiSingleFirst : CpiSingleOther);
}

}  // namespace p5
