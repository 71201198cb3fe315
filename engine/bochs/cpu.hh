// SPDX-License-Identifier: LGPL-2.1-or-later
// What do the registers of Bochs's processor say?
#pragma once

#include "bochs.h"
#include "cpu/cpu.h"
#include "observe/observer.hh"
#include "p5/pentium.hh"

namespace bochs {

inline BX_CPU_C* cpu() { return BX_CPU(0); }

inline p5::Linear code_linear(bx_address rip) {
#if BX_SUPPORT_X86_64
  if (cpu()->long64_mode()) return rip;  // no segment base
#endif
  return Bit32u(cpu()->sregs[BX_SEG_REG_CS].cache.u.segment.base + rip);
}

// Returns the address of the instruction that Bochs executes next.
inline p5::Linear next_code() { return code_linear(cpu()->get_instruction_pointer()); }

// Returns a general register. `number` is the register's number in the encoding of instructions.
inline bx_address general_register(unsigned number) {
#if BX_SUPPORT_X86_64
  return cpu()->get_reg64(number);
#else
  return cpu()->get_reg32(number);
#endif
}

inline p5::Linear stack_pointer() { return p5::Linear(general_register(4)); }

inline unsigned ring_of_code() { return cpu()->sregs[BX_SEG_REG_CS].selector.rpl; }

// Returns the place at which the code continues if it executes no further instruction. `stack`: the
// value of the stack pointer.
observe::Position position(bx_address rip, bx_address stack);
inline observe::Position here() {
  return position(cpu()->get_instruction_pointer(), general_register(4));
}

// Returns the base address of the thread-local data, by which the region knows its thread.
p5::Linear thread_base();

// Returns ring, mode, address space and what else the control registers say. TR12, which can also
// turn the caches off, is a register of the model.
p5::State state();

// Returns the bytes of all registers that a program of ring 3 can read or use.
std::string registers();

}  // namespace bochs
