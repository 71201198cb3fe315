// SPDX-License-Identifier: MIT
// Which characters on the screen are new? After a script has typed a command, the prompt before
// this command is still on the screen. A step that waits for the next prompt must not find the old
// one. A character is new if it differs from the character that was at its place before. Text that
// scrolls keeps its age.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "session/pattern.hh"

namespace session {

class NewText {
 public:
  // Compares the rows with those of the last look. If the screen had no rows or another number of
  // rows, all characters are new.
  void look(const std::vector<std::string>& rows);
  // From now on, all present characters are old.
  void forget();
  // Returns true if one row contains the pattern, and one or more of the found characters are new.
  bool has(const Pattern& pattern) const;

 private:
  using Row = std::vector<bool>;  // [character] whether it is new

  bool stayed(const std::vector<std::string>& rows, size_t row, size_t shift) const;
  size_t scrolled(const std::vector<std::string>& rows) const;
  Row compared(const std::string& row, size_t before) const;

  std::vector<std::string> rows_;
  std::vector<Row> new_;
};

}  // namespace session
