// SPDX-License-Identifier: LGPL-2.1-or-later
// Who watches what the processor does, and what do they hear?
#pragma once

#include "measure/blocks.hh"
#include "measure/issues.hh"
#include "observe/group.hh"
#include "p5/insn.hh"
#include "session/region.hh"

namespace bochs {

class Watching {
 public:
  // Takes the observers that the run has now. Without one, all functions below do nothing.
  void take();

  // Whether branch() must be called: someone sees each instruction or each basic block.
  bool branches() const { return branches_; }
  // Whether before() must be called.
  bool instructions() const { return instructions_; }

  // The region, the issues and the observers of observe::Group::each() see each instruction before
  // its execution. They take the model off its fast path. The other observers need only far
  // instructions, which never take the fast path.
  void before(const p5::Insn& insn, p5::Linear linear);
  void branch(p5::Linear target, p5::Linear next);
  // Bochs has decoded code in this page.
  void decoded(uint32_t physical);

  // A far transfer (BX_INSTR_IS_...) has taken place; it uses a call gate.
  void far(unsigned what);
  void call_gate();
  // An interrupt or exception is delivered. `back`: where the code continues after a return.
  void delivered(p5::Entry entry, unsigned vector, observe::Position back);
  // Ring, mode or address space may change: call leave() before, and arrive() after it.
  void leave();
  void arrive(const observe::Entrance& how);
  void idle(uint64_t clocks);

 private:
  measure::Blocks* blocks_ = nullptr;  // null: not requested
  observe::Group observers_;           // of engine/observe; empty before the guest is ready
  measure::Issues* issues_ = nullptr;  // null: not requested, or the guest is not ready yet
  session::Region* region_ = nullptr;  // the same
  bool branches_ = false, instructions_ = false;
  p5::ClassId last_class_{};   // class of the last instruction that before() has seen
  p5::Linear after_last_ = 0;  // the address of the instruction after it
};

extern Watching watching;

}  // namespace bochs
