// SPDX-License-Identifier: MIT
#include "base/json.hh"

#include <cinttypes>
#include <cstdio>

namespace base {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    char escaped[8];
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (uint8_t(c) >= 0x20)
      out += c;
    else
      out += (std::snprintf(escaped, sizeof escaped, "\\u%04x", unsigned(c)), escaped);
  }
  return out + '"';
}

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%08" PRIx64, value);
  return text;
}

}  // namespace base
