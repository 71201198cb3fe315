// SPDX-License-Identifier: LGPL-2.1-or-later
// How do Bochs and the Pentium model work together? Hooks in Bochs call the model, which supplies
// the time. This file translates the hooks of instructions, accesses and control registers. Other
// files of this folder translate interrupts (deliveries.cc), time (time.cc), repeated strings
// (string_blocks.cc), the x87's errors (x87.cc), the drives (drives.cc), the devices (devices.cc)
// and what the processor says about itself (processor.cc). The model is in p5/.
// session/ executes the markers.
#include "bochs/glue.hh"

#include <memory>

#include "bochs/cpu.hh"
#include "bochs/model.hh"
#include "bochs/platform.hh"
#include "bochs/time.hh"
#include "bochs/transitions.hh"
#include "bochs/watching.hh"
#include "p5/decode.hh"
#include "x87/divider.hh"

static_assert(p5::kX86_64 == bool(BX_SUPPORT_X86_64), "P5_X86_64 needs Bochs's --enable-x86-64");
static_assert(sizeof(p5::Insn) == 24,
              "the instruction object fills one cache line: 24 bytes and Bochs's own 40 bytes");

namespace bochs {

ModelStorage storage;
p5::Linear last_linear;

namespace {

using p5::Linear;

std::unique_ptr<session::Session> the_run;  // null: the emulator is starting

bool is_marker(const p5::Insn& insn) {
  return insn.cls == p5::Class::Cpuid && cpu()->get_reg32(BX_32BIT_REG_EAX) == session::kMarkerLeaf;
}

void change_breakpoints() {
  transitions.expect_breakpoints();
  model().serialize();
}

// The model's fast path is off, and this function stands for before_general(). It is separate, so
// each of the two saves only the registers that it needs.
__attribute__((noinline)) void before_instrumented(const p5::Insn& insn, Linear linear) {
  if (is_marker(insn)) return model().skip(insn, linear);
  last_linear = linear;
  if (__builtin_expect(insn.cls != p5::Class::MovToDr, 1))
    return model().retire_instrumented(insn, linear);
  model().retire_instrumented(insn, linear);
  change_breakpoints();
}

__attribute__((noinline)) void before_general(bxInstruction_c* i) {
  if (i->p5.length == 0) return;  // the end-of-trace filler
  transitions.refresh_if_pending();
  const Linear linear = next_code();
  if (__builtin_expect(watching.instructions(), 0)) watching.before(i->p5, linear);
  if (__builtin_expect(model().instrumented(), 0)) {
    if (!model().warm_fast(i->p5, linear)) return before_instrumented(i->p5, linear);
    last_linear = linear;
    return;
  }
  if (is_marker(i->p5)) return model().skip(i->p5, linear);
  last_linear = linear;
  model().retire_slow(i->p5, linear);
  if (i->p5.cls == p5::Class::MovToDr) change_breakpoints();
}

// The instruction is not on the fast path. Nearly always its code is in another line or still on
// its way.
__attribute__((noinline)) void before_slow(bxInstruction_c* i) {
  if (__builtin_expect(
          transitions.pending() || i->p5.flags & p5::kUncommon || model().instrumented(), 0)) {
    return before_general(i);
  }
  const Linear linear = next_code();
  last_linear = linear;
  model().retire_slow(i->p5, linear);
}

// Not inline: p5_branch() of an x86-64 processor without nominal clocks and without observers needs
// no addresses.
__attribute__((noinline)) void branch_watched(bx_address rip, bx_address target, bool taken,
                                              bool conditional) {
  model().branch(code_linear(rip), code_linear(target), taken, conditional);
  watching.branch(code_linear(target), taken ? code_linear(target) : next_code());
}

__attribute__((noinline)) void branch_nominal(bx_address rip, bx_address target, bool taken,
                                              bool conditional) {
  model().branch(code_linear(rip), code_linear(target), taken, conditional);
}

// An access over a page boundary has two halves, and the first half ends at the boundary. Only
// Bochs's record address_xlation shows whether this access is a first half.
__attribute__((noinline)) void data_at_page_end(Linear linear, Bit32u physical, unsigned length,
                                                p5::DataKind kind) {
  const auto& split = cpu()->address_xlation;
  const bool first_piece = split.pages == 2 && split.len1 == length && split.paddress1 == physical;
  model().data(linear, physical, length, kind, first_piece);
}

inline void data(Linear linear, Bit32u physical, unsigned length, p5::DataKind kind) {
  if (__builtin_expect(((linear + length) & 0xFFF) == 0, 0)) {
    return data_at_page_end(linear, physical, length, kind);
  }
  model().data(linear, physical, length, kind);
}

void far_transfer(p5::Crossing how, const char* kind) {
  transitions.expect(kind);
  model().far_transfer(how);
}

}  // namespace

session::Session& run() { return *the_run; }

void hold() { model().hold(); }

void count_event(p5::Event event, uint64_t number) {
  transitions.refresh_if_pending();
  model().count(event, number);
}

void wide_ports(uint16_t first, uint16_t last) { model().wide_ports(first, last); }

}  // namespace bochs

using namespace bochs;

// --- the run

void p5_initialize(void) {
  the_run = session::Session::of_files(&model(), platform);
  the_run->begin();
  start_time();
  watching.take();
  cpu()->cpuid = make_processor();
  if (!p5::kX86_64) p5_flawed_divider = x87::divider_is_flawed(the_run->conf().config().signature);
}

void p5_exit(void) {
  platform.stop();
  if (the_run) the_run->end().emulator_stopped();
}

void p5_reset(unsigned type) {
  (void)type;
  transitions.expect();
  if (!the_run) return;
  model().serialize();  // drops the fetched code
  the_run->guest_reset();
}

// --- instructions

void p5_decoded(bxInstruction_c* i, const Bit8u* bytes, unsigned length, bool code32, bool code64) {
  const session::RunConfig& config = the_run->conf().config();
  const p5::TimingTable& timing = the_run->conf().timing();
  const bool decoded = code64 ? p5::decode64(bytes, length, timing, &i->p5)
                              : p5::decode(bytes, length, code32, timing, &i->p5);
  if (!decoded || i->p5.length != length) {
    session::decoder_differs(bytes, length, i->p5.length);
    i->p5 = p5::Insn();
    i->p5.length = Bit8u(length);
    i->p5.flags = p5::kUncommon;
  }
  if (config.machine.ideal.pairing) p5::pair_always(&i->p5);
  watching.decoded(Bit32u(cpu()->pAddrFetchPage));
  if (p5::kX86_64) return;
  // Even if Bochs emulates an older processor, Bochs decodes some instructions of later processors.
  // These instructions must raise #UD.
  const Bit16u refused = config.cmov ? p5::kNotOnPentiumCmov : p5::kNotOnPentium;
  if (i->p5.flags & refused) i->execute1 = &BX_CPU_C::BxError;
}

void p5_before(bxInstruction_c* i) {
  // After each event that makes a refresh necessary, the model must fetch again. on_fast_path()
  // therefore returns false, and before_general() refreshes the state.
  if (__builtin_expect(!model().on_fast_path(i->p5), 0)) return before_slow(i);
  last_linear = model().next();
  model().retire_fast(i->p5);
}

void p5_branch(bx_address rip, bx_address target, bool taken, bool conditional) {
  if (__builtin_expect(watching.branches(), 0)) {
    return branch_watched(rip, target, taken, conditional);
  }
  if (!p5::kX86_64)
    model().branch(code_linear(rip), code_linear(target), taken, conditional);
  else if (__builtin_expect(model().flat(), 1))
    model().branch(taken);
  else
    branch_nominal(rip, target, taken, conditional);
}

void p5_repeat(void) { model().repeat(); }

// --- accesses

void p5_read(bx_address linear, Bit32u physical, unsigned length) {
  data(linear, physical, length, p5::DataKind::Read);
}
void p5_write(bx_address linear, Bit32u physical, unsigned length) {
  data(linear, physical, length, p5::DataKind::Write);
}
void p5_read_write(bx_address linear, Bit32u physical, unsigned length) {
  data(linear, physical, length, p5::DataKind::ReadWrite);
}

// Bochs writes page-table entries only to set accessed and dirty bits.
void p5_physical(Bit32u physical, unsigned rw) {
  if (rw == BX_WRITE) model().page_table_update(physical);
}

void p5_lock(bool on) { model().lock(on); }

void p5_port(Bit16u port, unsigned bytes, bool write) {
  model().port(port, write, bytes);
  p5_tick();  // the device must see the time of this access
}

void p5_bus_master(Bit32u physical, unsigned bytes, bool write) {
  transitions.refresh_if_pending();
  model().bus_master(physical, bytes, write);
}

// --- ring, mode, address space, caches

void p5_far_branch(unsigned what) {
  transitions.expect();
  watching.far(what);
  switch (what) {
    case BX_INSTR_IS_RET:
      far_transfer(p5::Crossing::Far, "far");
      break;
    case BX_INSTR_IS_SYSRET:
    case BX_INSTR_IS_SYSEXIT:
    case BX_INSTR_IS_IRET:
      far_transfer(p5::Crossing::Iret, "iret");
      break;
    case BX_INSTR_IS_INT:
      break;  // p5_interrupt() has reported this interrupt
    default:
      far_transfer(p5::Crossing::Gate, "gate");
      break;  // also SYSCALL and SYSENTER
  }
}

void p5_call_gate(unsigned parameters) {
  model().call_gate(parameters);
  watching.call_gate();
}

void p5_task_switch(bool wide, bool v86) {
  model().task_switch(v86 ? p5::Task::V86 : wide ? p5::Task::Tss32 : p5::Task::Tss16);
}

void p5_tlb_control(unsigned what, bx_address value) {
  switch (what) {
    case BX_INSTR_MOV_CR3:
    case BX_INSTR_TASK_SWITCH:
      transitions.expect("cr3");
      model().load_cr3(value);
      break;
    case BX_INSTR_INVLPG:
      model().invalidate_page(value);
      break;
    default:
      model().serialize();
      break;  // CR0, CR4: the Pentium does not flush its TLBs
  }
  transitions.expect();
}

void p5_cache_control(unsigned what) { model().flush_caches(what == BX_INSTR_WBINVD); }
