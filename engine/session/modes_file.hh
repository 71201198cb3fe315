// SPDX-License-Identifier: MIT
// How is modes.jsonl written (docs/reference/formats.md)? The file contains the counts of each
// phase by address space, ring and machine mode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/modes.hh"

namespace session {

// Returns all lines. `counted` lists the events in the file (counted.hh). If the guest was never
// ready, `found` is null, and the result contains no counts.
std::string modes_text(const measure::Modes* found, const std::vector<uint32_t>& counted);

}  // namespace session
