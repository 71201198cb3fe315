// SPDX-License-Identifier: MIT
// How do the files of a run name entries, machine modes and events?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "p5/pentium.hh"

namespace observe {

const char* entry_name(p5::Entry entry);
const char* mode_name(p5::MachineMode mode);
// Returns the names of events, for the header of a file.
std::vector<std::string> event_names(const std::vector<uint32_t>& events);

}  // namespace observe
