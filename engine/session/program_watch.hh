// SPDX-License-Identifier: MIT
// What has the guest's program last asked of its kernel? The answer tells where a program was that
// a signal ended, what a program waits for when the time is up, and whether it can still end.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "session/emulator.hh"
#include "session/endless.hh"
#include "session/event_stream.hh"
#include "session/virtual_time.hh"

namespace session {

constexpr int kLinuxCall = 0x80;  // INT 80h

// The last way of a program of ring 3 into the kernel: an exception or INT 80h.
struct KernelEntry {
  int vector = -1;     // -1: none
  unsigned error = 0;  // error code of the exception
  p5::Linear at = 0;   // address of the instruction
  p5::Linear cr2 = 0;
  p5::Space cr3 = 0;
  std::array<uint64_t, 8> registers{};  // in the order of their numbers in instructions
  uint64_t clock = 0;
  std::vector<p5::Linear> stack;  // words from the stack pointer on
};

class ProgramWatch {
 public:
  ProgramWatch(const VirtualTime& time, Emulator& emulator) : time_(time), emulator_(emulator) {}

  // `init`: the address space of the process that has executed the ready marker. The program is
  // another process.
  void begin(p5::Space init) { init_ = init; }
  // A program of ring 3 has entered the kernel. `with_stack`: its stack may matter later.
  void entered(KernelEntry entry, bool with_stack);
  // A hardware interrupt has found a program of ring 3 at this address.
  void seen(p5::Linear at, p5::Space cr3);
  // Something else has reached the program, or it has caused something.
  void disturbed() { endless_.disturbed(time_.clocks()); }

  // Whether found() must follow seen(), because the program may never end.
  bool may_be_endless(p5::Space cr3) const;
  // `registers`: the bytes of all registers of the program that has been seen. Returns why the
  // program cannot end; empty if it may still end.
  std::string found(const std::string& registers, p5::Space cr3);

  // What the program waits for, or where it runs: the end of a message about the end of the run.
  std::string about() const;
  // Writes where the program was when a signal ended it.
  void note(EventStream& events) const;

 private:
  const VirtualTime& time_;
  Emulator& emulator_;
  p5::Space init_ = 0;  // 0: the guest is not ready yet
  KernelEntry entry_;
  KernelEntry sent_;  // the last call that sends a signal
  Endless endless_;
  p5::Linear seen_at_ = 0;
  uint64_t seen_ = 0;  // clock; 0: not seen
};

}  // namespace session
