// SPDX-License-Identifier: MIT
// How is the 32-bit check sequence of Ethernet computed (IEEE 802.3, 3.2.8)? Services also check
// received bytes with it, because a guest can compute it in ten lines.
#pragma once

#include <cstddef>
#include <cstdint>

namespace net {

// Continues from `before`, the value for the preceding bytes; it is 0 at the start.
uint32_t crc32(uint32_t before, const uint8_t* bytes, size_t count);

}  // namespace net
