// SPDX-License-Identifier: MIT
// Which properties of a machine does the model need? The values come from the parameter file
// (settings.hh).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hh"
#include "p5/btb.hh"
#include "p5/cache.hh"
#include "p5/memory.hh"
#include "p5/tlb.hh"
#include "p5/video_bus.hh"

namespace p5 {

using base::Settings;

// What takes no time (keys ideal.*). Two more parts are in MemoryConfig.
struct Ideal {
  bool code_lines = false, data_lines = false;  // fills of L1I; fills and write-backs of L1D
  bool known_code = false;                      // new code pairs like known code
  bool itlb = false, dtlb = false;
  bool pairing = false;  // any two simple instructions pair
};

struct Config {
  double clock_mhz = 0, bus_mhz = 0;
  CacheConfig l1i, l1d;
  TlbConfig itlb, dtlb, dtlb_large;
  bool write_once = false;  // a fill makes a line of L1D shared
  BtbConfig btb;
  bool fetch_ahead = false;  // the line behind the executed one is fetched
  MemoryConfig memory;
  uint32_t dram_bytes = 0;     // addresses from this address on are PCI and never cached
  bool miscounts = true;       // the counter registers count with the chip's errors
  uint32_t prefix_clocks = 0;  // the keys penalty.* of the machine
  uint32_t agi_clocks = 0;
  uint32_t misaligned_clocks = 0;
  uint32_t mispredict_clocks = 0;
  uint32_t mispredict_v_clocks = 0;  // for a conditional branch in V
  uint32_t isa_clocks = 0;           // core clocks of one port access on ISA
  uint32_t isa16_clocks = 0;         // core clocks of one access to a 16-bit card
  uint32_t ide_clocks = 0;           // core clocks of 16 bits of an IDE data port; 0: as isa_clocks
  uint32_t pci_clocks = 0;           // core clocks of one port access on PCI
  uint32_t inta_clocks = 0;          // core clocks of both interrupt acknowledge cycles
  VideoBus video;
  Ideal ideal;
  bool feedback = true;  // false: the result of without_feedback()
  bool flat = false;     // the result of without_clocks(): each instruction takes one clock
  // Ranges of uncached memory within DRAM: first and last physical address.
  std::vector<std::pair<uint32_t, uint32_t>> uncached;

  // Checks and reads the keys of the chip. `settings` keeps the first error. After an error the
  // result must not be used.
  static Config read(Settings& settings);

  // Returns the same machine with caches, TLBs and a bus that count all events and cost no clocks.
  // The executed code then does not depend on the caches, the TLBs and the bus.
  Config without_feedback() const;
  // Returns the same machine with only one kind of cost: the clocks of the instructions themselves.
  Config without_clocks() const;

  uint64_t clock_hz() const { return uint64_t(clock_mhz * 1e6 + 0.5); }

 private:
  void read_ideal(Settings& settings);
  void read_video(Settings& settings);
};

}  // namespace p5
