// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bochs/time.hh"

#include <algorithm>

#include "bochs/cpu.hh"
#include "bochs/glue.hh"
#include "bochs/model.hh"
#include "bochs/watching.hh"
#include "pc_system.h"

const Bit64u* p5_clock;
Bit64u p5_ticked;

namespace bochs {

namespace {

// The session wants to look at the run after this time, in core clocks.
Bit64u next_look;

void stand_still(Bit64u clocks) {
  model().idle(clocks);
  watching.idle(clocks);
  p5_tick();
}

}  // namespace

void start_time() {
  p5_clock = model().clock_address();
  ask_for_next_look();
}

void ask_for_next_look() { next_look = run().next_look(); }

void let_pass(uint64_t clocks) {
  p5_tick();
  while (clocks) {
    const Bit64u step = std::min<Bit64u>(clocks, bx_pc_system.getNumCpuTicksLeftNextEvent());
    stand_still(step);
    clocks -= step;
  }
}

}  // namespace bochs

void p5_tick(void) {
  const Bit64u now = *p5_clock;
  const Bit32u due = Bit32u(now - p5_ticked);
  p5_ticked = now;
  BX_TICKN(due);
  if (now > bochs::next_look) bochs::next_look = bochs::run().look(now);
}

void p5_idle(void) {
  if (!bochs::cpu()->get_IF()) bochs::run().guest_halted();
  // The session looks at its own times, not at the next event of a device after them.
  const Bit64u now = *p5_clock;
  const Bit64u look = bochs::next_look < now ? 1 : bochs::next_look + 1 - now;
  bochs::stand_still(std::min<Bit64u>(look, bx_pc_system.getNumCpuTicksLeftNextEvent()));
}

Bit64u p5_read_tsc(Bit64s adjust) {
  if (bochs::ring_of_code() == 3) bochs::run().program().disturbed();
  return bochs::run().counter_registers().time_stamp(adjust);
}
