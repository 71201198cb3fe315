// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bochs/cpu.hh"

namespace bochs {

namespace {

p5::MachineMode machine_mode() {
  if (!cpu()->cr0.get_PE()) return p5::MachineMode::Real;
  if (cpu()->v8086_mode()) return p5::MachineMode::V86;
#if BX_SUPPORT_X86_64
  if (cpu()->long64_mode()) return p5::MachineMode::Long64;
#endif
  return cpu()->sregs[BX_SEG_REG_CS].cache.u.segment.d_b ? p5::MachineMode::Prot32
                                                         : p5::MachineMode::Prot16;
}

uint8_t ring(p5::MachineMode mode) {
  switch (mode) {
    case p5::MachineMode::Real:
      return 0;
    case p5::MachineMode::V86:
      return 3;
    default:
      return uint8_t(ring_of_code());
  }
}

}  // namespace

observe::Position position(bx_address rip, bx_address stack) {
  const auto& segment = cpu()->sregs[BX_SEG_REG_SS].cache.u.segment;
#if BX_SUPPORT_X86_64
  if (cpu()->long64_mode()) return {code_linear(rip), stack};
#endif
  return {code_linear(rip), p5::Linear(segment.base + (segment.d_b ? stack : stack & 0xFFFF))};
}

p5::Linear thread_base() {
  const unsigned segment = p5::kX86_64 ? BX_SEG_REG_FS : BX_SEG_REG_GS;
  return p5::Linear(cpu()->sregs[segment].cache.u.segment.base);
}

p5::State state() {
  p5::State state;
  state.cr3 = p5::Space(cpu()->cr3);
  state.mode = machine_mode();
  state.ring = ring(state.mode);
  state.paging = cpu()->cr0.get_PG();
#if BX_SUPPORT_X86_64
  state.large_pages = true;
  state.global_pages = cpu()->cr4.get_PGE();
#else
  state.large_pages = cpu()->cr4.get_PSE();
#endif
  state.caching = !cpu()->cr0.get_CD();
  state.user_io = state.ring > cpu()->get_IOPL();
  return state;
}

std::string registers() {
  std::string bytes;
  const auto add = [&bytes](const auto& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (unsigned i = 0; i < 8; i++) add(general_register(i));
  add(cpu()->get_instruction_pointer());
  add(cpu()->read_eflags());
  for (const auto& segment : cpu()->sregs) {
    add(segment.selector.value);
    add(segment.cache.u.segment.base);
  }
  add(cpu()->cr0.get32());  // TS: the x87 has the registers of another program
  add(cpu()->the_i387);
  return bytes;
}

}  // namespace bochs
