// SPDX-License-Identifier: MIT
// How many clocks do transfers of control take? This part models all transfers except near
// branches: interrupts, exceptions, far jumps, calls and returns, gates and task switches. A
// transfer that changes the ring takes more clocks than a transfer within one ring.
#pragma once

#include <cstdint>

#include "p5/core.hh"
#include "p5/data_path.hh"
#include "p5/fetch.hh"
#include "p5/insn.hh"
#include "p5/pipes.hh"
#include "p5/prediction.hh"
#include "p5/repeats.hh"

namespace p5 {

enum class Crossing : uint8_t { None, Int, Gate, Far, Iret, Async };
enum class Task : uint8_t { Tss32, Tss16, V86 };  // kind of the task that becomes active

class Transfers {
 public:
  Transfers(Core& core, Pipes& pipes, Prediction& prediction, Fetch& fetch, DataPath& data_path,
            Repeats& repeats);

  // The model has charged the clocks of a far instruction from the timing row of this class.
  void charged(ClassId cls) { class_ = cls; }

  // For these functions, see class Pentium.
  void soft_interrupt(uint8_t vector);
  void hard_interrupt(uint8_t vector, Linear resume);
  void exception(uint8_t vector, bool fault, Linear resume);
  void hold() { core_.bank->count[Instructions]--; }
  void far_transfer(Crossing kind);
  void call_gate(uint32_t parameters);
  void task_switch(Task to);

  // Ends the current transfer, if a transfer is under way. `state` is the state after the transfer.
  // The core still has the old state.
  void arrive(const State& state) {
    if (crossing_ != Crossing::None) cross(state);
  }

 private:
  // The component of the CPI stack for the clocks of the transfer under way.
  Event component() const { return crossing_ == Crossing::Async ? CpiInterrupts : CpiTransfers; }
  void cross(const State& state);
  uint32_t inner_clocks(const State& state) const;
  void deliver(Entry entry, uint8_t vector, Crossing crossing);
  void becomes(ClassId cls);

  Crossing crossing_ = Crossing::None;  // transfer under way
  ClassId class_ = 0;                   // timing row that was charged for the last transfer
  uint32_t parameters_ = 0;             // number of parameters of its call gate
  Core& core_;
  Pipes& pipes_;
  Prediction& prediction_;
  Fetch& fetch_;
  DataPath& data_path_;
  Repeats& repeats_;
};

}  // namespace p5
