// SPDX-License-Identifier: MIT
// The Pentium model. The model does not execute the instructions itself. The caller of the model
// (for example an emulator, the reader of a trace file, or a test) reports these actions in program
// order:
//
//   set_state()             after each possible change of ring, mode or address space
//   retire(insn, linear)    one instruction begins
//   data(...)               each data access; an access across a page boundary in two pieces
//   repeat()                each iteration of a REP string instruction
//   interrupts, far transfers, CR3 loads, port accesses, idle time
//
// The model provides the clock and the counters. The model does not depend on a simulator and has
// no global variables.
//
// This class only connects the parts of the chip. Each part has a separate file:
//
//   chip          one object with the parts that each access needs (core to prediction)
//   core          the clock, the counters, the state, the observer
//   cpi_stack     the component of each clock
//   fetch         the window of fetched code, L1I, waits for code
//   fetch_ahead   the line of code behind the window
//   pipes, x87    pairing and the clocks of instructions
//   data_path     loads, stores, write buffers
//   caches        L1D, L1I and the bus; memory.hh models L2 and DRAM
//   translation   TLBs, page walks, page faults
//   prediction    branches and the branch target buffer
//   transfers     interrupts, exceptions, far transfers, task switches
//   repeats       REP string instructions
//   breakpoints   debug registers
//   ports         input and output
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "p5/breakpoints.hh"
#include "p5/chip.hh"
#include "p5/classes.hh"
#include "p5/config.hh"
#include "p5/counters.hh"
#include "p5/cpi_stack.hh"
#include "p5/insn.hh"
#include "p5/isa.hh"
#include "p5/memory_observer.hh"
#include "p5/ports.hh"
#include "p5/repeats.hh"
#include "p5/rules.hh"
#include "p5/state.hh"
#include "p5/timing.hh"
#include "p5/transfers.hh"

namespace p5 {

// Test register 12, MSR 0Eh [INTEL-DM 16]. The other bits have no effect in the model.
enum TestRegister12 : uint32_t {
  kNoBranchPrediction = 1 << 0,  // NBP: the branch target buffer takes no new entries
  kSinglePipe = 1 << 2,          // SE: no instruction goes into V
  kCacheInhibit = 1 << 3,        // CI: the L1 caches fill no lines
};

// Iterations of a REP MOVS (`reads` is true) or REP STOS. The addresses are aligned, increase and
// stay within a page.
struct Block {
  bool reads;
  Linear from;
  uint32_t from_physical;
  Linear to;
  uint32_t to_physical, bytes;  // of one iteration
};
// These values control when block() updates the clock of its caller. `reported` is the clock of the
// caller. If an iteration ends at least `interval` clocks after `reported`, block() sets `reported`
// to the end of the iteration. If the iteration ends at `due` or later, block() stops instead.
struct Pace {
  uint64_t reported, due;
  uint32_t interval;
};

class Pentium {
 public:
  // `timing` and `platform` must exist as long as the model.
  Pentium(const Config& config, const TimingTable& timing, Platform& platform);

  // --- what is modelled ---

  // If `on` is false, there are no caches, TLBs and stalls, and each instruction takes one clock.
  // Call this function before the first use of the model.
  void set_timing(bool on) {
    chip_.core.timing_on = on;
    special_ = !on || breakpoints_.watching();
  }
  // Turns functional warming on or off. During warming, caches, TLBs and the branch target buffer
  // are updated and count as usual, but nothing waits. The pipes only determine which instructions
  // pair. The caller advances the time with advance().
  void set_warming(bool on);
  // Turns timing off for a while. The contents of caches, TLBs and branch target buffer are kept.
  void pause(bool on);
  void advance(uint64_t clock) {
    if (clock <= chip_.core.clock) return;
    chip_.core.explained += clock - chip_.core.clock;
    chip_.core.clock = clock;
  }
  // With `on`, each instruction goes through retire_instrumented().
  void watch_each(bool on);
  // From now on, counts the components of the CPI stack (cpi_stack.hh). Not during warming.
  void explain_clocks();
  bool explains_clocks() const { return chip_.core.explains; }
  // Sets the observer of caches and TLBs (memory_observer.hh); null: no observer. The observer must
  // exist as long as the model, or until another call replaces it.
  void observe(MemoryObserver* observer);
  MemoryObserver* observer() const { return chip_.core.observer; }

  // --- instructions ---
  //
  // Each instruction takes the first of these ways that fits it:
  //
  //   retire_fast          its code is in the open window of fetched code
  //   retire_slow          its code is in another line, or still on its way
  //   retire_general       anything else: x87, rare instructions, a model without timing
  //   retire_instrumented  calls retire_slow, with warming, breakpoints or the CPI stack around it

  // Linear address of the byte after the last instruction.
  Linear next() const { return chip_.fetch().next(); }
  // Whether the instruction at next() can take the fast path: retire() only calls retire_fast().
  // After a transfer of control or a change of state, no instruction can, so the caller need not
  // compare the address with next().
  bool on_fast_path(const Insn& insn) const { return chip_.fetch().on_fast_path(insn); }
  void retire_fast(const Insn& insn) { execute(insn, insn.reach, insn.clocks); }
  void retire(const Insn& insn, Linear linear) {
    if (linear == next() && on_fast_path(insn)) return retire_fast(insn);
    if (__builtin_expect(instrumented_, 0)) return retire_instrumented(insn, linear);
    retire_slow(insn, linear);
  }
  // Retires an instruction for which on_fast_path() and instrumented() return false.
  void retire_slow(const Insn& insn, Linear linear) {
    const Linear last = linear + insn.length - 1;
    if (!(insn.flags & kUncommon)) {
      if (chip_.fetch().complete(chip_.core)) {
        if (chip_.fetch().follows(insn, linear) ||
            chip_.fetch().enter_line(chip_.core, chip_.caches, chip_.pipes, linear, last)) {
          chip_.fetch().go_to(linear);
          chip_.fetch().open();
          return complete(insn);
        }
      } else if (chip_.fetch().follows(insn, linear)) {
        chip_.fetch().wait_for_line(chip_.core, linear, last);
        chip_.prediction.enter_new_code(chip_.pipes, insn);
        return complete(insn);
      }
    }
    retire_general(insn, linear);
  }
  // Whether no instruction takes the fast path: during warming, with breakpoints, with
  // watch_each(), and if the CPI stack counts. Each goes through retire_instrumented() then.
  bool instrumented() const { return instrumented_; }
  void retire_instrumented(const Insn& insn, Linear linear);
  // During warming, executes an instruction without kUncommon that directly follows the last
  // instruction in the window. For all other instructions, and without warming, the function
  // returns false and changes nothing.
  bool warm_fast(const Insn& insn, Linear linear) {
    if (__builtin_expect(!warming_, 1) || breakpoints_.watching() || insn.flags & kUncommon ||
        !chip_.fetch().follows(insn, linear)) {
      return false;
    }
    warm_one(insn);
    return true;
  }
  // Skips an instruction that is not a part of the measured program (a marker). The instruction and
  // its fetch take no time and are not counted.
  void skip(const Insn& insn, Linear linear) {
    if (linear == chip_.fetch().next()) chip_.fetch().advance(insn.length);
  }

  // --- actions of an instruction ---

  // `first_piece`: the access continues in the next page, and another call follows for the rest.
  void data(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
            bool first_piece = false) {
    if (__builtin_expect(special_, 0)) {
      return data_special(linear, physical, bytes, kind, first_piece);
    }
    chip_.data_path().access(chip_.core, chip_.caches, chip_.translation, chip_.pipes, linear,
                             physical, bytes, kind, first_piece);
  }
  // Whether each instruction takes one clock (Core::flat).
  bool flat() const { return chip_.core.flat(); }
  // The last retired instruction is a near branch, and each instruction takes one clock.
  void branch(bool taken) {
    chip_.core.count(Branches);
    if (taken) chip_.fetch().close();
  }
  // The last retired instruction is a near branch. `target` is valid even if the branch is not
  // taken.
  void branch(Linear linear, Linear target, bool taken, bool conditional) {
    branch(taken);
    if (chip_.core.flat() || __builtin_expect(!chip_.core.timing_on, 0)) return;
    chip_.prediction.branch(chip_.pipes, linear, target, taken, conditional, chip_.fetch().next());
  }
  void repeat() {
    chip_.core.clock += repeats_.iteration_clocks(chip_.core);
    repeats_.iterated();
  }
  // Executes up to `count` iterations. Each iteration executes its accesses. repeat() follows each
  // iteration except the last iteration. The result is the same as with separate calls of data()
  // and repeat(). Stops after the accesses of the iteration that ends at `pace->due` or later.
  // Returns the number of executed iterations.
  uint32_t block(const Block& block, uint32_t count, Pace* pace);
  // With `on`, the next data accesses are locked, as when the processor sets the accessed or busy
  // bit of a descriptor. The lock ends at lock(false) or when another instruction begins.
  void lock(bool on) { lock_accesses(on && chip_.core.timing_on); }
  void port(uint16_t port, bool write, uint32_t bytes = 1) { ports_.access(port, write, bytes); }
  // Declares that an ISA card supports 16-bit accesses to these ports (IOCS16).
  void wide_ports(uint16_t first, uint16_t last) { ports_.wide(first, last); }

  // --- transfers of control, except near branches; the next set_state() gives the new ring and
  // mode

  void soft_interrupt(uint8_t vector) { transfers_.soft_interrupt(vector); }
  // `resume` is the linear address at which the interrupted code continues.
  void hard_interrupt(uint8_t vector, Linear resume) { transfers_.hard_interrupt(vector, resume); }
  // If `fault` is true, the current instruction did not complete and is not counted.
  void exception(uint8_t vector, bool fault, Linear resume) {
    transfers_.exception(vector, fault, resume);
  }
  // The last instruction waits for an interrupt and is then executed again.
  void hold() { transfers_.hold(); }
  // `kind` is Gate for a far JMP or CALL, Far for a far RET, and Iret for an IRET.
  void far_transfer(Crossing kind) { transfers_.far_transfer(kind); }
  // call_gate(): the current transfer uses a call gate with this number of parameters.
  // task_switch(): the current transfer switches tasks. Call these functions after the instruction
  // (far JMP, far CALL, INT, IRET) or after the delivery of the interrupt or exception, but before
  // the next set_state().
  void call_gate(uint32_t parameters) { transfers_.call_gate(parameters); }
  void task_switch(Task to) { transfers_.task_switch(to); }

  // --- changes of the state ---

  void set_state(const State& state);
  const State& state() const { return chip_.core.state; }
  // Executes a serialising instruction that may change the state (MOV CR0, MOV CR4). Such an
  // instruction drops the prefetched code [INTEL-DM].
  void serialize() { chip_.fetch().drop(); }
  void load_cr3(Space value);
  void invalidate_page(Linear linear);
  // Describes the access that could not be translated. exception() with vector 14 follows.
  void page_fault(Linear linear, bool code, bool present) {
    if (chip_.core.timing_on) chip_.translation.page_fault(linear, code, present);
  }
  void flush_caches(bool write_back);  // WBINVD, INVD
  // The page unit sets an accessed or dirty bit with a locked cycle.
  void page_table_update(uint32_t physical) {
    if (chip_.core.timing_on) chip_.caches.table_update(physical);
  }
  void write_tr12(uint32_t value);
  uint32_t tr12() const { return tr12_; }
  // `addresses` are DR0 to DR3. `control` is DR7, which selects the accesses that each register
  // watches [INTEL-DM 17]. A register with the address zero watches nothing.
  void set_breakpoints(const std::array<Linear, 4>& addresses, uint32_t control);

  // --- actions outside of the processor ---

  // Adds to the count of an event in the current ring and address space.
  void count(Event event, uint64_t number) { chip_.core.count(event, number); }
  // Another bus master (DMA) reads or writes memory.
  void bus_master(uint32_t physical, uint32_t bytes, bool write) {
    if (chip_.core.timing_on && bytes) chip_.caches.bus_master(physical, bytes, write);
  }
  void idle(uint64_t clocks);  // time in HLT

  // --- the clock and the counters ---

  uint64_t clock() const { return chip_.core.clock; }                  // core clocks since power-up
  const uint64_t* clock_address() const { return &chip_.core.clock; }  // for readers in a hot path
  // Number of instructions that were retired in the current ring and address space.
  uint64_t retired_here() const { return chip_.core.bank->count[Instructions]; }
  // The bank in use. The bank contains the time up to the last call of settle(). Only this time
  // changes when settle() is called.
  const Bank& bank() const { return *chip_.core.bank; }
  const Counters& banks() const { return chip_.core.counters; }
  void settle() {
    if (chip_.core.explains) stack_.settle(chip_.core);
    fold();
  }
  CpiStack& stack() { return stack_; }
  // The counters, with the time up to now.
  const Counters& counters() {
    chip_.prediction.settle();
    if (chip_.core.explains) stack_.finish(chip_.core);
    fold();
    return chip_.core.counters;
  }
  CounterMsrs& msrs() {
    settle();
    return msrs_;
  }
  // Number of executions of each opcode that has no timing class.
  const std::map<uint16_t, uint64_t>& unknown() const { return unknown_; }

 private:
  // Returns whether the instruction, which has `length` bytes and takes `clocks`, goes into U.
  bool execute(const Insn& insn, uint32_t length, uint32_t clocks) {
    chip_.core.count(Instructions);
    const Linear linear = chip_.fetch().next();
    chip_.fetch().advance(length);
    if (chip_.pipes.joins(insn)) {
      chip_.pipes.join(chip_.core, insn, clocks);
      return false;
    }
    chip_.pipes.issue(chip_.core, insn, linear, clocks);
    return true;
  }
  // An instruction on the fast path needs only execute(): it is not locked, and no lock is to end.
  void complete(const Insn& insn) {
    const bool in_u = execute(insn, insn.length, chip_.core.clocks[insn.cls]);
    lock_accesses(in_u && insn.flags & kLocked);
  }
  // The next instruction ends the lock, so it must not take the fast path.
  void lock_accesses(bool on) {
    chip_.data_path().lock(on);
    if (on) chip_.fetch().close();
  }
  void retire_general(const Insn& insn, Linear linear);
  void retire_fpu(const Insn& insn, Linear linear);
  bool begin_uncommon(const Insn& insn, Linear linear);
  void charge_system(const Insn& insn);
  bool warm_slow(const Insn& insn, Linear linear);
  bool end_iteration(uint32_t i, uint32_t count, Pace* pace);
  uint32_t write_line_again(const Block& block, uint32_t first, uint32_t count, Pace* pace);
  // This function is not inline, and data() calls this function as its last action. For these two
  // reasons data() needs no stack frame.
  void data_special(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                    bool first_piece);
  // The part of complete() that warming needs.
  void warm_one(const Insn& insn) {
    chip_.core.count(Instructions);
    chip_.fetch().advance(insn.length);
    chip_.data_path().lock(insn.flags & kLocked);
    chip_.pipes.pair_only(insn, chip_.fetch().next() - insn.length);
  }
  // Whether an instruction must not take the fast path.
  bool must_instrument() const {
    return breakpoints_.watching() || warming_ || each_ || chip_.core.explains;
  }
  void instrument(bool on);
  void flush_tlbs(bool global_too);
  void fold() { chip_.core.fold(chip_.caches.memory.busy()); }

  Chip chip_;
  bool special_ = false;  // timing is off, or there are breakpoints
  bool warming_ = false;
  bool each_ = false;          // watch_each() is on
  bool instrumented_ = false;  // must_instrument()
  CpiStack stack_;
  Repeats repeats_;
  Transfers transfers_;
  Breakpoints breakpoints_;
  Ports ports_;
  CounterMsrs msrs_;
  uint32_t tr12_ = 0;
  std::map<uint16_t, uint64_t> unknown_;
};

}  // namespace p5
