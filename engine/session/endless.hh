// SPDX-License-Identifier: MIT
// Can the guest's program still end? A program that a hardware interrupt finds twice in the same
// state cannot, if nothing has reached it between: its next instructions depend only on its
// registers and its memory. The state is all registers, with those of the x87, and the content of
// all pages that the program has accessed (bit A of their entries). A system call, an exception, a
// marker or a read of the time-stamp counter begins the search anew. A system call that could later
// send a signal, or start a thread or process, ends the search.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "p5/pentium.hh"
#include "session/guest_buffer.hh"

namespace session {

class Endless {
 public:
  // The program has made a system call of 32-bit Linux, with its arguments.
  void calls(uint32_t number, uint32_t second_argument, uint64_t clock);
  // Something else has reached the program, or it has caused something.
  void disturbed(uint64_t clock);
  // Whether the search goes on after this number of clocks without a disturbance.
  bool searches(uint64_t clock, uint64_t patience) const {
    return !given_up_ && clock - since_ > patience;
  }
  // A hardware interrupt has found the program. `registers`: the bytes of all registers. Returns
  // the clock of the earlier time at which the state was the same, or 0.
  uint64_t found(const std::string& registers, p5::Space cr3, uint64_t clock, GuestMemory& memory);

 private:
  uint64_t since_ = 0;  // clock of the last disturbance
  bool given_up_ = false;
  // The earlier state. A state is kept for 1, 2, 4, ... interrupts, so that a loop of any length is
  // found in the end (R. P. Brent, An improved Monte Carlo factorization algorithm, BIT 20, 1980).
  uint64_t kept_at_ = 0;
  uint64_t age_ = 0, longest_ = 1;  // in interrupts
  std::string registers_;
  std::vector<uint8_t> memory_;
};

}  // namespace session
