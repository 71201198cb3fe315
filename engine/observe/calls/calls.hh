// SPDX-License-Identifier: MIT
// How often did each event happen in each call of a system? This observer counts software
// interrupts, call gates, hardware interrupts and exceptions as calls, each from its entry to its
// return. It needs no help of the guest.
//
// The open calls form chains. Each call has a parent, the call that was current at its entry. At
// any time one call is current, or none. All counts belong to the current call. The value of the
// dimension is its row.
//
// The events of its own: `calls` are the entries, and `returned` are those of them that returned in
// the same bracket. For these, `total.EVENT` are the counts with all calls inside them, and
// `waited` are the cycles from the entry to the return in which the chain of the call was not
// current. All of them belong to the ring and the address space of the caller.
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

#include "observe/calls/call_table.hh"
#include "observe/places.hh"

namespace observe {

class Calls : public Places {
 public:
  // The places of the events of its own in Places::Counts. The total of each event follows.
  enum Own : size_t { kCalls, kReturned, kWaited, kTotal };

  Calls(p5::Pentium& model, const CallTable& table);
  static Make read(base::Settings& settings);

  void start() override;
  void before_far(Position next, uint32_t eax) override;
  void delivered(p5::Entry entry, uint8_t vector, Position back) override;
  void gate() override { enter(CallKind::Gate, 0, before_); }
  void moved() override { landed_ = true; }
  void arrive(const Entrance& how, Position here, p5::Linear stack) override;
  uint64_t value() const override { return frames_[current_].row; }
  void members(uint64_t row, base::JsonLine* line) const override;
  void begin(uint32_t phase) override;
  void end() override;

  // The key of each row. Row 0 is outside of any call and has none.
  const std::vector<CallKey>& rows() const { return rows_; }

 protected:
  std::vector<OwnEvent> own_events(const std::vector<uint32_t>& counted) const override;
  void grew(const Events& growth) override;

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
    Position next{0, 0};
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
    Position back{0, 0};
    p5::Linear kernel_stack = 0;  // after an entry from an outer ring; 0: the ring did not change
    p5::Linear ends_at = CallTable::kNoAddress;
    const p5::Bank* caller = nullptr;
    uint64_t number = 0, entered = 0;  // serial number; cycles
    Events total{};                    // with all nested calls that have ended
  };
  struct Waiting {
    uint32_t frame;
    uint64_t number;
  };

  void enter(CallKind kind, uint8_t vector, const Before& from);
  uint32_t row_of(CallKey key);
  static std::vector<uint64_t>& own_counts(Phase* phase, const Place& place);
  uint32_t new_frame();
  void change_space(p5::Space to);
  void land(Position here);
  void enter_task(p5::Linear kernel_stack);
  Waiting* known_task(p5::Linear kernel_stack);
  p5::Linear kernel_stack_of(uint32_t frame) const;
  static bool same_task(p5::Linear one, p5::Linear other);
  bool other_task(p5::Linear entered) const;
  void take_task();
  bool is_back(const Frame& frame, Position here) const;
  bool in_place(const Frame& frame) const;
  void leave_program(Position here);
  void finish(uint32_t frame, bool returned);
  void close(uint32_t frame, bool returned);
  void close_inside(uint32_t frame);

  const CallTable table_;
  p5::State state_;      // before the next arrival
  uint64_t cycles_ = 0;  // so far
  Before before_;
  bool landed_ = false;        // a far transfer since the last arrival
  p5::Linear left_stack_ = 0;  // the kernel's stack pointer before this transfer; 0: no outer ring
  bool delivered_ = false;     // a call since the last arrival

  std::vector<Frame> frames_;
  std::vector<uint32_t> free_;
  uint32_t current_ = kOutside;
  size_t ends_open_ = 0;  // open frames with an address in `ends_at`
  uint64_t serial_ = 0;   // of calls and brackets
  std::unordered_map<p5::Linear, std::vector<uint32_t>> back_at_;  // [return address] open frames
  std::unordered_map<p5::Space, Waiting> waiting_;                 // [address space] its last frame
  // [address space, kernel stack] the tasks that have entered the kernel, and their last frames
  std::map<std::pair<p5::Space, p5::Linear>, Waiting> tasks_;

  std::vector<CallKey> rows_;
  std::map<CallKey, uint32_t> row_numbers_;
  std::vector<uint64_t> began_;  // serial numbers of the open brackets, nested
};

}  // namespace observe
