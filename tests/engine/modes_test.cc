// SPDX-License-Identifier: MIT
// To which machine modes does the observer add the counts? For every event, the sum over the modes
// must equal the growth of the banks.
#include "observe/modes/modes.hh"

#include <doctest/doctest.h>

#include "bench.hh"
#include "trace.hh"

namespace {

using observe::Modes;
using p5::MachineMode;

constexpr MachineMode kModes[] = {MachineMode::Real, MachineMode::V86, MachineMode::Prot16,
                                  MachineMode::Prot32};

class System : public Bench {
 public:
  System() : modes(model) { modes.start(); }

  void go(MachineMode mode, uint8_t ring, uint32_t cr3 = 0) {
    change([=](p5::State& state) {
      state.mode = mode;
      state.ring = ring;
      state.cr3 = cr3;
    });
    modes.arrive({}, {0, 0}, 0);
  }
  // Returns the sum of an event over all banks of a mode, in phase 1.
  uint64_t in(MachineMode mode, p5::Event event) {
    uint64_t sum = 0;
    for (const auto& [place, counts] : modes.phases().at(1).counts) {
      if (place.second == uint64_t(mode)) sum += counts.events[event];
    }
    return sum;
  }

  Modes modes;
};

}  // namespace

TEST_CASE("modes: each mode gets the instructions that it executes") {
  System system;
  system.insn("40");  // before the bracket
  system.modes.begin(1);
  uint32_t number = 1;
  for (const MachineMode mode : kModes) {
    system.go(mode, mode == MachineMode::V86 ? 3 : 0);
    for (uint32_t i = 0; i < number; i++) system.insn("40");
    number++;
  }
  system.go(MachineMode::Prot32, 3);
  system.insn("40");
  system.modes.end();
  system.insn("40");  // after the bracket
  CHECK(system.in(MachineMode::Real, p5::Instructions) == 1);
  CHECK(system.in(MachineMode::V86, p5::Instructions) == 2);
  CHECK(system.in(MachineMode::Prot16, p5::Instructions) == 3);
  CHECK(system.in(MachineMode::Prot32, p5::Instructions) == 4 + 1);
  CHECK(system.modes.differs() == "");
}

TEST_CASE("modes: a delivery belongs to the mode that it interrupts") {
  System system;
  system.modes.begin(1);
  system.go(MachineMode::V86, 3);
  system.modes.delivered(p5::Entry::Fault, 6, {0, 0});
  system.model.exception(6, false, system.ip);
  system.go(MachineMode::Prot32, 0);
  system.modes.stop();
  CHECK(system.in(MachineMode::V86, p5::Exceptions) == 1);
  CHECK(system.in(MachineMode::Prot32, p5::Exceptions) == 0);
  for (const auto& [place, counts] : system.modes.phases().at(1).counts) {
    CHECK(counts.vectors.size() == (place.second == uint64_t(MachineMode::V86) ? 1 : 0));
  }
}

TEST_CASE("modes: the sum over the modes equals the growth of the banks, in nested brackets too") {
  System system;
  AddressStream random(5, 8192, 32);
  system.modes.begin(1);
  for (int i = 0; i < 5000; i++) {
    if (random.below(20) == 0) {
      const MachineMode mode = kModes[random.below(4)];
      system.go(mode, uint8_t(mode == MachineMode::V86 ? 3 : random.below(4)),
                random.below(3) << 12);
    }
    system.ip = 0x10000 + random.below(0x8000);
    system.load(random.next() & 0xFFFFFC);
    if (i == 1000 || i == 3000) system.modes.begin(2);
    if (i == 2000 || i == 4000) system.modes.end();
  }
  system.modes.end();
  CHECK(system.modes.differs() == "");
  CHECK(system.in(MachineMode::Prot16, p5::DataReads) > 0);
}
