// SPDX-License-Identifier: MIT
// The 32-bit check sequence of Ethernet (IEEE 802.3, 3.2.8), which services use for what they have
// received as well: a guest can calculate it in ten lines.
#pragma once

#include <cstddef>
#include <cstdint>

namespace net {

// Goes on from the value for the bytes before; 0 for none.
uint32_t crc32(uint32_t before, const uint8_t* bytes, size_t count);

}  // namespace net
