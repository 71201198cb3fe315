// SPDX-License-Identifier: MIT
#include "devices/ne2000/check.hh"

#include <array>

namespace device::ne2000 {
namespace {

constexpr uint32_t kPolynomial = 0xEDB88320;  // reflected

constexpr std::array<uint32_t, 256> table() {
  std::array<uint32_t, 256> made{};
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? kPolynomial : 0);
    made[byte] = value;
  }
  return made;
}

constexpr std::array<uint32_t, 256> kTable = table();

}  // namespace

uint32_t crc32(uint32_t before, const uint8_t* bytes, size_t count) {
  uint32_t value = ~before;
  for (size_t i = 0; i < count; i++) value = value >> 8 ^ kTable[(value ^ bytes[i]) & 0xFF];
  return ~value;
}

}  // namespace device::ne2000
