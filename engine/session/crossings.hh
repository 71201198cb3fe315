// SPDX-License-Identifier: MIT
// The trace of crossings, crossings.jsonl (docs/reference/formats.md): inside the measured
// brackets, each change of ring, mode or address space, with clock and counts.
#pragma once

#include <cstdint>
#include <string>

#include "output.hh"
#include "pentium.hh"

namespace session {

// What moved the processor between rings, modes or address spaces: int, gate, far, iret, interrupt,
// exception, cr3; the vector of the three that have one, else -1.
struct Crossed {
  const char* kind = nullptr;
  int vector = -1;
};

struct Registers {
  uint64_t eip, eax, ebx, ecx, edx, cr2;
};

class Crossings {
 public:
  explicit Crossings(p5::Pentium& model) : model_(model) {}

  void open(const std::string& path) { file_.create(path); }
  bool is_open() const { return bool(file_); }
  void finish() { file_.finish(); }

  // A bracket that is not empty: `what` is "begin" or "end".
  void bracket(const char* what, uint32_t phase);
  // The processor goes from the model's state to `to`. It is written if ring, address space or mode
  // differ, or CR3 is loaded, be it with the same value.
  void crossing(const Crossed& how, const p5::State& to, const Registers& registers);

 private:
  std::string counts() const;

  p5::Pentium& model_;
  Output file_;
};

}  // namespace session
