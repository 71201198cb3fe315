// SPDX-License-Identifier: MIT
// Which way does the policy FIFO (first in, first out) replace?
#pragma once

#include <cstdint>

#include "p5/replacement/lru/policy.hh"

namespace p5 {

// Replaces the way that was filled first. FIFO works like LRU, but hits have no effect.
class Fifo : public Lru {
 public:
  static constexpr bool kPairIsLru = false;
  using Lru::Lru;

  void touch(uint32_t /*set*/, uint32_t /*way*/) {}
};

}  // namespace p5
