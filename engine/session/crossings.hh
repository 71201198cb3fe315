// SPDX-License-Identifier: MIT
// Where does the guest change ring, mode or address space? crossings.jsonl
// (docs/reference/formats.md) contains one line for each change inside the measured brackets, with
// the clock and the counts.
#pragma once

#include <cstdint>
#include <string>

#include "p5/pentium.hh"
#include "session/output.hh"

namespace session {

// The cause of a change of ring, mode or address space: int, gate, far, iret, interrupt, exception
// or cr3. `vector` is -1 except for int, interrupt and exception.
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

  // Writes the beginning or the end of a bracket that is not empty: `what` is "begin" or "end".
  void bracket(const char* what, uint32_t phase);
  // Call this when the processor changes to the state `to`, while the model still has the old
  // state. Writes a line if the ring, the address space or the mode differs. Also writes a line if
  // CR3 is loaded with the same value.
  void crossing(const Crossed& how, const p5::State& to, const Registers& registers);

 private:
  std::string counts();

  p5::Pentium& model_;
  Output file_;
};

}  // namespace session
