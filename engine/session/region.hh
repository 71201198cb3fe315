// SPDX-License-Identifier: MIT
// When does the guest's program enter and leave the function that the run measures? The program
// contains no marker for this function. The region is the time from the entry of the function to
// its return.
//
// The region belongs to one process and one thread. The process is the first one that executes the
// function. CR3 identifies the process, and the base address of the thread-local data identifies
// the thread. Other programs can have code at the same address. So at each entry the content of the
// page must equal the content of the program's page.
//
// At the entry, the stack pointer points to the return address. The region ends before the first
// instruction of the thread that finds the stack pointer above the return address. This rule covers
// a return, a tail call (the called function returns for the first function), longjmp() and an
// exception of C++. While the region is open, further entries have no effect. So recursive calls
// belong to the outermost call.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/settings.hh"
#include "measure/functions.hh"
#include "observe/observer.hh"
#include "p5/isa.hh"
#include "p5/state.hh"

namespace session {

// The place of the function in the program.
struct RegionPlace {
  p5::Linear entry = 0;  // address at link time
  uint64_t page = 0;     // Functions::digest() of the page that contains the entry
  bool fixed = true;     // the program runs at its linked address; otherwise at any page
  std::string name;      // empty: the run has no region

  // Reads the file that run.region names: one line `fixed|moved ADDRESS DIGEST NAME`, with the
  // numbers in hexadecimal. `settings` keeps the first error.
  static RegionPlace read(base::Settings& settings);
};

class Region {
 public:
  // The region writes two snapshots for each of the first kMeasured calls. It only counts the other
  // calls, because a file with the snapshots of a million calls would be too large.
  static constexpr uint64_t kMeasured = 1000;
  enum class Step : uint8_t { None, Enter, Leave };
  using Guest = observe::Guest;

  Region(RegionPlace place, Guest& guest)
      : place_(std::move(place)), guest_(guest), mask_(place_.fixed ? ~p5::Linear(0) : kOffset) {}

  // Call this before each instruction. `thread` is the base address of the thread-local data.
  Step at(const p5::State& state, p5::Linear linear, p5::Linear stack, p5::Linear thread) {
    if (state.ring != 3) return Step::None;
    if (open_) return stack > stack_ ? leave(state, thread) : Step::None;
    return (linear ^ place_.entry) & mask_ ? Step::None : enter(state, linear, stack, thread);
  }
  // Call this when the program has ended. A region that is still open ends here.
  Step program_ended();

  const std::string& name() const { return place_.name; }
  uint64_t calls() const { return calls_; }  // calls that have begun
  uint64_t measured() const { return calls_ < kMeasured ? calls_ : kMeasured; }
  // Whether the run measures the current call.
  bool measures() const { return calls_ <= kMeasured; }

 private:
  static constexpr p5::Linear kOffset = measure::Functions::kPageBytes - 1;

  Step enter(const p5::State& state, p5::Linear linear, p5::Linear stack, p5::Linear thread);
  Step leave(const p5::State& state, p5::Linear thread);

  const RegionPlace place_;
  Guest& guest_;
  const p5::Linear mask_;  // the bits of an address that must equal those of the entry
  bool known_ = false;     // the process has entered the function at least once
  bool open_ = false;
  p5::Space space_ = 0;  // of the process
  p5::Linear stack_ = 0, thread_ = 0;
  uint64_t calls_ = 0;
};

}  // namespace session
