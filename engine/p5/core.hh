// SPDX-License-Identifier: MIT
// Which state do all parts of the chip share? All parts share the clock, the current bank of
// counts, the machine, the processor's state and the observer.
//
// A part finds the other parts in one of two ways. Fetch and DataPath are bases of Chip (chip.hh)
// and find the other parts at fixed offsets. All other parts keep references. The inline functions
// of the hot paths get the parts as arguments. The compiled code of these functions then finds a
// part without loading a pointer.
#pragma once

#include <cstdint>

#include "p5/config.hh"
#include "p5/counters.hh"
#include "p5/memory_observer.hh"
#include "p5/rules.hh"
#include "p5/state.hh"
#include "p5/timing.hh"

namespace p5 {

// The stalls, and the component of the CPI stack to which most of their clocks belong. The other
// clocks are moved (Core::move). The events are in the order of events.toml.
struct Stall {
  Event event, component;
};
constexpr Stall kStalls[] = {{StallRead, CpiDataL2},        {StallWrite, CpiWriteBuffers},
                             {StallWriteME, CpiWriteOrder}, {StallWalk, CpiDtlb},
                             {StallFetch, CpiCodeFill},     {StallIo, CpiPorts}};

struct Core {
  Core(const Config& config, const TimingTable& timing, Platform& platform);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void count(Event event, uint64_t number = 1) { bank->count[event] += number; }

  // Counts clocks in a component of the CPI stack, if the run counts the stack (cpi_stack.hh).
  // `clocks` can be negative.
  void explain(Event component, uint64_t clocks) {
    if (__builtin_expect(!explains, 1)) return;
    count(component, clocks);
    explained += clocks;
  }
  // Adds clocks to the clock, and counts them in a component of the CPI stack.
  void spend(Event component, uint64_t clocks) {
    explain(component, clocks);
    clock += clocks;
  }
  // Waits until clock `until`, and counts the time as a stall. Also waits if `config.feedback` is
  // false. The time belongs to the usual component of the stall (kStalls), or to `component`.
  void stall_until(uint64_t until, Event stall) {
    if (until <= clock) return;
    const uint64_t clocks = until - clock;
    count(stall, clocks);
    explained += clocks;
    clock = until;
  }
  void stall_until(uint64_t until, Event stall, Event component) {
    if (__builtin_expect(explains, 0) && until > clock) move(stall, component, until - clock);
    stall_until(until, stall);
  }
  // Waits for memory. If `config.feedback` is false, the core never waits, even if the bus is a few
  // clocks ahead. The bus can be ahead because the core sometimes subtracts clocks that it has
  // added too early (REP, x87).
  void wait(uint64_t until, Event stall) {
    if (until > clock && config.feedback) stall_until(until, stall);
  }
  void wait(uint64_t until, Event stall, Event component) {
    if (until > clock && config.feedback) stall_until(until, stall, component);
  }
  // Moves clocks of a stall from its usual component to another component.
  void move(Event stall, Event component, uint64_t clocks) {
    count(component, clocks);
    count(kStalls[stall - kStalls[0].event].component, uint64_t(0) - clocks);
  }

  // Whether each instruction takes one clock, as on x86-64 without nominal clocks. A Pentium always
  // has clocks.
  bool flat() const { return kX86_64 && machine.flat; }

  // Number of executed pairs of instructions, modulo 2^32.
  uint32_t pairs() const {
    return uint32_t(bank->count[Instructions] - bank->count[InstructionsV]);
  }

  // Adds to the bank the time that has passed since the last call of this function. `bus_busy` is
  // the number of core clocks so far in which the bus was busy.
  void fold(uint64_t bus_busy) {
    count(CyclesBusy, clock - folded);
    folded = clock;
    count(BusBusy, bus_busy - folded_busy);
    folded_busy = bus_busy;
  }
  // From now on, counts events in the bank of this address space and ring.
  void use_bank(Space cr3, uint8_t ring);

  uint64_t clock = 0;      // core clocks since power-up
  uint64_t explained = 0;  // clocks that have a component of the CPI stack; only with `explains`
  bool explains = false;   // the run counts the CPI stack
  bool fills_instrumented = false;  // line fills go through Caches::fill_instrumented()
  Bank* bank;                       // of the current address space and ring
  const uint16_t* clocks;           // [class] in the current mode
  bool timing_on = true;            // false: no caches, TLBs or stalls
  MemoryObserver* observer = nullptr;
  State state;
  Config config;         // the machine, without feedback during warming
  const Config machine;  // the machine as described
  const TimingTable& timing;
  Platform& platform;
  Counters counters;
  Bank* ring_banks[4] = {};  // [ring] in the current address space; null: not used yet
  uint64_t folded = 0;       // clocks that the banks contain
  uint64_t folded_busy = 0;  // busy clocks of the bus that the banks contain
};

}  // namespace p5
