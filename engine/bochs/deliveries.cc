// SPDX-License-Identifier: LGPL-2.1-or-later
// How are interrupts and exceptions delivered? The hooks of Bochs tell the model, the observers and
// the session, which remembers what the guest's program has asked of its kernel.
#include <string_view>
#include <utility>

#include "bochs/cpu.hh"
#include "bochs/glue.hh"
#include "bochs/model.hh"
#include "bochs/platform.hh"
#include "bochs/transitions.hh"
#include "bochs/watching.hh"

namespace bochs {

namespace {

using p5::Linear;

bool delivery_known;  // p5_interrupt() belongs to an exception or hardware interrupt

// Whether the signal of kill(), tkill() or tgkill() ends a program, so that its stack tells where.
bool sends_signal() {
  const bx_address call = general_register(0);
  return call == 37 || call == 238 || call == 270;
}

// A program of ring 3 enters the kernel. `at`: the address of its instruction.
void program_enters(unsigned vector, unsigned error, bx_address at, bool with_stack) {
  if (!run().watches_programs() || ring_of_code() != 3) return;
  session::KernelEntry entry;
  entry.vector = int(vector);
  entry.error = error;
  entry.at = code_linear(at);
  entry.cr2 = Linear(cpu()->cr2);
  entry.cr3 = p5::Space(cpu()->cr3);
  for (unsigned i = 0; i < 8; i++) entry.registers[i] = general_register(i);
  run().program().entered(std::move(entry), with_stack);
}

// CMPXCHG8B with LOCK and a register, F0 0F C7 C8 to CF. Other prefixes can come before it.
bool is_locked_cmpxchg8b(Linear at) {
  uint8_t code[15];
  unsigned length = 0;
  uint32_t physical = 0;
  while (length < sizeof code && platform.code(at + length, false, &physical)) {
    const uint8_t* page = platform.page(physical);
    if (!page) break;
    code[length++] = *page;
  }
  bool lock = false;
  unsigned i = 0;
  const std::string_view prefixes = "\x26\x2E\x36\x3E\x64\x65\x66\x67\xF0\xF2\xF3";
  for (; i < length && prefixes.find(char(code[i])) != prefixes.npos; i++) lock |= code[i] == 0xF0;
  return lock && i + 3 <= length && code[i] == 0x0F && code[i + 1] == 0xC7 && code[i + 2] >= 0xC8 &&
         code[i + 2] <= 0xCF;
}

// The processor reads the vector of #UD with a locked cycle and never unlocks the bus. If it may
// not write to the vector, it raises a page fault instead: so the systems work around the flaw
// (Intel, Pentium Processor Specification Update, erratum 81; Collins, The Pentium F00F Bug, Dr.
// Dobb's Journal, May 1998).
void lock_bus(Linear at) {
  const Linear vector = cpu()->idtr.base + BX_UD_EXCEPTION * (cpu()->real_mode() ? 4 : 8);
  if (cpu()->cr0.get_PG())
    cpu()->translate_linear(cpu()->DTLB.get_entry_of(vector, 0), vector, 0, BX_RW);
  run().guest_locked(at);
}

void interrupt(unsigned vector) {
  transitions.expect();
  if (!delivery_known) {
    if (vector == unsigned(session::kLinuxCall))
      program_enters(vector, 0, cpu()->prev_rip, sends_signal());
    transitions.expect("int", int(vector));
    watching.delivered(p5::Entry::Soft, vector, {0, 0});
    model().soft_interrupt(Bit8u(vector));
  }
  delivery_known = false;
}

void hardware_interrupt(unsigned vector) {
  transitions.refresh_if_pending();
  if (run().watches_programs() && model().state().ring == 3) {
    run().program_seen(next_code(), p5::Space(cpu()->cr3), registers);
  }
  watching.delivered(p5::Entry::Irq, vector, here());
  model().hard_interrupt(Bit8u(vector), next_code());
  delivery_known = true;
  transitions.expect("interrupt", int(vector));
}

void exception(unsigned vector, unsigned error_code) {
  transitions.refresh_if_pending();
  const Linear at = code_linear(cpu()->prev_rip);
  // Programs probe processors with invalid opcodes, and monitors of the time use them as calls.
  if (vector == BX_UD_EXCEPTION) {
    run().invalid_opcodes().add(at);
    if (!p5::kX86_64 && is_locked_cmpxchg8b(at)) lock_bus(at);
  }
  if (vector == BX_PF_EXCEPTION) {
    const Linear address = cpu()->cr2;
    model().page_fault(address, address == at && last_linear != at, error_code & 1);
  }
  if (vector != BX_NM_EXCEPTION) program_enters(vector, error_code, cpu()->prev_rip, true);
  const bool trap =
      vector == BX_DB_EXCEPTION || vector == BX_BP_EXCEPTION || vector == BX_OF_EXCEPTION;
  const bx_address stack = cpu()->speculative_rsp ? cpu()->prev_rsp : general_register(4);
  const bx_address next = trap ? cpu()->get_instruction_pointer() : cpu()->prev_rip;
  watching.delivered(p5::Entry::Fault, vector, position(next, stack));
  model().exception(Bit8u(vector), !trap && last_linear == at, at);
  delivery_known = true;
  transitions.expect("exception", int(vector));
}

}  // namespace

}  // namespace bochs

void p5_interrupt(unsigned vector) { bochs::interrupt(vector); }
void p5_hwinterrupt(unsigned vector) { bochs::hardware_interrupt(vector); }
void p5_exception(unsigned vector, unsigned error_code) { bochs::exception(vector, error_code); }
