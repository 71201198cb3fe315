// SPDX-License-Identifier: MIT
#include "session/pattern.hh"

namespace session {

Pattern Pattern::exactly(const std::string& text) {
  Pattern pattern;
  pattern.text_ = text;
  return pattern;
}

Pattern Pattern::expression(const std::string& text, std::string* error) {
  Pattern pattern = exactly(text);
  auto compiled = std::make_unique<regex_t>();
  if (const int problem = regcomp(compiled.get(), text.c_str(), REG_EXTENDED)) {
    char reason[200];
    regerror(problem, compiled.get(), reason, sizeof reason);
    *error = reason;
    return pattern;
  }
  pattern.expression_ = std::shared_ptr<regex_t>(compiled.release(), [](regex_t* one) {
    regfree(one);
    delete one;
  });
  return pattern;
}

bool Pattern::find(const std::string& line, size_t* begin, size_t* end) const {
  if (!expression_) {
    const size_t found = line.find(text_, *begin);
    if (found == std::string::npos || text_.empty()) return false;
    *begin = found;
    *end = found + text_.size();
    return true;
  }
  for (size_t from = *begin; from <= line.size(); from++) {
    regmatch_t found;
    if (regexec(expression_.get(), line.c_str() + from, 1, &found, from ? REG_NOTBOL : 0)) break;
    if (found.rm_eo > found.rm_so) {
      *begin = from + size_t(found.rm_so);
      *end = from + size_t(found.rm_eo);
      return true;
    }
    from += size_t(found.rm_so);  // an empty text
  }
  return false;
}

}  // namespace session
