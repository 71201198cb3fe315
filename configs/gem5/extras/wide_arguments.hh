// SPDX-License-Identifier: MIT
// gem5 24.0 declares an argument of some system calls as uint64_t, and takes it from two registers
// if the program has 32 bits (sim/syscall_emul.hh). Linux for i386 passes it in one register. For
// the time of such a call, this class puts a zero behind that register.
#pragma once

#include <array>

#include "base/types.hh"
#include "cpu/thread_context.hh"

namespace gem5::p5lab {

class WideArguments {
 public:
  // The program is about to make a system call. Changes its registers if gem5 needs that.
  explicit WideArguments(ThreadContext* thread);
  // Restores the registers.
  ~WideArguments();
  WideArguments(const WideArguments&) = delete;

 private:
  ThreadContext* const thread_;
  bool changed_ = false;
  std::array<RegVal, 6> before_ = {};
};

}  // namespace gem5::p5lab
