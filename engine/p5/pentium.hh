// SPDX-License-Identifier: MIT
// The Pentium model. Whoever executes the instructions (an emulator's callbacks, a trace file, a
// test) reports what happened, in program order:
//
//   set_state()             after anything that may have changed ring, mode or address space
//   retire(insn, linear)    one instruction begins
//   data(...)               each of its data accesses, page-split ones in two pieces
//   repeat()                each iteration of a REP string instruction
//   interrupts, far transfers, CR3 loads, port accesses, idle time
//
// and the model answers with its clock and its counters. It knows no simulator and has no globals.
//
// This class only joins the parts of the chip. Each part has a file of its own:
//
//   chip          the parts of each access in one object: those from core to prediction
//   core          the clock, the counters, the state, who observes
//   fetch         the code that is at hand, L1I, waiting for code
//   pipes, x87    pairing and the clocks of instructions
//   data_path     loads, stores, write buffers
//   caches        L1D, L1I and the bus; memory.hh has L2 and DRAM
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

#include "breakpoints.hh"
#include "chip.hh"
#include "classes.hh"
#include "config.hh"
#include "counters.hh"
#include "insn.hh"
#include "isa.hh"
#include "observer.hh"
#include "ports.hh"
#include "repeats.hh"
#include "rules.hh"
#include "state.hh"
#include "timing.hh"
#include "transfers.hh"

namespace p5 {

// Test register 12, MSR 0Eh [INTEL-DM 16]. Its other bits do nothing here.
enum TestRegister12 : uint32_t {
  kNoBranchPrediction = 1 << 0,  // NBP: nothing is entered in the branch target buffer
  kSinglePipe = 1 << 2,          // SE: nothing goes into V
  kCacheInhibit = 1 << 3,        // CI: the L1 caches take no line in
};

// Iterations of a repeated MOVS (`reads`) or STOS, upwards and within a page.
struct Block {
  bool reads;
  Linear from;
  uint32_t from_physical;
  Linear to;
  uint32_t to_physical, bytes;  // of one iteration
};
// The surroundings want to know the time at the first iteration that ends `interval` clocks after
// the last time they knew (`told`), and to go on themselves once it has come to `due`.
struct Pace {
  uint64_t told, due;
  uint32_t interval;
};

class Pentium {
 public:
  // `timing` and `platform` must outlive the model.
  Pentium(const Config& config, const TimingTable& timing, Platform& platform);

  // --- what is modelled ---

  // false: no caches, TLBs or stalls, one clock an instruction. To be set before the first use.
  void set_timing(bool on) {
    chip_.core.timing_on = on;
    special_ = !on || breakpoints_.watching();
  }
  // On: functional warming. Caches, TLBs and the branch target buffer are kept as they would be and
  // count, but nothing waits, and the pipes only find out what pairs. The surroundings say how the
  // time passes, by advance().
  void set_warming(bool on);
  // As with timing off, for a while: caches, TLBs and branch target buffer stay as they are.
  void pause(bool on);
  void advance(uint64_t clock) {
    if (clock > chip_.core.clock) chip_.core.clock = clock;
  }
  // No instruction is at hand: each goes by retire_elsewhere().
  void watch_each(bool on);
  // Who sees every access to caches and TLBs from here on; null: nobody. The observer must outlive
  // the model or be replaced before it goes.
  void observe(Observer* observer);
  Observer* observer() const { return chip_.core.observer; }

  // --- instructions ---

  // The instruction goes straight on in code that is at hand: retire() is complete() alone. Any
  // transfer of control, change of state or uncommon instruction makes this false.
  bool at_hand(const Insn& insn, Linear linear) const {
    return !(insn.flags & kUncommon) && chip_.fetch().follows(insn, linear) &&
           chip_.fetch().complete(chip_.core);
  }
  void complete(const Insn& insn) {
    chip_.core.count(Instructions);
    chip_.fetch().advance(insn.length);
    if (chip_.pipes.joins(insn)) {
      chip_.pipes.join(chip_.core, insn);
      return chip_.data_path().lock(false);
    }
    chip_.pipes.issue(chip_.core, insn, chip_.fetch().next() - insn.length);
    chip_.data_path().lock(insn.flags & kLocked);
  }
  void retire(const Insn& insn, Linear linear) {
    if (at_hand(insn, linear)) return complete(insn);
    retire_elsewhere(insn, linear);
  }
  // The same for an instruction that is not at hand.
  void retire_elsewhere(const Insn& insn, Linear linear) {
    if (__builtin_expect(aside_, 0)) return retire_aside(insn, linear);
    const Linear last = linear + insn.length - 1;
    if (!(insn.flags & kUncommon)) {
      if (chip_.fetch().complete(chip_.core)) {
        if (chip_.fetch().enter_line(chip_.core, chip_.caches, chip_.pipes, linear, last)) {
          chip_.fetch().go_to(linear);
          return complete(insn);
        }
      } else if (chip_.fetch().follows(insn, linear)) {
        chip_.fetch().wait_for_line(chip_.core, linear, last);
        chip_.prediction.enter_new_code(chip_.pipes, insn);
        return complete(insn);
      }
    }
    retire_slow(insn, linear);
  }
  // The whole of an instruction that goes straight on, while warming; false: it is another one.
  bool passes(const Insn& insn, Linear linear) {
    if (__builtin_expect(!warming_, 1) || breakpoints_.watching() || insn.flags & kUncommon ||
        !chip_.fetch().follows(insn, linear)) {
      return false;
    }
    pass(insn);
    return true;
  }
  // An instruction that is no part of the measured program (a marker): no time, no count, not
  // even its fetch.
  void skip(const Insn& insn, Linear linear) {
    if (linear == chip_.fetch().next()) chip_.fetch().advance(insn.length);
  }

  // --- what an instruction does ---

  // `first_piece`: the access goes on in the next page with another call.
  void data(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
            bool first_piece = false) {
    if (__builtin_expect(special_, 0)) {
      return data_special(linear, physical, bytes, kind, first_piece);
    }
    chip_.data_path().access(chip_.core, chip_.caches, chip_.translation, chip_.pipes, linear,
                             physical, bytes, kind, first_piece);
  }
  // A near branch, the last instruction retired: where it would go or goes.
  void branch(Linear linear, Linear target, bool taken, bool conditional) {
    chip_.core.count(Branches);
    if (kX86_64 || __builtin_expect(!chip_.core.timing_on, 0)) return;
    chip_.prediction.branch(chip_.core, chip_.pipes, linear, target, taken, conditional,
                            chip_.fetch().next());
  }
  void repeat() {
    chip_.core.clock += repeats_.iteration_clocks(chip_.core);
    repeats_.iterated();
  }
  // The accesses of up to `count` iterations and repeat() for all but the last of them, as if each
  // had been reported alone. Returns how many were done: up to the one where `pace` is due, or
  // `count`.
  uint32_t block(const Block& block, uint32_t count, Pace* pace);
  // The next data accesses are locked (accessed and busy bits of descriptors) until lock(false) or
  // until another instruction begins.
  void lock(bool on) { chip_.data_path().lock(on && chip_.core.timing_on); }
  void port(uint16_t port, bool write, uint32_t bytes = 1) { ports_.access(port, write, bytes); }
  // A card on ISA answers at these with 16 bits (IOCS16).
  void wide_ports(uint16_t first, uint16_t last) { ports_.wide(first, last); }

  // --- transfers of control beside near branches; the next set_state() has their ring and mode

  void soft_interrupt(uint8_t vector) { transfers_.soft_interrupt(vector); }
  // `resume` is the linear address at which the interrupted code goes on.
  void hard_interrupt(uint8_t vector, Linear resume) { transfers_.hard_interrupt(vector, resume); }
  // `fault`: the current instruction did not complete and will not count.
  void exception(uint8_t vector, bool fault, Linear resume) {
    transfers_.exception(vector, fault, resume);
  }
  // Gate: far JMP/CALL, Far: far RET, Iret.
  void far_transfer(Crossing kind) { transfers_.far_transfer(kind); }
  // What a far JMP or CALL, INT, IRET, interrupt or exception turns out to be; between its
  // instruction or delivery and the next set_state(). `parameters` are those of the gate.
  void call_gate(uint32_t parameters) { transfers_.call_gate(parameters); }
  void task_switch(Task to) { transfers_.task_switch(to); }

  // --- the state, and what changes it ---

  void set_state(const State& state);
  const State& state() const { return chip_.core.state; }
  // A serialising instruction that may change the state (MOV CR0, MOV CR4): what was prefetched
  // is dropped [INTEL-DM].
  void serialize() { chip_.fetch().drop(); }
  void load_cr3(Space value);
  void invalidate_page(Linear linear);
  // After exception() with vector 14: the access that could not be translated.
  void page_fault(Linear linear, bool code, bool present) {
    if (chip_.core.timing_on) chip_.translation.page_fault(linear, code, present);
  }
  void flush_caches(bool write_back);  // WBINVD, INVD
  // The page unit sets an accessed or dirty bit: a locked cycle.
  void page_table_update(uint32_t physical) {
    if (chip_.core.timing_on) chip_.caches.table_update(physical);
  }
  void write_tr12(uint32_t value);
  uint32_t tr12() const { return tr12_; }
  // DR0 to DR3, and DR7, which says what each of them watches [INTEL-DM 17]. A register that holds
  // zero, as after power-up, watches nothing.
  void set_breakpoints(const std::array<Linear, 4>& addresses, uint32_t control);

  // --- what happens outside of the processor ---

  // Something that is counted in the current ring and address space.
  void count(Event event, uint64_t number) { chip_.core.count(event, number); }
  // Another bus master (DMA) reads or writes memory.
  void bus_master(uint32_t physical, uint32_t bytes, bool write) {
    if (chip_.core.timing_on && bytes) chip_.caches.bus_master(physical, bytes, write);
  }
  void idle(uint64_t clocks);  // time in HLT

  // --- the clock and the counters ---

  uint64_t clock() const { return chip_.core.clock; }                  // core clocks since power-up
  const uint64_t* clock_address() const { return &chip_.core.clock; }  // for readers in a hot path
  // Instructions of the current ring and address space.
  uint64_t retired_here() const { return chip_.core.bank->count[Instructions]; }
  // The bank in use; its time is that of the last settle(), which changes nothing else.
  const Bank& bank() const { return *chip_.core.bank; }
  const Counters& banks() const { return chip_.core.counters; }
  void settle() { fold(); }
  // The counters with the time up to now in them.
  const Counters& counters() {
    chip_.prediction.settle();
    fold();
    return chip_.core.counters;
  }
  CounterMsrs& msrs() {
    fold();
    return msrs_;
  }
  // Executions of instruction classes that the timing table does not know.
  const std::map<uint16_t, uint64_t>& unknown() const { return unknown_; }

 private:
  void retire_slow(const Insn& insn, Linear linear);
  void retire_aside(const Insn& insn, Linear linear);
  void retire_fpu(const Insn& insn, Linear linear);
  bool retire_uncommon(const Insn& insn, Linear linear);
  void charge_system(const Insn& insn);
  bool warm(const Insn& insn, Linear linear);
  // Out of line and in the last place, so that data() needs no stack frame.
  void data_special(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                    bool first_piece);
  // Of complete() what warming needs.
  void pass(const Insn& insn) {
    chip_.core.count(Instructions);
    chip_.fetch().advance(insn.length);
    chip_.data_path().lock(insn.flags & kLocked);
    chip_.pipes.pass(insn, chip_.fetch().next() - insn.length);
  }
  void step_aside(bool on);
  void flush_tlbs(bool global_too);
  void fold() { chip_.core.fold(chip_.caches.memory.busy()); }

  Chip chip_;
  bool special_ = false;  // timing is off, or there are breakpoints
  bool warming_ = false;
  bool each_ = false;   // somebody wants to see each instruction
  bool aside_ = false;  // no instruction is at hand: warming, breakpoints or one who sees each
  Repeats repeats_;
  Transfers transfers_;
  Breakpoints breakpoints_;
  Ports ports_;
  CounterMsrs msrs_;
  uint32_t tr12_ = 0;
  std::map<uint16_t, uint64_t> unknown_;
};

}  // namespace p5
