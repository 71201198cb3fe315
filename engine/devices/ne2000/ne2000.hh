// SPDX-License-Identifier: MIT
// Novell's NE2000: a DP8390 with 16 KB of memory, a PROM with the station's address, a data port of
// 16 bits and a port that resets it. Memory is behind the remote DMA: the PROM at 0, with each byte
// twice because the bus is a word wide, the RAM from 4000h on [Linux,
// drivers/net/ethernet/8390/ne.c].
#pragma once

#include "dp8390.hh"

namespace net {

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

}  // namespace net
