// SPDX-License-Identifier: MIT
#include "session/counted.hh"

#include "p5/isa.hh"

namespace session {

std::vector<uint32_t> counted_events(const HasPart& has, bool cpi, bool newer, bool nominal) {
  std::vector<uint32_t> events;
  for (uint32_t event = 0; event < base::events::kEventCount; event++) {
    const base::events::EventInfo& info = base::events::kEvents[event];
    const bool asked = (cpi || !info.asked) && (newer || !info.newer);
    const bool on_x86_64 = info.x86_64 || (nominal && info.nominal);
    if (asked && (p5::kX86_64 ? on_x86_64 : info.pentium) && has(info.part)) {
      events.push_back(event);
    }
  }
  return events;
}

}  // namespace session
