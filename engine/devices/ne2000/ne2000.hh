// SPDX-License-Identifier: MIT
// How does Novell's NE2000 card use the DP8390? The card adds 16 KB of memory, a PROM with the
// station's address, a 16-bit data port and a reset port. The PROM begins at address 0 of the
// remote DMA. A transfer of the PROM contains each byte twice, because the bus is one word wide.
// The RAM begins at address 4000h [Linux, drivers/net/ethernet/8390/ne.c].
#pragma once

#include "devices/ne2000/dp8390.hh"

namespace device::ne2000 {

class Pc {
 public:
  virtual ~Pc() = default;
  virtual void interrupt(bool on) = 0;
};

class Ne2000 : private Board {
 public:
  static constexpr uint32_t kPorts = 32, kData = 0x10, kReset = 0x18;

  Ne2000(const Address& address, Wire& wire, uint32_t station, Agenda& agenda, Pc& pc,
         CardWitness& witness);

  Station& station() { return chip_; }
  uint32_t read(uint32_t port, uint32_t bytes);
  void write(uint32_t port, uint32_t value, uint32_t bytes, Time now);

 private:
  static constexpr uint32_t kRam = 0x4000, kRamBytes = 0x4000;

  uint8_t read_memory(uint16_t address) override;
  void write_memory(uint16_t address, uint8_t value) override;
  void interrupt(bool on) override { pc_.interrupt(on); }

  Pc& pc_;
  std::array<uint8_t, 32> prom_;
  std::array<uint8_t, kRamBytes> ram_ = {};
  Dp8390 chip_;
};

}  // namespace device::ne2000
