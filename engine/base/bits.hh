// SPDX-License-Identifier: MIT
// Arithmetic on powers of two.
#pragma once

#include <cstdint>

namespace base {

// The number of the highest bit that is 1, which is the logarithm of a power of two. 0 for 0.
constexpr uint32_t log2_of(uint32_t value) {
  uint32_t shift = 0;
  while (value >>= 1) shift++;
  return shift;
}

}  // namespace base
