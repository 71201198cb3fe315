// SPDX-License-Identifier: LGPL-2.1-or-later
// When does the processor come to another ring, mode or address space, and how?
#pragma once

#include "observe/observer.hh"

namespace bochs {

// The hooks report what may change the state. The model and the observers learn the new state
// before the next instruction, because Bochs has completed the change only then.
class Transitions {
 public:
  // Whether refresh() must be called before the next instruction. The model is then not on its fast
  // path, because each of these events makes it fetch again.
  bool pending() const { return pending_; }
  void expect() { pending_ = true; }
  // The same, with the way of the transition: int, gate, ... (observe::Entrance).
  void expect(const char* kind, int vector = -1) {
    crossed_ = {kind, vector};
    pending_ = true;
  }
  void expect_breakpoints() { breakpoints_ = pending_ = true; }
  void refresh();
  void refresh_if_pending() {
    if (pending_) refresh();
  }

 private:
  // The last way, with the number of the call for a system call of Linux.
  observe::Entrance entrance() const;

  bool pending_ = true;
  bool breakpoints_ = false;   // DR0 to DR3 or DR7 may have changed
  observe::Entrance crossed_;  // the last event that made a refresh necessary
};

extern Transitions transitions;

}  // namespace bochs
