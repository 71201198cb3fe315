// SPDX-License-Identifier: MIT
// What does the monitor of the machine show?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace session {

struct Screen {
  std::vector<std::string> rows;   // UTF-8, without spaces at the end; empty in a graphics mode
  unsigned width = 0, height = 0;  // dots and lines of the signal; only in a graphics mode
  // For a person: characters in a row, one byte for each place of all rows (the colours, as in the
  // memory of the card), and the place of the cursor. kNoCursor: the card shows none.
  static constexpr unsigned kNoCursor = ~0u;
  unsigned columns = 0, cursor = kNoCursor;
  std::string attributes;

  // The content of the run's screen file: the rows, or one line about the graphics mode. Empty if
  // the machine has no picture.
  std::string text() const;
  // The same, with two spaces before each row, and without the empty rows at the end.
  std::string indented() const;
};

// Returns one row of a screen in text mode. `codes` are the codes of the character generator (code
// page 437). The result contains no control character.
std::string row_of(const std::vector<uint8_t>& codes);

}  // namespace session
