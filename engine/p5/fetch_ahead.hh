// SPDX-License-Identifier: MIT
// What does the prefetcher do while the processor executes a line of code? (key fetch.ahead)
//
// INTEL-DM 2: two pairs of prefetch buffers of 32 bytes work with the branch target buffer. One
// pair at a time requests code, line by line, until a branch is predicted taken. Then the other
// pair begins at the target. Code up to about 100 bytes behind the last executed instruction can be
// fetched, uses the bus and comes into L1I, even if it is never executed.
//
// So one buffer holds the line that is executed (the window of Fetch), and the other one is for the
// next line. When execution enters a line, the buffer of the line before is free, and the line
// behind is requested. If L1I does not hold that line, the request waits for the bus. The rest is
// not published:
//
// - A request gives way to the reads and writes of executed instructions (estimate). It does not
//   stop a transaction that has begun.
// - The core clocks of a miss (penalty.l1_miss) pass while the bus is busy with the line before
//   (estimate, decided by one published value, TOPBENCH's test of effective addresses on a Pentium
//   90 with an 82430NX: 45 cold lines in 8 us. With these clocks behind each line, the lines alone
//   would need 9.5 us, without them 7.5 us).
// - A transfer of control or a serialising instruction drops a request that the bus has not begun.
//   A line that the bus has begun to read arrives in L1I, because the processor does not stop a
//   burst [INTEL-DM 6].
// - The request stops at the end of a page, because the next page needs a translation (estimate).
// - The target of a predicted branch is fetched when the branch is executed (estimate; the chip
//   knows the target two clocks earlier, when it decodes the branch).
#pragma once

#include <cstdint>

#include "p5/caches.hh"
#include "p5/core.hh"
#include "p5/memory.hh"

namespace p5 {

class FetchAhead : public Waiting {
 public:
  FetchAhead(Core& core, Caches& caches) : core_(core), caches_(caches) {}

  // A line that comes, or that has come since: its first 8 bytes, and all of it.
  struct Arrival {
    Memory::Line clock;
    Caches::Grant grant;
  };

  // Execution enters the line before this one. `fill` is the state that L1I gives to the line; it
  // is not None. Returns whether the line waits for the bus.
  bool request(uint32_t line, Fill fill);
  // Whether a line waits for the bus.
  bool waits() const { return caches_.memory.waits(); }
  // Execution goes on behind the line before: a request that still waits for the bus starts now.
  void need() {
    if (waits()) caches_.memory.grant();
  }
  // Execution goes on elsewhere.
  void abandon();
  // Whether the line comes or has come since. take() takes it, if L1I still holds it. Its
  // instruction boundaries are not known.
  bool comes(uint32_t line) const { return line == line_ && comes_; }
  bool take(Arrival* arrival) {
    comes_ = false;
    *arrival = arrival_;
    return caches_.l1i.holds(line_);
  }
  // Forgets everything.
  void settle() { comes_ = false; }

 private:
  void granted(uint64_t from) override;
  void read_again(uint32_t line, Fill fill);

  Core& core_;
  Caches& caches_;
  uint32_t line_ = Caches::kNoLine;  // physical address of the requested line
  Fill fill_ = Fill::None;
  bool comes_ = false;  // the bus has begun to read the line
  Arrival arrival_;
};

}  // namespace p5
