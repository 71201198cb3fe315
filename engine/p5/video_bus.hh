// SPDX-License-Identifier: MIT
// How long does an access to the memory of the video card occupy the bus?
#pragma once

#include <algorithm>
#include <cstdint>

namespace p5 {

// The VGA window exists on every card. The linear frame buffer is PCI memory, above main memory.
struct VideoBus {
  static constexpr uint32_t kWindow = 0xA0000, kWindowBytes = 0x20000;

  uint32_t width = 0;  // bytes of a cycle; 0: video memory is like all other uncached memory
  uint32_t read = 0, write = 0;  // core clocks of a cycle
  bool linear = false;           // the linear frame buffer takes these cycles, too

  // Returns the core clocks of an access up to the address `end`, or `other` if the address is not
  // video memory. An access that crosses a boundary of 4 bytes, or of 8 bytes if it is longer, has
  // several parts (DataPath), and only its first part counts here. `dram`: the size of main memory.
  uint32_t clocks(uint32_t physical, uint32_t end, bool writes, uint32_t dram,
                  uint32_t other) const {
    if (!width) return other;
    const bool window = physical - kWindow < kWindowBytes;
    if (!window && !(linear && physical >= dram)) return other;
    const uint32_t grain = end - physical <= 4 ? 4 : 8;
    const uint32_t last = std::min(end, (physical & ~(grain - 1)) + grain);
    const uint32_t cycles = (last - (physical & ~(width - 1)) + width - 1) / width;
    return cycles * (writes ? write : read);
  }
};

}  // namespace p5
