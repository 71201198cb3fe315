// SPDX-License-Identifier: MIT
#include "p5/fetch_ahead.hh"

namespace p5 {

bool FetchAhead::request(uint32_t line, Fill fill) {
  if (comes_ && line == line_) {
    if (core_.clock < arrival_.clock.complete) return false;
    comes_ = false;
  }
  if (caches_.l1i.holds(line)) {
    read_again(line, fill);
    return false;
  }
  line_ = line;
  fill_ = fill;
  comes_ = false;
  const uint32_t overhead = rule(Rule::MissOverhead) ? core_.config.memory.miss_overhead : 0;
  caches_.memory.wait(core_.clock + (rule(Rule::AheadOverhead) ? overhead : 0));
  if (!rule(Rule::AheadYields)) caches_.memory.grant();
  return waits();
}

// L1I holds the line, but has used another line of its set since.
[[gnu::noinline]] void FetchAhead::read_again(uint32_t line, Fill fill) {
  if (core_.observer) core_.observer->code(line, fill);
  caches_.l1i.access(line, false, fill);
  if (core_.observer) core_.observer->used_code(line);
  caches_.l1i.part(line);
  caches_.l1i.pair(line - 1);
}

void FetchAhead::granted(uint64_t from) {
  if (core_.observer) core_.observer->code(line_, fill_);
  caches_.l1i.access(line_, false, fill_);
  if (core_.observer) core_.observer->used_code(line_);
  // The line must not take the fast path before it has arrived.
  caches_.l1i.forget_quick(line_);
  core_.count(CodeMisses);
  caches_.take_from_l1d(line_);
  const uint32_t overhead = rule(Rule::AheadOverhead) ? 0 : core_.config.memory.miss_overhead;
  arrival_.clock = caches_.read_ahead(line_, from, overhead);
  arrival_.grant = caches_.grant();
  comes_ = true;
}

void FetchAhead::abandon() {
  Memory& memory = caches_.memory;
  memory.grant_before(core_.clock);
  if (memory.waits() && !rule(Rule::AheadAbandon)) memory.grant();
  memory.stop_waiting();
  if (!rule(Rule::AheadArrives) && comes_ && core_.clock < arrival_.clock.complete) {
    caches_.l1i.invalidate(line_);
    comes_ = false;
  }
}

}  // namespace p5
