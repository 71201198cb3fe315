// SPDX-License-Identifier: MIT
// How is attribution.jsonl written (docs/reference/formats.md)? The file contains the counts of
// each phase by function, ring, address space and kernel entrance. Calls and classes of misses are
// optional.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "observe/attribution/attribution.hh"

namespace observe {

// Returns all lines. `counted`: the events in the file (session/counted.hh).
std::string attribution_text(const Attribution& found, const std::vector<uint32_t>& counted);

}  // namespace observe
