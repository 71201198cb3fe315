// SPDX-License-Identifier: MIT
// How is calls.jsonl written (docs/reference/formats.md)? The file contains the counts of each
// phase by interrupt vector and function number.
#pragma once

#include <string>

#include "observe/calls/calls.hh"

namespace observe {

// Returns a call as joint counts show it: `int:128:5`, `gate::5`, `exception:14:`, or `outside` for
// null.
std::string call_text(const CallKey* key);
// Returns all lines.
std::string calls_text(const Calls& found);

}  // namespace observe
