// SPDX-License-Identifier: MIT
// How many clocks does a port access take on ISA and on PCI?
#pragma once

#include <cstdint>

#include "p5/caches.hh"
#include "p5/core.hh"

namespace p5 {

class Ports {
 public:
  Ports(Core& core, Caches& caches) : core_(core), caches_(caches) {}

  void access(uint16_t port, bool write, uint32_t bytes);
  // Declares that an ISA card supports 16-bit accesses to these ports (IOCS16).
  void wide(uint16_t first, uint16_t last) { wide_first_ = first, wide_last_ = last; }

 private:
  uint16_t wide_first_ = 1, wide_last_ = 0;  // no ports
  Core& core_;
  Caches& caches_;
};

}  // namespace p5
