// SPDX-License-Identifier: MIT
// Which data do the chip and the system around the chip exchange?
#pragma once

#include <cstdint>

#include "p5/isa.hh"

namespace p5 {

// The system around the chip. The model calls these functions of the system.
class Platform {
 public:
  virtual ~Platform() = default;
  virtual PageEntry read_physical(uint32_t address) = 0;  // reads memory, for page walks
  virtual uint32_t code_physical(Linear linear) = 0;      // physical address of code in execution
  virtual uint16_t x87_control() = 0;                     // the x87's control word
};

// The mode determines the code size and the protection. A change between two of these modes is a
// machine-mode change in the sense of chen95.
enum class MachineMode : uint8_t { Real, V86, Prot16, Prot32, Long64 };

struct State {
  Space cr3 = 0;
  uint8_t ring = 0;
  MachineMode mode = MachineMode::Real;
  bool paging = false;
  bool large_pages = false;   // CR4.PSE; always in long mode
  bool global_pages = false;  // CR4.PGE, which the Pentium does not have
  bool caching = false;       // CR0.CD = 0
  bool user_io = false;       // CPL > IOPL
};

}  // namespace p5
