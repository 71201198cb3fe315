// SPDX-License-Identifier: MIT
// The events of engine/p5 that stock gem5 does not count, split by privilege ring. gem5 calls its
// instruction tracer for each micro-operation. This tracer only counts events. It writes no trace.
//
// An event belongs to the ring in which its instruction began, as in engine/p5. gem5 does not call
// the tracer for micro-operations that raise a fault, or for micro-operations of a path that is not
// taken.
#pragma once

#include <cstdint>
#include <optional>

#include "arch/x86/types.hh"
#include "base/statistics.hh"
#include "params/P5Tracer.hh"
#include "sim/insttracer.hh"

// Each name in this list is a vector statistic over the rings. engine/p5/events.toml defines names
// and meanings.
// clang-format off
#define P5_TRACER_EVENTS(X)                                                                     \
  X(instructions,        "instructions; REP is 1, deliveries of interrupts and exceptions + 1") \
  X(data_reads,          "data reads; 2 if the operand crosses a line")                         \
  X(data_writes,         "data writes; 2 if the operand crosses a line")                        \
  X(segment_loads,       "segment and system registers loaded; far transfer to a new ring: 2")  \
  X(hw_interrupts,       "hardware interrupts")                                                 \
  X(exceptions,          "faults and traps")                                                    \
  X(soft_interrupts,     "INT n, INT3")                                                         \
  X(crossings_int,       "changes of ring by INT n, INT3")                                      \
  X(crossings_gate,      "... by far CALL and JMP, SYSCALL and SYSENTER")                       \
  X(crossings_far,       "... by far RET")                                                      \
  X(crossings_iret,      "... by IRET, SYSRET and SYSEXIT")                                     \
  X(crossings_async,     "... by an interrupt or exception")                                    \
  X(cr3_loads_changed,   "loads of CR3 with another value")                                     \
  X(cr3_loads_unchanged, "loads of CR3 with the same value")                                    \
  X(locked_cycles,       "locked reads with their writes")                                      \
  X(io_reads,            "reads of ports")                                                      \
  X(io_writes,           "writes of ports")                                                     \
  X(branches,            "branches, far transfers, deliveries, serialising instructions")
// clang-format on

namespace gem5::p5lab {

class P5Tracer : public trace::InstTracer {
 public:
  PARAMS(P5Tracer);
  explicit P5Tracer(const Params& params);

  // Null for micro-operations that increment no event.
  trace::InstRecord* getInstRecord(Tick when, ThreadContext* thread, const StaticInstPtr micro_op,
                                   const PCStateBase& pc, const StaticInstPtr macro_op) override;
  void drainResume() override;

 private:
  class Record;

  struct Events : public statistics::Group {
    explicit Events(P5Tracer* tracer);
#define P5_DECLARE(event, description) statistics::Vector event;
    P5_TRACER_EVENTS(P5_DECLARE)
#undef P5_DECLARE
  };

  void begin(ThreadContext* thread);
  void enter_rom(ThreadContext* thread, MicroPC pc);
  void access(Addr address, Addr bytes, unsigned flags, bool write);
  void complete(const X86ISA::ExtMachInst& instruction, ThreadContext* thread, RegVal fetched_cr3);
  void load_cr3(const X86ISA::ExtMachInst& instruction, ThreadContext* thread, RegVal fetched);
  void transfer(statistics::Vector* crossing);

  Events events_;
  const unsigned line_;  // bytes
  unsigned ring_ = 0;  // the ring in which the current instruction began
  statistics::Vector* crossing_ = nullptr;  // incremented if the ring changes
  std::optional<RegVal> cr3_;  // the value loaded last
};

}  // namespace gem5::p5lab
