// SPDX-License-Identifier: MIT
#include "session/marker.hh"

#include <algorithm>
#include <cstring>

namespace session {

MarkerResult twelve_bytes(const std::string& text, size_t offset, uint32_t eax) {
  uint32_t words[3] = {0, 0, 0};
  if (offset < text.size()) {
    std::memcpy(words, text.data() + offset, std::min(text.size() - offset, sizeof words));
  }
  return {eax, words[0], words[1], words[2]};
}

}  // namespace session
