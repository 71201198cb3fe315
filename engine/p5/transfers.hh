// SPDX-License-Identifier: MIT
// Transfers of control beside near branches: interrupts, exceptions, far jumps, calls and returns,
// gates and task switches, and what they cost when they change the ring.
#pragma once

#include <cstdint>

#include "core.hh"
#include "data_path.hh"
#include "fetch.hh"
#include "insn.hh"
#include "pipes.hh"
#include "prediction.hh"
#include "repeats.hh"

namespace p5 {

enum class Crossing : uint8_t { None, Int, Gate, Far, Iret, Async };
enum class Task : uint8_t { Tss32, Tss16, V86 };  // what a task switch leads to

class Transfers {
 public:
  Transfers(Core& core, Pipes& pipes, Prediction& prediction, Fetch& fetch, DataPath& data_path,
            Repeats& repeats);

  // A far instruction is charged with the row of this class.
  void charged(ClassId cls) { class_ = cls; }

  // See Pentium.
  void soft_interrupt(uint8_t vector);
  void hard_interrupt(uint8_t vector, Linear resume);
  void exception(uint8_t vector, bool fault, Linear resume);
  void far_transfer(Crossing kind);
  void call_gate(uint32_t parameters);
  void task_switch(Task to);

  // Ends the transfer under way, if there is one: it has led to this state. The core still has the
  // old state.
  void arrive(const State& state) {
    if (crossing_ != Crossing::None) cross(state);
  }

 private:
  void cross(const State& state);
  uint32_t inner_clocks(const State& state) const;
  void deliver(Entry entry, uint8_t vector, Crossing crossing);
  void becomes(ClassId cls);

  Crossing crossing_ = Crossing::None;  // transfer under way
  ClassId class_ = 0;                   // the timing row of the last one, as charged
  uint32_t parameters_ = 0;             // of its gate
  Core& core_;
  Pipes& pipes_;
  Prediction& prediction_;
  Fetch& fetch_;
  DataPath& data_path_;
  Repeats& repeats_;
};

}  // namespace p5
