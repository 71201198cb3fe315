// SPDX-License-Identifier: MIT
// The marker protocol of p5lab (docs/reference/marker-protocol.md): a program calls the simulator
// with CPUID. gem5's own instructions do the same for 64-bit programs. Static 32-bit programs of
// p5lab know only CPUID.
//
// A begin, end, exit or abort marker ends gem5's event loop with the cause that gem5's own
// operation gives (work begin, work end, exit, fail), and the argument as its code. So the scripts
// of gem5's library reset and write the statistics at these markers.
#pragma once

#include <cstdint>
#include <string>

#include "base/output.hh"
#include "chip/chip.hh"

namespace gem5::p5lab {

struct MarkerRegisters {
  uint32_t eax, ebx, ecx, edx;
};

class MarkerCalls {
 public:
  // `job`: the text that a program can ask for. `delivered`: the path of the file that it can ask
  // for; empty: none. `output`: the file of gem5's output directory for what programs print by
  // markers.
  MarkerCalls(::p5lab::Chip& chip, std::string job, const std::string& delivered,
              std::string output);

  // Whether CPUID with this EAX is a call.
  static bool is_call(uint32_t eax);
  // Executes a call. Returns the registers after CPUID.
  MarkerRegisters call(const MarkerRegisters& in, uint32_t esi);

 private:
  MarkerRegisters counter(uint32_t event);
  void print(uint32_t bytes, uint32_t count);

  ::p5lab::Chip& chip_;
  const std::string job_, output_;
  std::string delivered_;
  OutputStream* file_ = nullptr;
};

}  // namespace gem5::p5lab
