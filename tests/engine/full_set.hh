// SPDX-License-Identifier: MIT
// How many random cases does a test try? `./p5lab test --full` tries more (tests/README.md).
#pragma once

#include <cstdint>
#include <cstdlib>

// Returns `full` in the full set of tests, and `fast` otherwise.
inline uint32_t random_cases(uint32_t fast, uint32_t full) {
  const char* set = std::getenv("P5LAB_FULL");
  return set && *set == '1' ? full : fast;
}
