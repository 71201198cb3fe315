// SPDX-License-Identifier: MIT
// How is calls.jsonl written (docs/reference/formats.md)? The file contains the counts of each
// phase by interrupt vector and function number.
#pragma once

#include <string>

#include "measure/calls.hh"

namespace session {

// Returns all lines. If the guest was never ready, `found` is null, and the result contains no
// counts.
std::string calls_text(const measure::Calls* found);

}  // namespace session
