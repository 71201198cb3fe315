// SPDX-License-Identifier: MIT
// How is the 32-bit check sequence of Ethernet computed (IEEE 802.3, 3.2.8)? Services also use this
// check sequence for the bytes that they receive. A guest can compute the check sequence with ten
// lines of code.
#pragma once

#include <cstddef>
#include <cstdint>

namespace device::ne2000 {

// Returns the check sequence of the preceding bytes and these `count` bytes together. `before` is
// the check sequence of the preceding bytes, or 0 if there are no preceding bytes.
uint32_t crc32(uint32_t before, const uint8_t* bytes, size_t count);

}  // namespace device::ne2000
