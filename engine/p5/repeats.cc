// SPDX-License-Identifier: MIT
#include "p5/repeats.hh"

#include <algorithm>

namespace p5 {

Repeats::Repeats(Core& core) : per_iteration_(core.timing.per_iteration()), core_(core) {}

bool Repeats::begin(const Insn& insn, Linear linear, Linear next) {
  const bool again = (insn.flags & kRep) && continues(linear, next);
  active_ = insn.flags & kRep;
  if (!active_) return true;
  class_ = insn.cls;
  linear_ = linear;
  behind_ = linear + insn.length;
  if (again) return false;  // the emulator has paused between two iterations
  const auto resumed =
      std::find(interrupted_.begin(), interrupted_.end(), std::pair(core_.state.cr3, linear));
  if (resumed != interrupted_.end()) {
    // The set-up and the fetch are charged again, but a REP counts as one instruction [chen95].
    interrupted_.erase(resumed);
    core_.bank->count[Instructions] -= rule(Rule::RepOnce);
  }
  return true;
}

void Repeats::put_off_setup() {
  // A REP with a count of zero has no iteration and no set-up.
  const uint32_t base = core_.clocks[class_];
  const uint32_t zero =
      rule(Rule::RepZero) ? std::min<uint32_t>(core_.timing.zero_iterations()[class_], base) : base;
  setup_ = base - zero;
  core_.clock -= setup_;
}

void Repeats::interrupt(Linear resume, Linear next) {
  if (continues(resume, next)) {
    if (interrupted_.size() == kMaxInterrupted) interrupted_.erase(interrupted_.begin());
    interrupted_.emplace_back(core_.state.cr3, resume);
  }
  active_ = false;
}

}  // namespace p5
