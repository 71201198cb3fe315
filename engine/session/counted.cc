// SPDX-License-Identifier: MIT
#include "counted.hh"

#include <algorithm>
#include <iterator>

#include "events.hh"
#include "isa.hh"
#include "shadow.hh"

namespace session {
namespace {

using p5::Event;

template <class Events>
bool in(const Events& events, uint32_t event) {
  return std::find(std::begin(events), std::end(events), event) != std::end(events);
}

// The folder of the device that counts an event; empty: the chip.
// To be replaced by the owner in the generated list of events.
std::string owner(uint32_t event) {
  if (event >= Event::NetFramesSent) return "ne2000";
  return event >= Event::DiskReads ? "scsi" : "";
}

bool counted(uint32_t event, const HasDevice& has) {
  if (event == Event::Mode64) return p5::kX86_64;
  if (p5::kX86_64) {
    return event != Event::Flops && (in(p5::kMissEvents, event) || in(p5::kStreamEvents, event));
  }
  return owner(event).empty() || has(owner(event));
}

}  // namespace

std::vector<uint32_t> counted_events(const HasDevice& has) {
  std::vector<uint32_t> events;
  for (uint32_t event = 0; event < p5::kEventCount; event++) {
    if (counted(event, has)) events.push_back(event);
  }
  return events;
}

}  // namespace session
