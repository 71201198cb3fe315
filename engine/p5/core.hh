// SPDX-License-Identifier: MIT
// What all parts of the chip share: the clock, the bank that counts, the machine, the state, and
// the observer.
//
// A part reaches the others in one of two ways. Fetch and DataPath are bases of Chip (chip.hh) and
// find them at fixed distances. The other parts keep references. The inline functions of the hot
// paths get the parts as arguments: the compiler knows where they are and needs no load.
#pragma once

#include <cstdint>

#include "config.hh"
#include "counters.hh"
#include "observer.hh"
#include "rules.hh"
#include "state.hh"
#include "timing.hh"

namespace p5 {

struct Core {
  Core(const Config& config, const TimingTable& timing, Platform& platform);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void count(Event event, uint64_t number = 1) { bank->count[event] += number; }

  // Waits until clock `until`, in any case, and counts the time as a stall.
  void stall_until(uint64_t until, Event stall) {
    if (until <= clock) return;
    count(stall, until - clock);
    clock = until;
  }
  // The same for memory. Without feedback there is nothing to wait for, though the bus can be a few
  // clocks ahead of the core, which takes back what it has charged too early (REP, x87).
  void wait(uint64_t until, Event stall) {
    if (until > clock && config.feedback) stall_until(until, stall);
  }

  // Pairs of instructions executed, modulo 2^32.
  uint32_t pairs() const {
    return uint32_t(bank->count[Instructions] - bank->count[InstructionsV]);
  }

  // Brings the time up to now into the bank. `bus_busy`: core clocks in which the bus was busy.
  void fold(uint64_t bus_busy) {
    count(CyclesBusy, clock - folded);
    folded = clock;
    count(BusBusy, bus_busy - folded_busy);
    folded_busy = bus_busy;
  }
  // Counts in the bank of this address space and ring from here on.
  void use_bank(Space cr3, uint8_t ring);

  uint64_t clock = 0;      // core clocks since power-up
  Bank* bank;              // of the current address space and ring
  const uint16_t* clocks;  // [class], of the current mode
  bool timing_on = true;   // false: no caches, TLBs or stalls
  Observer* observer = nullptr;
  State state;
  Config config;         // the machine, without feedback while warming
  const Config machine;  // as it was described
  const TimingTable& timing;
  Platform& platform;
  Counters counters;
  Bank* ring_banks[4] = {};  // of the current address space; null: not used yet
  uint64_t folded = 0;       // clocks that the banks have ...
  uint64_t folded_busy = 0;  // ... and the bus's
};

}  // namespace p5
