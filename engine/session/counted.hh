// SPDX-License-Identifier: MIT
// Which events a run counts and writes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace session {

// Whether the machine has a device, by the name of its folder.
using HasDevice = std::function<bool(const std::string& name)>;

// The events in the order in which they are written: those of the chip, and those of a device if
// the machine has it. Without the Pentium's pipeline (x86-64) these are the events that do not
// depend on it. Floating-point operations are left out there: only those of the x87 would count.
std::vector<uint32_t> counted_events(const HasDevice& has);

}  // namespace session
