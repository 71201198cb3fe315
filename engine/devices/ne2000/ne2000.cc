// SPDX-License-Identifier: MIT
#include "devices/ne2000/ne2000.hh"

namespace device::ne2000 {

Ne2000::Ne2000(const Address& address, Wire& wire, uint32_t station, Agenda& agenda, Pc& pc,
               CardWitness& witness)
    : pc_(pc), chip_(wire, station, agenda, *this, witness) {
  constexpr uint8_t kSigned = 0x57;  // "W" in the last two bytes of the PROM marks a 16-bit NE2000
  for (uint32_t i = 0; i < prom_.size() / 2; i++) {
    prom_[2 * i] = prom_[2 * i + 1] = i < address.size() ? address[i] : i >= 14 ? kSigned : 0;
  }
}

uint8_t Ne2000::read_memory(uint16_t address) {
  if (address < prom_.size()) return prom_[address];
  return address >= kRam && address < kRam + kRamBytes ? ram_[address - kRam] : 0xFF;
}

void Ne2000::write_memory(uint16_t address, uint8_t value) {
  if (address >= kRam && address < kRam + kRamBytes) ram_[address - kRam] = value;
}

// The bus splits an access that is wider than a register or the data port.
uint32_t Ne2000::read(uint32_t port, uint32_t bytes) {
  uint32_t value = 0;
  if (port >= kData && port < kReset) {
    value = chip_.read_data();
    return bytes > 2 ? value | uint32_t(chip_.read_data()) << 16 : value;
  }
  for (uint32_t i = 0; i < bytes; i++) {
    uint32_t byte = 0xFF;
    if (port + i < Dp8390::kRegisters)
      byte = chip_.read(port + i);
    else if (port + i >= kReset)
      chip_.reset();
    value |= byte << 8 * i;
  }
  return value;
}

void Ne2000::write(uint32_t port, uint32_t value, uint32_t bytes, Time now) {
  if (port >= kData && port < kReset) {
    chip_.write_data(uint16_t(value));
    if (bytes > 2) chip_.write_data(uint16_t(value >> 16));
    return;
  }
  // A read of the reset port begins the reset. A write to this port ends the reset.
  for (uint32_t i = 0; i < bytes && port + i < Dp8390::kRegisters; i++) {
    chip_.write(port + i, uint8_t(value >> 8 * i), now);
  }
}

}  // namespace device::ne2000
