// SPDX-License-Identifier: MIT
// Which events does a run count and write?
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/events.hh"

namespace session {

// Whether the machine has the part that declares an event: the chip or a device.
using HasPart = std::function<bool(base::events::Part part)>;

// Returns the events that this engine counts and that belong to a part of the machine. The events
// are in the order of the output. `cpi`: with the components of the CPI stack. `newer`: with the
// events of instructions that a Pentium does not have. `nominal`: with the events that x86-64
// counts only with nominal clocks.
std::vector<uint32_t> counted_events(const HasPart& has, bool cpi, bool newer, bool nominal);

}  // namespace session
