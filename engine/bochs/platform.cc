// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bochs/platform.hh"

#include <algorithm>
#include <cstring>

#include "bochs/cpu.hh"
#include "bochs/glue.hh"
#include "bochs/time.hh"
#include "memory/memory-bochs.h"
#include "pc_system.h"

namespace bochs {

Platform platform;

p5::PageEntry Platform::read_physical(uint32_t address) {
  p5::PageEntry entry = ~p5::PageEntry(0);
  const Bit8u* host = BX_MEM(0)->getHostMemAddr(cpu(), address, BX_READ);
  if (host) std::memcpy(&entry, host, sizeof entry);
  return entry;
}

// The fetch window of Bochs usually contains the page of the instruction pointer. After Bochs has
// linked traces, the window can be out of date. The test of the window's bounds detects this case.
uint32_t Platform::code_physical(p5::Linear linear) {
  const bx_address biased = cpu()->get_instruction_pointer() + cpu()->eipPageBias;
  const bx_address at = biased + linear - next_code();
  if (biased < cpu()->eipPageWindowSize && at < cpu()->eipPageWindowSize) {
    return Bit32u(cpu()->pAddrFetchPage + at);
  }
  bx_phy_address physical = 0;
  cpu()->dbg_xlate_linear2phy(linear, &physical);
  return Bit32u(physical);
}

bool Platform::code(p5::Linear linear, bool fetched, uint32_t* physical) {
  bx_phy_address found = 0;
  if (fetched) {
    found = code_physical(linear);
  } else if (!cpu()->dbg_xlate_linear2phy(linear, &found)) {
    return false;
  }
  *physical = uint32_t(found);
  return true;
}

const uint8_t* Platform::page(uint32_t physical) {
  return BX_MEM(0)->getHostMemAddr(cpu(), physical, BX_READ);
}

observe::Registers Platform::registers() {
  return {cpu()->get_instruction_pointer(),
          general_register(0),
          general_register(3),
          general_register(1),
          general_register(2),
          cpu()->cr2};
}

uint16_t Platform::x87_control() { return cpu()->the_i387.get_control_word(); }

// Copies the boot ROM's files into memory. Returns false if an address is outside of DRAM, because
// no memory exists there.
bool Platform::write_memory(uint32_t address, const uint8_t* bytes, size_t count) {
  while (count) {
    const size_t chunk = std::min<size_t>(count, 0x1000 - (address & 0xFFF));
    Bit8u* host = memory(address, true);
    if (!host) return false;
    std::memcpy(host, bytes, chunk);
    address += uint32_t(chunk);
    bytes += chunk;
    count -= chunk;
  }
  return true;
}

uint8_t* Platform::memory(uint32_t physical, bool write) {
  const bx_phy_address address = A20ADDR(physical);
  // For a read beyond RAM, the emulator would return other bytes.
  if (address >= BX_MEM(0)->get_memory_len()) return nullptr;
  Bit8u* host = BX_MEM(0)->getHostMemAddr(cpu(), address, write ? BX_WRITE : BX_READ);
  if (host && write) pageWriteStampTable.decWriteStamp(address);
  return host;
}

session::Screen Platform::screen() { return stopped_ ? session::Screen() : bochs::screen(); }
session::Picture Platform::picture() { return stopped_ ? session::Picture() : bochs::picture(); }
session::Picture Platform::view() { return stopped_ ? session::Picture() : bochs::view(); }

bool Platform::key(const std::string& code, bool down) { return bochs::key(code, down); }

bool Platform::mouse(int right, int down, unsigned buttons) {
  return bochs::mouse(right, down, buttons);
}

base::Time Platform::report() const { return bochs::mouse_report(); }

bool Platform::insert(unsigned drive, const std::string& path) {
  return bochs::insert(drive, path);
}

bool Platform::save_disk(unsigned drive, std::FILE* file) { return bochs::save_disk(drive, file); }

void Platform::let_pass(uint64_t clocks) { bochs::let_pass(clocks); }

void Platform::end_at_panic() { bochs::end_at_panic(); }

}  // namespace bochs
