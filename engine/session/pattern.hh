// SPDX-License-Identifier: MIT
// Which text does a step of a script wait for: a fixed text, or any text that a pattern describes?
#pragma once

#include <regex.h>

#include <memory>
#include <string>

namespace session {

class Pattern {
 public:
  // Finds exactly this text.
  static Pattern exactly(const std::string& text);
  // Finds what an extended regular expression of POSIX describes. After an error, sets `*error` to
  // its reason.
  static Pattern expression(const std::string& text, std::string* error);

  // Searches in one line from the byte `*begin`. Returns false if there is nothing. Otherwise sets
  // the first byte, and the byte behind the last. The found text is never empty.
  bool find(const std::string& line, size_t* begin, size_t* end) const;

  // The text or the expression.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::shared_ptr<regex_t> expression_;  // null: exactly the text
};

}  // namespace session
