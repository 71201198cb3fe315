// SPDX-License-Identifier: MIT
// The breakpoint registers [INTEL-DM 17]. Events 23h to 26h count their matches whether they are
// enabled or not [INTEL-DM 16].
#pragma once

#include <array>
#include <cstdint>

#include "core.hh"
#include "data_path.hh"
#include "insn.hh"
#include "pipes.hh"

namespace p5 {

class Breakpoints {
 public:
  Breakpoints(Core& core, const Pipes& pipes) : core_(core), pipes_(pipes) {}

  // DR0 to DR3, and DR7, which says what each of them watches. A register that holds zero, as after
  // power-up, watches nothing.
  void set(const std::array<Linear, 4>& addresses, uint32_t control);
  // Does any register watch something?
  bool watching() const { return watching_; }

  // An instruction begins, or accesses data.
  void match_code(const Insn& insn, Linear linear);
  void match_data(Linear linear, uint32_t bytes, DataKind kind);

 private:
  struct Breakpoint {
    Linear linear = 0;
    uint32_t bytes = 1;
    enum : uint8_t { Code, Writes, Ports, Accesses } what = Code;  // as DR7 has it
    bool enabled = false;
  };

  bool watching_ = false;
  Breakpoint breakpoints_[4];
  Core& core_;
  const Pipes& pipes_;
};

}  // namespace p5
