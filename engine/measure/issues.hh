// SPDX-License-Identifier: MIT
// When does each instruction begin, and what grows until the next one begins? The trace of issues
// answers this for short pieces of code (`./p5lab cycles`). Its lines are in
// docs/reference/formats.md, issues.jsonl.
//
// The trace changes no count. A clock whose component the model does not know yet is lent to
// cpi.single.other (cpi_stack.hh), and is corrected in the line of the next instruction.
#pragma once

#include <cstdint>
#include <cstdio>
#include <vector>

#include "p5/pentium.hh"

namespace measure {

class Issues {
 public:
  // Writes at most `limit` instructions. `counted`: the events of a line.
  Issues(p5::Pentium& model, std::vector<uint32_t> counted, std::FILE* file, uint64_t limit);

  // Call this at the start of each instruction.
  void at(p5::Linear linear);
  // A bracket begins or ends. Only the instructions between are written.
  void measure(bool on);

 private:
  void write();
  // Returns whether the growth of a count is not zero, and forgets it.
  uint64_t grown(size_t i);

  p5::Pentium& model_;
  const std::vector<uint32_t> counted_;
  std::FILE* file_;
  uint64_t left_;
  bool on_ = false, pending_ = false;  // pending: an instruction has begun and is not written
  p5::Linear linear_ = 0;
  uint64_t clock_ = 0;
  std::vector<uint64_t> seen_;  // the counts at the last line
};

}  // namespace measure
