// SPDX-License-Identifier: MIT
#include "p5/ports.hh"

#include <algorithm>

namespace p5 {
namespace {

constexpr uint16_t kIdeData = 0x1F0, kIdeData2 = 0x170;  // of the two interfaces of a PC

}  // namespace

void Ports::access(uint16_t port, bool write, uint32_t bytes) {
  core_.count(write ? IoWrites : IoReads);
  if (!core_.timing_on) return;
  // A port access waits for the write buffers and is not posted [INTEL-DM 3].
  const bool pci = port >= 0x1000 || (port >= 0xCF8 && port <= 0xCFF);
  const bool drains = rule(Rule::PortDrains) && core_.config.feedback;
  const uint64_t start = drains ? std::max(core_.clock, caches_.memory.writes_done()) : core_.clock;
  uint32_t clocks = pci ? core_.config.pci_clocks : core_.config.isa_clocks;
  if (bytes > 1 && port >= wide_first_ && port <= wide_last_) {
    clocks = core_.config.isa16_clocks * (bytes / 2);
  } else if (core_.config.ide_clocks && (port == kIdeData || port == kIdeData2)) {
    clocks = core_.config.ide_clocks * std::max(bytes / 2, 1u);
  }
  core_.stall_until(start + (rule(Rule::PortWaits) ? clocks : 0), StallIo);
}

}  // namespace p5
