// SPDX-License-Identifier: MIT
// How many cycles do the calls of a system take? This observer counts software interrupts, call
// gates, hardware interrupts and exceptions as calls, each from its entry to its return. It needs
// no help of the guest.
//
// The open calls form chains. Each call has a parent, the call that was current at its entry. At
// any time one call is current, or none. All cycles belong to the current call.
//
// A return is a transfer of control, except a near branch, to the address and the stack pointer
// after the call's instruction, in the ring, mode and address space of the caller. A call has also
// ended if a transfer takes its whole stack frame away and continues at another address (an
// exception handler that skips an instruction, a system call that the kernel restarts).
//
// A kernel can suspend a chain of calls and resume another chain. Each address space keeps its
// chain, and in it each task. A task is known by its kernel stack: the place at which the processor
// begins to use the stack of an inner ring (SS0:ESP0 of the TSS). A return to an outer ring from
// another kernel stack is a return to another task. So a new thread is not inside the call of the
// thread that ran before it. A return to the address after a call selects this call, wherever it
// is.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "measure/call_table.hh"
#include "p5/pentium.hh"

namespace measure {

class Calls {
 public:
  // A place in the code of a caller: linear addresses of the next instruction and of the stack.
  struct Place {
    p5::Linear address, stack;
  };
  // Cycles may be negative in a short time, because the model can subtract clocks that it has added
  // too early. All sums are modulo 2^64.
  struct Sum {
    uint64_t cycles = 0, idle = 0, mode_changes = 0, crossings = 0;
    void add(const Sum& o) {
      cycles += o.cycles;
      idle += o.idle;
      mode_changes += o.mode_changes;
      crossings += o.crossings;
    }
  };
  // The counts of one row in one phase. `own`: without nested calls. `inside`: with nested calls,
  // only of calls that began and returned in the same bracket. `waited`: cycles between entry and
  // return of these calls in which the chain of the call was not current.
  struct Counts {
    uint64_t calls = 0, returned = 0, waited = 0;
    Sum own, inside;
  };
  struct Phase {
    std::vector<Counts> rows;              // [row]; row 0: outside of any call
    uint64_t cycles = 0;                   // of all brackets, from the counters
    uint64_t began = 0, began_cycles = 0;  // of the open bracket: number, and the counters
  };

  Calls(p5::Pentium& model, const CallTable& table);

  // --- what the processor does

  // Call this before each far instruction: `next` is the place after the instruction.
  void before(Place next, uint32_t eax);
  // The far instruction is INT n, INT3 or INTO; it calls a gate; or it is SYSCALL.
  void interrupt(uint8_t vector) { enter(CallKind::Int, vector, before_); }
  void gate() { enter(CallKind::Gate, 0, before_); }
  // A hardware interrupt or an exception. The code continues at `back` after the return.
  void hardware(uint8_t vector, Place back);
  void exception(uint8_t vector, Place back);
  // A far transfer that is not a delivery has taken place.
  void moved() { landed_ = true; }
  // Call this after the model's state may have changed, before the instruction at `here`.
  void arrive(Place here);
  // The processor was halted for this time.
  void idle(uint64_t clocks) { idle_ += clocks; }

  // --- brackets

  // Call begin() when a bracket begins, and end() when it ends, while the marker is written.
  void begin(uint32_t phase);
  void end();
  // Ends the brackets that are still open at the end of the run.
  void stop();

  // --- results

  const std::map<uint32_t, Phase>& phases() const { return phases_; }
  // The key of each row, except row 0.
  const std::vector<CallKey>& rows() const { return rows_; }
  // Compares the sum over the rows with the counters. Returns the name of the first phase with a
  // difference, or an empty text.
  std::string differs() const;

 private:
  static constexpr uint32_t kOutside = 0;       // number of the frame that is no call
  static constexpr uint8_t kBreakpoint = 3;     // the vector of INT3
  static constexpr size_t kMostOpen = 1 << 16;  // open calls
  static constexpr size_t kMostRows = 1 << 14;  // further functions share a row of their vector
  static constexpr p5::Linear kMostParameters = 31 * 4;  // bytes that a gate's return releases
  // The bytes that entries push on a new kernel stack differ by less than this number.
  static constexpr p5::Linear kSameStack = 48;
  // A monitor can return from a place within its own kernel stack, at most a page below the top.
  static constexpr p5::Linear kNearStack = 4096;

  struct Before {
    uint64_t clock = 0;
    Place next{0, 0};
    uint32_t eax = 0;
  };
  struct Frame {
    bool open = false;
    bool moved = false;  // in another address space than at the entry
    uint8_t ring = 0;
    p5::MachineMode mode = p5::MachineMode::Real;
    CallKind kind = CallKind::Int;
    uint8_t properties = 0;
    uint32_t row = 0, parent = kOutside, children = 0;  // children: open
    p5::Space cr3 = 0;
    Place back{0, 0};
    p5::Linear kernel_stack = 0;  // after an entry from an outer ring; 0: the ring did not change
    p5::Linear ends_at = CallTable::kNoAddress;
    uint64_t number = 0, entered = 0;  // serial number; clock
    Sum inside;                        // with all nested calls that have ended
  };
  struct Waiting {
    uint32_t frame;
    uint64_t number;
  };

  void enter(CallKind kind, uint8_t vector, const Before& from);
  uint32_t row_of(CallKey key);
  Counts& counts_of(Phase* phase, uint32_t row);
  uint64_t cycles();
  uint32_t new_frame();
  void flush(uint64_t clock);
  void count(const Sum& grown);
  void change_space(p5::Space to);
  void land(Place here);
  void enter_task(p5::Linear kernel_stack);
  Waiting* known_task(p5::Linear kernel_stack);
  p5::Linear kernel_stack_of(uint32_t frame) const;
  static bool same_task(p5::Linear one, p5::Linear other);
  bool other_task(p5::Linear entered) const;
  void take_task();
  bool is_back(const Frame& frame, Place here) const;
  bool in_place(const Frame& frame) const;
  void leave_program(Place here);
  void finish(uint32_t frame, bool returned);
  void close(uint32_t frame, bool returned);
  void close_inside(uint32_t frame);

  p5::Pentium& model_;
  const CallTable& table_;
  p5::State state_;    // before the next arrival
  uint64_t last_ = 0;  // clock up to which the cycles are counted
  uint64_t idle_ = 0;  // since that clock
  Before before_;
  bool landed_ = false;        // a far transfer since the last arrival
  p5::Linear left_stack_ = 0;  // the kernel's stack pointer before this transfer; 0: no outer ring
  bool delivered_ = false;     // a call since the last arrival

  std::vector<Frame> frames_;
  std::vector<uint32_t> free_;
  uint32_t current_ = kOutside;
  uint64_t serial_ = 0;                                            // of calls and brackets
  std::unordered_map<p5::Linear, std::vector<uint32_t>> back_at_;  // [return address] open frames
  std::unordered_map<p5::Space, Waiting> waiting_;                 // [address space] its last frame
  // [address space, kernel stack] the tasks that have entered the kernel, and their last frames
  std::map<std::pair<p5::Space, p5::Linear>, Waiting> tasks_;

  std::vector<CallKey> rows_;
  std::map<CallKey, uint32_t> row_numbers_;
  std::map<uint32_t, Phase> phases_;
  std::vector<Phase*> open_;  // the open brackets, nested; each of them gets the counts
};

}  // namespace measure
