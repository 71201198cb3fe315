// SPDX-License-Identifier: LGPL-2.1-or-later
// Bochs's instrumentation interface for the Pentium model. Bochs itself includes only this header,
// p5/insn.hh and p5/isa.hh. The files beside it contain the functions: glue.cc says which. Hooks
// that the model does not need are empty.
#pragma once

#if !BX_INSTRUMENTATION
#error "the engine is built with --enable-instrumentation"
#endif

#include "insn.hh"

class bxInstruction_c;

// --- time: Bochs's ticks are the model's clocks (patch 0002)
extern const Bit64u* p5_clock;  // the model's clock
extern Bit64u p5_ticked;        // the time up to which Bochs's timers have run
inline Bit32u p5_ticks_due(void) { return Bit32u(*p5_clock - p5_ticked); }
inline Bit64u p5_now(void) { return *p5_clock; }
void p5_tick(void);                 // let Bochs's timers catch up
void p5_idle(void);                 // one step of HLT (patch 0003)
Bit64u p5_read_tsc(Bit64s adjust);  // RDTSC, RDMSR 10h (patch 0004)

// --- events
void p5_initialize(void);
void p5_exit(void);
void p5_devices(void);  // (patch 0009)
void p5_reset(unsigned type);
void p5_decoded(bxInstruction_c* i, const Bit8u* bytes, unsigned length, bool code32, bool code64);
void p5_before(bxInstruction_c* i);
void p5_repeat(void);
// Executes several iterations of a repeated MOVS (`moves`) or STOS with 32-bit addressing at once
// (patch 0006). For the last iteration the caller updates the count and calls p5_repeat(). Returns
// false if no iteration was executed.
bool p5_block(bxInstruction_c* i, unsigned bytes, bool moves);
void p5_read(bx_address linear, Bit32u physical, unsigned length);
void p5_write(bx_address linear, Bit32u physical, unsigned length);
void p5_read_write(bx_address linear, Bit32u physical, unsigned length);
void p5_physical(Bit32u physical, unsigned rw);
void p5_far_branch(unsigned what);
// The functions of patch 0008. p5_call_gate: the far transfer uses a call gate. p5_task_switch: the
// transfer, interrupt or IRET switches to a new task. `wide`: the new task has a 386 TSS. `v86`:
// the new task runs in virtual-8086 mode. p5_lock: from now on, accesses are locked (`on` is true)
// or not locked.
void p5_call_gate(unsigned parameters);
void p5_task_switch(bool wide, bool v86);
void p5_lock(bool on);
void p5_interrupt(unsigned vector);
void p5_exception(unsigned vector, unsigned error_code);
void p5_hwinterrupt(unsigned vector);
void p5_tlb_control(unsigned what, bx_address value);
void p5_cache_control(unsigned what);
void p5_port(Bit16u port, unsigned bytes, bool write);
void p5_bus_master(Bit32u physical, unsigned bytes, bool write);  // (patch 0007)
// The times of the drives, in microseconds (patch 0014, drives.cc). `usual`: the emulator's time.
void p5_floppy_motors(unsigned on);
Bit32u p5_floppy_seek(unsigned drive, unsigned cylinder, Bit32u step, Bit32u usual);
Bit32u p5_floppy_sectors(unsigned drive, unsigned cylinder, unsigned sector, unsigned count,
                         unsigned sectors);
Bit32u p5_floppy_id(unsigned drive, unsigned cylinder, Bit8u* sector, unsigned sectors,
                    Bit32u usual);
Bit32u p5_disk_read(unsigned disk, Bit64u first, unsigned count, unsigned ready, Bit32u usual);
// The next three return 0 if the disk is ready at once, as the emulator has it.
Bit32u p5_disk_ready(unsigned disk);
Bit32u p5_disk_buffered(unsigned disk, Bit64u end);
Bit32u p5_disk_written(unsigned disk, Bit64u end, unsigned count, bool last);
void p5_disk_taken(unsigned disk);
// Errors of the x87 with CR0.NE = 0 (patch 0019, x87.cc). p5_x87_waits: a waiting instruction finds
// a pending error; returns whether it must be executed again after the next interrupt.
extern bool p5_ferr;
void p5_x87_error(unsigned opcode, unsigned exceptions, bool is_store);
bool p5_x87_waits(void);
void p5_x87_answered(void);  // a write to port F0h
void p5_branch(bx_address rip, bx_address target, bool taken, bool conditional);

#define BX_INSTR_INIT_ENV()
#define BX_INSTR_EXIT_ENV() p5_exit()
#define BX_INSTR_INITIALIZE(cpu_id) p5_initialize()
#define BX_INSTR_EXIT(cpu_id)
#define BX_INSTR_RESET(cpu_id, type) p5_reset(type)
#define BX_INSTR_HLT(cpu_id)
#define BX_INSTR_MWAIT(cpu_id, addr, len, flags)
#define BX_INSTR_DEBUG_PROMPT()
#define BX_INSTR_DEBUG_CMD(cmd)

#define BX_INSTR_CNEAR_BRANCH_TAKEN(cpu_id, branch_eip, new_eip) \
  p5_branch(branch_eip, new_eip, true, true)
#define BX_INSTR_CNEAR_BRANCH_NOT_TAKEN(cpu_id, branch_eip) p5_branch(branch_eip, 0, false, true)
#define BX_INSTR_UCNEAR_BRANCH(cpu_id, what, branch_eip, new_eip) \
  p5_branch(branch_eip, new_eip, true, false)
#define BX_INSTR_FAR_BRANCH(cpu_id, what, prev_cs, prev_eip, new_cs, new_eip) p5_far_branch(what)

#define BX_INSTR_OPCODE(cpu_id, i, opcode, len, is32, is64) p5_decoded(i, opcode, len, is32, is64)
#define BX_INSTR_EXCEPTION(cpu_id, vector, error_code) p5_exception(vector, error_code)
#define BX_INSTR_INTERRUPT(cpu_id, vector) p5_interrupt(vector)
#define BX_INSTR_HWINTERRUPT(cpu_id, vector, cs, eip) p5_hwinterrupt(vector)

#define BX_INSTR_CLFLUSH(cpu_id, laddr, paddr)
#define BX_INSTR_CACHE_CNTRL(cpu_id, what) p5_cache_control(what)
#define BX_INSTR_TLB_CNTRL(cpu_id, what, new_cr3) p5_tlb_control(what, new_cr3)
#define BX_INSTR_PREFETCH_HINT(cpu_id, what, seg, offset)

#define BX_INSTR_BEFORE_EXECUTION(cpu_id, i) p5_before(i)
#define BX_INSTR_AFTER_EXECUTION(cpu_id, i)
#define BX_INSTR_REPEAT_ITERATION(cpu_id, i) p5_repeat()

#define BX_INSTR_LIN_ACCESS(cpu_id, lin, phy, len, memtype, rw) \
  ((rw) == BX_READ    ? p5_read(lin, Bit32u(phy), len)          \
   : (rw) == BX_WRITE ? p5_write(lin, Bit32u(phy), len)         \
                      : p5_read_write(lin, Bit32u(phy), len))
#define BX_INSTR_PHY_ACCESS(cpu_id, phy, len, memtype, rw) p5_physical(Bit32u(phy), rw)

#define BX_INSTR_INP(addr, len) p5_port(addr, len, false)
#define BX_INSTR_INP2(addr, len, val)
#define BX_INSTR_OUTP(addr, len, val) p5_port(addr, len, true)
#define BX_INSTR_WRMSR(cpu_id, addr, value)
#define BX_INSTR_VMEXIT(cpu_id, reason, qualification)
