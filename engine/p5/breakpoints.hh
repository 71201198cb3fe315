// SPDX-License-Identifier: MIT
// The breakpoint registers [INTEL-DM 17]. Events 23h to 26h count the matches of each register,
// whether its breakpoint is enabled or not [INTEL-DM 16].
#pragma once

#include <array>
#include <cstdint>

#include "p5/core.hh"
#include "p5/data_path.hh"
#include "p5/insn.hh"
#include "p5/pipes.hh"

namespace p5 {

class Breakpoints {
 public:
  Breakpoints(Core& core, const Pipes& pipes) : core_(core), pipes_(pipes) {}

  // `addresses` are DR0 to DR3. `control` is DR7, which selects the accesses that each register
  // watches. A register with the address zero watches nothing. After power-up all addresses are
  // zero.
  void set(const std::array<Linear, 4>& addresses, uint32_t control);
  // Whether at least one register watches an address.
  bool watching() const { return watching_; }

  // The model calls match_code() when an instruction begins, and match_data() when an instruction
  // accesses data.
  void match_code(const Insn& insn, Linear linear);
  void match_data(Linear linear, uint32_t bytes, DataKind kind);

 private:
  struct Breakpoint {
    Linear linear = 0;
    uint32_t bytes = 1;
    enum : uint8_t { Code, Writes, Ports, Accesses } what = Code;  // the values of DR7
    bool enabled = false;
  };

  bool watching_ = false;
  Breakpoint breakpoints_[4];
  Core& core_;
  const Pipes& pipes_;
};

}  // namespace p5
