// SPDX-License-Identifier: MIT
// Where do random numbers come from? Random numbers follow from a seed and are the same on every
// host. Each part has its own stream. The numbers of one part therefore do not depend on how many
// numbers the other parts draw.
#pragma once

#include <cstdint>
#include <random>

namespace device::ne2000 {

class Random {
 public:
  Random(uint64_t seed, uint32_t stream) : engine_(seed * 1000003 + stream) {}

  uint32_t bits() { return uint32_t(engine_() >> 32); }
  bool chance(double probability) { return double(bits()) < probability * 4294967296.0; }
  uint32_t below(uint32_t power_of_two) { return bits() & (power_of_two - 1); }

 private:
  std::mt19937_64 engine_;  // the C++ standard defines the numbers of this generator
};

}  // namespace device::ne2000
