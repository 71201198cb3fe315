// SPDX-License-Identifier: MIT
// A machine as the model needs it, read from the flat parameter file (settings.hh).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "btb.hh"
#include "cache.hh"
#include "memory.hh"
#include "settings.hh"
#include "tlb.hh"

namespace p5 {

using base::Settings;

struct Config {
  double clock_mhz = 0, bus_mhz = 0;
  CacheConfig l1i, l1d;
  TlbConfig itlb, dtlb, dtlb_large;
  bool write_once = false;  // L1D lines come in shared
  BtbConfig btb;
  MemoryConfig memory;
  uint32_t dram_bytes = 0;           // physical addresses from here on are PCI, never cached
  bool miscounts = true;             // the counter registers have the chip's errors
  uint32_t prefix_clocks = 1;        // INTEL-OPT
  uint32_t agi_clocks = 1;           // INTEL-OPT
  uint32_t misaligned_clocks = 3;    // INTEL-OPT
  uint32_t mispredict_clocks = 3;    // INTEL-OPT, AGN-MA
  uint32_t mispredict_v_clocks = 4;  // ... of a conditional branch in V
  uint32_t isa_clocks = 0;           // one port access on ISA, in core clocks
  uint32_t isa16_clocks = 0;         // one of 16 bits, to a card that has so many
  uint32_t pci_clocks = 0;           // one port access on PCI
  uint32_t inta_clocks = 0;          // both interrupt acknowledge cycles
  bool feedback = true;              // false: as without_feedback() makes it
  std::vector<std::pair<uint32_t, uint32_t>> uncached;  // [first, last] physical addresses
                                                        // below DRAM's end, not cached

  // Checks the keys of the chip and reads them; the first error is kept in `settings`, and what
  // is read then is of no use.
  static Config read(Settings& settings);

  // The same machine with caches, TLBs and a bus that count everything and cost no clocks: what is
  // executed does not depend on them.
  Config without_feedback() const;
  // ... and nothing else costs clocks either, beside the instructions themselves.
  Config without_clocks() const;

  uint64_t clock_hz() const { return uint64_t(clock_mhz * 1e6 + 0.5); }
};

}  // namespace p5
