// SPDX-License-Identifier: MIT
// Which events a run counts and writes.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "events.hh"

namespace session {

// Whether the machine has what declares an event: the chip, or a device.
using HasPart = std::function<bool(p5::Part part)>;

// The events in the order in which they are written: those that this engine counts and whose part
// the machine has.
std::vector<uint32_t> counted_events(const HasPart& has);

}  // namespace session
