// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bochs/watching.hh"

#include "bochs/cpu.hh"
#include "bochs/glue.hh"
#include "bochs/model.hh"

namespace bochs {

Watching watching;

void Watching::take() {
  session::Measurement& measurement = run().measurement();
  blocks_ = measurement.observers().blocks();
  observers_ = measurement.observers().started();
  issues_ = measurement.observers().issues();
  region_ = measurement.region();
  branches_ = blocks_ || !observers_.each().empty();
  instructions_ = region_ || issues_ || !observers_.all().empty();
}

void Watching::before(const p5::Insn& insn, p5::Linear linear) {
  const p5::Linear stack = stack_pointer();
  observers_.at(linear, stack);
  if (issues_) issues_->at(linear);
  if (region_) run().cross_region(region_->at(model().state(), linear, stack, thread_base()));
  if (insn.flags & p5::kFar) {
    const bx_address next = cpu()->get_instruction_pointer() + insn.length;
    const observe::Position after = position(next, general_register(4));
    const Bit32u eax = Bit32u(general_register(0));
    for (observe::Observer* one : observers_.all()) one->before_far(after, eax);
  }
  last_class_ = insn.cls;
  after_last_ = p5::Linear(linear + insn.length);
}

void Watching::branch(p5::Linear target, p5::Linear next) {
  if (blocks_) blocks_->branch(next);
  const bool is_next = target == after_last_;
  for (observe::Observer* one : observers_.each())
    one->branch(last_class_, stack_pointer(), is_next);
}

void Watching::decoded(uint32_t physical) {
  for (observe::Observer* one : observers_.each()) one->decoded(physical);
}

void Watching::far(unsigned what) {
  if (observers_.all().empty()) return;
  const bool gate = what == BX_INSTR_IS_SYSCALL || what == BX_INSTR_IS_SYSENTER;
  if (gate)
    observers_.tell([](observe::Observer& one) { one.gate(); });
  else if (what != BX_INSTR_IS_INT)
    observers_.tell([](observe::Observer& one) { one.moved(); });
}

void Watching::call_gate() {
  const bool call = last_class_ == p5::Class::CallFar || last_class_ == p5::Class::CallFarMem;
  if (call) observers_.tell([](observe::Observer& one) { one.gate(); });
}

void Watching::delivered(p5::Entry entry, unsigned vector, observe::Position back) {
  observers_.tell([&](observe::Observer& one) { one.delivered(entry, Bit8u(vector), back); });
}

void Watching::leave() {
  if (blocks_) blocks_->leave();
}

void Watching::arrive(const observe::Entrance& how) {
  if (!observers_.all().empty()) {
    const observe::Position at = here();
    observers_.tell([&](observe::Observer& one) { one.arrive(how, at, stack_pointer()); });
  }
  if (blocks_) blocks_->enter(next_code());
}

void Watching::idle(uint64_t clocks) {
  if (blocks_) blocks_->idle(clocks);
}

}  // namespace bochs
