// SPDX-License-Identifier: MIT
#include "p5/transfers.hh"

namespace p5 {
namespace {

// Returns the timing row of a transfer that switches tasks.
ClassId task_class(ClassId cls) {
  switch (cls) {
    case Class::JmpFar:
    case Class::JmpFarMem:
      return Class::JmpTask;
    case Class::CallFar:
    case Class::CallFarMem:
      return Class::CallTask;
    case Class::Iret:
    case Class::Iretd:
      return Class::IretTask;
    default:
      return Class::IntTask;
  }
}

Event crossing_event(Crossing crossing) {
  switch (crossing) {
    case Crossing::Int:
      return CrossInt;
    case Crossing::Gate:
      return CrossGate;
    case Crossing::Far:
      return CrossFar;
    case Crossing::Iret:
      return CrossIret;
    default:
      return CrossAsync;
  }
}

}  // namespace

Transfers::Transfers(Core& core, Pipes& pipes, Prediction& prediction, Fetch& fetch,
                     DataPath& data_path, Repeats& repeats)
    : core_(core),
      pipes_(pipes),
      prediction_(prediction),
      fetch_(fetch),
      data_path_(data_path),
      repeats_(repeats) {}

void Transfers::cross(const State& state) {
  if (state.ring != core_.state.ring) {
    core_.count(crossing_event(crossing_));
    // INTEL-DM 16: a far transfer with a ring change is counted twice.
    core_.count(SegmentLoads, rule(Rule::SegmentLoadTwice));
    // So far, the model has charged the clocks of a transfer that does not change the ring.
    const uint32_t base = core_.clocks[class_], inner = inner_clocks(state);
    if (rule(Rule::InnerLevel) && core_.timing_on && inner > base) {
      core_.spend(component(), inner - base);
    }
  }
  crossing_ = Crossing::None;
  parameters_ = 0;
}

// Returns the clocks of a transfer that changes to the ring of `state`.
uint32_t Transfers::inner_clocks(const State& state) const {
  const bool iret = class_ == Class::Iret || class_ == Class::Iretd;
  uint32_t clocks = core_.timing.inner_level()[class_];
  if (core_.state.mode == MachineMode::V86)
    clocks = core_.clocks[class_];
  else if (iret && state.mode == MachineMode::V86)
    clocks = core_.timing.clocks(Mode::Prot)[Class::IretToV86];
  if (rule(Rule::GateParameters)) clocks += parameters_ * core_.timing.per_iteration()[class_];
  return clocks;
}

// A code segment is loaded. The next set_state() gives the ring and the mode of this segment.
void Transfers::far_transfer(Crossing kind) {
  // If the buffer predicts a branch after the pair that contains the transfer, the prediction has
  // no effect, because the transfer flushes the pipeline.
  prediction_.settle();
  prediction_.forget();
  core_.count(SegmentLoads);
  core_.count(Branches);
  core_.count(TakenOrBtbHit);
  core_.count(PipelineFlushes, rule(Rule::DeliveryFlushes) && kind == Crossing::Async);
  crossing_ = kind;
  fetch_.drop();
  pipes_.flush();
  data_path_.lock(false);  // the instruction did not complete
}

void Transfers::deliver(Entry entry, uint8_t vector, Crossing crossing) {
  core_.bank->vectors[{entry, vector}]++;
  far_transfer(crossing);
}

// Replaces the timing row that was charged for the current transfer.
void Transfers::becomes(ClassId cls) {
  if (!core_.timing_on) return;
  core_.spend(component(), uint64_t(core_.clocks[cls]) - core_.clocks[class_]);
  class_ = cls;
}

void Transfers::soft_interrupt(uint8_t vector) {
  core_.count(SoftInterrupts);
  deliver(Entry::Soft, vector, Crossing::Int);
  if (rule(Rule::IntoTaken) && class_ == Class::Into) becomes(Class::IntoTaken);
}

void Transfers::call_gate(uint32_t parameters) {
  if (!rule(Rule::Gate)) return;
  const bool jump = class_ == Class::JmpFar || class_ == Class::JmpFarMem;
  becomes(jump ? Class::JmpGate : Class::CallGate);
  parameters_ = parameters;
}

void Transfers::task_switch(Task to) {
  if (!core_.timing_on || !rule(Rule::TaskSwitch)) return;
  becomes(task_class(class_));
  core_.spend(component(), core_.clocks[to == Task::V86     ? Class::TaskSwitchV86
                                        : to == Task::Tss16 ? Class::TaskSwitch16
                                                            : Class::TaskSwitch32]);
}

void Transfers::hard_interrupt(uint8_t vector, Linear resume) {
  repeats_.interrupt(resume, fetch_.next());
  core_.count(HwInterrupts);
  core_.count(Instructions, rule(Rule::DeliveryCounts));  // INTEL-DM 16, event 16h
  deliver(Entry::Irq, vector, Crossing::Async);
  class_ = Class::Interrupt;
  const uint32_t clocks = core_.clocks[class_] + core_.config.inta_clocks;
  core_.spend(CpiInterrupts, core_.timing_on ? clocks : 1);
}

void Transfers::exception(uint8_t vector, bool fault, Linear resume) {
  if (repeats_.continues(resume, fetch_.next()))
    repeats_.interrupt(resume, fetch_.next());
  else if (fault)
    core_.bank->count[Instructions]--;
  core_.count(Exceptions);
  core_.count(Instructions, rule(Rule::DeliveryCounts));
  deliver(Entry::Fault, vector, Crossing::Async);
  class_ = Class::Exception;
  core_.spend(CpiInterrupts, core_.timing_on ? core_.clocks[class_] : 1);
}

}  // namespace p5
